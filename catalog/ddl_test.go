package catalog

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/stretchr/testify/require"
)

func TestDatabases(t *testing.T) {
	l := newLab(t)
	require.Equal(t, []string{"information_schema", "lake", "mysql", "performance_schema", "sys"}, l.rows("SHOW DATABASES"))
	l.exec("CREATE DATABASE shop", "USE shop", "CREATE TABLE items (id INT)", "INSERT INTO items VALUES (7)")
	require.DirExists(t, l.path("lake", "shop", "items", "_delta_log"))
	require.Equal(t, []string{"7"}, l.rows("SELECT * FROM SHOP.items"))
	require.Equal(t, []string{"items"}, l.rows("SHOW TABLES"))
	l.refused("CREATE DATABASE SHOP", "exists")
	l.refused("CREATE DATABASE _x", "does not begin with _")
	l.refused("DROP DATABASE lake", "always exists")
	l.exec("DROP DATABASE shop")
	require.Equal(t, []string{"information_schema", "lake", "mysql", "performance_schema", "sys"}, l.rows("SHOW DATABASES"))
	l.refused("SELECT * FROM shop.items", "database not found")
}

func TestDroppedTableStaysHiddenAndItsNameIsFree(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)", "DROP TABLE t")
	require.Empty(t, l.rows("SHOW TABLES"))
	require.NoDirExists(t, l.path("lake", "lake", "t"))
	l.refused("SELECT * FROM t", "table not found")
	l.refused("DROP TABLE t", "Unknown table")
	l.exec("DROP TABLE IF EXISTS t", "CREATE TABLE t (b VARCHAR(10))", "INSERT INTO t VALUES ('new')")
	require.Equal(t, []string{"new"}, l.rows("SELECT * FROM t"))
	l.refused("CREATE TABLE T (a INT)", "already exists")
	l.exec("CREATE TABLE IF NOT EXISTS t (a INT)")
}

// A crash between the tombstone and the deletion leaves the folder: it stays hidden, and a new table goes elsewhere.
func TestTombstoneHidesFolderThatIsStillThere(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)")
	saved := l.path("saved")
	require.NoError(t, os.CopyFS(saved, os.DirFS(l.path("lake", "lake", "t"))))
	l.exec("DROP TABLE t")
	require.NoError(t, os.CopyFS(l.path("lake", "lake", "t"), os.DirFS(saved)))
	require.Empty(t, l.rows("SHOW TABLES"))
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (2)")
	require.Equal(t, []string{"2"}, l.rows("SELECT * FROM t"))
	require.Equal(t, []string{"t"}, l.rows("SHOW TABLES"))
	l.exec("DROP TABLE t")
	require.Empty(t, l.rows("SHOW TABLES"))
}

func TestFolderThatTurnsUpIsATable(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)")
	require.NoError(t, os.CopyFS(l.path("lake", "sales", "q1"), os.DirFS(l.path("lake", "lake", "t"))))
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM sales.Q1"))
	require.Equal(t, []string{"information_schema", "lake", "mysql", "performance_schema", "sales", "sys"}, l.rows("SHOW DATABASES"))
	require.Equal(t, []string{"q1"}, l.rows("SHOW TABLES FROM sales"))
}

func TestExternalTables(t *testing.T) {
	l := newLab(t)
	l.exec(
		"CREATE TABLE e (id INT, name STRING) USING DELTA LOCATION './outside/e' COMMENT 'kept elsewhere' TBLPROPERTIES ('k' = 'v')",
		"INSERT INTO e VALUES (1, 'one')",
		"CREATE TABLE again USING DELTA LOCATION './outside/e'",
	)
	require.Equal(t, []string{"1|one"}, l.rows("SELECT * FROM again"))
	require.Equal(t, []string{"1|one"}, l.rows("SELECT * FROM delta.`"+l.path("outside", "e")+"`"))
	require.Equal(t, []string{"again", "e"}, l.rows("SHOW TABLES"))
	l.exec("DROP TABLE e")
	require.DirExists(t, l.path("outside", "e", "_delta_log"))
	require.Equal(t, []string{"1|one"}, l.rows("SELECT * FROM again"))
	l.refused("CREATE TABLE other (id BIGINT) USING DELTA LOCATION './outside/e'", "leave the columns out")
	l.refused("CREATE TABLE none USING DELTA LOCATION './outside/none'", "give the columns")
	l.refused("CREATE TABLE far (a INT) USING DELTA LOCATION '/etc/lake'", "/etc/lake")
	l.refused("SELECT * FROM delta.`/etc/lake`", "/etc/lake")
}

func TestPartitionedTable(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE p (id INT, day DATE, v DOUBLE) USING DELTA PARTITIONED BY (day)",
		"INSERT INTO p VALUES (1, '2024-01-01', 1.5), (2, '2024-01-02', 2.5), (3, NULL, 3.5)")
	require.DirExists(t, l.path("lake", "lake", "p", "day=2024-01-01"))
	require.Equal(t, []string{"1|2024-01-01|1.5", "2|2024-01-02|2.5", "3|NULL|3.5"}, l.rows("SELECT * FROM p ORDER BY id"))
	require.Equal(t, []string{"2"}, l.rows("SELECT id FROM p WHERE day = '2024-01-02'"))
}

func TestCreateTableForms(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE src (id INT NOT NULL, s VARCHAR(5), b BOOL)", "INSERT INTO src VALUES (1, 'a', true), (2, NULL, false)",
		"CREATE TABLE ctas AS SELECT id, s, id * 2 AS twice FROM src",
		"CREATE TABLE ctas2 USING DELTA PARTITIONED BY (s) AS SELECT id, s FROM src WHERE id = 1",
		"CREATE TABLE lk LIKE src")
	require.Equal(t, []string{"1|a|2", "2|NULL|4"}, l.rows("SELECT * FROM ctas ORDER BY id"))
	require.Equal(t, []string{"1|a"}, l.rows("SELECT * FROM ctas2"))
	l.exec("CREATE TABLE ctas3 AS SELECT MAX(id) AS most FROM src WHERE id > 100")
	require.Equal(t, []string{"NULL"}, l.rows("SELECT * FROM ctas3"), "GMS says that MAX is never NULL")
	require.DirExists(t, l.path("lake", "lake", "ctas2", "s=a"))
	require.Equal(t, []string{"id|int|NO||NULL|", "s|varchar(5)|YES||NULL|", "b|tinyint(1)|YES||NULL|"}, l.rows("DESCRIBE lk"))
	l.refused("INSERT INTO lk VALUES (NULL, 'x', true)", "id")
	l.refused("CREATE TABLE bad (a TIME)", "TIME", "VARCHAR")
	l.refused("CREATE TABLE bad (a ENUM('x'))", "ENUM", "VARCHAR")
	l.refused("CREATE TABLE bad (a DECIMAL(50,2))", "DECIMAL(38")
	l.refused("CREATE TEMPORARY TABLE tmp (a INT)", "TEMPORARY", "CREATE VIEW")
}

func TestKeysAreInformation(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE k (id INT PRIMARY KEY, u INT UNIQUE, r INT, KEY (r), FOREIGN KEY (r) REFERENCES other (x))")
	warnings := l.sess.Warnings()
	require.Len(t, warnings, 4, "KEY too")
	require.Contains(t, warnings[0].Message, "KEY (r) has no effect")
	require.Contains(t, warnings[3].Message, "kept as information")
	l.exec("INSERT INTO k VALUES (1, 1, 1), (1, 1, 1)")
	require.Equal(t, []string{"2"}, l.rows("SELECT COUNT(*) FROM k WHERE id = 1"))
	l.refused("INSERT INTO k (u) VALUES (1)", "id")
	require.Contains(t, l.rows("DESCRIBE DETAIL k")[0], "lakesql.primaryKey")
}

func TestViews(t *testing.T) {
	dir := t.TempDir()
	l := openLab(t, dir)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2), (3)", "CREATE VIEW big AS SELECT a FROM t WHERE a > 1")
	require.Equal(t, []string{"2", "3"}, l.rows("SELECT * FROM big ORDER BY a"))
	l.refused("CREATE TABLE big (a INT)", "already exists")
	l.refused("CREATE VIEW t AS SELECT 1", "already exists")
	again := openLab(t, dir)
	require.Equal(t, []string{"2"}, again.rows("SELECT COUNT(*) FROM big"))
	again.exec("DROP VIEW big")
	l.refused("SELECT * FROM big", "table not found")
}

func TestTwoCatalogsOnOneLake(t *testing.T) {
	dir := t.TempDir()
	a, b := openLab(t, dir), openLab(t, dir)
	a.exec("CREATE DATABASE one", "CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)")
	b.refused("CREATE DATABASE one", "exists")
	require.Equal(t, []string{"1"}, b.rows("SELECT * FROM t"))
	b.exec("INSERT INTO t VALUES (2)", "CREATE TABLE x (v INT) USING DELTA LOCATION './x'")
	require.Equal(t, []string{"1", "2"}, a.rows("SELECT * FROM t ORDER BY a"))
	a.refused("CREATE TABLE x (v INT)", "already exists")
	b.exec("DROP TABLE t")
	a.refused("SELECT * FROM t", "table not found")
}

func TestDatabaseFromBothCatalogsAtOnce(t *testing.T) {
	dir := t.TempDir()
	a, b := openLab(t, dir), openLab(t, dir)
	done := make(chan error, 2)
	for _, l := range []*lab{a, b} {
		go func() { _, err := l.try("CREATE DATABASE twice"); done <- err }()
	}
	var failed int
	for range 2 {
		if err := <-done; err != nil {
			require.True(t, sql.ErrDatabaseExists.Is(err), "%v", err)
			failed++
		}
	}
	require.Equal(t, 1, failed)
}

func TestTimeTravel(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)")
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM t VERSION AS OF 1"))
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM t FOR VERSION AS OF 1 AS x"))
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM t AS OF 1"))
	require.Empty(t, l.rows("SELECT * FROM t VERSION AS OF 0"))
	require.Eventually(t, func() bool { // versions of one tick of the disk's clock are a millisecond apart, and so may lie ahead by some
		return l.rows("SELECT COUNT(*) FROM t TIMESTAMP AS OF '" + time.Now().UTC().Format("2006-01-02 15:04:05.999999") + "'")[0] == "2"
	}, time.Minute, time.Millisecond)
	l.refused("SELECT * FROM t VERSION AS OF 9", "version")
	history := l.rows("DESCRIBE HISTORY t")
	require.Len(t, history, 3)
	require.Contains(t, history[0], "WRITE")
	require.Len(t, l.rows("DESCRIBE HISTORY t LIMIT 1"), 1)
}

func TestRefusedStatements(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)")
	l.refused("REPLACE INTO t VALUES (1)", "MERGE INTO t t USING (SELECT ...) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
	l.refused("INSERT INTO lake.t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = a + 1", "MERGE INTO lake.t t", "ON t.a = s.a WHEN MATCHED THEN UPDATE SET a = a + 1 ")
	l.refused("SELECT * FROM t INTO OUTFILE '/tmp/x.csv'", "server's disk")
}

func TestTableReplacedByAnotherServer(t *testing.T) {
	dir := t.TempDir()
	a, b := openLab(t, dir), openLab(t, dir)
	a.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (3)")
	require.Equal(t, []string{"3"}, a.rows("SELECT COUNT(*) FROM t"))
	b.exec("DROP TABLE t", "CREATE TABLE t (s VARCHAR(10))", "INSERT INTO t VALUES ('new')")
	require.Equal(t, []string{"new"}, a.rows("SELECT * FROM t"))
	a.exec("INSERT INTO t VALUES ('more')")
	require.Equal(t, []string{"more", "new"}, b.rows("SELECT * FROM t ORDER BY s"))
}

func TestDatabaseWithACollation(t *testing.T) {
	l := newLab(t)
	for i, clause := range []string{"", "DEFAULT CHARACTER SET utf8mb4", "CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"} {
		l.exec(fmt.Sprintf("CREATE DATABASE d%d %s", i, clause), fmt.Sprintf("CREATE TABLE d%d.t (a VARCHAR(9))", i))
	}
	l.exec("ALTER DATABASE d0 COLLATE utf8mb4_0900_ai_ci")
	warnings := l.sess.Warnings()
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0].Message, "utf8mb4_0900_ai_ci is not kept")
	require.Equal(t, []string{"d0|utf8mb4_0900_bin"},
		l.rows("SELECT SCHEMA_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'd0'"))
}

func TestShowCreateTableMakesTheSameTable(t *testing.T) {
	l := newLab(t)
	l.exec(
		"CREATE TABLE a (i INT NOT NULL COMMENT 'it''s \"1\"', s VARCHAR(20), c CHAR(3), d DECIMAL(10,2), b BLOB, ok BOOLEAN, at TIMESTAMP, day DATE, t TEXT) COMMENT = 'the ''table'''",
		"CREATE TABLE `strange-name` (`select` INT, p VARCHAR(9), q DATE) PARTITIONED BY (p, q) TBLPROPERTIES ('delta.appendOnly' = 'true', 'k' = 'it''s')",
		"CREATE TABLE away (a INT) LOCATION '"+l.path("away")+"'",
	)
	l.exec("CREATE TABLE rules (id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 5), n INT AUTO_INCREMENT, d INT NOT NULL DEFAULT 1 + 1, at TIMESTAMP DEFAULT current_timestamp(), s STRING DEFAULT 'it''s' COMMENT 'c', " +
		"day DATE GENERATED ALWAYS AS (CAST(at AS DATE)), st STRUCT<`a b`: INT NOT NULL, l: ARRAY<STRING>>, m MAP<STRING, DECIMAL(5,2)>, nt TIMESTAMP_NTZ, v VARIANT, j JSON, u INT UNIQUE, r INT REFERENCES o (x), " +
		"CONSTRAINT pos CHECK (d > 0 AND s <> ')'), PRIMARY KEY (n, d), FOREIGN KEY (u, r) REFERENCES o (x, y)) CLUSTER BY (d, st.`a b`) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
	for _, name := range []string{"a", "strange-name", "away", "rules"} {
		show := fmt.Sprintf("SHOW CREATE TABLE `%s`", name)
		rows, err := l.try("%s", show)
		require.NoError(t, err)
		text := rows[0][1].(string)
		require.Contains(t, text, "\n) ENGINE=DELTA DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin")
		l.exec(fmt.Sprintf("DROP TABLE `%s`", name), text)
		again, err := l.try("%s", show)
		require.NoError(t, err)
		require.Equal(t, text, again[0][1])
	}
	require.Contains(t, l.rows("SHOW CREATE TABLE `strange-name`")[0], " PARTITIONED BY (`p`, `q`) TBLPROPERTIES (")
	require.Contains(t, l.rows("SHOW CREATE TABLE away")[0], " LOCATION 'file://")
	require.Contains(t, l.rows("SHOW CREATE TABLE information_schema.tables")[0], "TABLE `tables`")
	l.exec("CREATE VIEW v AS SELECT i FROM a")
	require.Contains(t, l.rows("SHOW CREATE TABLE v")[0], "VIEW")
}

func TestCreateTableAsSelectThatFailsLeavesNothing(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE src (a BIGINT, s VARCHAR(20))", "INSERT INTO src VALUES (1,'x'), (9223372036854775807,'y')")
	l.refused("CREATE TABLE t AS SELECT a + 1 AS b FROM src", "BIGINT value is out of range")
	l.refused("CREATE TABLE t (s VARCHAR(20) NOT NULL) AS SELECT NULLIF(s, 'y') AS s FROM src")
	l.refused("SELECT * FROM t", "not found")
	l.exec("CREATE TABLE t AS SELECT a FROM src")
	l.refused("CREATE TABLE t AS SELECT a + 1 AS b FROM src", "already exists")
	require.Equal(t, []string{"2"}, l.rows("SELECT COUNT(*) FROM t"))
}

func TestDropTableNeedsNoTableThatOpens(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE away (a INT) LOCATION '"+l.path("away")+"'", "CREATE TABLE a (a INT)", "CREATE TABLE b (a INT)", "CREATE VIEW v AS SELECT a FROM a")
	require.NoError(t, os.RemoveAll(l.path("away")))
	l.refused("SELECT * FROM away", "has no Delta log any more; DROP TABLE forgets the table")
	l.exec("DROP TABLE away")
	l.refused("DROP TABLE a, nope", "nope")
	l.refused("DROP TABLE v", "v")
	l.refused("DROP TABLE nodb.a", "nodb")
	l.refused("DROP TABLE information_schema.tables", "information_schema")
	require.Equal(t, []string{"a", "b", "v"}, l.rows("SHOW TABLES"))
	l.exec("DROP TABLE IF EXISTS a, nope, lake.B")
	require.Len(t, l.sess.Warnings(), 1)
	require.Equal(t, []string{"v"}, l.rows("SHOW TABLES"))
}
