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

// sameOnRows runs a query on batches and on rows, and compares.
func (l *lab) sameOnRows(query string) {
	l.t.Helper()
	plan := l.plan(query)
	if !strings.Contains(plan, "EmptyTable") && !strings.Contains(plan, "Statistics") {
		require.True(l.t, strings.HasPrefix(plan, "Vector\n"), "%s\n%s", query, plan)
	}
	rows := l.session()
	rows.exec("SET lakesql_vector = OFF")
	want, err := rows.tryRows(query)
	got, vectorErr := l.tryRows(query)
	if err != nil {
		require.EqualError(l.t, vectorErr, err.Error(), query)
		return
	}
	require.NoError(l.t, vectorErr, query)
	require.Equal(l.t, want, got, query)
}

// plan is EXPLAIN of a statement.
func (l *lab) plan(statement string) string {
	l.t.Helper()
	return strings.Join(l.rows("EXPLAIN "+statement), "\n")
}

func TestWithoutVectorNothingCompilesAndNoStatisticsAnswer(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE p (n INT, s VARCHAR(9)) PARTITIONED BY (n)", "INSERT INTO p VALUES (1, 'a'), (2, 'b'), (2, NULL)", "CREATE TABLE q LIKE p")
	queries := []string{
		"SELECT n FROM p WHERE s = 'a'", "SELECT COUNT(*), MAX(n) FROM p", "SELECT n, COUNT(*) FROM p GROUP BY n ORDER BY n", "SELECT DISTINCT s FROM p ORDER BY s LIMIT 1",
	}
	changes := []string{"INSERT INTO q SELECT n, s FROM p", "UPDATE q SET s = 'c' WHERE s IS NULL", "DELETE FROM q WHERE n = 1"}
	var answers []string
	for _, on := range []string{"ON", "OFF"} {
		l.exec("SET SESSION lakesql_vector = " + on)
		columnar := func(statement string) bool {
			return strings.Contains(l.plan(statement), "Vector") || strings.Contains(l.plan(statement), "Statistics")
		}
		answer := strings.Join(l.rows("SELECT @@lakesql_vector"), "")
		require.Equal(t, map[string]string{"ON": "1", "OFF": "0"}[on], answer)
		answer = ""
		for _, q := range queries {
			require.Equal(t, on == "ON", columnar(q), "%s: %s", on, q)
			answer += strings.Join(l.rows(q), " ") + "\n"
		}
		for _, change := range changes {
			require.Equal(t, on == "ON", columnar(change), "%s: %s", on, change)
			l.exec(change)
		}
		answer += strings.Join(l.rows("SELECT * FROM q ORDER BY n, s"), " ")
		answers = append(answers, answer)
		l.exec("TRUNCATE q")
	}
	require.Equal(t, answers[0], answers[1])
}

func TestVectorCanBeSwitchedOffForNewSessions(t *testing.T) {
	l := newLab(t)
	t.Cleanup(func() { l.exec("SET GLOBAL lakesql_vector = ON") })
	l.exec("CREATE TABLE p (n INT)", "SET GLOBAL lakesql_vector = OFF")
	require.Contains(t, l.plan("SELECT n FROM p"), "Vector")
	require.NotContains(t, l.session().plan("SELECT n FROM p"), "Vector")
}

// sameWhereCompiled is sameOnRows for a query that batches may not have; it reports whether they have it. Of two errors it compares no text.
func (l *lab) sameWhereCompiled(query string) bool {
	l.t.Helper()
	rows := l.session()
	rows.exec("SET lakesql_vector = OFF")
	want, err := rows.tryRows(query)
	got, vectorErr := l.tryRows(query)
	if err != nil {
		require.Error(l.t, vectorErr, query)
	} else {
		require.NoError(l.t, vectorErr, "%s", query)
		require.ElementsMatch(l.t, want, got, query)
	}
	return strings.HasPrefix(l.plan(query), "Vector\n")
}

// TestDeviationsAreDoubles: VARIANCE and STDDEV of integers are not rounded to integers, on rows and on columns; ANY_VALUE is not NULL where there is a value.
func TestDeviationsAreDoubles(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE p (k INT, n INT, d DECIMAL(9,2))", "INSERT INTO p VALUES (1, 1, 1), (1, 2, 2), (2, 5, 5), (2, NULL, NULL)", "INSERT INTO p VALUES (1, NULL, NULL), (1, 4, 4.5), (3, NULL, NULL)")
	for expr, want := range map[string]string{
		"VARIANCE(n) > 1.55, VAR_POP(n) < 1.56":                 "1|1 0|1 NULL|NULL",
		"VAR_SAMP(n) BETWEEN 2.33 AND 2.34":                     "1 NULL NULL",
		"STD(n) > 1.2, STDDEV(n) < 1.3, STDDEV_POP(n) = STD(n)": "1|1|1 0|1|1 NULL|NULL|NULL",
		"STDDEV_SAMP(n) BETWEEN 1.52 AND 1.53":                  "1 NULL NULL",
		"STDDEV_SAMP(d) > 1.8, STDDEV_SAMP(d) < 1.81":           "1|1 NULL|NULL NULL|NULL",
		"ANY_VALUE(n) IS NULL, COUNT(n)":                        "0|3 0|1 1|0",
		"VARIANCE(n * 2 + k) > 6":                               "1 0 NULL",
	} {
		query := "SELECT " + expr + " FROM p GROUP BY k ORDER BY k"
		require.Equal(t, strings.Fields(want), l.rows(query), query)
		l.sameOnRows(query)
	}
	require.Contains(t, l.plan("SELECT STDDEV(n), ANY_VALUE(d) FROM p GROUP BY k"), "Vector\n")
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
		query := fmt.Sprintf("SELECT %s FROM %s WHERE TRUE", strings.Join(selected, ", "), pick(r, []string{"p", "p", "p", "e"}))
		query += pick(r, []string{"", "", " AND n > 0", " AND s LIKE 'a%'", " AND FALSE"})
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
		query := fmt.Sprintf("SELECT %s%s FROM %s WHERE TRUE", pick(r, []string{"", "", "DISTINCT "}), columns(1, ""), pick(r, []string{"p", "p", "p", "e"}))
		query += pick(r, []string{"", "", " AND n > 0", " AND s LIKE 'a%'"})
		if !strings.Contains(query, "DISTINCT") && r.IntN(4) > 0 {
			query += " ORDER BY " + columns(1, pick(r, []string{"", " DESC"}))
		}
		query += pick(r, []string{"", " LIMIT 5", " LIMIT 7 OFFSET 3", " LIMIT 0", " LIMIT 1", " LIMIT 1000"})
		l.sameOnRows(query)
	}
}

// TestDeviationsHangOnNoOrder: VARIANCE and STDDEV of values that overflow on the way, and of those where the last digit hangs on who adds first, are one value on rows and on
// columns (random queries 40035/623 and 40029/411).
func TestDeviationsHangOnNoOrder(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE p (k INT, x DOUBLE, n BIGINT)",
		"INSERT INTO p VALUES (1, 1e308, 6), (1, -1e308, -6999999), (1, 0.1, 17534), (2, 1e16, 17535), (2, 5e-324, 0)", "INSERT INTO p VALUES (1, 1e308, 61171223), (1, -1e308, 61171222), (2, 123456.789, 9), (3, 1e308, 1), (3, 1e308, 2), (4, NULL, 4)")
	for _, x := range []string{"x", "n", "-x", "n / 7"} {
		l.sameOnRows(fmt.Sprintf("SELECT k, STD(%[1]s), VARIANCE(%[1]s), STDDEV_SAMP(%[1]s), VAR_SAMP(%[1]s) FROM p GROUP BY k ORDER BY k", x))
		l.sameOnRows(fmt.Sprintf("SELECT k, n, STD(%[1]s) OVER (PARTITION BY k ORDER BY n ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), VAR_SAMP(%[1]s) OVER (ORDER BY n DESC) FROM p ORDER BY n", x))
		require.Equal(t, l.rows("SELECT STD("+x+") FROM (SELECT * FROM p ORDER BY n LIMIT 100) AS q"), l.rows("SELECT STD("+x+") FROM (SELECT * FROM p ORDER BY n DESC LIMIT 100) AS q"))
	}
	require.Equal(t, []string{"1|+Inf", "2|4.714045207881218e+15", "3|0", "4|NULL"}, l.rows("SELECT k, STD(x) FROM p GROUP BY k ORDER BY k"))
}
