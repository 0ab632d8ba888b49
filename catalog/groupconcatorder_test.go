package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGroupConcatByArgument: a number in its ORDER BY is an argument.
func TestGroupConcatByArgument(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (n INT)", "INSERT INTO t VALUES (1), (2), (3), (4), (5)")
	for query, want := range map[string]string{
		"SELECT GROUP_CONCAT(-n ORDER BY 1) FROM t":                               "-5,-4,-3,-2,-1",
		"SELECT GROUP_CONCAT(n % 3 ORDER BY 1 DESC) FROM t":                       "2,2,1,1,0",
		"SELECT GROUP_CONCAT(DISTINCT n % 3 ORDER BY 1 DESC SEPARATOR '') FROM t": "210",
		"SELECT GROUP_CONCAT(DISTINCT n % 3, n % 2 ORDER BY 2 DESC, 1) FROM t":    "01,11,21,10,20",
		"SELECT GROUP_CONCAT(n ORDER BY n DESC) FROM t":                           "5,4,3,2,1",
	} {
		require.Equal(t, []string{want}, l.bothRows(query), query)
	}
}

// TestSpaceHasAnEnd: SPACE is bound by max_allowed_packet, as REPEAT is.
func TestSpaceHasAnEnd(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (n BIGINT)", "INSERT INTO t VALUES (-1), (0), (2), (9223372036854775807)")
	require.Equal(t, []string{"-1|0", "0|0", "2|2", "9223372036854775807|NULL"}, l.bothRows("SELECT n, LENGTH(SPACE(n)) FROM t ORDER BY n"))
	require.Equal(t, []string{"NULL"}, l.rows("SELECT SPACE(9223372036854775807)"))
}
