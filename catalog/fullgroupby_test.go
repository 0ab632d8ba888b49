package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Beside an aggregate without GROUP BY stands what is one value for the whole statement; a column does not.
func TestConstantsBesideAggregates(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, b VARCHAR(9))", "INSERT INTO t VALUES (1, 'x'), (2, 'y')", "SET @v = 5")
	require.Equal(t, []string{"3|5|7|root@localhost|lake|1"}, l.rows("SELECT SUM(a), @v, @v + COUNT(*), CURRENT_USER(), DATABASE(), NOW() > '2000-01-01' FROM t"))
	require.Equal(t, []string{"x|1|5", "y|2|5"}, l.rows("SELECT b, SUM(a), @v FROM t GROUP BY b ORDER BY b"))
	require.Equal(t, []string{"3|2|2"}, l.rows("SELECT SUM(a), @x := MAX(a), @x FROM t"))
	l.refused("SELECT SUM(a), a + @v FROM t", "t.a")
	l.refused("SELECT b, a, @v FROM t GROUP BY b", "t.a")
}
