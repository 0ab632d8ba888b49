package catalog

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

func TestCreateOrReplaceKeepsTheTable(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE OR REPLACE TABLE t (a INT, b VARCHAR(9)) COMMENT 'first' TBLPROPERTIES ('k' = 'v')", "INSERT INTO t VALUES (1, 'x'), (2, 'y')")
	id := func() string { return l.rows("DESCRIBE DETAIL t")[0][len("delta|"):45] }
	first := id()
	l.exec("CREATE OR REPLACE TABLE t (c DATE NOT NULL, d INT) PARTITIONED BY (C) COMMENT 'second'")
	require.Equal(t, first, id())
	require.Empty(t, l.rows("SELECT * FROM t"))
	require.Equal(t, []string{"c|date|NO||NULL|", "d|int|YES||NULL|"}, l.rows("DESCRIBE t"))
	require.Contains(t, l.rows("DESCRIBE HISTORY t LIMIT 1")[0], "CREATE OR REPLACE TABLE")
	require.Equal(t, []string{"1|x", "2|y"}, l.rows("SELECT * FROM t VERSION AS OF 1 ORDER BY a"))
}

// Ids of columns are not given twice: what a reader of an older version knows by an id is not another column's.
func TestCreateOrReplaceTakesNewColumnIDs(t *testing.T) {
	l := newLab(t)
	mapped := " TBLPROPERTIES ('delta.columnMapping.mode' = 'id')"
	fields := func() []batch.Field {
		handle, err := l.c.tableAtPath(l.ctx(), l.path("p"))
		require.NoError(t, err)
		snap, err := handle.Snapshot(t.Context())
		require.NoError(t, err)
		return snap.Schema().Fields
	}
	table := "delta.`" + l.path("p") + "`"
	l.exec("CREATE OR REPLACE TABLE "+table+" (a INT, b INT)"+mapped, "INSERT INTO "+table+" VALUES (1, 2)")
	l.exec("CREATE OR REPLACE TABLE " + table + " (b INT)" + mapped)
	require.Equal(t, "3", fields()[0].Metadata["delta.columnMapping.id"])
	l.exec("CREATE OR REPLACE TABLE " + table + mapped + " AS SELECT 7 AS c")
	require.Equal(t, "4", fields()[0].Metadata["delta.columnMapping.id"])
	require.Equal(t, []string{"7"}, l.rows("SELECT * FROM "+table))
	require.Equal(t, []string{"1|2"}, l.rows("SELECT * FROM "+table+" VERSION AS OF 1"))
	l.exec("CREATE TABLE m (x INT NOT NULL CHECK (x < 9), y INT GENERATED ALWAYS AS (x + 1)) PARTITIONED BY (x) COMMENT 'about' "+mapped,
		"CREATE OR REPLACE TABLE "+table+" LIKE m")
	require.Equal(t, []string{"5", "6"}, []string{fields()[0].Metadata["delta.columnMapping.id"], fields()[1].Metadata["delta.columnMapping.id"]})
	l.exec("INSERT INTO " + table + " (x) VALUES (8)")
	l.refused("INSERT INTO "+table+" (x) VALUES (9)", "x < 9")
	require.Equal(t, []string{"8|9"}, l.rows("SELECT * FROM "+table))
	l.exec("CREATE OR REPLACE TABLE "+table+" (z INT)", "CREATE OR REPLACE TABLE "+table+" (z INT)"+mapped)
	require.Equal(t, "7", fields()[0].Metadata["delta.columnMapping.id"])
}

func TestCreateOrReplaceAsSelectIsOneCommit(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2), (3)")
	l.exec("CREATE OR REPLACE TABLE t USING DELTA AS SELECT a * 10 AS a, 'x' AS s FROM t WHERE a > 1")
	require.Equal(t, []string{"20|x", "30|x"}, l.rows("SELECT * FROM t ORDER BY a"))
	history := l.rows("DESCRIBE HISTORY t")
	require.Len(t, history, 3)
	require.Contains(t, history[0], "CREATE OR REPLACE TABLE AS SELECT")
	l.exec("CREATE TABLE u AS SELECT s, COUNT(*) AS n FROM t GROUP BY s")
	require.Len(t, l.rows("DESCRIBE HISTORY u"), 1)
	require.Equal(t, []string{"x|2"}, l.rows("SELECT * FROM u"))
	l.exec("CREATE VIEW v AS SELECT 1")
	l.refused("CREATE OR REPLACE TABLE v (a INT)", "DROP VIEW")
	l.refused("CREATE OR REPLACE TABLE t AS SELECT nothing FROM t", "nothing")
	require.Equal(t, []string{"20|x", "30|x"}, l.rows("SELECT * FROM t ORDER BY a"))
}

func TestSelectGivesExactTypes(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE src (n TIMESTAMP_NTZ, d DECIMAL(20,3), j JSON, v VARCHAR(7))",
		`INSERT INTO src VALUES ('2024-01-01 00:00:00', 1.5, '[1]', 'abc')`,
		"CREATE TABLE t (extra INT, v TEXT) AS SELECT n, d, j, v FROM src", "CREATE TABLE u AS SELECT d + 1 AS d, n AS at FROM src")
	require.Equal(t, []string{`NULL|abc|2024-01-01 00:00:00.000000|1.500|[1]`}, l.rows("SELECT * FROM t"))
	require.Equal(t, []string{"extra|int|YES||NULL|", "v|varchar(16383)|YES||NULL|", "n|datetime(6)|YES||NULL|", "d|decimal(20,3)|YES||NULL|", "j|json|YES||NULL|"},
		l.rows("DESCRIBE t"))
	require.Equal(t, []string{"2.500|2024-01-01 00:00:00.000000"}, l.rows("SELECT * FROM u"))
	require.Contains(t, l.rows("SHOW CREATE TABLE u")[0], "timestamp_ntz")
}

func TestCreateTableLikeCopiesTheDefinition(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE src (a INT NOT NULL COMMENT 'it', p DATE, s ARRAY<INT>) PARTITIONED BY (p) COMMENT 'about' TBLPROPERTIES ('delta.appendOnly' = 'true', 'k' = 'v')",
		"INSERT INTO src VALUES (1, NULL, NULL)", "CREATE TABLE t LIKE src", "CREATE TABLE IF NOT EXISTS t LIKE src")
	require.Empty(t, l.rows("SELECT * FROM t"))
	require.Equal(t, l.rows("DESCRIBE src"), l.rows("DESCRIBE t"))
	text := l.rows("SHOW CREATE TABLE t")[0]
	require.Contains(t, text, "PARTITIONED BY (`p`)")
	require.Contains(t, text, "'delta.appendOnly' = 'true'")
	require.Contains(t, text, "COMMENT='about'")
	l.refused("CREATE TABLE t LIKE src", "exists")
	l.refused("CREATE TABLE u LIKE none", "none")
}

func TestFailedReplaceLeavesTheTable(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT) TBLPROPERTIES ('delta.appendOnly' = 'true')", "INSERT INTO t VALUES (1)")
	l.refused("CREATE OR REPLACE TABLE t (b INT)", "append-only")
	l.refused("CREATE OR REPLACE TABLE t (b INT) LOCATION './elsewhere'", "leave LOCATION out")
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM t"))
	_, err := os.Stat(l.path("elsewhere"))
	require.True(t, os.IsNotExist(err))
	l.exec("CREATE OR REPLACE TABLE delta.`"+l.path("p")+"` (a INT)", "CREATE OR REPLACE TABLE delta.`"+l.path("p")+"` AS SELECT 5 AS b")
	require.Equal(t, []string{"5"}, l.rows("SELECT b FROM delta.`"+l.path("p")+"`"))
	l.refused("CREATE TABLE delta.`"+l.path("p")+"` (a INT)", "exists")
}
