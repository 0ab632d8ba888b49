package catalog

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func gzipped(t *testing.T, text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

const filesOf = "SELECT SUBSTRING_INDEX(PATH, '/', -1), STATE, `ROWS` FROM information_schema.STREAM_FILES ORDER BY 1"

// TestRetryTakesFilesThatWereLeftOut: a file that was left out is read once more, and one whose rows are in the table is not.
func TestRetryTakesFilesThatWereLeftOut(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id\n1\n")
	l.write("in/b.csv.gz", "no gzip")
	l.write("in/c.csv.gz", "nor this")
	l.exec("CREATE STREAM s INTO t WITH CHECKPOINT './cp' TRIGGER AVAILABLE NOW ON ERROR SKIP FILE AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true, schema => 'id INT')",
		"WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"a.csv|COMMITTED|1", "b.csv.gz|SKIPPED|0", "c.csv.gz|SKIPPED|0"}, l.rows(filesOf))
	l.write("in/b.csv.gz", gzipped(t, "id\n2\n"))
	l.refused("ALTER STREAM s RETRY FILE './in/a.csv'", "its rows are in the table")
	l.refused("ALTER STREAM s RETRY FILE './in/none.csv'", "has met no such file")
	require.Equal(t, []string{"lake.s|1"}, l.rows("ALTER STREAM s RETRY FILE './in/b.csv.gz'"))
	l.exec("WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1", "2"}, l.rows("SELECT id FROM t ORDER BY id"))
	require.Equal(t, []string{"a.csv|COMMITTED|1", "b.csv.gz|COMMITTED|1", "c.csv.gz|SKIPPED|0"}, l.rows(filesOf))
	l.write("in/c.csv.gz", gzipped(t, "id\n3\n"))
	require.Equal(t, []string{"lake.s|1"}, l.rows("ALTER STREAM s RETRY ALL"))
	l.exec("WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"lake.s|0"}, l.rows("ALTER STREAM s RETRY ALL"), "each once")
	l.exec("WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1", "2", "3"}, l.rows("SELECT id FROM t ORDER BY id"))
}

// TestAFileLeftOutIsNoBacklog: a file that SKIP FILE leaves out before a range has it is shown as such, and is not waited for. RETRY takes the decision back.
func TestAFileLeftOutIsNoBacklog(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv.gz", "no gzip")
	l.exec("CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true)")
	_, err := l.try("WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.ErrorContains(t, err, "a.csv.gz")
	l.exec("ALTER STREAM s SKIP FILE './in/a.csv.gz'", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"a.csv.gz|SKIPPED|NULL"}, l.rows(filesOf))
	require.Equal(t, []string{"0|0|IDLE"}, l.rows("SELECT BACKLOG_FILES, BACKLOG_BYTES, STATE FROM information_schema.STREAMS"))
	l.exec("STOP STREAM s")
	l.write("in/a.csv.gz", gzipped(t, "id\n7\n"))
	require.Equal(t, []string{"lake.s|1"}, l.rows("ALTER STREAM s RETRY FILE './in/a.csv.gz'"))
	l.exec("START STREAM s", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"7"}, l.rows("SELECT id FROM t"))
	require.Equal(t, []string{"a.csv.gz|COMMITTED|1"}, l.rows(filesOf))
}

// TestRescue: what the columns do not take is in a column of its own, which the table gets.
func TestRescue(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT)")
	l.write("in/a.csv", "id\n1\n")
	l.exec("CREATE STREAM s INTO t WITH CHECKPOINT './cp' ON SCHEMA CHANGE RESCUE AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true)",
		"WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	l.write("in/b.csv", "id,extra\n2,x\nthree,y\n")
	l.exec("WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|NULL|NULL", "2|x|NULL", "NULL|y|three"},
		l.rows("SELECT id, JSON_UNQUOTE(JSON_EXTRACT(_rescued_data, '$.extra')), JSON_UNQUOTE(JSON_EXTRACT(_rescued_data, '$.id')) FROM t ORDER BY id IS NULL, id"))
	require.Contains(t, l.rows("SHOW CREATE STREAM s")[0], "ON SCHEMA CHANGE RESCUE")
	l.refused("SHOW CREATE STREAM s FOR SPARK", "ON SCHEMA CHANGE RESCUE")
	l.refused("CREATE STREAM r INTO u WITH CHECKPOINT './r' ON SCHEMA CHANGE RESCUE AS SELECT * FROM STREAM rate()", "ON SCHEMA CHANGE RESCUE does nothing")
}

// TestRescuedValuesAreNotLost: a SELECT that makes nothing of the column of rescued data is refused, by CREATE, EXPLAIN, ALTER and COPY INTO, and by the stream where the
// columns are known later.
func TestRescuedValuesAreNotLost(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,name\n1,a\n")
	const files = "STREAM read_files('./in', format => 'csv', header => true, schema => 'id INT, name STRING')"
	const asked = "STREAM read_files('./in', format => 'csv', header => true, schema => 'id INT, name STRING', rescuedDataColumn => 'r')"
	create := func(clause, query string) string {
		return "CREATE STREAM s INTO t WITH CHECKPOINT './cp' " + clause + " AS " + query
	}
	for _, query := range []string{"SELECT id FROM %", "SELECT id, '_rescued_data' AS x FROM %", "SELECT id, name FROM (SELECT * FROM %) q", "SELECT * FROM (SELECT name, id FROM %) q"} {
		for _, word := range []string{"", "EXPLAIN "} {
			l.refused(word+create("ON SCHEMA CHANGE RESCUE", strings.Replace(query, "%", files, 1)), "Add _rescued_data to the SELECT, or choose ON SCHEMA CHANGE ADD COLUMNS or IGNORE")
			l.refused(word+create("", strings.Replace(query, "%", asked, 1)), "Add r to the SELECT, or leave out the option that rescues them")
		}
	}
	l.refused(create("ON SCHEMA CHANGE RESCUE", "SELECT id, _rescued_data FROM "+files+" UNION ALL SELECT id, name FROM STREAM read_files('./other', format => 'csv', schema => 'id INT, name STRING')"),
		"column _rescued_data of FileStreamSource[file:")
	l.exec("CREATE TABLE c (id INT)")
	l.refused("COPY INTO c FROM (SELECT id FROM './in') FILEFORMAT = CSV FORMAT_OPTIONS (header = true, rescuedDataColumn = 'r')", "COPY INTO lake.c: the SELECT leaves out column r")

	l.exec(create("ON SCHEMA CHANGE RESCUE", "SELECT id, IF(_rescued_data IS NULL, 0, 1) AS odd FROM (SELECT * FROM "+files+") q"))
	l.write("in/b.csv", "id,name\nx,b\n")
	l.exec("WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"NULL|1", "1|0"}, l.rows("SELECT * FROM t ORDER BY id"))
	l.refused("ALTER STREAM s AS SELECT id FROM "+files, "leaves out column _rescued_data")
	l.exec("CREATE STREAM w INTO u WITH CHECKPOINT './w' ON SCHEMA CHANGE RESCUE AS SELECT id FROM " + files + " WHERE _rescued_data IS NULL")

	const inferred = "STREAM read_files('./none', format => 'csv', header => true)"
	l.refused("CREATE STREAM later INTO v WITH CHECKPOINT './later' ON SCHEMA CHANGE RESCUE AS SELECT id FROM "+inferred, "leaves out column _rescued_data")
	l.exec("CREATE STREAM later INTO v WITH CHECKPOINT './later' ON SCHEMA CHANGE RESCUE AS SELECT id FROM (SELECT * FROM " + inferred + ") q")
	l.write("none/a.csv", "id\n1\n")
	_, err := l.try("WAIT FOR STREAM later TIMEOUT 300 SECONDS")
	require.ErrorContains(t, err, "leaves out column _rescued_data")
}

// TestResetToLatestOfAFolder passes over the files that are there, which RETRY FILE can name.
func TestResetToLatestOfAFolder(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id\n1\n")
	l.exec("CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true)", "WAIT FOR STREAM s TIMEOUT 300 SECONDS", "STOP STREAM s")
	l.refused("ALTER STREAM s RESET TO VERSION 3", "RESET TO VERSION is not for files")
	require.Contains(t, l.rows("ALTER STREAM s RESET TO LATEST")[0], "|0|0|0")
	l.write("in/b.csv", "id\n2\n")
	l.exec("START STREAM s", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1", "2"}, l.rows("SELECT id FROM t ORDER BY id"))
	require.Equal(t, []string{"lake.s|0"}, l.rows("ALTER STREAM s RETRY ALL"))
	require.Equal(t, []string{"lake.s|1"}, l.rows("ALTER STREAM s RETRY FILE './in/a.csv'"))
	l.exec("WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1", "1", "2"}, l.rows("SELECT id FROM t ORDER BY id"))
}
