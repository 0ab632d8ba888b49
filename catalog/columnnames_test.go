package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNamesOfColumns: what MySQL 9.7 names them.
func TestNamesOfColumns(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (x INT)", "INSERT INTO t VALUES (1)")
	for _, c := range []struct {
		query string
		names []string
	}{
		{"SELECT x + 1\n  , x +  2\n  ,MAX( x ) FROM t GROUP BY x", []string{"x + 1", "x +  2", "MAX( x )"}},
		{"SELECT 1 , 'a' , ('b') , NULL , (2), + 3, (-4), - 5 , 1e3", []string{"1", "a", "b", "NULL", "2", "3", "(-4)", "- 5", "1e3"}},
		{"SELECT (x) , ((t.x)), +x, (x+1), (t . x) FROM t", []string{"x", "x", "x", "(x+1)", "x"}},
		{"SELECT /* a */ 1 /* b */ , 2 -- c\n, 'x' /* d */ , DATE'2024-01-01' , @a := 5 # e\n", []string{"1", "2", "x", "DATE'2024-01-01'", "@a := 5"}},
		{"SELECT 'a' 'b' , 'it''s', ' lead', \"a, b\" , 'c\\nd', _utf8mb4'e'", []string{"a", "it's", "lead", "a, b", "c\nd", "e"}},
		{"SELECT NOT x, NOT x , not(x), (NOT x) FROM t", []string{"NOT x", "NOT x", "not(x)", "(NOT x)"}},
		{"SELECT * FROM (SELECT 1 , x + 1 , 'a' FROM t) d", []string{"1", "x + 1", "a"}},
		{"SELECT ROW(1,2) = row (1,2) , INTERVAL( 1, 2 ) , (ROW(1, 2)) = (1,2)", []string{"ROW(1,2) = row (1,2)", "INTERVAL( 1, 2 )", "(ROW(1, 2)) = (1,2)"}},
		{"SELECT 1 , 2 UNION SELECT 3 , 4 ORDER BY 2", []string{"1", "2"}},
	} {
		schema, _, _, err := l.c.engine.Query(l.ctx(), c.query)
		require.NoError(t, err, c.query)
		var names []string
		for _, column := range schema {
			names = append(names, column.Name)
		}
		require.Equal(t, c.names, names, c.query)
	}
	l.exec("CREATE TABLE made AS SELECT 7 , -x FROM t")
	require.Equal(t, []string{"7", "-1"}, []string{l.rows("SELECT `7` FROM made")[0], l.rows("SELECT `-x` FROM made")[0]})
}
