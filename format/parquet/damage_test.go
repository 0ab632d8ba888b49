package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/store"
)

func smallFile(t testing.TB, c Compression) ([]byte, *batch.Schema) {
	s := allSchema()
	b := randomBatch(rand.New(rand.NewPCG(9, 9)), s, 200, 0.2, true)
	data, _ := encodeFile(t, s, WriterOptions{Compression: c, PageBytes: 300, RowGroupRows: 150}, b)
	return data, s
}

// scanDamaged reads all columns, but of a file that says of few bytes that they are many rows, not all of them; whatever the bytes are, it returns.
func scanDamaged(data []byte) error {
	f, err := openBytes(data)
	if err != nil {
		return err
	}
	fields := f.Schema().Fields
	for g, group := range f.RowGroups() {
		for _, field := range fields {
			group.Stats(field, nil, false)
			if _, err := f.Pages(context.Background(), g, field, nil, false); err != nil {
				return err
			}
		}
	}
	if err := scanSome(f, ScanOptions{Columns: fields}); err != nil {
		return err
	}
	// In parts, so that pages are left out.
	opts := ScanOptions{Columns: fields}
	for at := f.NumRows() % 7; at < f.NumRows() && at < 1<<20; at = 3*at + 5 {
		opts.Rows = append(opts.Rows, RowRange{at, at + 1 + at/2})
	}
	if err := scanSome(f, opts); err != nil {
		return err
	}
	return scanPicked(f, fields)
}

// scanPicked reads a few rows of the columns of the first batches.
func scanPicked(f *File, fields []batch.Field) error {
	scan := f.Scan(context.Background(), ScanOptions{Columns: fields})
	for range 20 {
		n, err := scan.Advance(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var rows []int32
		for row := n % 5; row < n; row = 2*row + 3 {
			rows = append(rows, int32(row))
		}
		for i := range fields {
			if _, err := scan.Column(i, rows); err != nil {
				return err
			}
		}
	}
	return scan.Close()
}

// scanSome reads the first batches of a scan.
func scanSome(f *File, opts ScanOptions) error {
	scan := f.Scan(context.Background(), opts)
	defer scan.Close()
	for range 40 {
		if _, err := scan.Next(context.Background()); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

func TestDamagedFiles(t *testing.T) {
	whole, _ := smallFile(t, Snappy)
	require.NoError(t, scanDamaged(whole))

	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "0 bytes are too few"},
		{"text", []byte("id,name\n1,a\n2,b\n"), "is it a Parquet file"},
		{"cut short", whole[:len(whole)-100], "is it a Parquet file"},
		{"footer length", append(append([]byte{}, whole[:len(whole)-8]...), "\xff\xff\xff\x7fPAR1"...), "is longer than the file"},
		{"encrypted", append(append([]byte{}, whole[:len(whole)-4]...), "PARE"...), "encrypted"},
	} {
		_, err := openBytes(c.data)
		require.ErrorContains(t, err, c.want, c.name)
		require.ErrorContains(t, err, "memory:/test/f.parquet", c.name)
		var typed *Error
		require.ErrorAs(t, err, &typed)
	}
}

// damageEvery is the distance of the bytes that are damaged one by one: fewer of them under -short, as the race detector runs.
func damageEvery(distance int) int {
	if testing.Short() {
		return 5 * distance
	}
	return distance
}

// Every flipped byte of the data is noticed, by the checksum of its page if by nothing else.
func TestFlippedBytesAreNoticed(t *testing.T) {
	for _, c := range []Compression{Snappy, Uncompressed} {
		whole, _ := smallFile(t, c)
		f, err := openBytes(whole)
		require.NoError(t, err)
		pages := int(f.meta.RowGroups[0].Columns[0].ColumnIndexOffset)
		unnoticed, every := 0, damageEvery(13)
		for at := 4; at < pages; at += every {
			data := append([]byte{}, whole...)
			data[at] ^= 0x10
			if err := scanDamaged(data); err == nil {
				unnoticed++ // statistics in a page's header, which are not read
			} else {
				require.True(t, errors.Is(err, ErrDamaged) || errors.Is(err, ErrUnsupported), err)
				require.ErrorContains(t, err, "read column", "byte %d", at)
			}
		}
		require.Less(t, unnoticed, pages/every/20)
	}
}

// Damaged LZ4 pages without a checksum end in an error, not in buffers that grow for ever.
func TestDamagedLZ4(t *testing.T) {
	type row struct {
		S string `parquet:"s,optional,plain,lz4"`
	}
	rows := make([]row, 2000)
	for i := range rows {
		rows[i].S = "the same text over and over again"
	}
	var out bytes.Buffer
	w := pq.NewGenericWriter[row](&out, pq.DataPageVersion(1), pq.PageBufferSize(2000))
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, scanDamaged(out.Bytes()))
	footer := int(uint32(out.Bytes()[out.Len()-8]) | uint32(out.Bytes()[out.Len()-7])<<8)
	refused := 0
	for at := 4; at < out.Len()-8-footer; at += damageEvery(3) {
		data := bytes.Clone(out.Bytes())
		data[at] ^= 0xff
		if scanDamaged(data) != nil {
			refused++
		}
	}
	require.Positive(t, refused)
}

func TestSizeIsChecked(t *testing.T) {
	data, _ := smallFile(t, Snappy)
	st := store.NewMemory("memory:/test")
	require.NoError(t, st.MakeRoot(t.Context()))
	require.NoError(t, st.PutIfAbsent(t.Context(), "f.parquet", data))
	_, err := Open(t.Context(), st, "f.parquet", int64(len(data))+1)
	require.ErrorIs(t, err, ErrDamaged)
	_, err = Open(t.Context(), st, "none.parquet", 100)
	require.ErrorIs(t, err, store.ErrNotFound)
}

// plainStore hides the optional powers of a store, so that files are read by ranges.
type plainStore struct{ store.Store }

func TestRangesAndMappingsGiveTheSame(t *testing.T) {
	data, s := smallFile(t, Zstd)
	local, err := store.NewLocal(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, local.PutIfAbsent(t.Context(), "a/b.parquet", data))
	mapped, err := Open(t.Context(), local, "a/b.parquet", int64(len(data)))
	require.NoError(t, err)
	require.NotNil(t, mapped.source.mapped)
	ranged, err := Open(t.Context(), plainStore{local}, "a/b.parquet", int64(len(data)))
	require.NoError(t, err)
	require.Nil(t, ranged.source.mapped)
	want, err := readAll(mapped, ScanOptions{Columns: s.Fields})
	require.NoError(t, err)
	got, err := readAll(ranged, ScanOptions{Columns: s.Fields})
	require.NoError(t, err)
	requireSame(t, want, got)
	require.NoError(t, mapped.Close())
	require.NoError(t, mapped.Close())
}

func TestCancelledScan(t *testing.T) {
	data, s := smallFile(t, Snappy)
	f, err := openBytes(data)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	scan := f.Scan(ctx, ScanOptions{Columns: s.Fields})
	_, err = scan.Next(ctx)
	require.NoError(t, err)
	cancel()
	_, err = scan.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, scan.Close())
	require.NoError(t, scan.Close())
}

// failingWriter fails after so many bytes.
type failingWriter struct{ left int }

var errDisk = errors.New("no space left")

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return w.left, errDisk
	}
	w.left -= len(p)
	return len(p), nil
}

func TestWriterReportsFailure(t *testing.T) {
	s := allSchema()
	b := randomBatch(rand.New(rand.NewPCG(2, 9)), s, 1000, 0, false)
	for _, left := range []int{0, 10, 5000, 50_000} {
		w, err := NewWriter(&failingWriter{left}, s, WriterOptions{RowGroupRows: 500})
		for i := 0; err == nil && i < 3; i++ {
			err = w.Write(b)
		}
		if err == nil {
			_, err = w.Close()
		}
		require.ErrorIs(t, err, errDisk)
	}
}

// countingStore counts what is asked of it, and fails when it is told to.
type countingStore struct {
	store.Store
	bytes int64
	fail  error
}

func (c *countingStore) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	if c.fail != nil {
		return nil, c.fail
	}
	c.bytes += n
	return c.Store.GetRange(ctx, key, off, n)
}

// A scan of one narrow column does not read the wide ones.
func TestOnlyWantedColumnsAreRead(t *testing.T) {
	s := batch.NewSchema(
		batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}},
		batch.Field{Name: "wide", Type: batch.Type{Kind: batch.String}},
	)
	bld := batch.NewBuilder(s)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 5000 {
		require.NoError(t, bld.AppendRow(int64(i), strings.Repeat(fmt.Sprint(r.Int64()), 40)))
	}
	data, _ := encodeFile(t, s, WriterOptions{Compression: Uncompressed}, bld.Finish())
	st := store.NewMemory("memory:/test")
	require.NoError(t, st.MakeRoot(t.Context()))
	require.NoError(t, st.PutIfAbsent(t.Context(), "f.parquet", data))
	counted := &countingStore{Store: plainStore{st}}
	f, err := Open(t.Context(), counted, "f.parquet", int64(len(data)))
	require.NoError(t, err)
	scan := f.Scan(t.Context(), ScanOptions{Columns: s.Fields[:1]})
	for {
		if _, err := scan.Next(t.Context()); errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	require.Less(t, counted.bytes, int64(len(data))/4)

	counted.fail = errDisk
	_, err = readAll(f, ScanOptions{Columns: s.Fields})
	require.ErrorIs(t, err, errDisk)
	require.NotErrorIs(t, err, ErrDamaged)
	_, err = Open(t.Context(), counted, "f.parquet", int64(len(data)))
	require.ErrorIs(t, err, errDisk)
}
