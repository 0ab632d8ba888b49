package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFileOptionsOfStreams has options of files whose paths are relative to the server's folder, through SQL and a restart of the stream.
func TestFileOptionsOfStreams(t *testing.T) {
	l := newLab(t)
	l.write("in/old.csv", "id\n1\n")
	l.exec(`CREATE STREAM s INTO t WITH CHECKPOINT './cp' TRIGGER AVAILABLE NOW AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true, schema => 'id INT',
			includeExistingFiles => false, cleanSource => 'archive', sourceArchiveDir => './archive', rescuedDataColumn => '_rescued')`,
		"WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"0"}, l.rows("SELECT COUNT(*) FROM t"))
	require.Equal(t, []string{"SKIPPED"}, l.rows("SELECT state FROM information_schema.STREAM_FILES"))
	l.write("in/new.csv", "id,more\n2,x\nno,\n")
	l.exec("START STREAM s", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"2|more|1", "NULL|NULL|1"}, l.rows("SELECT id, IF(_rescued->>'$.more' = 'x', 'more', NULL), _rescued LIKE '%/in/new.csv\"}' FROM t ORDER BY id IS NULL"))
	require.Empty(t, l.rows("SHOW STREAM ERRORS FOR s"))
	require.FileExists(t, l.path("archive", l.path("in"), "new.csv"))
	require.NoFileExists(t, l.path("in", "new.csv"))
	require.FileExists(t, l.path("in", "old.csv"))

	l.refused(`CREATE STREAM m INTO u WITH CHECKPOINT './cp2' AS SELECT * FROM STREAM read_files('./in', format => 'csv', cleanSource => 'archive', sourceArchiveDir => '/nowhere')`,
		"option sourceArchiveDir: ", "/nowhere is outside of the folders")
	l.refused(`COPY INTO t FROM './in' FILEFORMAT = CSV FORMAT_OPTIONS ('cloudFiles.cleanSource' = 'delete')`, "is an option of streams")
}

// TestPathsOfStreamsAreKeptWhole: a definition keeps each path as the folder it was made in has it, so that a server that is started in another one uses the same.
func TestPathsOfStreamsAreKeptWhole(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE STREAM s INTO t WITH CHECKPOINT './cp' DISABLE AS SELECT * FROM STREAM read_files(path => './in', format => 'csv', cleanSource => 'move', " +
		"`cleanSource`.moveDestination => './moved', cloudFiles.schemaLocation => './schemas')")
	kept := strings.ReplaceAll(l.rows("SHOW CREATE STREAM s")[0], l.path(), "$DIR")
	for _, path := range []string{"cp", "in", "moved", "schemas"} {
		require.Contains(t, kept, "'file://$DIR/"+path+"'")
	}
	require.NotContains(t, kept, "'./")
}

// TestCleanSourceIsKeptFromTheServersFiles: FILE alone takes nothing away from the lake, a table or the server's own folder.
func TestCleanSourceIsKeptFromTheServersFiles(t *testing.T) {
	l := newLab(t)
	l.openUsers()
	l.exec("CREATE TABLE secret (id INT)", "INSERT INTO secret VALUES (1)", "CREATE TABLE outside (id INT) LOCATION './ext'", "INSERT INTO outside VALUES (1)")
	l.write("in/a.csv", "id\n1\n")
	stream := "CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT * FROM STREAM read_files("
	for _, path := range []string{"./lake/lake/secret", "./lake/_lakesql/catalog", "./data", "./data/users", "./*/users", "./", "./ext"} {
		l.refused(stream+"'"+path+"', format => 'parquet', schema => 'id INT', cleanSource => 'delete')", "cleanSource: ", "a folder of ")
		if path != "./data/users" && path != "./*/users" {
			l.refused(stream+"'./in', format => 'csv', header => true, cleanSource => 'move', cleanSource.moveDestination => '"+path+"/_delta_log')", "cleanSource: ")
		}
	}
	require.Equal(t, []string{"1"}, l.rows("SELECT id FROM secret"))
}

func TestFileOptionsOfSelect(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,x\n1,2\nno,3\n")
	l.write("in/b.csv.gz", "no gzip")
	from := " FROM read_files('./in', format => 'csv', header => true, schema => 'id INT'"
	l.refused("SELECT *"+from+")", "b.csv.gz cannot be read")
	require.Equal(t, []string{"1", "NULL"}, l.rows("SELECT id"+from+", ignoreCorruptFiles => true)"))
	require.Equal(t, []string{"1|2", "NULL|3"}, l.rows("SELECT id, r->>'$.x'"+from+", rescuedDataColumn => 'r', ignoreCorruptFiles => true)"))
	require.Equal(t, []string{"0"}, l.rows("SELECT COUNT(*)"+from+", modifiedBefore => '2020-01-01 00:00:00')"))
	l.refused("SELECT *"+from+", latestFirst => true)", "option latestFirst is for streams")
	l.refused("SELECT *"+from+", cloudFiles.maxFileAge => '1 day')", "a file is never skipped for its age")
}
