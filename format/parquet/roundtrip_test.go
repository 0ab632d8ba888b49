package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/store"
)

// allTypes has a type of each layout and physical form.
var allTypes = []batch.Type{
	{Kind: batch.Bool}, {Kind: batch.Int8}, {Kind: batch.Int16}, {Kind: batch.Int32}, {Kind: batch.Int64},
	{Kind: batch.Float32}, {Kind: batch.Float64},
	batch.DecimalOf(9, 2), batch.DecimalOf(18, 4), batch.DecimalOf(19, 0), batch.DecimalOf(38, 10),
	{Kind: batch.Date}, {Kind: batch.Timestamp}, {Kind: batch.TimestampNTZ}, {Kind: batch.String}, {Kind: batch.Binary},
}

// allSchema has a nullable column of each type.
func allSchema() *batch.Schema {
	s := &batch.Schema{}
	for i, t := range allTypes {
		s.Fields = append(s.Fields, batch.Field{Name: fmt.Sprintf("c%d_%s", i, t), Type: t, Nullable: true})
	}
	return s
}

// randomValue returns a value of a type; few distinct ones when repeat is set, so that dictionaries are used.
func randomValue(r *rand.Rand, t batch.Type, repeat bool) any {
	n := r.Int64()
	if r.IntN(2) == 0 {
		n = -n
	}
	if repeat {
		n %= 20
	}
	switch t.Kind {
	case batch.Bool:
		return n%2 == 0
	case batch.Int8:
		return int8(n)
	case batch.Int16:
		return int16(n)
	case batch.Int32, batch.Date:
		return int32(n)
	case batch.Int64, batch.Timestamp, batch.TimestampNTZ:
		return n
	case batch.Float32:
		return float32(n) / 3
	case batch.Float64:
		return float64(n) / 3
	case batch.Decimal:
		return randomDecimal(n, t)
	case batch.Binary:
		return []byte(fmt.Sprint(n))
	}
	return fmt.Sprintf("text %d ü", n)
}

func randomDecimal(n int64, t batch.Type) decimal128.Num {
	switch {
	case t.Precision <= 9:
		return decimal128.FromI64(n % 1_000_000_000)
	case t.Precision <= 18:
		return decimal128.FromI64(n % 1_000_000_000_000_000_000)
	case t.Precision < 38:
		return decimal128.FromI64(n)
	}
	return decimal128.FromI64(n).Mul(decimal128.FromI64(1_000_000_000_000_000_000))
}

// randomBatch has rows rows, of which a share of nulls is null.
func randomBatch(r *rand.Rand, s *batch.Schema, rows int, nulls float64, repeat bool) *batch.Batch {
	b := batch.NewBuilder(s)
	row := make([]any, len(s.Fields))
	for range rows {
		for c, f := range s.Fields {
			row[c] = nil
			if r.Float64() >= nulls {
				row[c] = randomValue(r, f.Type, repeat)
			}
		}
		if err := b.AppendRow(row...); err != nil {
			panic(err)
		}
	}
	return b.Finish()
}

// encodeFile writes batches to a file in memory.
func encodeFile(t testing.TB, s *batch.Schema, opts WriterOptions, batches ...*batch.Batch) ([]byte, Summary) {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, s, opts)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Write(b))
	}
	sum, err := w.Close()
	require.NoError(t, err)
	require.Equal(t, int64(out.Len()), sum.Bytes)
	return out.Bytes(), sum
}

// openBytes opens a file from memory.
func openBytes(data []byte) (*File, error) {
	st := store.NewMemory("memory:/test")
	ctx := context.Background()
	if err := st.MakeRoot(ctx); err != nil {
		return nil, err
	}
	if err := st.PutIfAbsent(ctx, "f.parquet", data); err != nil {
		return nil, err
	}
	return Open(ctx, st, "f.parquet", int64(len(data)))
}

// readAll returns all rows of a scan as one batch.
func readAll(f *File, opts ScanOptions) (*batch.Batch, error) {
	ctx := context.Background()
	s := f.Scan(ctx, opts)
	var got []*batch.Batch
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return batch.Concat(s.Schema(), got...), s.Close()
		}
		if err != nil {
			return nil, err
		}
		if b.Len > batch.MaxRows {
			return nil, fmt.Errorf("a batch of %d rows", b.Len)
		}
		got = append(got, b.Clone())
	}
}

// requireSame compares the selected rows of two batches value by value.
func requireSame(t testing.TB, want, got *batch.Batch) {
	t.Helper()
	require.Equal(t, want.Rows(), got.Rows())
	for c := range want.Cols {
		for i := range want.Rows() {
			w, g := want.Cols[c].Value(want.Row(i)), got.Cols[c].Value(got.Row(i))
			if raw, ok := w.([]byte); ok && bytes.Equal(raw, g.([]byte)) {
				continue
			} else if !ok && w == g {
				continue
			}
			require.Fail(t, "values differ", "column %s row %d: want %v, got %v", want.Schema.Fields[c].Name, i, w, g)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	s := allSchema()
	for _, nulls := range []float64{0, 0.3, 1} {
		for _, repeat := range []bool{false, true} {
			sizes := []int{0, 1, 7, 65, batch.MaxRows + 1}
			switch { // over several batches and row groups
			case nulls == 0.3 && testing.Short():
				sizes = append(sizes, 19_000)
			case nulls == 0.3:
				sizes = append(sizes, batch.MaxRows, 19_000)
			case testing.Short():
				sizes = sizes[:len(sizes)-1]
			}
			for _, rows := range sizes {
				t.Run(fmt.Sprintf("nulls=%v repeat=%v rows=%d", nulls, repeat, rows), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(rows), 1))
					b := randomBatch(r, s, rows, nulls, repeat)
					opts := WriterOptions{PageBytes: 3000, RowGroupRows: 9000, Compression: Compression(rows % 4)}
					data, sum := encodeFile(t, s, opts, b)
					f, err := openBytes(data)
					require.NoError(t, err)
					require.Equal(t, s.String(), f.Schema().String())
					require.Equal(t, int64(rows), f.NumRows())
					got, err := readAll(f, ScanOptions{Columns: s.Fields})
					require.NoError(t, err)
					requireSame(t, b, got)
					for c, col := range b.Cols {
						require.Equal(t, int64(col.NullCount()), sum.Columns[c].NullCount)
						require.Equal(t, col.NullCount() < rows, sum.Columns[c].HasMinMax)
					}
					require.NoError(t, f.Close())
				})
			}
		}
	}
}

func TestDictionaryCodesAreKept(t *testing.T) {
	s := batch.NewSchema(batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}, Nullable: true})
	r := rand.New(rand.NewPCG(1, 2))
	b := randomBatch(r, s, 5000, 0.2, true)
	data, _ := encodeFile(t, s, WriterOptions{PageBytes: 4000}, b)
	f, err := openBytes(data)
	require.NoError(t, err)
	got, err := f.Scan(t.Context(), ScanOptions{Columns: s.Fields}).Next(t.Context())
	require.NoError(t, err)
	require.NotNil(t, got.Cols[0].Dict)
	requireSame(t, b, got)

	again, _ := encodeFile(t, s, WriterOptions{}, got)
	f, err = openBytes(again)
	require.NoError(t, err)
	second, err := readAll(f, ScanOptions{Columns: s.Fields})
	require.NoError(t, err)
	requireSame(t, b, second)
}

// A dictionary that fills up in the middle of a chunk leaves plain pages behind it, and a batch over the border is plain.
func TestDictionaryFillsUp(t *testing.T) {
	s := batch.NewSchema(batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}, Nullable: true})
	bld := batch.NewBuilder(s)
	for i := range 40_000 {
		n := i % 100
		if i > 12_000 {
			n = i
		}
		require.NoError(t, bld.AppendRow(fmt.Sprintf("%0*d", 60, n)))
	}
	b := bld.Finish()
	data, sum := encodeFile(t, s, WriterOptions{}, b)
	f, err := openBytes(data)
	require.NoError(t, err)
	require.Len(t, f.meta.RowGroups[0].Columns[0].MetaData.EncodingStats, 3)
	got, err := readAll(f, ScanOptions{Columns: s.Fields})
	require.NoError(t, err)
	requireSame(t, b, got)
	require.Equal(t, fmt.Sprintf("%060d", 39_999), sum.Columns[0].Max.Value(0))
	require.Equal(t, fmt.Sprintf("%060d", 0), sum.Columns[0].Min.Value(0))
}

func TestSelectionIsWritten(t *testing.T) {
	s := allSchema()
	b := randomBatch(rand.New(rand.NewPCG(3, 3)), s, 100, 0.2, false)
	b.Sel = []int32{1, 5, 50, 99}
	data, sum := encodeFile(t, s, WriterOptions{}, b)
	require.Equal(t, int64(4), sum.Rows)
	f, err := openBytes(data)
	require.NoError(t, err)
	got, err := readAll(f, ScanOptions{Columns: s.Fields})
	require.NoError(t, err)
	requireSame(t, b, got)
}

func TestColumnsAndRowGroups(t *testing.T) {
	s := allSchema()
	b := randomBatch(rand.New(rand.NewPCG(4, 4)), s, 1000, 0.1, true)
	data, _ := encodeFile(t, s, WriterOptions{RowGroupRows: 300}, b)
	f, err := openBytes(data)
	require.NoError(t, err)
	require.Len(t, f.RowGroups(), 4)

	missing := batch.Field{Name: "nowhere", Type: batch.DecimalOf(30, 2), Nullable: true}
	upper := batch.Field{Name: "C3_INTEGER", Type: batch.Type{Kind: batch.Int64}, Nullable: true}
	got, err := readAll(f, ScanOptions{Columns: []batch.Field{missing, upper}, RowGroups: []int{3, 1}})
	require.NoError(t, err)
	require.Equal(t, 400, got.Len)
	require.Equal(t, 400, got.Cols[0].NullCount())
	for i := range 400 {
		row := 900 + i
		if i >= 100 {
			row = 300 + i - 100
		}
		want := b.Cols[3].Value(row)
		if want != nil {
			want = int64(want.(int32))
		}
		require.Equal(t, want, got.Cols[1].Value(i))
	}

	none, err := readAll(f, ScanOptions{})
	require.NoError(t, err)
	require.Empty(t, none.Cols)
	require.Equal(t, 1000, none.Len)

	_, err = readAll(f, ScanOptions{RowGroups: []int{4}})
	require.ErrorContains(t, err, "row group 4")
}

func TestNotNull(t *testing.T) {
	s := batch.NewSchema(batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}})
	b := batch.New(s, batch.NewNulls(s.Fields[0].Type, 2))
	w, err := NewWriter(io.Discard, s, WriterOptions{})
	require.NoError(t, err)
	require.ErrorContains(t, w.Write(b), "column id: it is NOT NULL")
	_, err = w.Close()
	require.Error(t, err)

	full := randomBatch(rand.New(rand.NewPCG(5, 5)), s, 500, 0, false)
	data, _ := encodeFile(t, s, WriterOptions{}, full)
	f, err := openBytes(data)
	require.NoError(t, err)
	require.False(t, f.Schema().Fields[0].Nullable)
	got, err := readAll(f, ScanOptions{Columns: s.Fields})
	require.NoError(t, err)
	requireSame(t, full, got)
}

func TestWriterRefuses(t *testing.T) {
	id := batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}}
	_, err := NewWriter(io.Discard, batch.NewSchema(), WriterOptions{})
	require.ErrorContains(t, err, "no columns")
	_, err = NewWriter(io.Discard, batch.NewSchema(id, batch.Field{Name: "ID", Type: id.Type}), WriterOptions{})
	require.ErrorContains(t, err, "two columns")
	_, err = NewWriter(io.Discard, batch.NewSchema(id), WriterOptions{Compression: 9})
	require.ErrorContains(t, err, "compression")

	w, err := NewWriter(io.Discard, batch.NewSchema(id), WriterOptions{})
	require.NoError(t, err)
	_, err = w.Close()
	require.NoError(t, err)
	require.ErrorIs(t, w.Write(&batch.Batch{}), ErrClosed)
}
