package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInsertOverwrite(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, p INT) USING DELTA PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 1), (2, 2), (3, NULL)")
	require.Equal(t, 2, l.affected("INSERT OVERWRITE t SELECT a + 10, p FROM t WHERE p IS NOT NULL"))
	require.Equal(t, []string{"11|1", "12|2"}, l.rows("SELECT * FROM t ORDER BY a"))
	require.Equal(t, 1, l.affected("INSERT OVERWRITE TABLE t PARTITION (p = 2) SELECT 22"))
	require.Equal(t, []string{"11|1", "22|2"}, l.rows("SELECT * FROM t ORDER BY a"))
	require.Equal(t, 2, l.affected("INSERT OVERWRITE t PARTITION (p) VALUES (33, 3), (111, 1)"))
	require.Equal(t, []string{"22|2", "33|3", "111|1"}, l.rows("SELECT * FROM t ORDER BY a"))
	require.Equal(t, 1, l.affected("INSERT OVERWRITE t PARTITION (p = '2') (a) VALUES (23)"))
	require.Equal(t, []string{"23|2", "33|3", "111|1"}, l.rows("SELECT * FROM t ORDER BY a"))
	l.refused("INSERT OVERWRITE t PARTITION (a = 1) SELECT 1", "no partition column")
	l.refused("INSERT OVERWRITE t VALUES ('x', 1)", "Incorrect integer value: 'x' for column 'a'")
	l.exec("BEGIN", "INSERT OVERWRITE t VALUES (7, 7)")
	require.Equal(t, []string{"7|7"}, l.rows("SELECT * FROM t"))
	l.exec("ROLLBACK")
	require.Equal(t, 0, l.affected("INSERT OVERWRITE t SELECT * FROM t WHERE a = 0"))
	require.Empty(t, l.rows("SELECT * FROM t"))
	l.bound("INSERT OVERWRITE t VALUES (?, 1)", "5")
	require.Equal(t, []string{"5|1"}, l.rows("SELECT * FROM t"))
	require.Contains(t, l.rows("DESCRIBE HISTORY t LIMIT 1")[0], `"mode":"Overwrite"`)
}

// TestInsertOverwriteOfBatches: rows that go from table to table as they are replace the rows once, in one commit.
func TestInsertOverwriteOfBatches(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, b INT)", "INSERT INTO t VALUES (1, 1)", "CREATE TABLE s (a INT, b INT)", "INSERT INTO s VALUES (2, 2), (3, 3)")
	require.Equal(t, 2, l.affected("INSERT OVERWRITE t SELECT a, b FROM s"))
	require.Equal(t, []string{"2|2", "3|3"}, l.rows("SELECT * FROM t ORDER BY a"))
	require.Len(t, l.rows("DESCRIBE HISTORY t"), 3)
	l.exec("INSERT OVERWRITE t SELECT a, b FROM s WHERE a > 9")
	require.Empty(t, l.rows("SELECT * FROM t"))
}
