package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRowSubqueries: columns are compared with those of the one row that a subquery has.
func TestRowSubqueries(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, i INT, s VARCHAR(9))", "INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, NULL, 'c')", "CREATE TABLE e LIKE t")
	for _, on := range []*lab{l, l.onRows()} {
		for query, want := range map[string]string{
			"SELECT id FROM t WHERE (i, id) = (SELECT i, id FROM t WHERE id = 2)":                                     "2",
			"SELECT id FROM t WHERE (SELECT i, s FROM t WHERE id = 2) = (i, s)":                                       "2",
			"SELECT id FROM t WHERE NOT (id, s) = (SELECT id, s FROM t WHERE id = 2) ORDER BY id":                     "1 3",
			"SELECT id FROM t WHERE (id, s) <> (SELECT id, s FROM t WHERE id = 2) ORDER BY id":                        "1 3",
			"SELECT (i, id) = (SELECT i, id FROM t WHERE id = 3) FROM t ORDER BY id":                                  "0 0 NULL",
			"SELECT (i, id) = (SELECT i, id FROM e) FROM t":                                                           "NULL NULL NULL",
			"SELECT id FROM t a WHERE (id, s) = (SELECT MAX(b.id), MAX(b.s) FROM t b WHERE b.id <= a.id) ORDER BY id": "1 2 3",
			"SELECT id FROM t WHERE (id, s) = (SELECT 1, 'A' COLLATE utf8mb4_general_ci)":                             "1",
			"SELECT id FROM t WHERE (id, s, i) = (SELECT 2.0, s, '20' FROM t WHERE id = 2) AND id > 0":                "2",
		} {
			require.Equal(t, want, strings.Join(on.rows(query), " "), query)
		}
		on.refused("SELECT id FROM t WHERE (i, id) = (SELECT i, id FROM t)", "the subquery returned more than 1 row")
		on.refused("SELECT id FROM t WHERE (i, id) = (SELECT i, id, s FROM t WHERE id = 1)", "operand should have")
	}
	l.exec("DELETE FROM t WHERE (i, id) = (SELECT i, id FROM e)", "UPDATE t SET s = 'x' WHERE (id, s) = (SELECT 1, 'a')")
	require.Equal(t, []string{"1|x", "2|b", "3|c"}, l.rows("SELECT id, s FROM t ORDER BY id"))
}
