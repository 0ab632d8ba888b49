package catalog

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A checkpoint and a table never lie in one another, whichever comes first.
func TestCheckpointsAndTablesStayApart(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id\n1\n")
	l.exec("CREATE TABLE sales (id INT)")
	const as = " AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true)"
	for place, found := range map[string]string{
		"./lake/lake/sales":                   "/lake/lake/sales, which holds a Delta table",
		"./lake/lake/sales/_checkpoints/s":    "/lake/lake/sales, which holds a Delta table",
		"./lake/lake":                         "/lake/lake/sales, which holds a Delta table",
		"./lake":                              "the lake",
		"./lake/_lakesql/catalog":             "_lakesql",
		"./lake/lake/sales/_delta_log/_cp":    "_delta_log",
		"./lake/_lakesql/checkpoints/s":       "_lakesql",
		"./lake/lake/../lake/sales/inner/one": "/lake/lake/sales, which holds a Delta table",
	} {
		for _, verb := range []string{"EXPLAIN ", ""} {
			l.refused(verb+"CREATE STREAM s INTO delta.`./out` WITH CHECKPOINT '"+place+"'"+as, found)
		}
	}
	l.exec("CREATE STREAM s4 INTO t4 WITH CHECKPOINT './lake/_checkpoints/s4'"+as, "WAIT FOR STREAM s4 TIMEOUT 300 SECONDS")
	l.exec("CREATE STREAM s5 INTO t5 WITH CHECKPOINT './lake/lake/t5/_checkpoints/s5'"+as, "WAIT FOR STREAM s5 TIMEOUT 300 SECONDS")
	l.exec("CREATE STREAM s6 INTO t6 WITH CHECKPOINT './lake/other/s6' DISABLE" + as)
	for _, s := range []string{"lake.s4", "holds a stream's checkpoint"} { // by the definition, and by the files alone
		l.refused("CREATE TABLE lc (id INT) LOCATION './lake/_checkpoints/s4'", "/lake/_checkpoints/s4", s)
		l.refused("CREATE TABLE lc (id INT) LOCATION './lake/_checkpoints/s4/inner'", "/lake/_checkpoints/s4", s)
		l.refused("CREATE TABLE delta.`./lake/_checkpoints/s4/inner` (id INT)", "/lake/_checkpoints/s4", s)
		l.refused("CREATE TABLE other.s6 (id INT)", "/lake/other/s6")
		l.refused("EXPLAIN CREATE STREAM s INTO delta.`./lake/_checkpoints/s4/t` WITH CHECKPOINT './cp/s'"+as, "/lake/_checkpoints/s4", s)
		l.refused("CREATE STREAM s INTO delta.`./lake/_checkpoints/s4/t` WITH CHECKPOINT './cp/s'"+as, "/lake/_checkpoints/s4", s)
		if s == "lake.s4" {
			l.refused("CREATE TABLE lc (id INT) LOCATION './lake/_checkpoints'", "/lake/_checkpoints/s4", "lake.s4")
			l.refused("CREATE STREAM s INTO x WITH CHECKPOINT './lake/lake/t6'"+as, "/lake/lake/t6", "lake.s6")
			l.exec("DROP STREAM s4")
		}
	}
	require.Len(t, l.rows("SHOW STREAMS"), 2)
}

func TestASourceThatIsNotThereYetIsNamed(t *testing.T) {
	l := newLab(t)
	const stream = "CREATE STREAM %s INTO %s WITH CHECKPOINT './cp/%s' AS SELECT * FROM STREAM read_files('./%s', format => 'csv', header => true%s)"
	for name, schema := range map[string]string{"a": "", "b": ", schema => 'id INT'"} {
		create := fmt.Sprintf(stream, name, name, name, "nothere", schema)
		require.Contains(t, fmt.Sprint(l.rows("EXPLAIN "+create)), "/nothere], which is not there yet")
		l.exec(create, "WAIT FOR STREAM "+name+" TIMEOUT 300 SECONDS")
		require.Regexp(t, "waiting for file:///.*/nothere, which is not there yet", l.rows("SHOW STREAMS LIKE '" + name + "'")[0])
	}
	require.NoError(t, os.MkdirAll(l.path("empty"), 0o755))
	l.exec(fmt.Sprintf(stream, "c", "c", "c", "empty", ""), "WAIT FOR STREAM c TIMEOUT 300 SECONDS")
	require.Contains(t, l.rows("SHOW STREAMS LIKE 'c'")[0], "|waiting for the first file|")
}

func TestWhatIsRefusedSaysWhatToType(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)")
	for statement, part := range map[string]string{
		"CREATE TABLE x (j TIME)":                      "VARCHAR",
		"CREATE TABLE x (j YEAR)":                      "SMALLINT",
		"CREATE TABLE x (j ENUM('a'))":                 "VARCHAR",
		"CREATE TABLE x (j SET('a'))":                  "VARCHAR",
		"CREATE TABLE x (j BIT(9))":                    "BIGINT",
		"CREATE TABLE x (j POINT)":                     "VARBINARY",
		"CREATE TABLE x (j GEOMETRY)":                  "VARBINARY",
		"CREATE INDEX i ON t (a)":                      "CREATE INDEX",
		"CREATE UNIQUE\nINDEX i ON t (a)":              "CREATE INDEX",
		"DROP INDEX i ON t":                            "DROP INDEX",
		"START STREAM ALL":                             "STOP STREAM ALL",
		"RESUME STREAM ALL":                            "STOP STREAM ALL",
		"SELECT * FROM t TIMESTAMP AS OF '2999-01-01'": "DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
	} {
		l.refused(statement, part)
	}
	l.write("in/a.csv", "id\n1\n")
	l.exec("CREATE STREAM s INTO u WITH CHECKPOINT './cp' AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true)",
		"WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	l.refused("DROP TABLE u", "DROP STREAM lake.s first")
	l.refused("ALTER STREAM s SKIP FILE 'a.csv'", "whole path", "SHOW STREAM FILES FOR lake.s")
	l.refused("ALTER STREAM s SKIP FILE './in/a.csv'", "in the table already")
}
