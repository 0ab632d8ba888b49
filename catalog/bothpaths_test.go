package catalog

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pathsColumns are the columns of the table that both executors are asked about, with what a literal of each may be.
var pathsColumns = []struct{ name, typ, literals string }{
	{"o", "BOOLEAN", "TRUE FALSE"},
	{"t", "TINYINT", "-128 127 0 1 2"},
	{"n", "INT", "-2147483648 2147483647 0 1 7"},
	{"b", "BIGINT", "-9223372036854775808 9223372036854775807 0 1 5"},
	{"f", "DOUBLE", "0.25 -1.5 0 1e9 3"},
	{"g", "FLOAT", "0.25 -1.5 0 8 3"},
	{"d", "DECIMAL(12,2)", "0.01 -0.05 1234567890.12 0 1"},
	{"w", "DECIMAL(38,4)", "0.0001 -0.0005 1234567890123456789012345678901234.5678 9999999999999999999999999999999999.9999 0"},
	{"s", "VARCHAR(20)", "'' 'a' 'A' 'a_' 'ä' 'abc'"},
	{"y", "VARBINARY(9)", "'' 'a' 'A' 'b'"},
	{"dt", "DATE", "'2024-02-29' '1000-01-01' '9999-12-31' '2024-03-01'"},
	{"at", "DATETIME(6)", "'2024-02-29T00:00:00' '2024-02-29T23:59:59.999999' '2024-03-01T10:00:00'"},
}

// pathsLab has a table of three files with every type, and nulls, and an empty one.
func pathsLab(t *testing.T, r *rand.Rand) *lab {
	l := newLab(t)
	var columns []string
	for _, c := range pathsColumns {
		columns = append(columns, c.name+" "+c.typ)
	}
	l.exec("CREATE TABLE e ("+strings.Join(columns, ", ")+")", "CREATE TABLE p ("+strings.Join(columns, ", ")+")")
	for range 3 {
		var rows []string
		for range 40 {
			var cells []string
			for _, c := range pathsColumns {
				if r.IntN(4) == 0 {
					cells = append(cells, "NULL")
				} else {
					cells = append(cells, pick(r, strings.Fields(c.literals)))
				}
			}
			rows = append(rows, "("+strings.Join(cells, ", ")+")")
		}
		l.exec("INSERT INTO p VALUES " + strings.Join(rows, ", "))
	}
	return l
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// sameOnRows runs a query on batches, and with its WHERE made one that only the rows have, and compares. %s is where conditions go on.
func (l *lab) sameOnRows(query string) {
	l.t.Helper()
	vector, rows := fmt.Sprintf(query, "TRUE"), fmt.Sprintf(query, "HEX(COALESCE(n, 0)) <> ''")
	plan := strings.Join(l.rows("EXPLAIN "+vector), "\n")
	if !strings.Contains(plan, "EmptyTable") && !strings.Contains(plan, "Statistics") {
		require.True(l.t, strings.HasPrefix(plan, "Vector\n"), "%s\n%s", vector, plan)
	}
	require.False(l.t, strings.HasPrefix(strings.Join(l.rows("EXPLAIN "+rows), "\n"), "Vector\n"), rows)
	want, err := l.tryRows(rows)
	got, vectorErr := l.tryRows(vector)
	if err != nil {
		require.EqualError(l.t, vectorErr, err.Error(), vector)
		return
	}
	require.NoError(l.t, vectorErr, vector)
	require.Equal(l.t, want, got, vector)
}

func TestAggregatesOnBothPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	l := pathsLab(t, r)
	var names []string
	for _, c := range pathsColumns {
		names = append(names, c.name)
	}
	numbers := []string{"o", "t", "n", "b", "f", "g", "d", "w", "t + n", "d * 2", "t * d", "n = 7", "n - b", "1",
		"CASE WHEN n > 0 THEN d END", "CASE s WHEN 'a' THEN 1 WHEN 'abc' THEN 2 END", "IF(t > 0, n, b)", "COALESCE(n, 7)", "IFNULL(d, d)", "YEAR(dt)", "MONTH(at)"}
	aggregate := func() string {
		switch r.IntN(6) {
		case 0:
			return "COUNT(*)"
		case 1:
			return fmt.Sprintf("COUNT(%s)", pick(r, names))
		case 2:
			return fmt.Sprintf("COUNT(DISTINCT %s)", pick(r, names))
		case 3:
			return fmt.Sprintf("%s(%s)", pick(r, []string{"MIN", "MAX"}), pick(r, names))
		case 4:
			return fmt.Sprintf("%s(DISTINCT %s)", pick(r, []string{"SUM", "AVG"}), pick(r, numbers))
		default:
			return fmt.Sprintf("%s(%s)", pick(r, []string{"SUM", "AVG"}), pick(r, numbers))
		}
	}
	for range 200 {
		var keys, selected []string
		for range r.IntN(3) {
			k := pick(r, append(names, "n = 7", "t + 1", "YEAR(dt)", "QUARTER(at)", "HOUR(at)", "CASE WHEN n > 0 THEN s ELSE 'none' END", "IF(o, dt, NULL)"))
			keys = append(keys, k)
			if !strings.Contains(k, " ") {
				selected = append(selected, k)
			}
		}
		for range 1 + r.IntN(3) {
			selected = append(selected, aggregate())
		}
		query := fmt.Sprintf("SELECT %s FROM %s WHERE %%s", strings.Join(selected, ", "), pick(r, []string{"p", "p", "p", "e"}))
		query += pick(r, []string{"", "", " AND n > 0", " AND s LIKE 'a%%'", " AND FALSE"})
		if len(keys) > 0 {
			query += " GROUP BY " + strings.Join(keys, ", ")
		}
		query += pick(r, []string{"", "", " HAVING COUNT(*) > 1"})
		l.sameOnRows(query)
	}
}

func TestOrderOnBothPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	l := pathsLab(t, r)
	var names []string
	for _, c := range pathsColumns {
		names = append(names, c.name)
	}
	columns := func(least int, order string) string {
		var out []string
		for range least + r.IntN(3) {
			out = append(out, pick(r, append(names, "n = 7", "t + 1", "YEAR(dt)", "DAY(at)", "EXTRACT(SECOND FROM at)", "IF(n > 0, s, 'none')", "COALESCE(s, 'none')", "IFNULL(b, 5)", "CASE WHEN o THEN dt END"))+order)
		}
		return strings.Join(out, ", ")
	}
	for range 200 {
		query := fmt.Sprintf("SELECT %s%s FROM %s WHERE %%s", pick(r, []string{"", "", "DISTINCT "}), columns(1, ""), pick(r, []string{"p", "p", "p", "e"}))
		query += pick(r, []string{"", "", " AND n > 0", " AND s LIKE 'a%%'"})
		if !strings.Contains(query, "DISTINCT") && r.IntN(4) > 0 {
			query += " ORDER BY " + columns(1, pick(r, []string{"", " DESC"}))
		}
		query += pick(r, []string{"", " LIMIT 5", " LIMIT 7 OFFSET 3", " LIMIT 0", " LIMIT 1", " LIMIT 1000"})
		l.sameOnRows(query)
	}
}
