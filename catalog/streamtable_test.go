package catalog

import (
	"os"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/stretchr/testify/require"
)

func TestStreamFromATable(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (id INT, name VARCHAR(10))", "INSERT INTO a VALUES (1, 'ann'), (2, 'bob')")
	l.exec("CREATE STREAM s INTO b WITH CHECKPOINT './cp/s' AS SELECT id, upper(name) AS name FROM STREAM a WHERE id <> 2", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|ANN"}, l.rows("SELECT * FROM b"))
	l.exec("INSERT INTO a VALUES (3, 'cat')", "INSERT INTO a VALUES (4, 'dan')", "OPTIMIZE a", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|ANN", "3|CAT", "4|DAN"}, l.rows("SELECT * FROM b ORDER BY id"))
	require.Equal(t, []string{"4"}, l.rows("SELECT SUM(NUM_INPUT_ROWS) FROM information_schema.STREAM_PROGRESS"))
	require.Contains(t, l.rows("SELECT SOURCE FROM information_schema.STREAMS")[0], "DeltaSource[file:/")
	l.refused("DROP TABLE a", "is read by the stream lake.s")

	l.exec("ALTER TABLE a ADD COLUMN day DATE", "INSERT INTO a VALUES (5, 'eve', '2024-01-02')", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"4"}, l.rows("SELECT COUNT(*) FROM b"), "the SELECT names its columns")

	l.exec("DELETE FROM a WHERE id = 5")
	l.refused("WAIT FOR STREAM s TIMEOUT 300 SECONDS", "DELTA_SOURCE_")
	require.Equal(t, []string{"FAILED"}, l.rows("SELECT STATE FROM information_schema.STREAMS"))
	l.exec("CREATE OR REPLACE STREAM s INTO b WITH CHECKPOINT './cp/s' AS SELECT id, upper(name) AS name FROM STREAM(a, skipChangeCommits => true)",
		"INSERT INTO a VALUES (6, 'fay', NULL)", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|ANN", "3|CAT", "4|DAN", "5|EVE", "6|FAY"}, l.rows("SELECT * FROM b ORDER BY id"))
}

func TestNewColumnsGoOnToTheTarget(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (id INT)", "INSERT INTO a VALUES (1)")
	l.exec("CREATE STREAM s INTO b WITH CHECKPOINT './cp/s' AS SELECT * FROM STREAM a", "WAIT FOR STREAM s TIMEOUT 300 SECONDS",
		"INSERT INTO a VALUES (2)", "ALTER TABLE a ADD COLUMN v DOUBLE", "INSERT INTO a VALUES (3, 1.5)", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|NULL", "2|NULL", "3|1.5"}, l.rows("SELECT * FROM b ORDER BY id"))
}

func TestChainOfStreams(t *testing.T) {
	dir := t.TempDir()
	l := openLab(t, dir)
	l.write("in/1.csv", "id\n1\n2\n")
	l.exec("CREATE STREAM first INTO a WITH CHECKPOINT './cp/first' AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true)")
	l.exec("CREATE STREAM second INTO b WITH CHECKPOINT '" + l.path("lake", "lake", "a", "_checkpoints", "second") + "' AS SELECT id * 10 AS id FROM STREAM a")
	wait := []string{"WAIT FOR STREAM first TIMEOUT 300 SECONDS", "WAIT FOR STREAM second TIMEOUT 300 SECONDS"}
	l.exec(wait...)
	require.NoError(t, l.c.Close())
	l = openLab(t, dir)
	l.write("in/2.csv", "id\n3\n")
	l.exec(wait...)
	require.Equal(t, []string{"10", "20", "30"}, l.rows("SELECT * FROM b ORDER BY id"))
}

func TestStreamFromATableByPath(t *testing.T) {
	l := newLab(t)
	require.NoError(t, os.MkdirAll(l.path("out"), 0o755))
	l.exec("CREATE STREAM s INTO b WITH CHECKPOINT './cp/s' AS SELECT * FROM STREAM delta.`./out/a`")
	require.Contains(t, l.rows("SHOW CREATE STREAM s")[0], "delta.`file:///")
	l.exec("CREATE TABLE a (id INT) LOCATION './out/a'", "INSERT INTO a VALUES (7)", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"7"}, l.rows("SELECT * FROM b"))
}

func TestChangeFeedAsASource(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (id INT, v INT) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')", "INSERT INTO a VALUES (1, 1), (2, 2)")
	l.exec("CREATE STREAM s INTO b WITH CHECKPOINT './cp/s' AS SELECT id, v, _change_type AS what, _commit_version AS version FROM STREAM(a, readChangeFeed => true)",
		"WAIT FOR STREAM s TIMEOUT 300 SECONDS", "UPDATE a SET v = 9 WHERE id = 1", "DELETE FROM a WHERE id = 2", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|1|insert|1", "2|2|insert|1", "1|1|update_preimage|2", "1|9|update_postimage|2", "2|2|delete|3"},
		l.rows("SELECT * FROM b ORDER BY version, id, what DESC"))
}

func TestTablesThatNoStreamReads(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (id INT)", "CREATE VIEW v AS SELECT * FROM a")
	stream := func(target, checkpoint, source string) string {
		return "CREATE STREAM s INTO " + target + " WITH CHECKPOINT '" + checkpoint + "' AS SELECT * FROM " + source
	}
	l.refused(stream("b", "./cp", "STREAM v"), "is a view")
	l.refused(stream("b", "./cp", "STREAM nope"), "nope")
	l.refused(stream("a", "./cp", "STREAM a"), "would read what it writes")
	l.refused(stream("b", l.path("lake", "lake", "a", "cp"), "STREAM a"), "lies inside the source")
	l.refused(stream("b", "./cp", "STREAM delta.`/etc`"), "/etc")
	l.refused(stream("b", "./cp", "STREAM(a, startingVersion => 'x')"), "startingVersion")
	l.refused(stream("b", "./cp", "STREAM(a, 3)"), "named options")
	require.Empty(t, l.rows("SHOW STREAMS"))
	lines := strings.Join(l.rows("EXPLAIN "+stream("b", "./cp", "STREAM a")), "\n")
	require.Contains(t, lines, "DeltaSource[file:/")
}

func TestStreamWantsToReadItsTable(t *testing.T) {
	l := newLab(t)
	l.openUsers()
	l.exec("CREATE TABLE a (id INT)", "CREATE USER ann", "GRANT ALL ON lake.b TO ann", "GRANT FILE ON *.* TO ann")
	ann := l.session()
	ann.sess = l.c.newSession(sql.Client{User: "ann", Address: "localhost"}, "", 7)
	create := "CREATE STREAM lake.s INTO lake.b WITH CHECKPOINT './cp' AS SELECT * FROM STREAM lake.a"
	ann.refused(create, "denied")
	l.exec("GRANT SELECT ON lake.a TO ann")
	ann.exec(create)
}
