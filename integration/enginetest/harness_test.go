package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/enginetest"
	"github.com/dolthub/go-mysql-server/enginetest/scriptgen/setup"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/stretchr/testify/require"

	"lakesql/catalog"
	"lakesql/server"
	"lakesql/store"
)

// lake is a Harness over a catalog on a new warehouse. LAKESQL_VECTOR = OFF has its statements run on rows.
type lake struct {
	t       *testing.T
	c       *catalog.Catalog
	scripts []setup.SetupScript
	sess    sql.Session
}

var (
	_ enginetest.Harness             = (*lake)(nil)
	_ enginetest.ClientHarness       = (*lake)(nil)
	_ enginetest.KeylessTableHarness = (*lake)(nil)
)

func newLake(t *testing.T) *lake {
	server.BridgeLogs(slog.New(slog.DiscardHandler))
	h := &lake{t: t}
	h.open(t)
	return h
}

// open makes a catalog, in memory where the system has a folder for that.
func (h *lake) open(t *testing.T) {
	t.Helper()
	parent := "/dev/shm"
	if _, err := os.Stat(parent); err != nil {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "enginetest-")
	require.NoError(t, err)
	fence, err := store.NewFence(dir, dir)
	require.NoError(t, err)
	c, err := catalog.Open(context.Background(), catalog.Config{
		Warehouse: store.FileURI(filepath.Join(dir, "lake")), Fence: fence, DataDir: filepath.Join(dir, "data"), Owner: "enginetest",
	})
	require.NoError(t, err)
	require.NoError(t, c.Start(context.Background()))
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		require.NoError(t, os.RemoveAll(dir))
	})
	h.c, h.sess = c, nil
}

// Setup keeps the scripts for NewEngine.
func (h *lake) Setup(all ...[]setup.SetupScript) {
	h.scripts = nil
	for _, scripts := range all {
		h.scripts = append(h.scripts, scripts...)
	}
}

// SupportsKeylessTables is true: no table has keys that are enforced.
func (h *lake) SupportsKeylessTables() bool { return true }

// NewContext is one of the session, which has mydb.
func (h *lake) NewContext() *sql.Context {
	if h.sess == nil {
		h.sess = h.session(sql.Client{User: "root", Address: "localhost"})
	}
	return sql.NewContext(context.Background(), sql.WithSession(h.sess), sql.WithProcessList(h.c.Engine().ProcessList))
}

// NewContextWithClient is one of another session.
func (h *lake) NewContextWithClient(client sql.Client) *sql.Context {
	return sql.NewContext(context.Background(), sql.WithSession(h.session(client)), sql.WithProcessList(h.c.Engine().ProcessList))
}

func (h *lake) session(client sql.Client) sql.Session {
	sess, err := h.c.NewSession(context.Background(), &mysql.Conn{UserData: sql.MysqlConnectionUser{User: client.User, Host: client.Address}, ConnectionID: 1}, "")
	require.NoError(h.t, err)
	sess.SetCurrentDatabase("mydb")
	if vector := os.Getenv("LAKESQL_VECTOR"); vector != "" {
		ctx := sql.NewContext(context.Background(), sql.WithSession(sess))
		require.NoError(h.t, sess.SetSessionVariable(ctx, "lakesql_vector", vector))
	}
	return sess
}

// NewEngine is the engine of a new catalog in which the scripts have run. A table with a type that Delta lacks gets another one; what lakesql refuses all the same is
// left out: the tests that need it fail and are counted so.
func (h *lake) NewEngine(t *testing.T) (enginetest.QueryEngine, error) {
	h.open(t)
	e := h.c.Engine()
	for _, database := range []string{"mydb", "foo"} {
		h.run(e, "CREATE DATABASE IF NOT EXISTS "+database)
	}
	for _, script := range h.scripts {
		for _, statement := range script {
			if !strings.Contains(strings.ToLower(statement), "create index") {
				h.run(e, statement)
			}
		}
	}
	h.sess = nil
	return e, nil
}

// lacking are types that Delta lacks, for which tables get texts and numbers.
var lacking = []struct{ typ, instead string }{
	{`(?i)\b(enum|set) *\([^)]*\)( (character set|collate) \w+)*`, "varchar(100)"},
	{`(?i)\btime(\(\d\))?( *[,)]| not| null| default| primary)`, "varchar(20)$2"},
	{`(?i)\byear(\(4\))?( *[,)]| not| null| default)`, "int$2"},
	{`(?i)\bbit(\(\d+\))?( *[,)]| not| null| default)`, "bigint$2"},
}

func (h *lake) run(e enginetest.QueryEngine, statement string) {
	err := h.try(e, statement)
	if err != nil && strings.Contains(strings.ToLower(statement), "create table") {
		for _, l := range lacking {
			statement = regexp.MustCompile(l.typ).ReplaceAllString(statement, l.instead)
		}
		err = h.try(e, statement)
	}
	if err != nil && os.Getenv("LAKESQL_SETUP") != "" {
		h.t.Logf("setup: %v: %.300s", err, statement)
	}
}

func (h *lake) try(e enginetest.QueryEngine, statement string) error {
	ctx := h.NewContext().WithQuery(statement)
	_, rows, _, err := e.Query(ctx, statement)
	if err == nil {
		_, err = sql.RowIterToRows(ctx, rows)
	}
	return err
}
