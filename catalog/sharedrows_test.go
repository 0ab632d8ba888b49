package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What stands in a statement twice is executed once, whatever its tables and columns are called, and only that.
func TestEqualRowsAreMadeOnce(t *testing.T) {
	l := newLab(t)
	rows := l.onRows()
	l.exec("CREATE TABLE t (k INT, g INT, n BIGINT, s VARCHAR(10))", "CREATE TABLE u (g INT, name VARCHAR(10))", "INSERT INTO u VALUES (1, 'a'), (2, 'b'), (3, 'c')",
		"INSERT INTO t WITH RECURSIVE x AS (SELECT 1 i UNION ALL SELECT i + 1 FROM x WHERE i < 400) SELECT i, i % 4, i * i, ELT(i % 3 + 1, 's', 's%', 's|') FROM x")
	const again = "Rows of an equal"
	for query, once := range map[string]bool{
		"WITH r AS (SELECT g, SUM(n) m FROM t WHERE k > 3 GROUP BY g) SELECT g, m FROM r WHERE m = (SELECT MAX(m) FROM r)":                                                                true,
		"WITH r AS (SELECT g, SUM(n) m, MIN(k) FROM t GROUP BY g) SELECT a.g, a.m, b.m FROM r a JOIN r b ON a.g = b.g + 1":                                                                true,
		"SELECT x.g, SUM(x.n) FROM t x, u WHERE x.g = u.g AND name < 'b' AND k < 9 GROUP BY x.g HAVING SUM(x.n) > (SELECT SUM(n) / 9 FROM t, u WHERE t.g = u.g AND name < 'b' AND k < 9)": true,
		"SELECT g, SUM(n) FROM t GROUP BY g HAVING SUM(n) = (SELECT MAX(m) FROM (SELECT SUM(n) m FROM t GROUP BY g) x)":                                                                   true,
		"SELECT g, SUM(n) FROM t WHERE k > 1 GROUP BY g HAVING SUM(n) = (SELECT MAX(m) FROM (SELECT SUM(n) m FROM t WHERE k > 2 GROUP BY g) x)":                                           false,
		"SELECT g, SUM(n) FROM t WHERE k > 1 GROUP BY g HAVING SUM(n) = (SELECT MAX(m) FROM (SELECT SUM(n) m FROM t WHERE n > 1 GROUP BY g) x)":                                           false,
		"SELECT g, SUM(n) FROM t GROUP BY g HAVING SUM(n) = (SELECT MAX(m) FROM (SELECT SUM(k) m FROM t GROUP BY g) x)":                                                                   false,
		"SELECT g, SUM(n) FROM t WHERE s = '1' GROUP BY g HAVING SUM(n) = (SELECT MAX(m) FROM (SELECT SUM(n) m FROM t WHERE s = 1 GROUP BY g) x)":                                         false,
		"SELECT g, SUM(n) FROM t WHERE s LIKE 's|%%' ESCAPE '|' GROUP BY g HAVING SUM(n) > (SELECT MAX(m) FROM (SELECT SUM(n) m FROM t WHERE s LIKE 's|%%' GROUP BY g) x)":                false,
		"WITH r AS (SELECT k, MAX(n) m FROM t GROUP BY k) SELECT a.k FROM r a JOIN r b ON a.k = b.k WHERE a.k < 5":                                                                        false, // as many rows as are read
	} {
		require.True(t, l.sameRows(rows, query), query)
		require.Equal(t, once, strings.Contains(l.plan(query), again), "%s\n%s", query, l.plan(query))
	}
}

// A subquery that no row asks for is not executed.
func TestSubqueryWithoutARow(t *testing.T) {
	l := newLab(t)
	rows := l.onRows()
	l.exec("CREATE TABLE none (a INT)", "CREATE TABLE two (a INT)", "INSERT INTO two VALUES (1), (2)")
	for _, query := range []string{
		"SELECT a FROM none WHERE a = (SELECT a FROM two)", "SELECT (SELECT a FROM two) + a FROM none", "SELECT MAX(a + (SELECT a FROM two)) FROM none",
		"SELECT n.a FROM none n JOIN two t ON n.a = t.a WHERE n.a > (SELECT a FROM two)", "SELECT a FROM two WHERE a = (SELECT a FROM two)",
		"SELECT a FROM two WHERE a = (SELECT MAX(a) FROM two)", "SELECT COUNT(*) FROM none HAVING COUNT(*) < (SELECT MAX(a) FROM two)",
	} {
		l.sameRows(rows, query)
	}
}
