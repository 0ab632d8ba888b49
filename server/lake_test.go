package server

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"lakesql/catalog"
	"lakesql/store"
)

// startLake serves a lake in a new folder, which it returns too: the warehouse is its lake/.
func startLake(t *testing.T) (db *sql.DB, dir string) {
	t.Helper()
	s, dir := serveLake(t)
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/lake", s.Addr()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, dir
}

func serveLake(t testing.TB) (s *Server, dir string) {
	t.Helper()
	dir = t.TempDir()
	fence, err := store.NewFence(dir, dir)
	require.NoError(t, err)
	c, err := catalog.Open(context.Background(), catalog.Config{
		Warehouse: store.FileURI(filepath.Join(dir, "lake")), Fence: fence, DataDir: filepath.Join(dir, "data"), Owner: t.Name(),
	})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s, err = New(Config{Listener: listener, Engine: c.Engine(), NewSession: c.NewSession, Streams: c.Streams(), Version: "test", Spill: c.SpillSpace()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, c.Start(ctx))
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
		require.NoError(t, s.Close())
		require.NoError(t, c.Close())
	})
	return s, dir
}

// TestErrorsOfTheLakeHaveNumbers has one statement for each way in which the lake refuses.
func TestErrorsOfTheLakeHaveNumbers(t *testing.T) {
	db, _ := startLake(t)
	for _, statement := range []string{"CREATE DATABASE d", "CREATE TABLE big (d DECIMAL(5,1))"} {
		_, err := db.Exec(statement)
		require.NoError(t, err)
	}
	for _, c := range []struct {
		statement string
		number    uint16
		state     string
	}{
		{"SELECT * FROM read_files('./in', format => 'nope')", 20313, "45000"},
		{"SELECT * FROM read_files('./in', format => 'avro')", 1235, "42000"},
		{"SELECT * FROM read_files('./in')", 20313, "45000"},
		{"SELECT * FROM read_files('./in', format => 'csv', heeder => true)", 20313, "45000"},
		{"SELECT * FROM read_files('./in', format => 'csv', header => 'maybe')", 20313, "45000"},
		{"SELECT * FROM read_files('./in', format => 'csv', schema => 'a')", 20313, "45000"},
		{"SELECT * FROM read_files('./in/[', format => 'csv')", 20313, "45000"},
		{"SELECT * FROM read_files('./in/{a', format => 'csv')", 20313, "45000"},
		{"SELECT * FROM read_files('./in', format => 'csv', compression => 'gzip')", 1235, "42000"},
		{"CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT * FROM STREAM read_files('./in', format => 'nope')", 20313, "45000"},
		{"CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT * FROM STREAM read_files('./in', format => 'avro')", 1235, "42000"},
		{"CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT * FROM STREAM(big, nonsense => 1)", 20313, "45000"},
		{"CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT * FROM STREAM rate(nonsense => 1)", 20313, "45000"},
		{"CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT * FROM STREAM kafka('localhost:9', topic => 't', nonsense => 1)", 20313, "45000"},
		{"CREATE STREAM s INTO t WITH CHECKPOINT './cp' OUTPUT MODE UPDATE AS SELECT * FROM STREAM rate()", 1235, "42000"},
		{"SELECT * FROM read_files('s3://bucket/x', format => 'csv')", 1235, "42000"},
		{"CREATE TABLE t (a INT) LOCATION 's3://bucket/x'", 1235, "42000"},
		{"SELECT * FROM delta.`file:relative`", 20407, "45000"},
		{"SELECT * FROM delta.`file://host/x`", 20407, "45000"},
		{"CREATE TABLE t (a INT) LOCATION 'file:///%zz'", 20407, "45000"},
		{"CREATE TABLE t (a INT) LOCATION ''", 20407, "45000"},
		{"CREATE STREAM s INTO t WITH CHECKPOINT '' AS SELECT * FROM STREAM read_files('./in')", 20407, "45000"},
		{"CREATE TABLE t (`a b` INT)", 20040, "45000"},
		{"CREATE TABLE t (p INT) PARTITIONED BY (p)", 20040, "45000"},
		{"CREATE TABLE t (p INT) PARTITIONED BY (q)", 20040, "45000"},
		{"CREATE TABLE t (p INT) PARTITION BY HASH(p) PARTITIONS 4", 1235, "42000"},
		{"CREATE TABLE delta.`./lake/_lakesql/x` (a INT)", 20040, "45000"},
		{"CREATE TABLE t (a INT) LOCATION './lake/lake/x/_delta_log/y'", 20040, "45000"},
		{"INSERT INTO delta.`./lake/_lakesql/catalog` VALUES (1,'a','b','c','d',FALSE)", 20040, "45000"},
		{"DROP TABLE delta.`./lake/lake/big`", 1235, "42000"},
		{"DROP DATABASE delta", 20040, "45000"},
		{"DROP DATABASE mysql", 20040, "45000"},
		{"DROP DATABASE information_schema", 20040, "45000"},
		{"INSERT INTO big VALUES (12345.6)", 1264, "22003"},
		{"SELECT REGEXP_LIKE('a', '(')", 3685, "HY000"},
		{"SET PERSIST max_connections = 5", 1235, "42000"},
		{"SELECT " + strings.Repeat("(", 3000) + "1" + strings.Repeat(")", 3000), 1436, "HY000"},
		{"KILL 99999", 1094, "HY000"},
		{"SELECT /*+ MAX_EXECUTION_TIME(20) */ SLEEP(10)", 3024, "HY000"},
		{"CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1", 1235, "42000"},
		{"ALTER TABLE big DROP FEATURE deletionVectors", 1235, "42000"},
	} {
		_, err := db.Exec(c.statement)
		require.Error(t, err, c.statement)
		requireErrno(t, err, c.number, c.state)
	}
}

func TestSelectLimitOfTheSession(t *testing.T) {
	db, _ := startLake(t)
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1),(2),(3)", "SET sql_select_limit = 2"} {
		_, err := db.Exec(statement)
		require.NoError(t, err)
	}
	count := func(query string, args ...any) (n int) {
		rows, err := db.Query(query, args...)
		require.NoError(t, err)
		for rows.Next() {
			n++
		}
		require.NoError(t, rows.Err())
		return n
	}
	require.Equal(t, 2, count("SELECT a FROM t"))
	require.Equal(t, 2, count("SELECT a FROM t WHERE a > ?", 0))
	require.Equal(t, 2, count("SELECT a FROM t UNION ALL SELECT a FROM t"))
	require.Equal(t, 3, count("SELECT a FROM t LIMIT 3"))
	_, err := db.Exec("SET sql_select_limit = DEFAULT")
	require.NoError(t, err)
	require.Equal(t, 3, count("SELECT a FROM t"))
}

func TestEventsAreThereAndNone(t *testing.T) {
	db, _ := startLake(t)
	for _, query := range []string{"SHOW EVENTS", "SELECT * FROM information_schema.EVENTS"} {
		require.NoError(t, drainRows(db.Query(query)), query)
	}
}

func TestLoadDataLocal(t *testing.T) {
	db, _ := startLake(t)
	_, err := db.Exec("CREATE TABLE t (id INT NOT NULL, s VARCHAR(10), v DECIMAL(5,1))")
	require.NoError(t, err)
	gomysql.RegisterReaderHandler("rows", func() io.Reader { return strings.NewReader("id,s,v\n1,a,2.5\n2,b,4\n3,\"c,d\",\\N\n") })
	defer gomysql.DeregisterReaderHandler("rows")
	load := "LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE t FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' IGNORE 1 LINES"
	done, err := db.Exec(load)
	require.NoError(t, err)
	n, err := done.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
	_, err = db.Exec(load + " (id, @s, v) SET s = UPPER(@s)")
	require.NoError(t, err)
	var text string
	require.NoError(t, db.QueryRow("SELECT GROUP_CONCAT(CONCAT_WS('/', id, s, v) ORDER BY id, s) FROM t").Scan(&text))
	require.Equal(t, "1/A/2.5,1/a/2.5,2/B/4.0,2/b/4.0,3/C,D,3/c,d", text)
	_, err = db.Exec("LOAD DATA LOCAL INFILE 'Reader::none' INTO TABLE t")
	require.ErrorContains(t, err, "not registered")
	_, err = db.Exec("LOAD DATA INFILE '/etc/passwd' INTO TABLE t")
	requireErrno(t, err, 20040, "45000")
}
