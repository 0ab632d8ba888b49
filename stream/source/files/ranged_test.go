package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/format/parquet"
	"lakesql/stream/source"
	"lakesql/vector"
)

// heard is what an observer was told, in order.
type heard struct{ rows, files []string }

func (h *heard) observer() source.Observer {
	return source.Observer{
		Row: func(e source.RowError) {
			h.rows = append(h.rows, fmt.Sprintf("%s:%d %s %q", e.File, e.Line, e.Message, e.Raw))
		},
		File: func(f source.FileResult) {
			h.files = append(h.files, fmt.Sprintf("%s %d %d %s", f.URI, f.Rows, f.Rejected, f.Skipped))
		},
	}
}

// readForked reads a range by so many readers, each on a goroutine of its own.
func readForked(ctx context.Context, t *testing.T, src source.Source, end source.Offset, obs source.Observer, readers int) (rows []string, err error) {
	t.Helper()
	op, err := src.Read(t.Context(), source.None, end, obs)
	require.NoError(t, err)
	forks := op.(vector.Forker).Fork(readers)
	require.Len(t, forks, readers)
	var mu sync.Mutex
	err = vector.InParallel(ctx, readers, func(ctx context.Context, i int) error {
		morsel := int64(-1)
		for {
			b, err := forks[i].Next(ctx)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if forks[i].Morsel() < morsel {
				return fmt.Errorf("morsel %d after %d", forks[i].Morsel(), morsel)
			}
			morsel = forks[i].Morsel()
			mu.Lock()
			for i := range b.Rows() {
				rows = append(rows, b.Cols[0].Format(b.Row(i)))
			}
			mu.Unlock()
		}
	})
	for _, f := range forks {
		require.NoError(t, f.Close())
	}
	require.NoError(t, op.Close())
	slices.Sort(rows)
	return rows, err
}

// manyRows are the lines of a CSV file of some pieces; bad says which have a word for their number.
func manyRows(name string, bad func(i int) bool) string {
	var out strings.Builder
	out.WriteString("id,name\n")
	long := name + strings.Repeat(" ", 1000) // few rows are much to read
	for i := 0; out.Len() < 5*format.PieceBytes; i++ {
		if bad(i) {
			fmt.Fprintf(&out, "word,%d%s\n", i, long)
		} else {
			fmt.Fprintf(&out, "%d,%s\n", i, long)
		}
	}
	return out.String()
}

// all is the range of all files in the folder.
func (f *folder) all(t *testing.T, src source.Source) (end source.Offset) {
	t.Helper()
	there, err := os.ReadDir(f.landing)
	require.NoError(t, err)
	for len(src.(*Source).seen) < len(there) {
		end = f.next(t, src, end)
	}
	return end
}

func none(int) bool { return false }

// TestReadersShareARange: however many read it, a range has the same rows, and tells the same of its files and malformed rows in the same order.
func TestReadersShareARange(t *testing.T) {
	f := newFolder(t)
	f.options["schema"] = "id INT, name STRING"
	f.change = func(e *source.Env) { e.Malformed = source.DropRow }
	for i, bad := range []func(int) bool{func(i int) bool { return i%100 == 0 }, none, func(i int) bool { return i > 5000 }} {
		f.put(t, fmt.Sprintf("large%d.csv", i), manyRows(fmt.Sprint(i), bad))
		f.put(t, fmt.Sprintf("small%d.csv", i), "id,name\n1,x\nword,y\n")
	}
	src := f.Open(t)
	defer src.Close()
	end := f.all(t, src)
	var want heard
	op, err := src.Read(t.Context(), source.None, end, want.observer())
	require.NoError(t, err)
	var rows []string
	for {
		b, err := op.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for i := range b.Rows() {
			rows = append(rows, b.Cols[0].Format(b.Row(i)))
		}
	}
	require.NoError(t, op.Close())
	slices.Sort(rows)
	results := slices.Clone(src.(*Source).results)
	require.Len(t, want.files, 6)
	require.Greater(t, len(want.rows), 4000)
	for _, readers := range []int{2, 3} {
		var got heard
		found, err := readForked(t.Context(), t, src, end, got.observer(), readers)
		require.NoError(t, err)
		require.True(t, slices.Equal(rows, found), "%d rows instead of %d", len(found), len(rows))
		require.Equal(t, want.files, got.files)
		require.True(t, slices.Equal(want.rows, got.rows))
		require.Equal(t, results, src.(*Source).results)
	}
}

// TestFirstFaultOfARange: of several faults a range ends with the one that one reader alone would have met.
func TestFirstFaultOfARange(t *testing.T) {
	f := newFolder(t)
	f.options["schema"] = "id INT, name STRING"
	f.change = func(e *source.Env) { e.Malformed = source.FailRead }
	f.put(t, "a.csv", manyRows("a", none))
	f.put(t, "b.csv", manyRows("b", func(i int) bool { return i >= 600 })) // in the first piece that is whole, and in all behind it
	f.put(t, "c.csv", manyRows("c", func(int) bool { return true }))
	src := f.Open(t)
	defer src.Close()
	end := f.all(t, src)
	for range 3 {
		_, err := readForked(t.Context(), t, src, end, source.Observer{}, 3)
		require.ErrorIs(t, err, source.ErrData)
		require.ErrorContains(t, err, "b.csv")
		require.ErrorContains(t, err, "line 602")
	}
}

// TestUnreadableFileOfReaders: a file that turns out to be unreadable is left out when the range is read again.
func TestUnreadableFileOfReaders(t *testing.T) {
	f := newFolder(t)
	f.options["schema"] = "id INT, name STRING"
	f.change = func(e *source.Env) { e.SkipUnreadable = true }
	f.put(t, "a.csv", manyRows("a", none))
	f.put(t, "b.csv", manyRows("b", none)+strings.Repeat("x", format.MaxRecordBytes+1))
	f.put(t, "c.csv", manyRows("c", none))
	src := f.Open(t)
	defer src.Close()
	end := f.all(t, src)
	var told heard
	_, err := readForked(t.Context(), t, src, end, told.observer(), 2)
	require.ErrorIs(t, err, source.ErrAgain)
	told = heard{}
	rows, err := readForked(t.Context(), t, src, end, told.observer(), 2)
	require.NoError(t, err)
	require.Len(t, rows, 2*strings.Count(manyRows("a", none), "\n")-2)
	require.Contains(t, strings.Join(told.files, "\n"), "b.csv 0 0 file")
}

// TestReadersEnd: a range that is left in the middle, by a cancellation or by readers that are closed, ends, and so do those who wait for what will not come.
func TestReadersEnd(t *testing.T) {
	f := newFolder(t)
	f.options["schema"] = "id INT, name STRING"
	f.change = func(e *source.Env) { e.Malformed = source.FailRead }
	f.put(t, "a.csv", manyRows("a", func(i int) bool { return i > 5000 }))
	f.put(t, "b.csv", manyRows("b", none))
	src := f.Open(t)
	defer src.Close()
	end := f.all(t, src)
	open := func() []vector.Fork {
		op, err := src.Read(t.Context(), source.None, end, source.Observer{})
		require.NoError(t, err)
		forks := op.(vector.Forker).Fork(2)
		for _, fork := range forks { // each has a piece
			_, err := fork.Next(t.Context())
			require.NoError(t, err)
		}
		return forks
	}
	faultOf := func(ctx context.Context, fork vector.Fork) <-chan error {
		out := make(chan error, 1)
		go func() {
			for {
				if _, err := fork.Next(ctx); err != nil {
					out <- err
					return
				}
			}
		}()
		return out
	}
	ctx, cancel := context.WithCancel(t.Context())
	forks := open()
	fault := faultOf(ctx, forks[1]) // it waits: the first piece may have a fault, too
	cancel()
	require.ErrorIs(t, <-fault, context.Canceled)
	for _, fork := range forks {
		require.NoError(t, fork.Close())
	}
	forks = open()
	fault = faultOf(t.Context(), forks[1])
	require.NoError(t, forks[0].Close())
	require.ErrorIs(t, <-fault, source.ErrData)
	require.NoError(t, forks[1].Close())
	_, err := forks[1].Next(t.Context())
	require.ErrorIs(t, err, io.EOF)
}

// TestSmallRangeHasOneReader: more would leave more and smaller files in the table.
func TestSmallRangeHasOneReader(t *testing.T) {
	f := newFolder(t)
	f.Append(t)
	f.put(t, "large.csv", manyRows("a", none))
	src := f.Open(t)
	defer src.Close()
	op, err := src.Read(t.Context(), source.None, f.all(t, src), source.Observer{})
	require.NoError(t, err)
	require.Len(t, op.(vector.Forker).Fork(8), 1)
	require.NoError(t, op.Close())
}

// TestReadersCloseFiles: a file that several readers take apart is closed when its last piece was read, not with the range, which may have thousands.
func TestReadersCloseFiles(t *testing.T) {
	f := newFolder(t)
	f.options["schema"] = "id INT, name STRING"
	for _, name := range []string{"a", "b", "c"} {
		f.put(t, name+".csv", manyRows(name, none))
	}
	src := f.Open(t)
	defer src.Close()
	op, err := src.Read(t.Context(), source.None, f.all(t, src), source.Observer{})
	require.NoError(t, err)
	forks := op.(vector.Forker).Fork(2)
	ranged := op.(*reader).ranged
	files := map[*parted]bool{}
	for i := 0; ; i = 1 - i { // each in its turn
		_, err := forks[i].Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.LessOrEqual(t, len(ranged.opened), 2)
		for _, p := range ranged.opened {
			files[p] = true
		}
	}
	for err == nil { // the other one may have a piece yet
		_, err = forks[1].Next(t.Context())
	}
	for err = nil; err == nil; {
		_, err = forks[0].Next(t.Context())
	}
	require.Len(t, files, 3)
	require.Empty(t, ranged.opened)
	for _, fork := range forks {
		require.NoError(t, fork.Close())
	}
}

// TestReadersShareRowGroups: several readers read the row groups of the same Parquet files.
func TestReadersShareRowGroups(t *testing.T) {
	f := newFolder(t)
	f.options = map[string]string{"format": "parquet", "schema": "id BIGINT, name STRING"}
	schema := batch.NewSchema(batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}, Nullable: true}, batch.Field{Name: "name", Type: batch.Type{Kind: batch.String}, Nullable: true})
	var want []string
	for file := range 2 {
		var data strings.Builder
		w, err := parquet.NewWriter(&data, schema, parquet.WriterOptions{RowGroupRows: 300, Compression: parquet.Uncompressed})
		require.NoError(t, err)
		for from := 0; from < 3000; from += 300 {
			rows := batch.NewBuilder(schema)
			for i := from; i < from+300; i++ {
				id := int64(file*10000 + i)
				require.NoError(t, rows.AppendRow(id, fmt.Sprintf("%d%s", id, strings.Repeat("n", 5000))))
				want = append(want, fmt.Sprint(id))
			}
			require.NoError(t, w.Write(rows.Finish()))
		}
		_, err = w.Close()
		require.NoError(t, err)
		f.put(t, fmt.Sprintf("f%d.parquet", file), data.String())
	}
	slices.Sort(want)
	src := f.Open(t)
	defer src.Close()
	var told heard
	rows, err := readForked(t.Context(), t, src, f.all(t, src), told.observer(), 3)
	require.NoError(t, err)
	require.Equal(t, want, rows)
	require.Len(t, told.files, 2)
	for _, file := range told.files {
		require.Contains(t, file, " 3000 0 ")
	}
}
