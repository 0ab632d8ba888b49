package differential

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/stretchr/testify/require"

	"lakesql/catalog"
	"lakesql/server"
	"lakesql/store"
)

// lake is a server on a new warehouse.
type lake struct {
	t       *testing.T
	dir     string
	address *net.TCPAddr
}

func newLake(t *testing.T) *lake {
	t.Helper()
	server.BridgeLogs(slog.New(slog.DiscardHandler))
	dir := t.TempDir()
	fence, err := store.NewFence(dir, dir)
	require.NoError(t, err)
	c, err := catalog.Open(context.Background(), catalog.Config{
		Warehouse: store.FileURI(filepath.Join(dir, "lake")), Fence: fence, DataDir: filepath.Join(dir, "data"), Owner: t.Name(),
	})
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s, err := server.New(server.Config{Listener: listener, Engine: c.Engine(), NewSession: c.NewSession, Streams: c.Streams(), Version: "test"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, c.Start(ctx))
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
		require.NoError(t, c.Close())
	})
	return &lake{t: t, dir: dir, address: s.Addr().(*net.TCPAddr)}
}

// client is a connection.
type client struct {
	t    *testing.T
	conn *mysql.Conn
}

// limit is how long a query may take, after which it is given up: joins of rows without a key compare all with all.
const limit = time.Minute

// connect opens a connection whose lakesql_vector has a value.
func (l *lake) connect(vector string) *client {
	l.t.Helper()
	conn, err := mysql.Connect(context.Background(), &mysql.ConnParams{Host: l.address.IP.String(), Port: l.address.Port, Uname: "root", DbName: "lake"})
	require.NoError(l.t, err)
	l.t.Cleanup(conn.Close)
	c := &client{l.t, conn}
	c.exec("SET lakesql_vector = "+vector, fmt.Sprintf("SET max_execution_time = %d", limit.Milliseconds()))
	return c
}

// maxRows is more than any query gives.
const maxRows = 10_000_000

func (c *client) exec(statements ...string) {
	c.t.Helper()
	for _, s := range statements {
		_, err := c.conn.ExecuteFetch(s, maxRows, false)
		require.NoError(c.t, err, s)
	}
}

// rows are those of a query that must succeed, as texts.
func (c *client) rows(query string) [][]string {
	c.t.Helper()
	r, err := c.conn.ExecuteFetch(query, maxRows, false)
	require.NoError(c.t, err, query)
	return texts(r)
}

func texts(r *sqltypes.Result) [][]string {
	out := make([][]string, len(r.Rows))
	for i, row := range r.Rows {
		out[i] = make([]string, len(row))
		for j, v := range row {
			out[i][j] = null
			if !v.IsNull() {
				out[i][j] = v.ToString()
			}
		}
	}
	return out
}

// null stands for NULL, which no text of a table is.
const null = "␀"

// write makes a file beside the warehouse and returns its path.
func (l *lake) write(name, text string) string {
	l.t.Helper()
	path := filepath.Join(l.dir, name)
	require.NoError(l.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}
