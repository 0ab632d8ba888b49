package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/stretchr/testify/require"
)

func TestAlterColumns(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, s STRUCT<x: INT>)", `INSERT INTO t VALUES (1, '{"x": 5}')`,
		"ALTER TABLE t ADD COLUMN b VARCHAR(9) COMMENT 'bee' AFTER a, ADD COLUMNS (c DATE, s.y STRING FIRST)", `INSERT INTO t VALUES (2, 'b', '{"y": "why", "x": 6}', NULL)`)
	require.Equal(t, []string{"a|int|YES||NULL|", "b|varchar(9)|YES||NULL|", "s|json|YES||NULL|", "c|date|YES||NULL|"}, l.rows("DESCRIBE t"))
	require.Equal(t, []string{`1|NULL|{"y":null,"x":5}|NULL`, `2|b|{"y":"why","x":6}|NULL`}, l.rows("SELECT * FROM t ORDER BY a"))
	history := l.rows("DESCRIBE HISTORY t")
	require.Len(t, history, 4)
	require.Contains(t, history[1], "ADD COLUMNS")
	l.exec("ALTER TABLE t ADD COLUMN IF NOT EXISTS B INT", "ALTER TABLE t DROP COLUMN IF EXISTS none", "ALTER TABLE t ALTER COLUMN b COMMENT 'new' FIRST")
	require.Equal(t, []string{"b", "a", "s", "c"}, columnsOf(l.rows("DESCRIBE t")))
	_, err := l.try("ALTER TABLE t ADD COLUMN b INT")
	require.True(t, sql.ErrColumnExists.Is(err), "%v", err)
	l.refused("ALTER TABLE t DROP COLUMN b", "delta.columnMapping.mode")
	l.refused("ALTER TABLE t ADD COLUMN d INT NOT NULL", "rows in lake.t", "without NOT NULL", "ALTER COLUMN d SET NOT NULL")
	l.refused("ALTER TABLE t ADD COLUMN d INT DEFAULT 5", "default")
	l.refused("ALTER TABLE t MODIFY nothing INT", "nothing")
	l.refused("ALTER TABLE none ADD COLUMN b INT", "none")

	l.exec("ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "ALTER TABLE t RENAME COLUMN b TO `b b`, DROP COLUMN c", "ALTER TABLE t RENAME COLUMN s.x TO z",
		"ALTER TABLE t CHANGE a id INT COMMENT 'key'", `INSERT INTO t VALUES ('new', 3, '{"z": 7}')`)
	require.Equal(t, []string{`NULL|1|{"y":null,"z":5}`, `b|2|{"y":"why","z":6}`, `new|3|{"y":null,"z":7}`}, l.rows("SELECT * FROM t ORDER BY id"))
	require.Equal(t, []string{`1|{"x":5}`}, l.rows("SELECT * FROM t VERSION AS OF 1"))
	l.exec("ALTER TABLE t ADD COLUMN c INT")
	require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM t WHERE c IS NULL"))
}

func columnsOf(described []string) []string {
	out := make([]string, len(described))
	for i, row := range described {
		for j := range row {
			if row[j] == '|' {
				out[i] = row[:j]
				break
			}
		}
	}
	return out
}

func TestAlterTypes(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, v VARCHAR(5), d DECIMAL(5,2))", "INSERT INTO t VALUES (1, 'abc', 1.5)")
	l.refused("ALTER TABLE t MODIFY a BIGINT", "delta.enableTypeWidening")
	l.exec("ALTER TABLE t SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')", "ALTER TABLE t MODIFY a BIGINT, CHANGE COLUMN d TYPE DECIMAL(12,4)",
		"INSERT INTO t VALUES (5000000000, 'x', 12345678.1234)", "ALTER TABLE t MODIFY v VARCHAR(20)", "ALTER TABLE t ALTER COLUMN v TYPE STRING")
	require.Equal(t, []string{"1|abc|1.5000", "5000000000|x|12345678.1234"}, l.rows("SELECT * FROM t ORDER BY a"))
	require.Equal(t, []string{"a|bigint|YES||NULL|", "v|varchar(16383)|YES||NULL|", "d|decimal(12,4)|YES||NULL|"}, l.rows("DESCRIBE t"))
	l.refused("ALTER TABLE t MODIFY a INT", "wider")
	l.refused("ALTER TABLE t MODIFY v VARCHAR(2)", "can become longer")
	l.refused("ALTER TABLE t MODIFY a TIME", "TIME")
}

func TestAlterRules(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, b INT)", "INSERT INTO t VALUES (1, NULL), (-2, 3), (-3, NULL)")
	l.refused("ALTER TABLE t ADD CONSTRAINT pos CHECK (a > 0)", "2 rows in lake.t violate the new constraint pos (a > 0)")
	l.refused("ALTER TABLE t MODIFY b INT NOT NULL", "2 rows", "NOT NULL of column b")
	l.exec("DELETE FROM t WHERE a < 0", "ALTER TABLE t ADD CONSTRAINT pos CHECK (a > 0), ALTER COLUMN a SET NOT NULL, ALTER COLUMN b SET DEFAULT (1 + 1)")
	l.refused("INSERT INTO t (a) VALUES (-1)", "pos")
	l.refused("INSERT INTO t VALUES (NULL, 1)", "a")
	l.exec("INSERT INTO t (a) VALUES (5)")
	require.Equal(t, []string{"1|NULL", "5|2"}, l.rows("SELECT * FROM t ORDER BY a"))
	l.exec("ALTER TABLE t DROP CONSTRAINT pos, ALTER COLUMN a DROP NOT NULL, ALTER COLUMN b DROP DEFAULT", "INSERT INTO t (a) VALUES (-1), (NULL)")
	require.Equal(t, []string{"NULL|NULL", "-1|NULL"}, l.rows("SELECT * FROM t WHERE a < 0 OR a IS NULL ORDER BY a"))
	l.refused("ALTER TABLE t DROP CHECK pos", "pos")
	l.exec("ALTER TABLE t DROP CONSTRAINT IF EXISTS pos")
	l.refused("ALTER TABLE t ADD CHECK (nothing > 1)", "nothing")
	l.refused("ALTER TABLE t ALTER COLUMN a SET DEFAULT 'x'", "DEFAULT of column a")

	l.exec("CREATE TABLE fresh (a INT)", "ALTER TABLE fresh ADD COLUMN b INT NOT NULL DEFAULT 7 CHECK (b > 5)", "INSERT INTO fresh (a) VALUES (1)")
	require.Equal(t, []string{"1|7"}, l.rows("SELECT * FROM fresh"))
	l.refused("INSERT INTO fresh VALUES (1, 5)", "fresh_chk_1")
}

func TestAlterProperties(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, b INT)", "ALTER TABLE t SET TBLPROPERTIES ('delta.appendOnly' = 'true', 'k' = 'v'), COMMENT = 'about'")
	require.Equal(t, []string{"k|v"}, l.rows("SHOW TBLPROPERTIES t ('k')"))
	require.Contains(t, l.rows("DESCRIBE DETAIL t")[0], "|about|")
	l.refused("ALTER TABLE t UNSET TBLPROPERTIES ('nope')", "IF EXISTS")
	l.exec("ALTER TABLE t UNSET TBLPROPERTIES ('k')", "ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('nope', 'delta.appendOnly')", "COMMENT ON TABLE t IS 'else'", "COMMENT ON COLUMN t.a IS 'col'")
	require.Contains(t, l.rows("SHOW TBLPROPERTIES t ('k')")[0], "does not have property")
	require.Contains(t, l.rows("SHOW CREATE TABLE t")[0], "COMMENT 'col'")
	l.refused("ALTER TABLE t SET TBLPROPERTIES ('delta.nothing' = '1')", "delta.nothing")
	l.refused("ALTER TABLE t SET TBLPROPERTIES ('lakesql.primaryKey' = 'a')", "kept for the server")
	l.exec("ALTER TABLE t ADD PRIMARY KEY (a), ADD UNIQUE KEY (b)")
	require.Contains(t, l.rows("DESCRIBE t"), "a|int|NO|PRI|NULL|")
	l.refused("ALTER TABLE t ADD PRIMARY KEY (b)", "primary key")
	l.exec("ALTER TABLE t DROP PRIMARY KEY")
	l.refused("ALTER TABLE t DROP PRIMARY KEY", "PRIMARY KEY")
	l.exec("ALTER TABLE t DISABLE KEYS")
	require.Len(t, l.sess.Warnings(), 1)
	require.Len(t, l.rows("DESCRIBE HISTORY t"), 8)
}

func TestClusterBy(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, s STRUCT<x: INT>) CLUSTER BY (a, s.x)")
	require.Contains(t, l.rows("DESCRIBE DETAIL t")[0], `|["a","s.x"]|`)
	l.exec("INSERT INTO t (a) VALUES (1)", "ALTER TABLE t CLUSTER BY (a)")
	require.Contains(t, l.rows("DESCRIBE DETAIL t")[0], `|["a"]|`)
	require.Contains(t, l.rows("SHOW CREATE TABLE t")[0], "CLUSTER BY (`a`)")
	l.exec("ALTER TABLE t CLUSTER BY NONE")
	require.Contains(t, l.rows("DESCRIBE DETAIL t")[0], `|[]|`)
	l.exec("CREATE TABLE u (a INT)", "ALTER TABLE u CLUSTER BY NONE", "ALTER TABLE u CLUSTER BY (a)", "CREATE TABLE v LIKE u", "CREATE OR REPLACE TABLE u (a INT)")
	require.Contains(t, l.rows("DESCRIBE DETAIL v")[0], `|["a"]|`)
	require.Contains(t, l.rows("DESCRIBE DETAIL u")[0], `|[]|`)
	l.refused("CREATE TABLE w (a INT, b INT) PARTITIONED BY (a) CLUSTER BY (b)", "not both")
	l.refused("CREATE TABLE w (a INT) CLUSTER BY (z)", "z")
}

func TestDropFeature(t *testing.T) {
	l := newLab(t)
	protocol := func() []string {
		return slices.DeleteFunc(l.rows("SHOW TBLPROPERTIES t"), func(p string) bool {
			return !strings.HasPrefix(p, "delta.feature.") && !strings.HasPrefix(p, "delta.min")
		})
	}
	l.exec("CREATE TABLE t (id BIGINT, n INT DEFAULT 5) CLUSTER BY (id) TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", "INSERT INTO t (id) VALUES (1)")
	l.refused("ALTER TABLE t DROP FEATURE allowColumnDefaults", "DELTA_FEATURE_DROP_CONFLICT", "DROP DEFAULT")
	l.refused("ALTER TABLE t DROP FEATURE clustering", "CLUSTER BY NONE")
	l.refused("ALTER TABLE t DROP FEATURE inCommitTimestamp", "UNSET TBLPROPERTIES ('delta.enableInCommitTimestamps')")
	l.refused("ALTER TABLE t DROP FEATURE checkConstraints", "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT")
	l.refused("ALTER TABLE t DROP FEATURE nosuch", "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT", "nosuch")
	l.exec("ALTER TABLE t CLUSTER BY NONE")
	l.refused("ALTER TABLE t DROP FEATURE domainMetadata", "DELTA_FEATURE_DROP_CONFLICT")
	l.exec("ALTER TABLE t ALTER COLUMN n DROP DEFAULT, DROP FEATURE allowColumnDefaults", "ALTER TABLE t DROP FEATURE clustering")
	require.Equal(t, []string{"delta.feature.appendOnly|supported", "delta.feature.domainMetadata|supported", "delta.feature.inCommitTimestamp|supported",
		"delta.feature.invariants|supported", "delta.minReaderVersion|1", "delta.minWriterVersion|7"}, protocol())
	l.exec("ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'false'), DROP FEATURE INCOMMITTIMESTAMP", "ALTER TABLE t DROP FEATURE domainMetadata")
	require.Equal(t, []string{"delta.minReaderVersion|1", "delta.minWriterVersion|2"}, protocol(), "old version numbers say it again")
	require.NotContains(t, strings.Join(l.rows("SHOW TBLPROPERTIES t"), " "), "Enablement")
	l.exec("INSERT INTO t VALUES (2, 6)", "ALTER TABLE t ADD CONSTRAINT c CHECK (id > 0)", "ALTER TABLE t DROP CONSTRAINT c", "ALTER TABLE t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
		"ALTER TABLE t DROP FEATURE checkConstraints", "UPDATE t SET n = 7 WHERE id = 2")
	require.Equal(t, []string{"delta.feature.appendOnly|supported", "delta.feature.changeDataFeed|supported", "delta.feature.generatedColumns|supported",
		"delta.feature.invariants|supported", "delta.minReaderVersion|1", "delta.minWriterVersion|7"}, protocol(), "what the old number stood for is listed")
	require.Equal(t, []string{"1|5", "2|7"}, l.rows("SELECT * FROM t ORDER BY id"))
	require.Contains(t, strings.Join(l.rows("DESCRIBE HISTORY t"), " "), `DROP FEATURE|{"featureName":"clustering","truncateHistory":"false"}`)
	for _, feature := range []string{"deletionVectors", "columnMapping", "rowTracking", "checkpointProtection", "changeDataFeed TRUNCATE HISTORY"} {
		l.refused("ALTER TABLE t DROP FEATURE "+feature, "not supported yet", "CREATE TABLE ... AS SELECT")
	}
}

func TestAlterRunsAgainWhenItLoses(t *testing.T) {
	dir := t.TempDir()
	a, b := openLab(t, dir), openLab(t, dir)
	a.exec("CREATE TABLE t (i INT)")
	done := make(chan error, 2)
	for i, l := range []*lab{a, b} {
		go func() {
			for n := range 5 {
				if _, err := l.try("ALTER TABLE t ADD COLUMN c%d_%d INT", i, n); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Len(t, a.rows("DESCRIBE t"), 11)
}
