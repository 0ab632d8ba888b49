package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeadLetterTable: a bad row, or one of which the SELECT cannot compute a value, is whole in a table of its own, from which it can be mended.
func TestDeadLetterTable(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,amount\n1,10\ntwo,20\n3,ten\n4,40\n")
	l.exec(`CREATE STREAM s INTO sales WITH CHECKPOINT './cp' TRIGGER AVAILABLE NOW ON ERROR DEAD LETTER INTO rejected
		AS SELECT id, CAST(amount AS SIGNED) AS amount FROM STREAM read_files('./in', format => 'csv', header => true, schema => 'id INT, amount STRING')`,
		"WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|10", "4|40"}, l.rows("SELECT * FROM sales ORDER BY id"))
	require.Equal(t, []string{"lake.s|0|3|two,20|1", "lake.s|0|NULL|3,ten|NULL"},
		l.rows("SELECT stream, batch, line, raw, file LIKE '%/in/a.csv' FROM rejected ORDER BY line IS NULL"))
	require.Contains(t, l.rows("SELECT reason FROM rejected WHERE raw = '3,ten'")[0], "amount: ")
	require.Contains(t, l.rows("SHOW CREATE STREAM s")[0], "ON ERROR DEAD LETTER INTO lake.rejected")
	l.refused("DROP TABLE rejected", "has the dead letters of the stream lake.s")
	l.refused("CREATE STREAM m INTO other WITH CHECKPOINT './m' ON ERROR DEAD LETTER INTO rejected AS SELECT * FROM STREAM read_files('./in', format => 'csv', Mode => 'PERMISSIVE')",
		"leave the option Mode out")
	require.Len(t, l.rows("SHOW STREAM ERRORS FOR s"), 2)
}

// TestDeadLetterOfSeveralFields: a row is one dead letter, whatever is wrong with it.
func TestDeadLetterOfSeveralFields(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id;a;b\n1;{\"x\":1};{\"x\":2}\n2;no;none\n3;nothing;{\"x\":3}\n")
	l.exec("CREATE TABLE nested (id INT, a STRUCT<x: INT>, b STRUCT<x: INT>)",
		`CREATE STREAM s INTO nested WITH CHECKPOINT './cp' TRIGGER AVAILABLE NOW ON ERROR DEAD LETTER INTO rejected
		AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true, sep => ';', schema => 'id INT, a STRING, b STRING')`,
		"WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1"}, l.rows("SELECT id FROM nested"))
	require.Equal(t, []string{"2,no,none|1", "3,nothing,\"{\"\"x\"\":3}\"|0"}, l.rows("SELECT raw, reason LIKE 'a: %; b: %' FROM rejected ORDER BY raw"))
}

// TestDeadLetterOfASelectSaysAllColumns: a row of which several values cannot be computed says so of each, and its values can be told apart.
func TestDeadLetterOfASelectSaysAllColumns(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id;a;b\n1;5;6\n2;x,y;no \"one\"\n3;7;none\n")
	l.exec(`CREATE STREAM s INTO t WITH CHECKPOINT './cp' TRIGGER AVAILABLE NOW ON ERROR DEAD LETTER INTO rejected
		AS SELECT id, CAST(a AS SIGNED) AS a, CAST(b AS SIGNED) AS b FROM STREAM read_files('./in', format => 'csv', header => true, sep => ';', quote => '', schema => 'id INT, a STRING, b STRING')`,
		"WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|5|6"}, l.rows("SELECT * FROM t"))
	require.Equal(t, []string{`2,"x,y","no ""one"""|1`, "3,7,none|0"}, l.rows("SELECT raw, reason LIKE 'a: %; b: %' FROM rejected ORDER BY raw"))
	l.refused("CREATE OR REPLACE TABLE rejected (id INT)", "has the dead letters of the stream lake.s")
	l.refused("CREATE OR REPLACE TABLE rejected AS SELECT 1 AS id", "has the dead letters of the stream lake.s")
}

// TestDeadLetterTableThatTakesNotAll is refused by the statement, with its name.
func TestDeadLetterTableThatTakesNotAll(t *testing.T) {
	l := newLab(t)
	for column, what := range map[string]string{"reason VARCHAR(10)": "reason is VARCHAR(10)", "reason TEXT NOT NULL": "reason is NOT NULL"} {
		l.exec("CREATE OR REPLACE TABLE rejected (stream TEXT, batch BIGINT, time TIMESTAMP, file TEXT, line BIGINT, raw TEXT, " + column + ")")
		l.refused("CREATE STREAM s INTO t WITH CHECKPOINT './cp' ON ERROR DEAD LETTER INTO rejected AS SELECT * FROM STREAM read_files('./in', format => 'csv', schema => 'id INT')",
			"lake.rejected", what)
	}
}

// TestCreateHintsAtNoStreamToReplace: what does not fit is mended in the statement, where there is no stream yet.
func TestCreateHintsAtNoStreamToReplace(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT)")
	_, err := l.try("CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT id FROM STREAM read_files('./in', format => 'csv', schema => 'id STRING')")
	require.ErrorContains(t, err, "Cast it in the SELECT of this statement")
	require.NotContains(t, err.Error(), "REPLACE")
}
