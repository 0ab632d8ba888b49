package vector

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
	"lakesql/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// drain returns the rows of an operator as text.
func drain(t require.TestingT, op Operator) string {
	var out bytes.Buffer
	for {
		b, err := op.Next(context.Background())
		if err == io.EOF {
			require.NoError(t, op.Close())
			require.NoError(t, op.Close())
			return out.String()
		}
		require.NoError(t, err)
		require.Equal(t, len(op.Schema().Fields), len(b.Cols))
		out.WriteString(b.Format())
	}
}

// first returns the first n lines.
func first(n int, text string) string {
	return strings.Join(strings.SplitAfterN(text, "\n", n+1)[:n], "")
}

// table is a table in memory.
type table struct {
	t    require.TestingT
	st   *store.Memory
	meta *delta.Metadata
	tab  *delta.Table
	snap *delta.Snapshot
}

func newTable(t require.TestingT, schema *batch.Schema, partitionBy ...string) *table {
	return newTableWith(t, schema, nil, partitionBy...)
}

func newTableWith(t require.TestingT, schema *batch.Schema, config map[string]string, partitionBy ...string) *table {
	st := store.NewMemory("mem://table")
	require.NoError(t, st.MakeRoot(context.Background()))
	meta, err := delta.NewMetadata(schema, partitionBy, config)
	require.NoError(t, err)
	x := &table{t: t, st: st, meta: meta, tab: delta.NewTable(st)}
	tx := x.tab.Begin(nil)
	tx.SetMetadata(meta)
	x.commit(tx)
	return x
}

func (x *table) commit(tx *delta.Transaction) {
	done, err := tx.Commit(context.Background(), delta.Operation{Name: "WRITE"})
	require.NoError(x.t, err)
	x.snap = done.Snapshot
}

// write adds a file for each partition in the batch, with statistics.
func (x *table) write(b *batch.Batch) {
	w, err := delta.NewFileWriter(x.st, x.snap, x.meta, delta.FileWriterOptions{})
	require.NoError(x.t, err)
	require.NoError(x.t, w.Write(context.Background(), b))
	files, err := w.Close(context.Background())
	require.NoError(x.t, err)
	tx := x.tab.Begin(x.snap)
	tx.Add(files...)
	x.commit(tx)
}

// writePlain adds a file without statistics in the log, but with row groups of a few rows.
func (x *table) writePlain(b *batch.Batch, rowGroup int) {
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, b.Schema, parquet.WriterOptions{RowGroupRows: rowGroup})
	require.NoError(x.t, err)
	require.NoError(x.t, w.Write(b))
	_, err = w.Close()
	require.NoError(x.t, err)
	key := fmt.Sprintf("plain-%d.parquet", x.snap.NumFiles())
	require.NoError(x.t, x.st.PutIfAbsent(context.Background(), key, out.Bytes()))
	tx := x.tab.Begin(x.snap)
	tx.Add(delta.AddFile{Path: key, Size: int64(out.Len()), ModTime: time.Now()})
	x.commit(tx)
}

func (x *table) scan(columns []string, filter Expr) *Scan {
	s, err := NewScan(x.tab, x.snap, columns, filter)
	require.NoError(x.t, err)
	return s
}

// TestSkippingChangesNoResult writes random rows with every kind of statistics and compares random predicates with skipping
// on and off.
func TestSkippingChangesNoResult(t *testing.T) {
	g := &generator{schema: modelSchema()}
	names := append(g.schema.Names(), FileColumn, RowColumn)
	rapid.Check(t, func(t *rapid.T) {
		partitions := rapid.SampledFrom([][]string{nil, {"c13"}, {"c3", "c10"}, {"c0"}, {"c7"}, {"c11"}, {"c6"}}).Draw(t, "partitions")
		x := newTable(t, g.schema, partitions...)
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			b := drawBatch(t, g.schema)
			if partitions == nil && rapid.Bool().Draw(t, "plain") {
				x.writePlain(b, rapid.IntRange(1, 20).Draw(t, "row group"))
			} else {
				x.write(b)
			}
		}
		for range 4 {
			predicate := g.predicate(t, 2)
			if mayOverflow(predicate.Expr) {
				continue
			}
			all := drain(t, NewFilter(hidden{x.scan(names, nil)}, predicate.Expr))
			some := x.scan(names, predicate.Expr)
			require.Equal(t, all, drain(t, NewFilter(some, predicate.Expr)), predicate.text)
			require.Equal(t, x.snap.NumFiles(), some.Stats().Files)
			shared := x.scan(names, predicate.Expr)
			require.Equal(t, all, drainShared(t, NewFilter(shared, predicate.Expr)), predicate.text)
			require.Equal(t, some.Stats(), shared.Stats())
		}
	})
}

// hidden keeps a filter from the scan below it.
type hidden struct{ Operator }

// drainShared reads an operator by forks, and puts what they read in the order of the morsels.
func drainShared(t require.TestingT, op Operator) string {
	forks := op.(Forker).Fork(3)
	texts := make([]morselTexts, len(forks))
	for i := range texts {
		texts[i] = morselTexts{}
	}
	require.NoError(t, drainForks(context.Background(), forks, texts))
	require.NoError(t, closeForks(forks))
	require.NoError(t, closeForks(forks))
	return inMorselOrder(t, texts)
}

// inMorselOrder puts together what several forks have read.
func inMorselOrder(t require.TestingT, texts []morselTexts) string {
	all := map[int64]string{}
	for _, of := range texts {
		for m, text := range of {
			require.NotContains(t, all, m)
			all[m] = text
		}
	}
	out := ""
	for _, m := range slices.Sorted(maps.Keys(all)) {
		out += all[m]
	}
	return out
}

// morselTexts are the rows of morsels as text.
type morselTexts map[int64]string

func (m morselTexts) add(_ context.Context, b *batch.Batch, morsel int64) error {
	m[morsel] += b.Format()
	return nil
}

func (m morselTexts) finish(context.Context) error { return nil }

// mayOverflow reports a predicate with arithmetic: skipping may leave out a row that would be an error.
func mayOverflow(e Expr) bool {
	_, is := e.(*arith)
	return is || slices.ContainsFunc(e.children(), mayOverflow)
}

func smallTable(t require.TestingT) *table {
	schema := batch.NewSchema(
		batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
		batch.Field{Name: "Region", Type: batch.Type{Kind: batch.String}, Nullable: true},
	)
	x := newTable(t, schema, "Region")
	for i := range int64(3) {
		b := batch.NewBuilder(schema)
		for j := range int64(3) {
			require.NoError(t, b.AppendRow(i*10+j, fmt.Sprintf("r%d", i)))
		}
		require.NoError(t, b.AppendRow(nil, nil))
		x.write(b.Finish())
	}
	return x
}

func TestScan(t *testing.T) {
	x := smallTable(t)
	require.Equal(t, "0 | r0\n1 | r0\n2 | r0\nNULL | NULL\n10 | r1\n11 | r1\n12 | r1\nNULL | NULL\n20 | r2\n21 | r2\n22 | r2\nNULL | NULL\n",
		drain(t, x.scan([]string{"id", "region"}, nil)))
	require.Equal(t, "r0\nr0\nr0\n", first(3, drain(t, x.scan([]string{"Region"}, nil))))

	none := x.scan(nil, nil)
	require.Equal(t, "\n\n\n\n\n\n\n\n\n\n\n\n", drain(t, none))
	require.EqualValues(t, 12, none.Stats().Rows)

	id := NewColumn(0, x.snap.Schema().Fields[0])
	filter, err := NewCompare(GreaterEqual, id, NewInt(21))
	require.NoError(t, err)
	s := x.scan([]string{"id"}, filter)
	require.Equal(t, "21\n22\n", drain(t, NewFilter(s, filter)))
	require.Equal(t, ScanStats{Files: 6, FilesSkipped: 5, RowGroups: 1, Rows: 3}, s.Stats())

	region, err := NewCompare(Equal, NewColumn(0, x.snap.Schema().Fields[1]), NewString("r1"))
	require.NoError(t, err)
	s = x.scan([]string{"Region", "id"}, region)
	require.Equal(t, "r1 | 10\nr1 | 11\nr1 | 12\n", drain(t, s))
	require.Equal(t, 5, s.Stats().FilesSkipped)

	_, err = NewScan(x.tab, x.snap, []string{"nope"}, nil)
	require.ErrorContains(t, err, `no column "nope" in version 3; it has id, Region`)
}

// TestPagesAreSkipped: of a row group with a page index only the pages are read that can have a row, and each row keeps its position.
func TestPagesAreSkipped(t *testing.T) {
	long, text := batch.Type{Kind: batch.Int64}, batch.Type{Kind: batch.String}
	schema := batch.NewSchema(batch.Field{Name: "id", Type: long, Nullable: true}, batch.Field{Name: "word", Type: text, Nullable: true})
	x := newTable(t, schema)
	b := batch.NewBuilder(schema)
	const rows = 2 * pageIndexRows
	for i := range int64(rows) {
		word := any(fmt.Sprintf("word %07d", (i/1000)*7%40))
		if i%5000 == 17 {
			word = nil
		}
		require.NoError(t, b.AppendRow(i, word))
	}
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, schema, parquet.WriterOptions{PageBytes: 8 << 10})
	require.NoError(t, err)
	require.NoError(t, w.Write(b.Finish()))
	_, err = w.Close()
	require.NoError(t, err)
	require.NoError(t, x.st.PutIfAbsent(context.Background(), "pages.parquet", out.Bytes()))
	tx := x.tab.Begin(x.snap)
	tx.Add(delta.AddFile{Path: "pages.parquet", Size: int64(out.Len()), ModTime: time.Now(), NumRecords: -1})
	x.commit(tx)
	id, word := NewColumn(0, schema.Fields[0]), NewColumn(1, schema.Fields[1])
	must := func(e Expr, err error) Expr { require.NoError(t, err); return e }
	for _, predicate := range []Expr{
		must(NewBetween(id, NewInt(12_345), NewInt(12_350))),
		must(NewCompare(Equal, word, NewString("word 0000021"))),
		must(NewAnd(must(NewCompare(GreaterEqual, id, NewInt(rows-3))), must(NewNot(NewIsNull(word))))),
		must(NewAnd(must(NewCompare(Equal, word, NewString("word 0000007"))), must(NewCompare(Less, id, NewInt(1100))))),
		NewIsNull(word),
	} {
		names := []string{"id", "word", RowColumn}
		some := x.scan(names, predicate)
		require.Equal(t, drain(t, NewFilter(hidden{x.scan(names, nil)}, predicate)), drain(t, NewFilter(some, predicate)))
		if _, isNull := predicate.(*isNull); !isNull {
			require.Positive(t, some.Stats().RowsSkipped)
			require.Equal(t, rows-some.Stats().RowsSkipped, some.Stats().Rows)
		}
	}
}

// TestAddresses: a row's file and its place in it, whatever is left out.
func TestAddresses(t *testing.T) {
	x := smallTable(t)
	id := x.snap.Schema().Fields[0]
	b := batch.NewBuilder(x.snap.Schema())
	for i := range int64(50) {
		require.NoError(t, b.AppendRow(100+i, "r9"))
	}
	x.write(b.Finish())
	filter, err := NewCompare(GreaterEqual, NewColumn(1, id), NewInt(148))
	require.NoError(t, err)
	s := x.scan([]string{RowColumn, "id", FileColumn}, filter)
	require.Equal(t, "48 | 148 | 6\n49 | 149 | 6\n", drain(t, NewFilter(s, filter)))
	require.Equal(t, "0 | 0\n0 | 1\n0 | 2\n", first(3, drain(t, x.scan([]string{FileColumn, RowColumn}, nil))))
	s = x.scan([]string{FileColumn, "id"}, nil)
	s.UseFiles(func(yield func(int64, delta.File) bool) {
		for n, f := range Numbered(x.snap) {
			if n == 2 && !yield(77, f) {
				return
			}
		}
	})
	require.Equal(t, "77 | 10\n77 | 11\n77 | 12\n", drain(t, s))
}

// TestCoverage: whole files are decided by partition values and statistics.
func TestCoverage(t *testing.T) {
	x := smallTable(t)
	id, region := NewColumn(0, x.snap.Schema().Fields[0]), NewColumn(1, x.snap.Schema().Fields[1])
	must := func(e Expr, err error) Expr { require.NoError(t, err); return e }
	for _, c := range []struct {
		predicate Expr
		want      string
	}{
		{nil, "AAAAAA"},
		{must(NewCompare(Equal, region, NewString("r1"))), "--A---"},
		{must(NewCompare(GreaterEqual, id, NewInt(10))), "--A-A-"},
		{must(NewCompare(GreaterEqual, id, NewInt(11))), "--S-A-"},
		{NewIsNull(id), "-A-A-A"},
		{must(NewNot(NewIsNull(region))), "A-A-A-"},
	} {
		f, err := NewFileFilter(x.snap, []string{"id", "Region"}, c.predicate)
		require.NoError(t, err)
		got := ""
		for file := range x.snap.Files() {
			coverage, err := f.Match(file)
			require.NoError(t, err)
			got += string("-SA"[coverage])
		}
		require.Equal(t, c.want, got)
	}
}

// TestScanSchemaChange: a column that a file lacks is null there.
func TestScanSchemaChange(t *testing.T) {
	x := smallTable(t)
	wider := batch.NewSchema(append(x.snap.Schema().Fields, batch.Field{Name: "extra", Type: batch.Type{Kind: batch.Float64}, Nullable: true})...)
	meta, err := delta.NewMetadata(wider, []string{"Region"}, nil)
	require.NoError(t, err)
	tx := x.tab.Begin(x.snap)
	tx.SetMetadata(meta)
	x.commit(tx)
	extra := NewColumn(1, wider.Fields[2])
	require.Equal(t, "0 | NULL\n1 | NULL\n2 | NULL\n", first(3, drain(t, x.scan([]string{"id", "extra"}, NewIsNull(extra)))))
	positive, err := NewCompare(Greater, extra, NewFloat(0))
	require.NoError(t, err)
	require.Empty(t, drain(t, x.scan([]string{"id", "extra"}, positive)))
}

// TestScansShareFiles: scans at once through one cache, also one that ends early, give the rows that a scan without gives.
func TestScansShareFiles(t *testing.T) {
	x := smallTable(t)
	id := NewColumn(0, x.snap.Schema().Fields[0])
	filter, err := NewCompare(GreaterEqual, id, NewInt(11))
	require.NoError(t, err)
	all, some := drain(t, x.scan([]string{"id", "Region"}, nil)), drain(t, x.scan([]string{"id"}, filter))
	cache := parquet.NewCache()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				s := x.scan([]string{"id", "Region"}, nil)
				s.UseCache(cache)
				assert.Equal(t, all, drain(t, s))
				s = x.scan([]string{"id"}, filter)
				s.UseCache(cache)
				assert.Equal(t, some, drain(t, s))
				s = x.scan([]string{"id"}, nil)
				s.UseCache(cache)
				_, err := s.Next(context.Background())
				assert.NoError(t, err)
				assert.NoError(t, s.Close())
			}
		})
	}
	wg.Wait()
	require.NoError(t, cache.Close())
}

func TestScanEndsEarly(t *testing.T) {
	x := smallTable(t)
	s := x.scan([]string{"id"}, nil)
	require.NoError(t, s.Close()) // never started
	_, err := s.Next(context.Background())
	require.Equal(t, io.EOF, err)

	s = x.scan([]string{"id"}, nil)
	_, err = s.Next(context.Background())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = s.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, s.Close()) // with a file open and one ahead
}

func TestScanFileGone(t *testing.T) {
	x := smallTable(t)
	for f := range x.snap.Files() {
		require.NoError(t, x.st.Delete(context.Background(), f.Path))
		break
	}
	s := x.scan([]string{"id"}, nil)
	_, err := s.Next(context.Background())
	require.ErrorIs(t, err, store.ErrNotFound)
	_, again := s.Next(context.Background())
	require.Equal(t, err, again)
	require.NoError(t, s.Close())
}
