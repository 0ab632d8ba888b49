package parquet

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/store"
)

const benchRows = 500_000

// benchBatches is a mix of columns as fact tables have them.
func benchBatches(tb testing.TB) (*batch.Schema, []*batch.Batch) {
	s := batch.NewSchema(
		batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
		batch.Field{Name: "cust_id", Type: batch.Type{Kind: batch.Int32}, Nullable: true},
		batch.Field{Name: "qty", Type: batch.Type{Kind: batch.Int32}, Nullable: true}, // 3 % null
		batch.Field{Name: "amount", Type: batch.Type{Kind: batch.Float64}, Nullable: true},
		batch.Field{Name: "status", Type: batch.Type{Kind: batch.String}, Nullable: true}, // 8 values
		batch.Field{Name: "code", Type: batch.Type{Kind: batch.String}, Nullable: true},   // all different
		batch.Field{Name: "ts", Type: batch.Type{Kind: batch.Timestamp}, Nullable: true},
		batch.Field{Name: "price", Type: batch.DecimalOf(18, 2), Nullable: true},
	)
	r := rand.New(rand.NewPCG(1, 2))
	bld := batch.NewBuilder(s)
	var out []*batch.Batch
	for i := range benchRows {
		bld.Column(0).AppendInt64(int64(i))
		bld.Column(1).AppendInt32(r.Int32N(1_000_000))
		if r.IntN(33) == 0 {
			bld.Column(2).AppendNull()
		} else {
			bld.Column(2).AppendInt32(r.Int32N(100))
		}
		bld.Column(3).AppendFloat64(float64(r.IntN(1_000_000)) / 100)
		bld.Column(4).AppendString(fmt.Sprintf("status-%d", r.IntN(8)))
		bld.Column(5).AppendString(fmt.Sprintf("%016x", r.Uint64()))
		bld.Column(6).AppendInt64(1_700_000_000_000_000 + int64(i)*1000)
		bld.Column(7).AppendInt64(r.Int64N(1_000_000))
		if bld.Len() == batch.MaxRows {
			out = append(out, bld.Finish())
		}
	}
	return s, append(out, bld.Finish())
}

func BenchmarkWrite(b *testing.B) {
	s, batches := benchBatches(b)
	for _, c := range []struct {
		name string
		c    Compression
	}{{"snappy", Snappy}, {"zstd", Zstd}, {"none", Uncompressed}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w, err := NewWriter(io.Discard, s, WriterOptions{Compression: c.c})
				require.NoError(b, err)
				for _, x := range batches {
					require.NoError(b, w.Write(x))
				}
				_, err = w.Close()
				require.NoError(b, err)
			}
			b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

func BenchmarkScan(b *testing.B) {
	s, batches := benchBatches(b)
	data, _ := encodeFile(b, s, WriterOptions{}, batches...)
	st, err := store.NewLocal(b.TempDir())
	require.NoError(b, err)
	require.NoError(b, st.PutIfAbsent(b.Context(), filepath.Base("f.parquet"), data))
	f, err := Open(b.Context(), st, "f.parquet", int64(len(data)))
	require.NoError(b, err)
	for _, field := range s.Fields {
		b.Run(field.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				scan := f.Scan(b.Context(), ScanOptions{Columns: []batch.Field{field}})
				for {
					if _, err := scan.Next(b.Context()); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
