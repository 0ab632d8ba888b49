package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestQueriesSpillWhatTheirMemoryHasNoRoomFor: lakesql_query_memory is the session's, and what is more than that goes to disk and gives the same answer.
func TestQueriesSpillWhatTheirMemoryHasNoRoomFor(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a BIGINT, s STRING) USING DELTA",
		"INSERT INTO t WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT x.i * 1000 + y.i, CONCAT('a text of some length ', x.i * 1000 + y.i) FROM n x JOIN n y WHERE y.i <= 200")
	query := "SELECT COUNT(*), SUM(c), SUM(m) FROM (SELECT s, COUNT(*) AS c, MAX(a) AS m FROM t GROUP BY s) AS g"
	want := l.rows(query)
	require.Equal(t, int64(0), l.c.memory.Spilled())
	require.Equal(t, []string{"0"}, l.rows("SELECT @@lakesql_query_memory"))
	l.exec("SET lakesql_query_memory = 4194304")
	require.Equal(t, want, l.rows(query))
	require.Positive(t, l.c.memory.Spilled())
	require.Equal(t, []string{"200000"}, l.rows("SELECT COUNT(DISTINCT s) FROM t"))
}

func TestMemoryDefaults(t *testing.T) {
	m := Memory{}.complete("/data")
	require.Equal(t, machineMemory()/2, m.All)
	require.Equal(t, m.All/2, m.Query)
	require.Equal(t, "/data/spill", m.SpillDir)
	require.EqualValues(t, defaultSpillLimit, m.SpillLimit)
	own := Memory{All: 5, Query: 4, SpillLimit: 3, SpillDir: "/x"}
	require.Equal(t, own, own.complete("/data"))
	_, err := Memory{SpillDir: "/dev/null/x"}.budget()
	require.ErrorContains(t, err, "make the directory to spill to")
}
