package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func rollupLab(t *testing.T) *lab {
	l := newLab(t)
	l.exec("CREATE TABLE s (country VARCHAR(9), city VARCHAR(9), d DATE, x DECIMAL(9,2), n INT)", `INSERT INTO s VALUES ('de', 'b', '2024-01-05', 1.5, 1),
		('de', 'm', '2024-02-05', 2.5, 2), ('fr', 'p', '2024-01-05', 3, 3), ('fr', NULL, '2024-01-07', 4, 4), (NULL, 'z', '2024-01-07', 5, NULL)`)
	return l
}

// WITH ROLLUP sums groups up from the last key on, in MySQL's order; the NULL of a sum is told from others by GROUPING.
func TestWithRollup(t *testing.T) {
	l := rollupLab(t)
	for _, c := range []struct {
		query string
		rows  []string
	}{
		{"SELECT country, city, SUM(x), GROUPING(country), GROUPING(city), GROUPING(country, city) FROM s GROUP BY country, city WITH ROLLUP", []string{
			"NULL|z|5.00|0|0|0", "NULL|NULL|5.00|0|1|1", "de|b|1.50|0|0|0", "de|m|2.50|0|0|0", "de|NULL|4.00|0|1|1",
			"fr|NULL|4.00|0|0|0", "fr|p|3.00|0|0|0", "fr|NULL|7.00|0|1|1", "NULL|NULL|16.00|1|1|3",
		}},
		{"SELECT IFNULL(country, 'ALL') AS country, COUNT(*) FROM s GROUP BY country WITH ROLLUP", []string{"ALL|1", "de|2", "fr|2", "ALL|5"}},
		{"SELECT IF(GROUPING(country), 'ALL', country) AS country, SUM(x) total FROM s GROUP BY country WITH ROLLUP ORDER BY GROUPING(country) DESC, total DESC",
			[]string{"ALL|16.00", "fr|7.00", "NULL|5.00", "de|4.00"}},
		{"SELECT YEAR(d) y, MONTH(d) m, SUM(x) FROM s GROUP BY y, m WITH ROLLUP", []string{"2024|1|13.50", "2024|2|2.50", "2024|NULL|16.00", "NULL|NULL|16.00"}},
		{"SELECT YEAR(d) y, MONTH(d) m, SUM(x) FROM s GROUP BY 1, 2 WITH ROLLUP HAVING SUM(x) > 3 ORDER BY 1, 2", []string{"NULL|NULL|16.00", "2024|NULL|16.00", "2024|1|13.50"}},
		{"SELECT a.country, COUNT(DISTINCT b.city) FROM s a LEFT JOIN s b ON a.n = b.n GROUP BY a.country WITH ROLLUP", []string{"NULL|0", "de|2", "fr|1", "NULL|3"}},
		{"SELECT DISTINCT country FROM s GROUP BY country, city WITH ROLLUP ORDER BY country", []string{"NULL", "de", "fr"}},
		{"SELECT country, SUM(x) FROM s WHERE x > 100 GROUP BY country WITH ROLLUP", []string{}},
		{"SELECT country, SUM(x) q FROM s GROUP BY country WITH ROLLUP HAVING country IS NULL AND q > 2", []string{"NULL|5.00", "NULL|16.00"}},
		{"SELECT n + 1 AS y, SUM(x) FROM s GROUP BY n WITH ROLLUP HAVING y > 3", []string{"4|3.00", "5|4.00"}},
		{"SELECT country, SUM(SUM(x)) OVER (ORDER BY GROUPING(country), country) FROM s GROUP BY country WITH ROLLUP", []string{"NULL|5.00", "de|9.00", "fr|16.00", "NULL|32.00"}},
		{"SELECT q.c, q.t FROM (SELECT country c, SUM(x) t FROM s GROUP BY c WITH ROLLUP) q WHERE t > 5 ORDER BY t", []string{"fr|7.00", "NULL|16.00"}},
		{"SELECT COUNT(*) FROM (SELECT country, SUM(x) FROM s GROUP BY country WITH ROLLUP UNION ALL SELECT 'x', 1) q", []string{"5"}},
		{"SELECT n AS n, SUM(x) FROM s GROUP BY n WITH ROLLUP ORDER BY n DESC LIMIT 2", []string{"4|4.00", "3|3.00"}},
		{"SELECT MAX(country), country FROM s GROUP BY s.country with  rollup", []string{"NULL|NULL", "de|de", "fr|fr", "fr|NULL"}},
		{"SELECT DATE_FORMAT(d, '%Y-%m') AS m, SUM(x) / COUNT(*) FROM s GROUP BY DATE_FORMAT(d, '%Y-%m') WITH ROLLUP", []string{"2024-01|3.375000", "2024-02|2.500000", "NULL|3.200000"}},
	} {
		require.Equal(t, c.rows, l.rows(c.query), c.query)
	}
	schema, _, _, err := l.c.engine.Query(l.ctx(), "SELECT country, SUM(x ), GROUPING(country) FROM s GROUP BY country WITH ROLLUP")
	require.NoError(t, err)
	require.Equal(t, []string{"country", "SUM(x )", "GROUPING(country)"}, []string{schema[0].Name, schema[1].Name, schema[2].Name})
}

// The groups run on columns, and views and changes of rows may have them.
func TestWithRollupRunsOnColumns(t *testing.T) {
	l := rollupLab(t)
	require.Contains(t, strings.Join(l.rows("EXPLAIN SELECT country, SUM(x) FROM s GROUP BY country WITH ROLLUP"), "\n"), "Levels of ROLLUP (rows=2)")
	require.Contains(t, l.rows("EXPLAIN SELECT country, SUM(x) FROM s GROUP BY country WITH ROLLUP")[0], "Vector")
	l.exec("CREATE VIEW v AS SELECT country, SUM(x) AS q FROM s GROUP BY country WITH ROLLUP", "CREATE TABLE made AS SELECT country, SUM(x) AS q FROM s GROUP BY country WITH ROLLUP")
	require.Equal(t, []string{"fr|7.00", "NULL|16.00"}, l.rows("SELECT * FROM v WHERE q > 5 ORDER BY q"))
	require.Contains(t, l.rows("SHOW CREATE VIEW v")[0], "GROUP BY country WITH ROLLUP")
	require.Equal(t, []string{"4|32.00"}, l.rows("SELECT COUNT(*), SUM(q) FROM made"))
}

func TestWithRollupRefuses(t *testing.T) {
	l := rollupLab(t)
	l.refused("SELECT GROUPING(country) FROM s GROUP BY country", "Invalid use of group function")
	l.refused("SELECT GROUPING(n) FROM s GROUP BY country WITH ROLLUP", "Argument #0 of GROUPING function is not in GROUP BY")
	l.refused("SELECT country, d, SUM(x) FROM s GROUP BY country WITH ROLLUP", "s.d")
	l.refused("SELECT country, (SELECT 1) FROM s GROUP BY country WITH ROLLUP", "put the rest around it")
	l.refused("SELECT country FROM s GROUP BY country WITH ROLLUP WITH ROLLUP", "WITH ROLLUP")
	l.refused("SELECT country FROM s QUALIFY ROW_NUMBER() OVER (ORDER BY n) = 1", "WHERE n = 1")
	l.refused("SELECT * FROM events QUALIFY ROW_NUMBER() OVER (ORDER BY n) = 1", "WHERE n = 1")
	require.Equal(t, []string{"5"}, l.rows("SELECT COUNT(qualify.n) + 1 FROM s qualify"))
}
