package vector

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// inMemory hands the same batches out to two forks, a morsel being 16 of them.
type inMemory struct {
	Operator
	batches []*batch.Batch
}

func (m *inMemory) Fork(int) []Fork {
	var out []Fork
	for f := range 2 {
		one := &splitFork{Operator: NewBatches(m.Schema())}
		for i, b := range m.batches {
			if i/16%2 == f {
				one.batches, one.morsels = append(one.batches, b), append(one.morsels, int64(i/16))
			}
		}
		out = append(out, one)
	}
	return out
}

// aggregateRows is how many rows the batches of the benchmarks of aggregations have.
const aggregateRows = 4_000_000

// aggregateBatches are aggregateRows rows of: an int of distinct values, an amount, a text that is unique.
func aggregateBatches(distinct int, texts bool) *inMemory {
	return someAggregateBatches(aggregateRows, distinct, texts)
}

func someAggregateBatches(rows, distinct int, texts bool) *inMemory {
	schema := batch.NewSchema(
		batch.Field{Name: "i", Type: batch.Type{Kind: batch.Int32}}, batch.Field{Name: "amount", Type: batch.Type{Kind: batch.Float64}},
		batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}},
	)
	r := rand.New(rand.NewPCG(1, 2))
	out := &inMemory{Operator: NewBatches(schema)}
	for range rows / batch.MaxRows {
		b := batch.NewBuilder(schema)
		for range batch.MaxRows {
			b.Column(0).AppendInt32(int32(r.IntN(distinct)))
			b.Column(1).AppendFloat64(r.Float64())
			if texts {
				b.Column(2).AppendString(fmt.Sprintf("%016x", r.Uint64()))
			} else {
				b.Column(2).AppendString("")
			}
		}
		out.batches = append(out.batches, b.Finish())
	}
	return out
}

func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func BenchmarkAggregate(b *testing.B) {
	integer, text := batch.Field{Name: "i", Type: batch.Type{Kind: batch.Int32}}, batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}}
	amount := batch.Field{Name: "amount", Type: batch.Type{Kind: batch.Float64}}
	count := batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int64}}
	for _, c := range []struct {
		name     string
		distinct int
		texts    bool
		keys     []Expr
		columns  []Aggregate
	}{
		{"sum by 100 keys", 100, false, []Expr{NewColumn(0, integer)}, []Aggregate{{Func: Sum, Args: []Expr{NewColumn(1, amount)}, Field: amount}}},
		{"sum by 10k keys", 10_000, false, []Expr{NewColumn(0, integer)}, []Aggregate{{Func: Sum, Args: []Expr{NewColumn(1, amount)}, Field: amount}}},
		{"sum by 50k keys", 50_000, false, []Expr{NewColumn(0, integer)}, []Aggregate{{Func: Sum, Args: []Expr{NewColumn(1, amount)}, Field: amount}}},
		{"sum by 400k keys", 400_000, false, []Expr{NewColumn(0, integer)}, []Aggregate{{Func: Sum, Args: []Expr{NewColumn(1, amount)}, Field: amount}}},
		{"distinct of 400k", 400_000, false, nil, []Aggregate{{Func: Count, Distinct: true, Args: []Expr{NewColumn(0, integer)}, Field: count}}},
		{"distinct of unique texts", 400_000, true, nil, []Aggregate{{Func: Count, Distinct: true, Args: []Expr{NewColumn(2, text)}, Field: count}}},
		{"count by unique texts", 400_000, true, []Expr{NewColumn(2, text)}, []Aggregate{{Func: Count, Field: count}}},
		{"distinct of 400k by 100 keys", 400_000, false, []Expr{must(NewArith(Modulo, NewColumn(0, integer), NewInt(100)))}, []Aggregate{{Func: Count, Distinct: true, Args: []Expr{NewColumn(0, integer)}, Field: count}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			child := aggregateBatches(c.distinct, c.texts)
			cpu := cpuTime()
			b.ResetTimer()
			for range b.N {
				op, err := NewAggregate(&inMemory{Operator: NewBatches(child.Schema()), batches: child.batches}, c.keys, c.columns, nil)
				require.NoError(b, err)
				run(b, op)
			}
			b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N)/aggregateRows, "cpu-ns/row")
		})
	}
}
