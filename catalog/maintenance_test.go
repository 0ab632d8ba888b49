package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOptimizeStatement joins files, those of a partition alone where that is asked for, and answers in Spark's or MySQL's shape.
func TestOptimizeStatement(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, part VARCHAR(20)) PARTITIONED BY (part)",
		"INSERT INTO t VALUES (1, 'a'), (2, 'b')", "INSERT INTO t VALUES (3, 'a'), (4, 'b')", "INSERT INTO t VALUES (5, 'a'), (6, NULL)")
	require.Regexp(t, `\|1\|3\|\d+\|\d+\|1\|3\|0$`, l.rows("OPTIMIZE t WHERE part = 'a'")[0])
	require.Equal(t, []string{"lake.t|optimize|status|OK"}, l.rows("OPTIMIZE TABLE t"))
	require.Equal(t, []string{"1|a", "2|b", "3|a", "4|b", "5|a", "6|NULL"}, l.rows("SELECT id, part FROM t ORDER BY id"))
	require.Regexp(t, `\|0\|0\|0\|0\|0\|3\|0$`, l.rows("OPTIMIZE t")[0], "nothing is left to do")
	l.exec("OPTIMIZE t ZORDER BY (id)")
	l.refused("OPTIMIZE t WHERE id > 1", "is no partition column", "part")
	l.refused("OPTIMIZE t ZORDER BY (part)", "DELTA_ZORDERING_ON_PARTITION_COLUMN")
	l.refused("OPTIMIZE nothing", "nothing")
	l.exec("BEGIN", "INSERT INTO t VALUES (7, 'a')")
	l.refused("OPTIMIZE t", "COMMIT or ROLLBACK first")
	l.exec("ROLLBACK")
}

func TestVacuumStatement(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "OPTIMIZE t")
	require.Empty(t, l.rows("VACUUM t DRY RUN"))
	l.refused("VACUUM t RETAIN 0 HOURS", "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT", "deletedFileRetentionDuration")
	l.refused("VACUUM t RETAIN -1 HOURS", "")
	l.exec("CREATE TABLE u (id INT) TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 0 hours')",
		"INSERT INTO u VALUES (1)", "INSERT INTO u VALUES (2)", "OPTIMIZE u")
	would := l.rows("VACUUM u RETAIN 0 HOURS DRY RUN")
	require.Len(t, would, 2)
	require.Len(t, l.rows("VACUUM u RETAIN 0 HOURS"), 1)
	for _, uri := range would {
		_, err := os.Stat(strings.TrimPrefix(uri, "file://"))
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	require.Equal(t, []string{"1", "2"}, l.rows("SELECT id FROM u ORDER BY id"))
	l.refused("SELECT * FROM u VERSION AS OF 1", "parquet")
}

func TestRestoreStatement(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "DELETE FROM t WHERE id = 1")
	require.Regexp(t, `^\d+\|2\|0\|1\|0\|\d+$`, l.rows("RESTORE TABLE t TO VERSION AS OF 2")[0])
	require.Equal(t, []string{"1", "2"}, l.rows("SELECT id FROM t ORDER BY id"))
	l.exec("RESTORE t TO VERSION AS OF 0")
	require.Empty(t, l.rows("SELECT id FROM t"))
	l.refused("RESTORE t TO VERSION AS OF 99", "99")
	l.refused("RESTORE t TO TIMESTAMP AS OF '2001-01-01'", "2001")
}

// TestRestoreKeepsIdentity: a table that went back hands out no identity value twice.
func TestRestoreKeepsIdentity(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY, s VARCHAR(5))", "INSERT INTO t (s) VALUES ('a'), ('b')", "RESTORE t TO VERSION AS OF 0",
		"INSERT INTO t (s) VALUES ('c')")
	require.Equal(t, []string{"3|c"}, l.rows("SELECT id, s FROM t"))
}

func TestConvertStatement(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, part VARCHAR(20)) PARTITIONED BY (part)", "INSERT INTO t VALUES (1, 'a b'), (2, NULL)")
	require.NoError(t, os.Rename(l.path("lake", "lake", "t"), l.path("plain")))
	require.NoError(t, os.RemoveAll(l.path("plain", "_delta_log")))
	plain := filepath.Join(l.dir, "plain")
	l.refused("CONVERT TO DELTA parquet.`"+plain+"`", "PARTITIONED BY (part")
	l.exec("CONVERT TO DELTA parquet.`" + plain + "` PARTITIONED BY (part VARCHAR(20))")
	require.Equal(t, []string{"1|a b", "2|NULL"}, l.rows("SELECT id, part FROM delta.`"+plain+"` ORDER BY id"))
	l.refused("CONVERT TO DELTA parquet.`/etc`", "--allow-path")
}
