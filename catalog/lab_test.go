package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/stretchr/testify/require"

	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/sqlext"
	"lakesql/store"
)

// lab is a catalog on a fresh warehouse, and one session on it. Tests with a lab are not parallel: GMS keeps its variables for the
// whole process, and a new engine sets them without a lock.
type lab struct {
	t    testing.TB
	dir  string // the warehouse is dir/lake; dir itself is allowed
	c    *Catalog
	sess *session
	pid  uint64
}

func newLab(t testing.TB) *lab { return openLab(t, t.TempDir()) }

func openLab(t testing.TB, dir string) *lab {
	t.Helper()
	fence, err := store.NewFence(dir, dir)
	require.NoError(t, err)
	c, err := Open(context.Background(), Config{
		Warehouse: store.FileURI(filepath.Join(dir, "lake")), Fence: fence, DataDir: filepath.Join(dir, "data"), Owner: t.Name(),
	})
	require.NoError(t, err)
	require.NoError(t, c.Start(context.Background()))
	asRoot(c)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	l := &lab{t: t, dir: dir, c: c}
	l.sess = c.newSession(sql.Client{User: "root", Address: "localhost"}, "", 1)
	return l
}

// asRoot turns grants on, as the server does: GMS then wraps every database and table.
func asRoot(c *Catalog) {
	users := c.engine.Analyzer.Catalog.MySQLDb
	editor := users.Editor()
	defer editor.Close()
	users.AddEphemeralSuperUser(editor, "root", "localhost", "")
}

// openUsers has accounts kept, as the program does.
func (l *lab) openUsers() {
	l.t.Helper()
	require.NoError(l.t, os.MkdirAll(l.c.cfg.DataDir, 0o700))
	require.NoError(l.t, l.c.OpenUsers())
}

// session returns another connection to the same catalog.
func (l *lab) session() *lab {
	other := *l
	other.sess = l.c.newSession(sql.Client{User: "root", Address: "localhost"}, "", 2)
	return &other
}

func (l *lab) ctx() *sql.Context {
	l.pid++
	return sql.NewContext(context.Background(), sql.WithSession(l.sess), sql.WithPid(l.pid), sql.WithProcessList(l.c.engine.ProcessList))
}

// try runs one statement, as the server does, and returns its rows.
func (l *lab) try(query string, args ...any) (rows []sql.Row, err error) {
	return l.run(fmt.Sprintf(query, args...), nil)
}

// run runs one statement with parameters.
func (l *lab) run(query string, binds map[string]sqlparser.Expr) (rows []sql.Row, err error) {
	ctx := l.ctx()
	err = RunInsert(ctx, nil, func() bool { return false }, func() error {
		_, iter, _, err := l.c.engine.QueryWithBindings(ctx, query, nil, binds, nil)
		if err == nil {
			rows, err = compile.Drain(ctx, iter)
		}
		return err
	})
	return rows, err
}

// exec runs statements that must succeed.
func (l *lab) exec(statements ...string) {
	l.t.Helper()
	for _, s := range statements {
		_, err := l.try("%s", s)
		require.NoError(l.t, err, s)
	}
}

// rows runs a query and returns its rows as the client would see them, columns joined by |.
func (l *lab) rows(query string) []string {
	l.t.Helper()
	out, err := l.tryRows(query)
	require.NoError(l.t, err, query)
	return out
}

func (l *lab) tryRows(query string) ([]string, error) {
	l.t.Helper()
	ctx := l.ctx()
	schema, iter, _, err := l.c.engine.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := compile.Drain(ctx, iter)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = l.wire(ctx, schema, row)
	}
	return out, nil
}

func (l *lab) wire(ctx *sql.Context, schema sql.Schema, row sql.Row) string {
	l.t.Helper()
	cells := make([]string, len(row))
	for i, v := range row {
		if at, ok := v.(time.Time); v == nil || ok && !mysqltype.Shown(at) {
			cells[i] = "NULL"
			continue
		}
		cell, err := schema[i].Type.SQL(ctx, nil, v)
		require.NoError(l.t, err)
		cells[i] = cell.ToString()
	}
	return strings.Join(cells, "|")
}

// refused runs a statement that must fail with a message that has all the parts.
func (l *lab) refused(query string, parts ...string) {
	l.t.Helper()
	_, err := l.try("%s", query)
	require.Error(l.t, err, query)
	for _, p := range parts {
		require.Contains(l.t, err.Error(), p, query)
	}
}

func (l *lab) path(parts ...string) string {
	return filepath.Join(append([]string{l.dir}, parts...)...)
}

// write puts a file into place whole, as a careful producer does.
func (l *lab) write(path, text string) {
	l.t.Helper()
	full, draft := l.path(path), l.path("draft")
	require.NoError(l.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(l.t, os.WriteFile(draft, []byte(text), 0o644))
	require.NoError(l.t, os.Rename(draft, full))
}

// bound runs a statement that changes rows with parameters, as COM_STMT_PREPARE and COM_STMT_EXECUTE do.
func (l *lab) bound(query string, args ...string) {
	l.t.Helper()
	_, err := l.c.engine.PrepareQuery(l.ctx(), query)
	require.NoError(l.t, err, query)
	binds := make(map[string]sqlparser.Expr, len(args))
	for i, a := range args {
		binds[fmt.Sprintf("v%d", i+1)] = sqlparser.NewStrVal([]byte(a))
	}
	_, err = l.run(query, binds)
	require.NoError(l.t, err, query)
}

func name(table string) sqlext.Name { return sqlext.Name{Name: table} }
