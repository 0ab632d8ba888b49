package catalog

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/files"
)

const salesStream = `CREATE STREAM sales_in INTO sales WITH CHECKPOINT './cp/sales'
  AS SELECT * FROM STREAM read_files('./landing', format => 'csv', header => true)`

func TestStreamFromCreateToReset(t *testing.T) {
	dir := t.TempDir()
	l := openLab(t, dir)
	l.exec(salesStream)
	l.exec("CREATE STREAM IF NOT EXISTS sales_in INTO sales WITH CHECKPOINT './cp/sales' AS SELECT * FROM STREAM read_files('./landing')")
	l.refused("CREATE STREAM second INTO other WITH CHECKPOINT './cp/sales' AS SELECT * FROM STREAM read_files('./landing')", "sales_in")
	require.NoError(t, os.MkdirAll(l.path("landing"), 0o755))
	l.write("landing/data_1.csv", "\nid,item,amount\n1,pen,1.5\n2,ink,2.5\n")
	l.exec("WAIT FOR STREAM sales_in TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|pen|1.5", "2|ink|2.5"}, l.rows("SELECT * FROM sales ORDER BY id"))
	l.write("landing/data_2.csv", "id,item,amount\n3,cap,3.5\n")
	l.exec("WAIT FOR STREAM sales_in UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM sales"))
	require.Equal(t, []string{"id|int|YES||NULL|", "item|varchar(16383)|YES||NULL|", "amount|double|YES||NULL|"}, l.rows("DESCRIBE sales"))
	l.refused("DROP TABLE sales", "lake.sales_in", "DROP STREAM")

	require.Len(t, l.rows("SHOW STREAMS"), 1)
	require.Len(t, l.rows("SHOW STREAMS LIKE 'sales%'"), 1)
	require.Empty(t, l.rows("SHOW STREAMS WHERE State = 'FAILED'"))
	require.Len(t, l.rows("SHOW STREAM STATUS FOR sales_in"), 1)
	require.NotEmpty(t, l.rows("SHOW STREAM PROGRESS FOR sales_in LIMIT 1"))
	require.Len(t, l.rows("SHOW STREAM FILES FOR sales_in"), 2)
	require.Empty(t, l.rows("SHOW STREAM ERRORS FOR sales_in"))
	require.Equal(t, []string{"lake|sales_in|lake|sales"},
		l.rows("SELECT STREAM_SCHEMA, STREAM_NAME, TARGET_SCHEMA, TARGET_TABLE FROM information_schema.STREAMS WHERE LAST_BATCH_ID >= 0"))
	require.Equal(t, []string{"3"}, l.rows("SELECT SUM(NUM_OUTPUT_ROWS) FROM information_schema.STREAM_PROGRESS"))
	require.Contains(t, l.rows("SHOW CREATE STREAM sales_in")[0], "WITH CHECKPOINT 'file:")
	require.Len(t, l.rows("DESCRIBE STREAM sales_in"), 3)

	l.exec("STOP STREAM sales_in")
	l.write("landing/data_3.csv", "id,item,amount\n4,mug,4.5\n")
	require.NoError(t, l.c.Close())
	again := openLab(t, dir)
	require.Equal(t, []string{"PAUSED"}, again.rows("SELECT STATE FROM information_schema.STREAMS"))
	again.exec("START STREAM sales_in", "WAIT FOR STREAM sales_in TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"4"}, again.rows("SELECT COUNT(*) FROM sales"))
	again.exec("STOP STREAM sales_in")
	require.NoError(t, os.Rename(again.path("cp", "sales"), again.path("cp", "kept")))
	again.refused("START STREAM sales_in", "RESET")
	require.NoError(t, os.Rename(again.path("cp", "kept"), again.path("cp", "sales")))
	require.Contains(t, again.rows("ALTER STREAM sales_in RESET")[0], "|3|")
	again.exec("START STREAM sales_in", "WAIT FOR STREAM sales_in TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"8"}, again.rows("SELECT COUNT(*) FROM sales"))
	again.exec("DROP STREAM sales_in PURGE CHECKPOINT", "DROP STREAM IF EXISTS sales_in", "DROP TABLE sales")
	require.NoDirExists(t, again.path("cp", "sales"))
}

func TestStreamSelects(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,name,day\n1,ann,2024-01-02\n2,bob,2024-02-03\n3,cat,2024-03-04\n")
	l.exec("CREATE TABLE dim (id INT, label VARCHAR(10))", "INSERT INTO dim VALUES (1, 'first'), (3, 'third')")
	for name, sel := range map[string]string{
		"vectors": "SELECT id, name FROM STREAM read_files('./in', format => 'csv', header => true) WHERE id > 1",
		"rows":    "SELECT id, upper(name) AS name FROM STREAM read_files('./in', format => 'csv', header => true) WHERE length(name) = 3 AND id > 1",
		"joined":  "SELECT s.id, d.label AS name FROM STREAM read_files('./in', format => 'csv', header => true) s JOIN dim d ON d.id = s.id WHERE s.id > 1",
	} {
		l.exec("CREATE STREAM s_" + name + " INTO " + name + " WITH CHECKPOINT './cp/" + name + "' TRIGGER AVAILABLE NOW AS " + sel)
		_, err := l.try("WAIT FOR STREAM s_%s TIMEOUT 300 SECONDS", name)
		require.NoError(t, err, name)
	}
	require.Equal(t, []string{"2|bob", "3|cat"}, l.rows("SELECT * FROM vectors ORDER BY id"))
	require.Equal(t, []string{"2|BOB", "3|CAT"}, l.rows("SELECT * FROM `rows` ORDER BY id"))
	require.Equal(t, []string{"3|third"}, l.rows("SELECT * FROM joined"))
	require.Equal(t, []string{"id|int|YES||NULL|", "name|varchar(16383)|YES||NULL|"}, l.rows("DESCRIBE `rows`"))
}

func TestStreamRefusals(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id\n1\n")
	l.refused("CREATE STREAM s INTO t AS SELECT * FROM STREAM read_files('./in')", "WITH CHECKPOINT")
	l.refused("CREATE STREAM s INTO t WITH CHECKPOINT '/etc/cp' AS SELECT * FROM STREAM read_files('./in', format => 'csv')", "/etc/cp")
	l.refused("CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT * FROM STREAM read_files('/etc', format => 'csv')", "/etc")
	l.exec("CREATE STREAM bad INTO t WITH CHECKPOINT './cp0' AS SELECT nope FROM STREAM read_files('./in', format => 'csv', header => true)")
	l.refused("WAIT FOR STREAM bad TIMEOUT 300 SECONDS", "nope")
	l.exec("DROP STREAM bad")
	l.refused("CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT COUNT(*) FROM STREAM read_files('./in', format => 'csv')")
	l.refused("SELECT * FROM STREAM read_files('./in', format => 'csv')", "STREAM")
	l.refused("SELECT * FROM __stream_source(0)", "only for the SELECT of a stream")
	l.refused("SHOW STREAM STATUS FOR nobody", "nobody")
	require.Empty(t, l.rows("SHOW STREAMS"))
}

// TestStreamRefusesRowsOfOtherBatches: what a batch alone cannot tell is refused wherever it stands, and never computed from one batch as if that were all.
func TestStreamRefusesRowsOfOtherBatches(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id\n1\n2\n")
	l.exec("CREATE TABLE dim (id INT)", "INSERT INTO dim VALUES (1)")
	const in = "STREAM read_files('./in', format => 'csv', header => true)"
	for query, why := range map[string]string{
		"WITH c AS (SELECT * FROM " + in + ") SELECT * FROM c WHERE id = (SELECT MAX(id) FROM c)": "let the subquery read a table",
		"WITH c AS (SELECT * FROM " + in + ") SELECT id, (SELECT COUNT(*) FROM c) AS n FROM c":    "let the subquery read a table",
		"SELECT id FROM " + in + " UNION ALL SELECT id FROM dim":                                  "INSERT INTO ... SELECT",
		"SELECT FIRST(id) AS a FROM " + in:                                                        "an aggregate",
	} {
		for _, word := range []string{"", "EXPLAIN "} {
			l.refused(word+"CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS "+query, why)
		}
	}
	l.exec("CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS WITH m AS (SELECT MAX(id) AS top FROM dim) SELECT id, (SELECT top FROM m) AS top FROM "+in+
		" WHERE id >= (SELECT top FROM m)", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	l.exec("INSERT INTO dim VALUES (7)")
	l.write("in/b.csv", "id\n6\n8\n")
	l.exec("WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|1", "2|1", "8|7"}, l.rows("SELECT * FROM t ORDER BY id"), "the table as it is at each batch")
	l.refused("ALTER STREAM s AS SELECT id, LAST(id) AS top FROM "+in, "an aggregate")
}

// TestOptionsOfSourcesAreArguments: an option that a source does not have, or with a value that it cannot have, is the statement's mistake.
func TestOptionsOfSourcesAreArguments(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT)")
	for _, c := range []struct{ from, why string }{
		{"read_files('./in', format => 'csv', nonsense => 1)", "unknown option nonsense"},
		{"read_files('./in', format => 'csv', dateFormat => 'yyyy-QQ')", "option dateFormat is 'yyyy-QQ'"},
		{"read_files('./in', format => 'csv', sep => ',', quote => ',')", "they must differ"},
		{"read_files('./in', format => 'json', schema => 'a MAP<INT, STRING>')", "the keys of a map in JSON are strings"},
		{"read_files('./in', format => 'csv', cleanSource => 'delete', cleanSource.retentionDuration => 'soon')", "give a time"},
		{"kafka('localhost:9', topic => 't', nonsense => 1)", "unknown option nonsense"},
		{"kafka('localhost:9', topic => 't', startingOffsets => '{\"t\":[1]}')", "give earliest, latest, or the offset of each partition"},
		{"kafka('localhost:9', topic => 't', format => 'json', timestampFormat => 'q')", "option timestampFormat is 'q'"},
		{"(t, nonsense => 1)", "it is not known: there are startingVersion"},
		{"(t, startingVersion => 1, startingTimestamp => '2026-01-01')", "DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET"},
		{"(t, maxFilesPerTrigger => 0)", "give a whole number from 1 on"},
		{"rate(nonsense => 1)", "unknown option nonsense"},
		{"rate(rowsPerSecond => 'many')", "give a whole number from 1 to"},
	} {
		_, err := l.try("CREATE STREAM s INTO u WITH CHECKPOINT './cp' AS SELECT * FROM STREAM %s", c.from)
		require.ErrorContains(t, err, c.why)
		var argument *files.ArgumentError
		require.ErrorAs(t, err, &argument, c.from)
	}
	require.Empty(t, l.rows("SHOW STREAMS"))
}

func TestExplainCreateStreamWritesNothing(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,name\n1,ann\n")
	lines := l.rows("EXPLAIN CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT id FROM STREAM read_files('./in', format => 'csv', header => true)")
	require.Contains(t, lines, "Stream lake.s")
	require.NoDirExists(t, l.path("cp"))
	require.Empty(t, l.rows("SHOW TABLES"))
}

func TestReadFiles(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,name\n1,ann\n2,\n")
	l.write("in/b.csv", "id,name\n3,cat\n")
	require.Equal(t, []string{"1|ann", "2|NULL", "3|cat"}, l.rows("SELECT * FROM read_files('./in', format => 'csv', header => true) ORDER BY id"))
	require.Equal(t, []string{"3|cat"}, l.rows("SELECT f.id, f.name FROM read_files('./in/b*.csv', format => 'csv', header => true) AS f"))
	require.Equal(t, []string{"2"}, l.rows("SELECT COUNT(name) FROM read_files('./in', format => 'csv', header => true)"))
	l.exec("CREATE TABLE t AS SELECT * FROM read_files('./in', format => 'csv', header => true)")
	require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM t"))
	l.refused("SELECT * FROM read_files('./none', format => 'csv')", "PATH_NOT_FOUND")
	l.refused("SELECT * FROM read_files('/etc', format => 'csv')", "/etc")
	l.refused("SELECT * FROM read_files('./in', format => 'csv', nonsense => 1)", "nonsense")
}

func TestTwoServersMakeOneStreamOfAName(t *testing.T) {
	a := newLab(t)
	b := openLab(t, a.dir)
	create := "CREATE STREAM s INTO t%d WITH CHECKPOINT './cp%d' DISABLE AS SELECT * FROM STREAM read_files('./in', format => 'csv', schema => 'a INT')"
	a.exec(fmt.Sprintf(create, 1, 1))
	b.refused(fmt.Sprintf(create, 2, 2), "stream lake.s exists, made by another server", "/cp1")
	a.exec("CREATE TABLE t1 (a INT)")
	b.refused("DROP TABLE t1", "is the target of the stream lake.s")
	a.exec("DROP STREAM s")
	b.exec("DROP TABLE t1")
	b.exec(fmt.Sprintf(create, 2, 2))
}

// One stream's lost checkpoint hides neither the rows of the others nor the truth about itself.
func TestALostCheckpointHidesNoOtherStream(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,n\n1,2\n2,x\n")
	for _, name := range []string{"kept", "gone", "live"} {
		trigger := "TRIGGER AVAILABLE NOW"
		if name == "live" {
			trigger = ""
		}
		l.exec(fmt.Sprintf("CREATE STREAM %s INTO t_%s WITH CHECKPOINT './cp/%s' %s AS SELECT * FROM STREAM read_files('./in', "+
			"format => 'csv', header => true, schema => 'id INT, n INT')", name, name, name, trigger), "WAIT FOR STREAM "+name+" TIMEOUT 300 SECONDS")
	}
	require.Len(t, l.rows("SHOW STREAM ERRORS"), 3)
	require.NoError(t, os.RemoveAll(l.path("cp", "gone")))
	require.NoError(t, os.RemoveAll(l.path("cp", "live")))
	for _, query := range []string{
		"SHOW STREAM ERRORS", "SELECT STREAM_NAME, FILE FROM information_schema.STREAM_ERRORS",
		"SELECT STREAM_NAME, PATH FROM information_schema.STREAM_FILES", "SELECT STREAM_NAME FROM information_schema.STREAM_PROGRESS",
	} {
		require.Contains(t, fmt.Sprint(l.rows(query)), "kept", query)
		require.Contains(t, fmt.Sprint(l.rows("SHOW WARNINGS")), "ALTER STREAM lake.gone RESET", query)
	}
	for _, of := range []string{"ERRORS", "FILES", "PROGRESS"} {
		l.refused("SHOW STREAM "+of+" FOR gone", "/cp/gone of stream lake.gone is gone", "ALTER STREAM lake.gone RESET")
	}
	l.refused("SHOW STREAM FILES FOR live", "/cp/live of stream lake.live is gone", "ALTER STREAM lake.live RESET")
	require.NotEmpty(t, l.rows("SHOW STREAM ERRORS FOR kept"))
}

// TestStreamIntoTableWithRules: columns that the SELECT does not give get their defaults and values, and every row meets the constraints.
func TestStreamIntoTableWithRules(t *testing.T) {
	l := newLab(t)
	l.exec(`CREATE TABLE t (n BIGINT GENERATED ALWAYS AS IDENTITY, id INT, twice INT GENERATED ALWAYS AS (id * 2), kind VARCHAR(10) DEFAULT 'new', CHECK (id < 100))`)
	l.write("in/a.csv", "id\n1\n2\n")
	l.exec(`CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT id FROM STREAM read_files('./in', format => 'csv', header => true)`,
		"WAIT FOR STREAM s UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|1|2|new", "2|2|4|new"}, l.rows("SELECT * FROM t ORDER BY n"))
	l.write("in/b.csv", "id\n3\n100\n")
	_, err := l.try("WAIT FOR STREAM s UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
	require.ErrorContains(t, err, "t_chk_1")
	require.Equal(t, []string{"FAILED"}, l.rows("SELECT STATE FROM information_schema.STREAMS"))
	require.Equal(t, []string{"2"}, l.rows("SELECT COUNT(*) FROM t"))
}

func TestStreamOfRate(t *testing.T) {
	l := newLab(t)
	l.refused("CREATE STREAM r INTO ticks WITH CHECKPOINT './cp/r' AS SELECT * FROM STREAM rate(rows => 3)", "rowsPerSecond")
	l.refused("CREATE STREAM r INTO ticks WITH CHECKPOINT './cp/r' AS SELECT * FROM STREAM rate(3)", "named options")
	l.exec("CREATE STREAM r INTO ticks WITH CHECKPOINT './cp/r' AS SELECT value, timestamp AS at FROM STREAM rate(rowsPerSecond => 1000)",
		"WAIT FOR STREAM r UNTIL BATCH 1 TIMEOUT 300 SECONDS", "STOP STREAM r")
	require.Equal(t, []string{"1|1|1"}, l.rows("SELECT COUNT(*) >= 2000, COUNT(*) = MAX(value) + 1, COUNT(DISTINCT value) = COUNT(*) FROM ticks"))
	require.Contains(t, l.rows("SHOW CREATE STREAM r")[0], "STREAM rate(rowsPerSecond => 1000)")
}
