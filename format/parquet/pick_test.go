package parquet

import (
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// readPicked scans a file's columns for some rows of each step, which pick chooses: a column may be asked for none, some or all of them. Rows of columns that are
// not asked for are null.
func readPicked(t testing.TB, f *File, fields []batch.Field, r *rand.Rand, check func(column int, position int64, rows []int32, v *batch.Vector) error) error {
	s := f.Scan(t.Context(), ScanOptions{Columns: fields})
	for {
		n, err := s.Advance(t.Context())
		if errors.Is(err, io.EOF) {
			return s.Close()
		}
		if err != nil {
			return err
		}
		for c := range fields {
			every := []int{0, 1, 2, 7, 300}[r.IntN(5)] // 0: the column is not read
			if every == 0 {
				continue
			}
			var rows []int32
			if every > 1 {
				rows = []int32{}
				for i := range n {
					if r.IntN(every) == 0 {
						rows = append(rows, int32(i))
					}
				}
			}
			v, err := s.Column(c, rows)
			if err != nil {
				return err
			}
			if err := check(c, s.Position(), rows, v); err != nil {
				return err
			}
		}
	}
}

// TestSomeRowsOfAColumn: whichever rows of a column are read, they are the ones that a scan of everything reads.
func TestSomeRowsOfAColumn(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 15))
	const rows = 3000
	for trial := range 12 {
		s := allSchema()
		if trial%3 == 0 {
			s = randomSchema(r)
		}
		b := randomNested(r, s, rows, []float64{0, 0.3, 0.97}[r.IntN(3)], trial%2 == 0)
		data, _ := encodeFile(t, s, WriterOptions{RowGroupRows: 1700, PageBytes: 300 << (trial % 4)}, b)
		f, err := openBytes(data)
		require.NoError(t, err)
		err = readPicked(t, f, s.Fields, r, func(c int, position int64, at []int32, v *batch.Vector) error {
			want := b.Cols[c].Slice(int(position), int(position)+v.Len)
			if at != nil {
				picked := make([]int32, len(at))
				for i, p := range at {
					picked[i] = p + int32(position)
				}
				want = batch.NewVector(s.Fields[c].Type, 0)
				if len(picked) > 0 {
					want = b.Cols[c].Gather(picked)
				}
			}
			one := batch.NewSchema(s.Fields[c])
			require.Equal(t, batch.New(one, want).Format(), batch.New(one, v).Format())
			return nil
		})
		require.NoError(t, err)
	}
}
