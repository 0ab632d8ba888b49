package catalog

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tpchLab has TPC-H's eight tables with some hundred rows that each of its queries finds some of.
func tpchLab(t *testing.T) *lab {
	l := newLab(t)
	schema, err := os.ReadFile("testdata/tpch.sql")
	require.NoError(t, err)
	for statement := range strings.SplitSeq(strings.TrimSpace(string(schema)), ";\n") {
		l.exec(strings.TrimSuffix(statement, ";"))
	}
	r := rand.New(rand.NewPCG(22, 1))
	insert := func(table string, n int, row func(i int) string) {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = "(" + row(i) + ")"
		}
		l.exec("INSERT INTO " + table + " VALUES " + strings.Join(rows, ", "))
	}
	regions := []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}
	insert("region", len(regions), func(i int) string { return fmt.Sprintf("%d, '%s', 'x'", i, regions[i]) })
	nations := strings.Split("KENYA BRAZIL CHINA FRANCE SAUDI_ARABIA EGYPT CANADA INDIA GERMANY IRAN", " ")
	insert("nation", len(nations), func(i int) string {
		return fmt.Sprintf("%d, '%s', %d, 'x'", i, strings.ReplaceAll(nations[i], "_", " "), i%5)
	})
	const suppliers, customers, parts, orders = 20, 50, 40, 200
	insert("supplier", suppliers, func(i int) string {
		return fmt.Sprintf("%d, 'Supplier#%03d', 'street %d', %d, '1%d-555', %d.%02d, '%s'", i+1, i+1, i, i%len(nations), i%9, r.IntN(9000)-900, r.IntN(100),
			pick(r, []string{"quiet", "quiet", "Customer any Complaints"}))
	})
	insert("customer", customers, func(i int) string {
		return fmt.Sprintf("%d, 'Customer#%03d', 'street %d', %d, '%s-555', %d.%02d, '%s', 'x'", i+1, i+1, i, r.IntN(len(nations)),
			pick(r, []string{"13", "31", "23", "29", "30", "18", "17", "11"}), r.IntN(9000)-900, r.IntN(100), pick(r, []string{"BUILDING", "MACHINERY"}))
	})
	insert("part", parts, func(i int) string {
		return fmt.Sprintf("%d, '%s', 'Manufacturer#1', '%s', '%s', %d, '%s', 900.%02d, 'x'", i+1, pick(r, []string{"forest green", "dark green", "forest red"}),
			pick(r, []string{"Brand#12", "Brand#23", "Brand#34"}),
			pick(r, []string{"ECONOMY ANODIZED STEEL", "PROMO POLISHED BRASS", "MEDIUM POLISHED TIN", "LARGE BRASS"}), pick(r, []int{15, 3, 9, 49}),
			pick(r, []string{"SM BOX", "MED BOX", "LG BOX"}), i%100)
	})
	insert("partsupp", 4*parts, func(i int) string {
		return fmt.Sprintf("%d, %d, %d, %d.%02d, 'x'", i/4+1, (i/4+i%4*5)%suppliers+1, r.IntN(100), r.IntN(3)+1, r.IntN(3))
	})
	dates := make([]time.Time, orders)
	date := func(at time.Time, days int) string { return at.AddDate(0, 0, days).Format(time.DateOnly) }
	insert("orders", orders, func(i int) string {
		dates[i] = time.Date(1993+i%5, time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
		return fmt.Sprintf("%d, %d, '%s', %d.%02d, '%s', '%s', 'Clerk', 0, '%s'", i+1, r.IntN(customers-10)+1, pick(r, []string{"F", "O"}), r.IntN(1000), r.IntN(100),
			date(dates[i], 0), pick(r, []string{"1-URGENT", "2-HIGH", "5-LOW"}), pick(r, []string{"plain", "special extra requests"}))
	})
	insert("lineitem", 4*orders, func(i int) string {
		part := r.IntN(parts)
		shipped := r.IntN(60)
		return fmt.Sprintf("%d, %d, %d, %d, %d, %d.%02d, 0.%02d, 0.%02d, '%s', '%s', '%s', '%s', '%s', '%s', '%s', 'x'", i/4+1, part+1, (part+r.IntN(4)*5)%suppliers+1, i%4+1,
			r.IntN(100)+1, r.IntN(900)+100, r.IntN(100), r.IntN(11), r.IntN(9), pick(r, []string{"R", "A", "N"}), pick(r, []string{"F", "O"}),
			date(dates[i/4], shipped), date(dates[i/4], r.IntN(90)), date(dates[i/4], shipped+r.IntN(30)), pick(r, []string{"DELIVER IN PERSON", "NONE"}),
			pick(r, []string{"AIR", "MAIL", "SHIP"}))
	})
	return l
}

func tpchQueries(t *testing.T) map[string]string {
	out := make(map[string]string)
	files, err := filepath.Glob("../bench/queries/tpch/q*.sql")
	require.NoError(t, err)
	require.Len(t, files, 22)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		_, query, _ := strings.Cut(string(text), "\n") // the first line is a title
		out[strings.TrimSuffix(filepath.Base(f), ".sql")] = strings.TrimSuffix(strings.TrimSpace(query), ";")
	}
	return out
}

// tpchOnRows are the queries that do not compile as a whole.
var tpchOnRows = map[string]bool{}

func TestTPCHOnBothPaths(t *testing.T) {
	l := tpchLab(t)
	rows := l.session()
	rows.exec("SET lakesql_vector = OFF")
	for name, query := range tpchQueries(t) {
		require.Equal(t, !tpchOnRows[name], strings.HasPrefix(l.plan(query), "Vector\n"), name)
		want, err := rows.tryRows(query)
		got, vectorErr := l.tryRows(query)
		if err != nil {
			require.EqualError(t, vectorErr, err.Error(), name)
			continue
		}
		require.NoError(t, vectorErr, name)
		require.ElementsMatch(t, want, got, name)
		require.NotEmpty(t, got, name)
	}
}
