package server

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/catalog"
	"lakesql/store"
)

// startLake serves a lake in a new folder, which it returns too: the warehouse is its lake/.
func startLake(t *testing.T) (db *sql.DB, dir string) {
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
	s, err := New(Config{Listener: listener, Engine: c.Engine(), NewSession: c.NewSession, Streams: c.Streams(), Version: "test"})
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
	db, err = sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/lake", s.Addr()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db, dir
}

// TestErrorsOfTheLakeHaveNumbers has one statement for each way in which the lake refuses.
func TestErrorsOfTheLakeHaveNumbers(t *testing.T) {
	db, _ := startLake(t)
	for _, c := range []struct {
		statement string
		number    uint16
		state     string
	}{
		{"SELECT * FROM read_files('./in', format => 'nope')", 20313, "45000"},
		{"SELECT * FROM read_files('./in', format => 'json')", 1235, "42000"},
		{"SELECT * FROM read_files('./in')", 20313, "45000"},
		{"SELECT * FROM read_files('./in', format => 'csv', heeder => true)", 20313, "45000"},
		{"SELECT * FROM read_files('./in', format => 'csv', header => 'maybe')", 20313, "45000"},
		{"SELECT * FROM read_files('./in', format => 'csv', schema => 'a')", 20313, "45000"},
		{"SELECT * FROM read_files('./in/[', format => 'csv')", 20313, "45000"},
		{"SELECT * FROM read_files('./in/{a', format => 'csv')", 20313, "45000"},
		{"SELECT * FROM read_files('./in', format => 'csv', compression => 'gzip')", 1235, "42000"},
		{"CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT * FROM STREAM read_files('./in', format => 'nope')", 20313, "45000"},
		{"CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT * FROM STREAM read_files('./in', format => 'json')", 1235, "42000"},
	} {
		_, err := db.Exec(c.statement)
		require.Error(t, err, c.statement)
		requireErrno(t, err, c.number, c.state)
	}
}
