package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// IN and EXISTS that GMS turns into joins with distinct rows are semi joins, of whichever relation the rows decide.
func TestMembershipIsASemiJoin(t *testing.T) {
	l := newLab(t)
	rows := l.onRows()
	l.exec("CREATE TABLE a (i INT, n INT, d DECIMAL(10,2), f DOUBLE, s VARCHAR(10))", "CREATE TABLE b LIKE a", "CREATE TABLE c LIKE a",
		"INSERT INTO a VALUES (1, 1, 1.5, 0, 'x'), (2, NULL, 2.5, -0e0, 'y'), (3, 2, NULL, 1, NULL), (4, 2, 2.5, 0, 'X'), (5, 3, 3, 2, 'z')",
		"INSERT INTO b VALUES (1, 1, 1.5, 0, 'x'), (1, 1, 1.5, -0e0, 'x'), (2, NULL, 2.5, 0, 'y'), (7, 2, 2.5, 1, 'y'), (8, 3, NULL, NULL, NULL), (9, 3, 3, 2, 'z')",
		"INSERT INTO c SELECT * FROM b WHERE i < 9", "INSERT INTO c SELECT i + 1, n, d, f, s FROM a")
	for query, semi := range map[string]bool{
		"SELECT * FROM a WHERE n IN (SELECT n FROM b)":                                                                true,
		"SELECT * FROM a WHERE s IN (SELECT s FROM b WHERE i > 0)":                                                    true,
		"SELECT * FROM a WHERE EXISTS (SELECT * FROM b WHERE b.n = a.n AND b.i > 1)":                                  true,
		"SELECT * FROM a WHERE EXISTS (SELECT * FROM b WHERE b.n = a.n AND b.d = a.d)":                                true,
		"SELECT * FROM a WHERE EXISTS (SELECT * FROM b WHERE b.f = a.f)":                                              false, // 0 = -0
		"SELECT a.i, c.i FROM a JOIN c ON a.i = c.i WHERE a.n IN (SELECT n FROM b)":                                   true,
		"SELECT a.i, c.i FROM a JOIN c ON a.n = c.n WHERE a.n IN (SELECT n FROM b) AND c.d IN (SELECT d FROM b)":      true,
		"SELECT a.i, c.i FROM a JOIN c ON a.i = c.i WHERE EXISTS (SELECT 1 FROM b WHERE b.n = a.n AND b.d = c.d)":     false,
		"SELECT COUNT(*) FROM a JOIN c ON a.i < c.i WHERE EXISTS (SELECT 1 FROM b WHERE b.n = a.n AND b.s = a.s)":     true,
		"SELECT * FROM a WHERE n IN (SELECT n FROM b WHERE d IN (SELECT d FROM c))":                                   true,
		"SELECT * FROM a WHERE n IN (SELECT n FROM b) AND n IN (SELECT n FROM c) AND d IN (SELECT d FROM c)":          true,
		"SELECT * FROM a WHERE n IN (SELECT n FROM b WHERE i > 99)":                                                   true,
		"SELECT a.* FROM a JOIN (SELECT DISTINCT n, d FROM b) x ON a.n = x.n AND a.d = x.d":                           false,
		"SELECT a.*, x.n FROM a LEFT JOIN c ON a.i = c.i JOIN (SELECT DISTINCT n FROM b) x ON a.n = x.n":              false,
		"SELECT * FROM a WHERE n IN (SELECT n FROM b) OR d IN (SELECT d FROM b)":                                      false,
		"SELECT n, COUNT(*) FROM a WHERE n IN (SELECT n FROM b GROUP BY n HAVING COUNT(*) > 1) GROUP BY n ORDER BY n": true,
	} {
		l.sameRows(rows, query)
		if plan := l.plan(query); semi {
			require.Contains(t, strings.ToLower(plan), "semi join", query)
			require.NotContains(t, plan, "Distinct", query)
		}
	}
	l.exec("DELETE FROM a WHERE n IN (SELECT n FROM b WHERE i < 8)")
	require.Equal(t, []string{"2", "5"}, l.rows("SELECT i FROM a ORDER BY i"))
	l.exec("UPDATE c SET s = 'in' WHERE EXISTS (SELECT * FROM b WHERE b.n = c.n AND b.d = c.d)")
	require.Equal(t, []string{"6"}, l.rows("SELECT COUNT(*) FROM c WHERE s = 'in'"))
}
