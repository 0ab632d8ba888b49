package parquet

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// positions scans and returns the position that Position tells for each row, besides the rows.
func positions(t testing.TB, f *File, opts ScanOptions) (at []int64, rows *batch.Batch) {
	t.Helper()
	scan := f.Scan(t.Context(), opts)
	var parts []*batch.Batch
	for {
		b, err := scan.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return at, batch.Concat(scan.Schema(), parts...)
		}
		require.NoError(t, err)
		for i := range b.Len {
			at = append(at, scan.Position()+int64(i))
		}
		parts = append(parts, b.Clone())
	}
}

// Whatever rows and row groups are wanted, each row that comes is the one that stands at its position.
func TestRowsAndPositions(t *testing.T) {
	s := allSchema()
	s.Fields = append(s.Fields, batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int64}, Nullable: true})
	const rows = 1000
	r := rand.New(rand.NewPCG(4, 4))
	b := randomBatch(r, s, rows, 0.3, true)
	n := b.Cols[len(b.Cols)-1]
	n.Reset()
	for i := range rows {
		n.AppendInt64(int64(i))
	}
	data, _ := encodeFile(t, s, WriterOptions{RowGroupRows: 300, PageBytes: 200}, b)
	f, err := openBytes(data)
	require.NoError(t, err)
	require.Len(t, f.RowGroups(), 4)
	for trial := range 60 {
		opts := ScanOptions{Columns: s.Fields}
		if trial%2 == 1 {
			opts.RowGroups = [][]int{{1}, {0, 3}, {2, 1, 1}, {}}[r.IntN(4)]
		}
		for at := int64(r.IntN(200)); at < rows+100; {
			end := at + 1 + int64(r.IntN(250))
			opts.Rows = append(opts.Rows, RowRange{at, end})
			at = end + int64(r.IntN(300))
		}
		at, got := positions(t, f, opts)
		var want []int64
		groups := opts.RowGroups
		if groups == nil {
			groups = []int{0, 1, 2, 3}
		}
		for _, g := range groups {
			for p := int64(g * 300); p < min(rows, int64(g*300+300)); p++ {
				if slices.ContainsFunc(opts.Rows, func(o RowRange) bool { return o.Start <= p && p < o.End }) {
					want = append(want, p)
				}
			}
		}
		require.Equal(t, want, at, "%v of %v", opts.Rows, opts.RowGroups)
		picked := make([]int32, len(at))
		for i, p := range at {
			picked[i] = int32(p)
			require.Equal(t, p, got.Cols[len(got.Cols)-1].I64[i])
		}
		requireSame(t, (&batch.Batch{Schema: s, Cols: b.Cols, Len: b.Len, Sel: picked}).Compact(), got)
	}

	for _, wrong := range [][]RowRange{{{-1, 5}}, {{5, 4}}, {{5, 9}, {8, 10}}} {
		_, err := f.Scan(t.Context(), ScanOptions{Rows: wrong}).Next(t.Context())
		require.ErrorContains(t, err, "out of order")
	}
}

// A column is found by the name, or the id, that it is stored under.
func TestNamingAndIDs(t *testing.T) {
	type row struct {
		A int64 `parquet:"col-1,id(7)"`
		B int64 `parquet:"b,id(8)"`
	}
	f := foreignFile(t, []row{{A: 1, B: 2}})
	ids := map[string]int32{"x": 7, "y": 8, "z": 9}
	names := map[string]string{"x": "COL-1", "y": "b", "z": "none", "X": "X"}
	naming := Naming(func(f batch.Field) (string, int32) { return names[f.Name], ids[f.Name] })
	var fields []batch.Field
	for _, name := range []string{"y", "z", "x", "b"} {
		fields = append(fields, batch.Field{Name: name, Type: batch.Type{Kind: batch.Int64}, Nullable: true})
	}
	for _, byID := range []bool{false, true} {
		b, err := readAll(f, ScanOptions{Columns: fields, Naming: naming, ByID: byID})
		require.NoError(t, err)
		require.Equal(t, "2 | NULL | 1 | NULL\n", b.Format(), fmt.Sprint(byID))
	}
	plain := foreignFile(t, []struct{ X int64 }{{5}})
	_, err := readAll(plain, ScanOptions{Columns: fields, Naming: naming, ByID: true})
	require.ErrorIs(t, err, ErrUnsupported)
	require.ErrorContains(t, err, "read column y of memory:/test/f.parquet: not supported: it is wanted by its field id")
	b, err := readAll(plain, ScanOptions{Columns: []batch.Field{{Name: "X", Type: batch.Type{Kind: batch.Int64}}}, Naming: naming, ByID: true})
	require.NoError(t, err)
	require.Equal(t, "5\n", b.Format())
}
