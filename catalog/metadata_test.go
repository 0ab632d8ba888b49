package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMetadataForClients(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id BIGINT NOT NULL COMMENT 'the key', s VARCHAR(10), x TEXT, b BLOB, m DECIMAL(38,4), at TIMESTAMP, f BOOL) COMMENT 'all of it'")
	require.Equal(t, []string{"id|bigint|NO|the key", "s|varchar|YES|", "x|varchar|YES|", "b|longblob|YES|", "m|decimal|YES|", "at|datetime|YES|", "f|tinyint|YES|"},
		l.rows("SELECT COLUMN_NAME, DATA_TYPE, IS_NULLABLE, COLUMN_COMMENT FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position"))
	require.Equal(t, []string{"t|BASE TABLE|all of it"}, l.rows("SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.tables WHERE table_schema = 'lake'"))
	created := l.rows("SHOW CREATE TABLE t")[0]
	require.Contains(t, created, "`m` decimal(38,4)")
	require.Contains(t, created, "`x` varchar(16383)")
	require.Contains(t, l.rows("SELECT TABLE_NAME FROM information_schema.tables WHERE table_schema = 'information_schema'"), "STREAMS")
	require.Equal(t, []string{"UTC|+00:00"}, l.rows("SELECT @@system_time_zone, @@time_zone"))
	require.Len(t, l.rows("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'"), 1)
	require.Empty(t, l.rows("SHOW INDEX FROM t"))
	require.Len(t, l.rows("SHOW TABLE STATUS"), 1)
}

func TestLongTextGoesBothWaysWhole(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (x TEXT, v VARCHAR(3))", "INSERT INTO t (x) SELECT repeat('é', 40000)")
	require.Equal(t, []string{"40000|80000"}, l.rows("SELECT char_length(x), length(x) FROM t"))
	l.refused("INSERT INTO t (v) VALUES ('four')", "Data too long for column 'v' at row 1")
}

func TestDates(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, d DATE)", "INSERT INTO t VALUES (1, '9999-12-31'), (2, '1000-01-01'), (3, '1969-12-31')")
	require.Equal(t, []string{"1|9999-12-31", "2|1000-01-01", "3|1969-12-31"}, l.rows("SELECT * FROM t ORDER BY a"))
}

func TestUnreadableTableDoesNotHideTheOthers(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE good (a INT)")
	l.write("lake/lake/odd/_delta_log/00000000000000000000.json",
		`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["fromTheFuture"],"writerFeatures":["fromTheFuture"]}}`+"\n"+
			`{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}`+"\n")
	require.Equal(t, []string{"good"}, l.rows("SELECT TABLE_NAME FROM information_schema.tables WHERE table_schema = 'lake'"))
	require.Equal(t, []string{"good", "odd"}, l.rows("SHOW TABLES"))
	l.refused("SELECT * FROM odd", "fromTheFuture")
}
