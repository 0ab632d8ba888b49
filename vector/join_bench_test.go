package vector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// BenchmarkJoin looks a million rows up that are in memory. Times are a row of the probe.
func BenchmarkJoin(b *testing.B) {
	key := batch.Field{Name: "k", Type: batch.Type{Kind: batch.Int64}}
	value := batch.Field{Name: "v", Type: batch.Type{Kind: batch.Float64}}
	text := batch.Field{Name: "t", Type: batch.Type{Kind: batch.String}}
	schema := batch.NewSchema(key, value, text)
	side := func(n int, key func(i int) int64) []*batch.Batch {
		var out []*batch.Batch
		for at := 0; at < n; at += batch.MaxRows {
			rows := batch.NewBuilder(schema)
			for i := at; i < min(at+batch.MaxRows, n); i++ {
				rows.Column(0).AppendInt64(key(i))
				rows.Column(1).AppendFloat64(float64(i))
				rows.Column(2).AppendString(fmt.Sprintf("text %d", i%1000))
			}
			out = append(out, rows.Finish())
		}
		return out
	}
	const rows = 1_000_000
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int64, scale int64) func(int) int64 {
		return func(int) int64 { return r.Int64N(n) * scale }
	}
	each := func(scale int64) func(int) int64 { return func(i int) int64 { return int64(i) * scale } }
	const wide = 1 << 40 / 1_000_003
	for _, c := range []struct {
		name         string
		kind         JoinKind
		probe, build []*batch.Batch
		column       int
	}{
		{"dense 100k", InnerJoin, side(rows, random(100_000, 1)), side(100_000, each(1)), 0},
		{"dense 100k, a tenth matches", InnerJoin, side(rows, random(1_000_000, 1)), side(100_000, each(1)), 0},
		{"dense 1M, every fourth, ascending probe", InnerJoin, side(rows, each(4)), side(1_000_000, each(4)), 0},
		{"sparse 100k", InnerJoin, side(rows, random(100_000, wide)), side(100_000, each(wide)), 0},
		{"sparse 1M", InnerJoin, side(rows, random(1_000_000, wide)), side(1_000_000, each(wide)), 0},
		{"sparse 100k, semi", SemiJoin, side(rows, random(200_000, wide)), side(100_000, each(wide)), 0},
		{"four matches", InnerJoin, side(rows, random(25_000, 1)), side(100_000, random(25_000, 1)), 0},
		{"text of 1000", InnerJoin, side(rows, random(100, 1)), side(1000, each(1)), 2},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			on := []Expr{NewColumn(c.column, schema.Fields[c.column])}
			for range b.N {
				op, err := NewJoin(NewBatches(schema, c.probe...), NewBatches(schema, c.build...), Join{Kind: c.kind, Probe: on, Build: on}, nil)
				require.NoError(b, err)
				run(b, op)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
