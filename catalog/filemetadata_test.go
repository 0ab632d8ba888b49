package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFileMetadata(t *testing.T) {
	l := newLab(t)
	l.write("in/a b.csv", "id\n1\n2\n")
	l.write("in/c.csv", "id\n3\n")
	path := "file://" + l.path("in")
	files := "read_files('./in', format => 'csv', header => true)"
	require.Equal(t, []string{"1|" + path + "/a%20b.csv", "2|" + path + "/a%20b.csv", "3|" + path + "/c.csv"},
		l.rows("SELECT id, _metadata.file_path FROM "+files+" ORDER BY id"))
	require.Equal(t, []string{"c.csv|5|0|5|1"}, l.rows("SELECT f._metadata.file_name, f._metadata.FILE_SIZE, _metadata.file_block_start, _metadata.file_block_length, "+
		"_metadata.file_modification_time > '2020-01-01' FROM "+files+" AS f WHERE f._metadata.file_name = 'c.csv'"))
	require.Equal(t, []string{"1", "2", "3"}, l.rows("SELECT * FROM "+files+" ORDER BY _metadata.file_name, id"))
	require.Equal(t, []string{"a%20b.csv|2", "c.csv|1"}, l.rows("SELECT _metadata.file_name n, COUNT(*) FROM "+files+" GROUP BY _metadata.file_name ORDER BY 1"))
	l.exec("CREATE TABLE t AS SELECT id, _metadata.file_name FROM "+files, "INSERT INTO t SELECT id + 10, _metadata.file_name FROM "+files)
	require.Equal(t, []string{"id|int|YES||NULL|", "file_name|varchar(16383)|YES||NULL|"}, l.rows("DESCRIBE t"))
	require.Equal(t, []string{"6"}, l.rows("SELECT COUNT(*) FROM t"))

	l.exec("CREATE STREAM s INTO streamed WITH CHECKPOINT './cp' TRIGGER AVAILABLE NOW AS SELECT *, _metadata.file_name AS origin FROM STREAM "+files,
		"WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|a%20b.csv", "2|a%20b.csv", "3|c.csv"}, l.rows("SELECT * FROM streamed ORDER BY id"))
	l.write("in/d.csv", "id,more\n4,x\n")
	l.exec("START STREAM s", "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"4|d.csv|x"}, l.rows("SELECT id, origin, more FROM streamed WHERE id = 4"))

	whole := `{"file_path":"` + path + `/c.csv","file_name":"c.csv","file_size":5,"file_block_start":0,"file_block_length":5,"file_modification_time":"`
	for _, name := range []string{"_metadata", "f._metadata"} {
		got := l.rows("SELECT id, " + name + " FROM " + files + " AS f WHERE id = 3")
		require.Len(t, got, 1)
		require.Equal(t, "3|"+whole, got[0][:len(whole)+2])
	}
	require.Equal(t, []string{"c.csv|5"}, l.rows("SELECT _metadata->>'$.file_name', _metadata->'$.file_size' FROM "+files+" WHERE id = 3"))
	require.Equal(t, []string{"3|c.csv|5|5"}, l.rows("SELECT id, file_name, file_size, file_block_length FROM (SELECT id, f._metadata.* FROM "+files+" AS f) x WHERE id = 3"))
	l.exec("CREATE STREAM w INTO wholes WITH CHECKPOINT './cp2' TRIGGER AVAILABLE NOW AS SELECT id, _metadata FROM STREAM "+files, "WAIT FOR STREAM w TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|a%20b.csv", "2|a%20b.csv", "3|c.csv"}, l.rows("SELECT id, _metadata->>'$.file_name' FROM wholes WHERE id < 4 ORDER BY id"))
	require.Contains(t, l.rows("SHOW CREATE TABLE wholes")[0], "struct<file_path:string,file_name:string,file_size:bigint,")

	l.exec("CREATE TABLE base (id INT)")
	l.refused("CREATE STREAM d INTO copied WITH CHECKPOINT './cp3' AS SELECT *, _metadata.file_name FROM STREAM base", "_metadata is a column of files")
	l.refused("CREATE STREAM d INTO copied WITH CHECKPOINT './cp3' AS SELECT _metadata FROM STREAM base", "_metadata is a column of files")
	l.refused("SELECT _metadata.file_owner FROM "+files, "file_owner", "file_path, file_name")
	l.exec("CREATE TABLE dim (id INT)", "SELECT _metadata.id FROM dim AS _metadata, "+files+" f")
}
