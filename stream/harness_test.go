package stream

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/store"
	"lakesql/store/faultstore"
	"lakesql/stream/source"
	"lakesql/stream/source/files"
	"lakesql/vector"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "50"); err != nil { // each check runs several servers
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// patience is how long a test waits for what must come, on a machine that is busy with other tests.
const patience = time.Minute

// lake is everything that outlasts a process: tables, checkpoints, source files and definitions, below one root. A server
// is a manager with faults of its own on top of it.
type lake struct {
	t   *testing.T
	mem *store.Memory
}

func newLake(t *testing.T) *lake {
	l := &lake{t: t, mem: store.NewMemory("file:///lake")}
	for _, dir := range []string{"", "landing", "tables", "checkpoints", "catalog"} {
		require.NoError(t, store.Sub(l.mem, dir).(store.RootMaker).MakeRoot(t.Context()))
	}
	return l
}

// crashed is what a crash at this moment leaves.
func (l *lake) crashed() *lake { return &lake{t: l.t, mem: l.mem.Clone()} }

// put renames a file in.
func (l *lake) put(name, content string) {
	l.t.Helper()
	l.write("landing/"+name, content)
}

// write makes or replaces an object.
func (l *lake) write(key, content string) {
	l.t.Helper()
	w, err := l.mem.Create(l.t.Context(), key)
	require.NoError(l.t, err)
	_, err = w.Write([]byte(content))
	require.NoError(l.t, err)
	require.NoError(l.t, w.Commit(l.t.Context(), false))
}

// rows returns the table's rows, sorted, as text.
func (l *lake) rows(table string) []string {
	l.t.Helper()
	st := store.Sub(l.mem, "tables/"+table)
	handle := delta.NewTable(st)
	snap, err := handle.Snapshot(l.t.Context())
	require.NoError(l.t, err)
	scan, err := vector.NewScan(handle, snap, snap.Schema().Names(), nil)
	require.NoError(l.t, err)
	defer scan.Close()
	out := []string{}
	for {
		b, err := scan.Next(l.t.Context())
		if err != nil {
			require.ErrorContains(l.t, err, "EOF")
			break
		}
		for i := range b.Rows() {
			var cells []string
			for _, c := range b.Cols {
				cells = append(cells, c.Format(b.Row(i)))
			}
			out = append(out, strings.Join(cells, "|"))
		}
	}
	sort.Strings(out)
	return out
}

func (l *lake) version(table string) int64 {
	l.t.Helper()
	snap, err := delta.NewTable(store.Sub(l.mem, "tables/"+table)).Snapshot(l.t.Context())
	require.NoError(l.t, err)
	return snap.Version()
}

// keys lists the objects below a prefix.
func (l *lake) keys(prefix string) []string {
	l.t.Helper()
	var out []string
	for info, err := range l.mem.List(l.t.Context(), prefix, "", "") {
		require.NoError(l.t, err)
		out = append(out, strings.TrimPrefix(info.Key, prefix))
	}
	return out
}

// server is one process on a lake.
type server struct {
	*Manager
	lake   *lake
	faults *faultstore.Store
	done   chan BatchDone
}

// serve makes a server. It is closed with the test.
func (l *lake) serve(change ...func(*Config)) *server {
	s := &server{lake: l, faults: faultstore.New(l.mem), done: make(chan BatchDone, 1000)}
	cfg := Config{
		Definitions: catalogFake{s.faults}, Targets: targetsFake{s.faults}, Compiler: compilerFake{},
		Sources: map[string]source.OpenFunc{"files": files.Open}, Open: s.open, Owner: "test",
		Events: Events{BatchDone: func(e BatchDone) { s.done <- e }},
	}
	for _, c := range change {
		c(&cfg)
	}
	s.Manager = NewManager(cfg)
	s.firstBackoff = time.Millisecond
	l.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (s *server) open(uri string) (store.Store, error) {
	rel, ok := strings.CutPrefix(uri, "file:///lake")
	if !ok {
		return nil, fmt.Errorf("no such lake: %s", uri)
	}
	return s.faults.Sub(strings.Trim(rel, "/")), nil
}

// sales is CREATE STREAM sales_in INTO sales ... AS SELECT * FROM STREAM read_files('/lake/landing', ...).
func sales(change ...func(*Definition)) Definition {
	d := Definition{
		Database: "lake", Name: "sales_in", Target: TargetRef{Database: "lake", Table: "sales"},
		Checkpoint: "file:///lake/checkpoints/sales", SelectSQL: "file:///lake/landing",
	}
	for _, c := range change {
		c(&d)
	}
	return d
}

// salesSchema is what the files of the tests have.
var salesSchema = batch.NewSchema(batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int32}, Nullable: true},
	batch.Field{Name: "name", Type: batch.Type{Kind: batch.String}, Nullable: true})

func availableNow(d *Definition) { d.Trigger.Kind = AvailableNow }

func ofJSON(d *Definition) { d.SelectSQL += " json" }

func oneFileABatch(d *Definition) { d.Options = map[string]string{"maxFilesPerTrigger": "1"} }

func (s *server) create(d Definition) {
	s.lake.t.Helper()
	_, err := s.Create(s.lake.t.Context(), d, CreateOptions{})
	require.NoError(s.lake.t, err)
}

func (s *server) caughtUp() {
	s.lake.t.Helper()
	require.NoError(s.lake.t, s.WaitFor(s.lake.t.Context(), "lake", "sales_in", Until{}, patience))
}

func (s *server) state() Status {
	s.lake.t.Helper()
	st, err := s.Status("lake", "sales_in")
	require.NoError(s.lake.t, err)
	return st
}

// finished waits until AVAILABLE NOW is done.
func (s *server) finished() {
	s.lake.t.Helper()
	require.Eventually(s.lake.t, func() bool { return s.state().State == Finished }, patience, time.Millisecond)
}

// failed waits until the stream has failed and returns why.
func (s *server) failed() string {
	s.lake.t.Helper()
	err := s.WaitFor(s.lake.t.Context(), "lake", "sales_in", Until{Batch: new(int64(1 << 40))}, patience)
	require.Equal(s.lake.t, KindStreamFailed, KindOf(err), "%v", err)
	return s.state().Reason
}

func (s *server) stop() {
	s.lake.t.Helper()
	require.NoError(s.lake.t, s.StopStream(s.lake.t.Context(), "lake", "sales_in"))
}

func (s *server) restart() {
	s.lake.t.Helper()
	require.NoError(s.lake.t, s.StartStream(s.lake.t.Context(), "lake", "sales_in"))
}

// refused wants START STREAM to be refused and returns why.
func (s *server) refused() string {
	s.lake.t.Helper()
	before := s.state().State
	err := s.StartStream(s.lake.t.Context(), "lake", "sales_in")
	require.Error(s.lake.t, err)
	require.Eventually(s.lake.t, func() bool { return s.state().State == before }, patience, time.Millisecond)
	return err.Error()
}

// catalogFake keeps definitions as objects, so that a crash may hit them.
type catalogFake struct{ st store.Store }

func (c catalogFake) List(ctx context.Context) (out []Definition, err error) {
	for info, err := range c.st.List(ctx, "catalog/", "", "") {
		if err != nil {
			return nil, err
		}
		data, err := c.st.Get(ctx, info.Key)
		if err != nil {
			return nil, err
		}
		var d Definition
		if err := json.Unmarshal(data, &d); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func (c catalogFake) Put(ctx context.Context, d Definition) error {
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	w, err := c.st.Create(ctx, "catalog/"+d.FullName())
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Commit(ctx, false)
}

func (c catalogFake) Delete(ctx context.Context, database, name string) error {
	return c.st.Delete(ctx, "catalog/"+database+"."+name)
}

// targetsFake has each table in a folder of its name.
type targetsFake struct{ st store.Store }

func (f targetsFake) Open(ctx context.Context, ref TargetRef) (Target, error) {
	st := store.Sub(f.st, "tables/"+ref.Table)
	t := delta.NewTable(st)
	snap, err := currentSnapshot(ctx, t)
	return Target{Table: t, Exists: snap != nil, Create: func(ctx context.Context) error {
		return st.(store.RootMaker).MakeRoot(ctx)
	}}, err
}

// compilerFake understands SELECT * over one or more folders, "folder [json] [new] [schema columns] [+ folder ...]"; of new, what is there at first is not read.
type compilerFake struct{}

func (compilerFake) Sources(_ context.Context, d Definition) (out []source.Spec, err error) {
	if d.SelectSQL == "" {
		return nil, nil
	}
	for path := range strings.SplitSeq(d.SelectSQL, " + ") {
		path, schema, _ := strings.Cut(path, " schema ")
		path, isNew := strings.CutSuffix(path, " new")
		path, isJSON := strings.CutSuffix(path, " json")
		spec := source.Spec{Kind: "files", Path: path, Options: map[string]string{"format": "csv", "header": "true"}}
		if isJSON {
			spec.Options = map[string]string{"format": "json"}
		}
		if isNew {
			spec.Options["includeExistingFiles"] = "false"
		}
		if schema != "" {
			spec.Options["schema"] = schema
		}
		out = append(out, spec)
	}
	return out, nil
}

func (compilerFake) Compile(_ context.Context, _ Definition, inputs []*batch.Schema) (Plan, error) {
	return planFake{inputs[0]}, nil
}

type planFake struct{ schema *batch.Schema }

func (p planFake) Schema() *batch.Schema { return p.schema }
func (p planFake) String() string        { return "Scan" }
func (p planFake) Run(_ context.Context, inputs []vector.Operator, _ time.Time, _ func([]source.RowError)) (vector.Operator, error) {
	if len(inputs) == 1 {
		return inputs[0], nil
	}
	return &unionFake{inputs}, nil
}

// unionFake reads its inputs one after the other.
type unionFake struct{ inputs []vector.Operator }

func (u *unionFake) Schema() *batch.Schema { return u.inputs[0].Schema() }

func (u *unionFake) Next(ctx context.Context) (*batch.Batch, error) {
	for _, in := range u.inputs {
		if b, err := in.Next(ctx); !errors.Is(err, io.EOF) {
			return b, err
		}
	}
	return nil, io.EOF
}

func (u *unionFake) Close() error {
	for _, in := range u.inputs {
		if err := in.Close(); err != nil {
			return err
		}
	}
	return nil
}

// inputJSON is the same as files of JSON lines.
func (l *lake) inputJSON(n int) (want []string) {
	want = l.input(n)
	for i := range n {
		require.NoError(l.t, l.mem.Delete(l.t.Context(), fmt.Sprintf("landing/f%03d.csv", i)))
		l.put(fmt.Sprintf("f%03d.json", i), fmt.Sprintf("{\"id\":%d,\"name\":\"a\"}\n{\"name\":\"b\",\"id\":%d}\n", 2*i, 2*i+1))
	}
	return want
}

// input is n files of two rows each, put into the lake, and the rows that the table must have.
func (l *lake) input(n int) (want []string) {
	for i := range n {
		l.put(fmt.Sprintf("f%03d.csv", i), fmt.Sprintf("id,name\n%d,a\n%d,b\n", 2*i, 2*i+1))
		want = append(want, fmt.Sprintf("%d|a", 2*i), fmt.Sprintf("%d|b", 2*i+1))
	}
	slices.Sort(want)
	return want
}
