package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// EXISTS counts the rows of its subquery: an aggregation without GROUP BY has one, LIMIT 0 none.
func TestExistsCountsTheRowsOfItsQuery(t *testing.T) {
	l := newLab(t)
	rows := l.onRows()
	l.exec("CREATE TABLE a (id INT)", "CREATE TABLE b (id INT, n INT)", "INSERT INTO a VALUES (1), (2), (NULL)", "INSERT INTO b VALUES (1, 5), (1, 6)")
	for condition, want := range map[string]int{
		"EXISTS (SELECT COUNT(*) FROM b WHERE b.id = a.id)":                           3,
		"EXISTS (SELECT MAX(n), 1 + SUM(n) FROM b WHERE b.id = a.id)":                 3,
		"NOT EXISTS (SELECT COUNT(*) FROM b WHERE b.id = a.id)":                       0,
		"EXISTS (SELECT COUNT(*) FROM b WHERE b.id = 99)":                             3,
		"EXISTS (SELECT COUNT(*) FROM b WHERE b.id = a.id GROUP BY n)":                1,
		"EXISTS (SELECT COUNT(*) FROM b WHERE b.id = a.id LIMIT 0)":                   0,
		"EXISTS (SELECT 1 FROM b LIMIT 0)":                                            0,
		"EXISTS (SELECT n FROM b WHERE b.id = a.id LIMIT 0)":                          0,
		"NOT EXISTS (SELECT n FROM b WHERE b.id = a.id ORDER BY n LIMIT 0)":           3,
		"EXISTS (SELECT n FROM b WHERE b.id = a.id LIMIT 1)":                          1,
		"EXISTS (SELECT COUNT(n) OVER (ORDER BY n) FROM b WHERE n > 5)":               3,
		"NOT EXISTS (SELECT RANK() OVER (ORDER BY n) FROM b)":                         0,
		"NOT EXISTS (SELECT SUM(COUNT(*)) OVER () FROM b WHERE n > 99)":               0,
		"EXISTS (SELECT (SELECT COUNT(*) FROM a) FROM b WHERE b.id = a.id)":           1,
		"id = 2 AND EXISTS (SELECT COUNT(*) FROM b WHERE b.id = a.id)":                1,
		"EXISTS (SELECT n FROM b WHERE b.id = a.id OR b.n = 5 LIMIT 0) OR id IS NULL": 1,
	} {
		query := "SELECT id FROM a WHERE " + condition
		l.sameRows(rows, query)
		require.Len(t, l.rows(query), want, query)
		require.Len(t, l.rows("SELECT id FROM a WHERE ("+condition+") = TRUE"), want, query)
	}
	l.refused("SELECT id FROM a WHERE EXISTS (SELECT COUNT(*) FROM nope)", "nope")
}

// A subquery of the outer query in the argument of an aggregate, or in a key, is joined once for all rows.
func TestSubqueryInAnAggregate(t *testing.T) {
	l := newLab(t)
	rows := l.onRows()
	l.exec("CREATE TABLE a (id INT, g INT)", "CREATE TABLE b (k INT, n INT)", "INSERT INTO a VALUES (1, 1), (2, 1), (3, 2), (NULL, 2)", "INSERT INTO b VALUES (1, 5), (1, 6), (3, NULL)")
	for _, query := range []string{
		"SELECT SUM((SELECT MAX(n) FROM b WHERE k = id) IS NULL) FROM a",
		"SELECT g, SUM((SELECT COUNT(*) FROM b WHERE k = id)), MAX(id) FROM a GROUP BY g",
		"SELECT COUNT((SELECT MIN(n) FROM b WHERE k = id)) FROM a WHERE g > 0",
	} {
		require.True(t, l.sameRows(rows, query), "%s\n%s", query, l.plan(query))
		require.True(t, strings.Contains(l.plan(query), "join"), query)
	}
}
