package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sameRows runs a query on batches and on rows, and compares the rows in any order. It says whether the query compiled as a whole.
func (l *lab) sameRows(rows *lab, query string) bool {
	l.t.Helper()
	want, err := rows.tryRows(query)
	got, vectorErr := l.tryRows(query)
	if err != nil {
		require.EqualError(l.t, vectorErr, err.Error(), query)
	} else {
		require.NoError(l.t, vectorErr, "%s\n%s", query, l.plan(query))
		slices.Sort(want)
		slices.Sort(got)
		require.Equal(l.t, want, got, "%s\n%s", query, l.plan(query))
	}
	return strings.HasPrefix(l.plan(query), "Vector\n")
}

// onRows is another session, whose statements are executed on rows.
func (l *lab) onRows() *lab {
	rows := l.session()
	rows.exec("SET lakesql_vector = OFF")
	return rows
}

func TestJoinsOnBothPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	l := pathsLab(t, r)
	rows := l.onRows()
	l.exec("CREATE TABLE q LIKE p", "INSERT INTO q SELECT * FROM p WHERE n > -5 OR s = 'a' OR dt IS NULL")
	equal := []string{"x.n = y.n", "x.t = y.t", "x.t = y.n", "x.d = y.n", "x.d = y.b", "x.s = y.s", "x.dt = y.dt", "x.dt = y.at", "x.y = y.y", "x.n <=> y.n", "x.o = y.o", "x.f = y.g",
		"x.n + 1 = y.t", "y.n = x.b AND y.s = x.s", "x.s <=> y.s AND x.n = y.n", "x.w = y.d", "x.f = y.d"}
	more := []string{"x.n < y.b", "x.n <> y.n", "x.s LIKE 'a%'", "y.n > 0", "x.t = 1", "x.d > y.d OR y.d IS NULL", "(x.n = 1 AND y.n = 1) OR (x.n = 7 AND y.n = 0)", "x.dt < y.dt", "x.n = 1 OR y.t = 1"}
	on := func() string {
		out := pick(r, equal)
		for range r.IntN(3) {
			out += " AND " + pick(r, more)
		}
		return out
	}
	compiled := 0
	const queries = 200
	for range queries {
		var query string
		switch r.IntN(6) {
		case 0:
			query = fmt.Sprintf("SELECT x.n, x.s, y.n, y.d FROM p x, %s y WHERE %s", pick(r, []string{"q", "q", "e"}), on())
		case 1:
			query = fmt.Sprintf("SELECT x.n, x.s, y.n, y.d FROM %s x %s JOIN %s y ON %s", pick(r, []string{"p", "q", "e"}), pick(r, []string{"LEFT", "RIGHT"}), pick(r, []string{"p", "q", "e"}), on())
			query += pick(r, []string{"", "", " WHERE x.n > 0", " WHERE y.s IS NULL", " WHERE COALESCE(y.n, 1) = 1"})
		case 2:
			query = fmt.Sprintf("SELECT x.n, COUNT(*), SUM(y.d) FROM p x JOIN q y ON %s GROUP BY x.n HAVING COUNT(*) > 2", on())
		case 3:
			query = fmt.Sprintf("SELECT x.n, x.s FROM p x WHERE %sEXISTS (SELECT * FROM q y WHERE %s)", pick(r, []string{"", "NOT "}), on())
		case 4:
			column := pick(r, []string{"n", "t", "s", "d", "dt"})
			query = fmt.Sprintf("SELECT x.n, x.s FROM p x WHERE %sx.%s %sIN (SELECT y.%s FROM q y WHERE %s)", pick(r, []string{"", "x.t > 0 AND "}), column, pick(r, []string{"", "NOT "}), column,
				pick(r, []string{"TRUE", "y.n > 0", "y.n IS NOT NULL AND y.s IS NOT NULL AND y.d IS NOT NULL AND y.dt IS NOT NULL", "y.n > 100000"}))
		case 5:
			query = fmt.Sprintf("SELECT x.n, y.s, z.d FROM p x JOIN q y ON %s JOIN e z ON z.n = y.n", pick(r, equal))
			if r.IntN(2) == 0 {
				query = fmt.Sprintf("SELECT x.n, y.s, z.d FROM q x LEFT JOIN q y ON x.n = y.n AND x.d = y.d AND x.s = y.s JOIN p z ON z.n = x.n AND z.s = y.s AND z.dt = x.dt WHERE %s", pick(r, more))
			}
		}
		if l.sameRows(rows, query) {
			compiled++
		}
	}
	require.Greater(t, compiled, queries*3/4)
}

func TestSubqueriesOnBothPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	l := pathsLab(t, r)
	rows := l.onRows()
	l.exec("CREATE TABLE q LIKE p", "INSERT INTO q SELECT * FROM p WHERE n > -5 OR s = 'a' OR dt IS NULL")
	value := func() string {
		of := pick(r, []string{"MAX(y.n)", "MIN(y.t)", "COUNT(*)", "COUNT(y.n)", "COUNT(*) + 1", "SUM(y.n)", "COALESCE(MAX(y.n), 3)"})
		return fmt.Sprintf("(SELECT %s FROM %s y%s)", of, pick(r, []string{"q", "q", "e"}),
			pick(r, []string{"", " WHERE y.t > 0", " WHERE y.n = x.n", " WHERE y.s = x.s AND y.n > 0", " WHERE x.n = y.t", " JOIN p z ON z.n = y.n AND z.s = y.s WHERE y.t = x.t"}))
	}
	compiled := 0
	const queries = 120
	for range queries {
		query := fmt.Sprintf("SELECT x.n, x.s FROM p x WHERE x.n %s %s", pick(r, []string{"=", "<", ">=", "<>"}), value())
		if r.IntN(3) == 0 {
			query = fmt.Sprintf("SELECT x.n, x.s, %s FROM q x", value())
		}
		query += pick(r, []string{"", " ORDER BY x.n, x.s LIMIT 1000"})
		if l.sameRows(rows, query) {
			compiled++
		}
	}
	require.Greater(t, compiled, queries*3/4)
}

func TestAScalarSubqueryHasOneRow(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (n INT)", "INSERT INTO a VALUES (1), (2), (NULL)", "CREATE TABLE none (n INT)")
	for _, s := range []*lab{l, l.onRows()} {
		for _, op := range []string{"=", "<>", "<", ">="} {
			s.refused("SELECT n FROM a WHERE n "+op+" (SELECT n FROM a)", "more than 1 row")
			require.Empty(t, s.rows("SELECT n FROM a WHERE n "+op+" (SELECT n FROM none)"))
			require.Empty(t, s.rows("SELECT n FROM a WHERE NOT (n "+op+" (SELECT n FROM none))"))
		}
		require.Equal(t, []string{"2"}, s.rows("SELECT n FROM a WHERE n = (SELECT MAX(n) FROM a)"))
		require.Equal(t, []string{"1|NULL", "2|NULL", "NULL|NULL"}, s.rows("SELECT n, (SELECT n FROM none) FROM a"))
	}
	require.Contains(t, l.plan("SELECT n FROM a WHERE n = (SELECT MAX(n) FROM a)"), "Subquery, once")
}

func TestNotInIsNeverTrueBesideANull(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (n INT)", "INSERT INTO a VALUES (1), (2), (NULL)", "CREATE TABLE b (n INT)", "INSERT INTO b VALUES (1)", "CREATE TABLE none (n INT)")
	for _, s := range []*lab{l, l.onRows()} {
		require.Equal(t, []string{"2"}, s.rows("SELECT n FROM a WHERE n NOT IN (SELECT n FROM b)"))
		require.Empty(t, s.rows("SELECT n FROM b WHERE n + 1 NOT IN (SELECT n FROM a)"))
		require.Equal(t, []string{"1", "2", "NULL"}, s.rows("SELECT n FROM a WHERE n NOT IN (SELECT n FROM none)"))
		require.Equal(t, []string{"2", "NULL"}, s.rows("SELECT n FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.n = a.n)"))
	}
}

func TestAnAggregateOfASubqueryInHavingIsItsOwn(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (k INT, n INT)", "INSERT INTO a VALUES (1, 1), (1, 5), (2, 2), (2, 9), (3, 1)")
	for _, s := range []*lab{l, l.onRows()} {
		require.Equal(t, []string{"2|11"}, s.rows("SELECT k, SUM(n) FROM a GROUP BY k HAVING SUM(n) > (SELECT SUM(n) / 2 FROM a)"))
		require.Equal(t, []string{"2|11"}, s.rows("SELECT k, SUM(n) FROM a GROUP BY k HAVING SUM(n) > (SELECT SUM(a.n) / 2 FROM a WHERE a.k > 0)"))
		require.Equal(t, []string{"1|6", "2|11"}, s.rows("SELECT k, SUM(n) FROM a GROUP BY k HAVING MAX(n) > (SELECT MIN(n) FROM a) ORDER BY k"))
	}
}

// TestJoinWithAConditionThatIsFalse: the analyzer puts an empty table for its side, and joins above it find their rows by their keys.
func TestJoinWithAConditionThatIsFalse(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (x INT)", "INSERT INTO t VALUES (1), (2)")
	for query, want := range map[string][]string{
		"SELECT a.x, b.x, c.x FROM t a LEFT JOIN t b ON a.x = b.x AND 1 = 2 LEFT JOIN t c ON b.x = c.x ORDER BY 1": {"1|NULL|NULL", "2|NULL|NULL"},
		"SELECT COUNT(*) FROM t a LEFT JOIN t b ON a.x = b.x AND FALSE JOIN t c ON b.x = c.x":                      {"0"},
		"SELECT a.x, c.x FROM t a LEFT JOIN t b ON FALSE RIGHT JOIN t c ON b.x = c.x ORDER BY 2":                   {"NULL|1", "NULL|2"},
		"SELECT COUNT(*), SUM(x), MAX(x) FROM t WHERE FALSE":                                                       {"0|NULL|NULL"},
		"SELECT x FROM t UNION ALL SELECT x FROM t WHERE FALSE ORDER BY 1":                                         {"1", "2"},
	} {
		require.Equal(t, want, l.rows(query), query)
		require.True(t, strings.HasPrefix(l.plan(query), "Vector"), l.plan(query))
		require.Equal(t, want, l.onRows().rows(query), query)
	}
}
