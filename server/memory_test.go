package server

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	gmssql "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	_ "github.com/go-sql-driver/mysql"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lakesql/stream"
	"lakesql/vector"
)

func TestMain(m *testing.M) {
	logrus.SetOutput(io.Discard)
	BridgeLogs(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

// testServer is a server on GMS' memory engine. Database d is for what a test makes; in database g there are
//
//	series    id BIGINT, v DOUBLE, s VARCHAR(40): as many rows as a test says, made as they are read
//	broken    the same, failing at row breakAt
//	panics    the same, panicking at row breakAt
type testServer struct {
	*Server
	engine  *sqle.Engine
	streams *fakeStreams
	spill   *vector.SpillSpace
	length  atomic.Int64
	breakAt atomic.Int64
	made    atomic.Int64 // rows that were made
}

func startServer(t testing.TB) *testServer {
	t.Helper()
	ts := &testServer{streams: &fakeStreams{}}
	database := memory.NewDatabase("d")
	generated := &generatedDB{Database: memory.NewDatabase("g"), tables: map[string]gmssql.Table{}}
	provider := memory.NewDBProvider(database, generated)
	ts.engine = sqle.New(analyzer.NewDefault(provider), &sqle.Config{})
	for name, fault := range map[string]func() error{
		"series": nil,
		"broken": func() error { return mysql.NewSQLError(20021, stateOwn, "the file ends too early") },
		"panics": func() error { panic("a fault on purpose") },
	} {
		generated.tables[name] = &seriesTable{name: name, ts: ts, fault: fault}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	httpListener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ts.spill, err = vector.NewSpillSpace(t.TempDir(), 256<<20)
	require.NoError(t, err)
	ts.Server, err = New(Config{Listener: listener, HTTP: httpListener, Engine: ts.engine, Streams: ts.streams, Version: "test", Spill: ts.spill,
		Memory: func() (used, limit int64) { return 10, 100 },
		NewSession: func(_ context.Context, c *mysql.Conn, addr string) (gmssql.Session, error) {
			user := c.UserData.(gmssql.MysqlConnectionUser)
			client := gmssql.Client{User: user.User, Address: user.Host, Capabilities: c.Capabilities}
			return memory.NewSession(gmssql.NewBaseSessionWithClientServer(addr, client, c.ConnectionID), provider), nil
		}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- ts.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
		require.NoError(t, ts.Close())
		require.NoError(t, ts.engine.Close())
	})
	return ts
}

// open connects with go-sql-driver; params are its DSN's.
func (ts *testServer) open(t *testing.T, params string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/d?%s", ts.Addr(), params))
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// patience is how long a test waits for what must come, on a machine that is busy with other tests.
const patience = time.Minute

// runs reports whether some connection runs the statement now.
func (ts *testServer) runs(query string) bool {
	return slices.ContainsFunc(ts.engine.ProcessList.Processes(), func(p gmssql.Process) bool { return p.Query == query })
}

// fakeStreams is what the server knows of streams.
type fakeStreams struct {
	mu     sync.Mutex
	list   []stream.Status
	killed []uint32
}

func (f *fakeStreams) List() []stream.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.list
}

func (f *fakeStreams) Kill(_ context.Context, id uint32) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = append(f.killed, id)
	return true, nil
}

func (f *fakeStreams) Workers() stream.Pool { return stream.Pool{Size: 8, Busy: 3} }

// generatedDB has tables that memory's cannot hold.
type generatedDB struct {
	*memory.Database
	tables map[string]gmssql.Table
}

func (d *generatedDB) GetTableInsensitive(_ *gmssql.Context, name string) (gmssql.Table, bool, error) {
	t, ok := d.tables[name]
	return t, ok, nil
}

// seriesTable makes rows as they are read.
type seriesTable struct {
	name  string
	ts    *testServer
	fault func() error
}

var seriesSchema = gmssql.Schema{
	{Name: "id", Type: types.Int64, Source: "series", DatabaseSource: "g"},
	{Name: "v", Type: types.Float64, Source: "series", DatabaseSource: "g", Nullable: true},
	{Name: "s", Type: types.MustCreateStringWithDefaults(sqltypes.VarChar, 40), Source: "series", DatabaseSource: "g", Nullable: true},
}

func (s *seriesTable) Name() string   { return s.name }
func (s *seriesTable) String() string { return s.name }
func (s *seriesTable) Schema(*gmssql.Context) gmssql.Schema {
	schema := seriesSchema.Copy()
	for _, c := range schema {
		c.Source = s.name
	}
	return schema
}
func (s *seriesTable) Collation() gmssql.CollationID { return gmssql.Collation_Default }
func (s *seriesTable) Partitions(*gmssql.Context) (gmssql.PartitionIter, error) {
	return gmssql.PartitionsToPartitionIter(onePartition{}), nil
}
func (s *seriesTable) PartitionRows(*gmssql.Context, gmssql.Partition) (gmssql.RowIter, error) {
	return &seriesRows{table: s}, nil
}

type onePartition struct{}

func (onePartition) Key() []byte { return []byte("all") }

type seriesRows struct {
	table *seriesTable
	next  int64
}

func (r *seriesRows) Next(ctx *gmssql.Context) (gmssql.Row, error) {
	if r.next >= r.table.ts.length.Load() {
		return nil, io.EOF
	}
	if r.table.fault != nil && r.next == r.table.ts.breakAt.Load() {
		return nil, r.table.fault()
	}
	if r.next%1024 == 0 && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	id := r.next
	r.next++
	r.table.ts.made.Add(1)
	return gmssql.Row{id, float64(id) / 4, fmt.Sprintf("row %d", id)}, nil
}

func (r *seriesRows) Close(*gmssql.Context) error { return nil }
