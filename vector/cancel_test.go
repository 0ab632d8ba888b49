package vector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// longOperator makes an operator over the rows of aggregateBatches, whose work takes long. child makes an operator with them. least is about how often it looks for the end at the
// least, for so many rows that are in memory.
type longOperator struct {
	make  func(t testing.TB, child func() Operator, b *Budget) (Operator, error)
	least func(rows int) int
}

// onceEach says that an operator looks once for each batch.
func onceEach(rows int) int { return rows / batch.MaxRows }

// longOperators are operators whose work takes long: building, merging, sorting, and all of these with files.
func longOperators() map[string]longOperator {
	i, amount := NewColumn(0, batch.Field{Name: "i", Type: batch.Type{Kind: batch.Int32}}), NewColumn(1, batch.Field{Name: "amount", Type: batch.Type{Kind: batch.Float64}})
	text := NewColumn(2, batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}})
	double := batch.Field{Type: batch.Type{Kind: batch.Float64}, Nullable: true}
	twice := func(rows int) int { return 2 * onceEach(rows) }
	sorted := func(rows int) int { return rows/interruptRows*8 + onceEach(rows) }
	aggregate := func(keys []Expr, a Aggregate) longOperator {
		return longOperator{func(_ testing.TB, child func() Operator, b *Budget) (Operator, error) {
			return NewAggregate(child(), keys, []Aggregate{a}, b)
		}, twice}
	}
	window := func(w Window, least func(int) int) longOperator {
		return longOperator{func(_ testing.TB, child func() Operator, b *Budget) (Operator, error) {
			return NewWindow(child(), w, b)
		}, least}
	}
	join := func(kind JoinKind, residual bool) longOperator {
		return longOperator{func(t testing.TB, child func() Operator, b *Budget) (Operator, error) {
			j := Join{Kind: kind, Probe: []Expr{i}, Build: []Expr{i.Clone()}}
			if residual {
				j.Residual = never(t)
			}
			return NewJoin(child(), child(), j, b)
		}, twice}
	}
	sort := func(limit int, keys ...SortKey) longOperator {
		return longOperator{func(_ testing.TB, child func() Operator, b *Budget) (Operator, error) {
			return NewSort(child(), keys, limit, b)
		}, sorted}
	}
	concat := &Concatenation{Separator: ",", MaxLen: 1 << 30, Descending: []bool{true}}
	ops := map[string]longOperator{
		"aggregate":        aggregate([]Expr{amount}, Aggregate{Func: Count, Field: long}),
		"aggregate texts":  aggregate([]Expr{text}, Aggregate{Func: Count, Field: long}),
		"distinct":         aggregate([]Expr{i}, Aggregate{Func: Count, Distinct: true, Args: []Expr{amount}, Field: long}),
		"distinct of all":  aggregate(nil, Aggregate{Func: Count, Distinct: true, Args: []Expr{text}, Field: long}),
		"concat":           aggregate([]Expr{i}, Aggregate{Func: GroupConcat, Args: []Expr{text, amount}, Field: text.(*column).field, Concat: concat}),
		"concat all":       aggregate(nil, Aggregate{Func: GroupConcat, Args: []Expr{text, amount}, Field: text.(*column).field, Concat: concat}),
		"concat different": aggregate(nil, Aggregate{Func: GroupConcat, Distinct: true, Args: []Expr{text, amount}, Field: text.(*column).field, Concat: concat}),
		"join":             join(InnerJoin, true),
		"join of pairs":    join(InnerJoin, false),
		"left join":        join(LeftJoin, true),
		"semijoin":         join(SemiJoin, false),
		"NOT IN":           join(NotInJoin, false),
		"sort":             sort(NoLimit, SortKey{Expr: amount}),
		"sort texts":       sort(NoLimit, SortKey{Expr: i}, SortKey{Expr: text}),
		"top of many":      sort(mostTop, SortKey{Expr: amount}),
		"window":           window(Window{Partition: []Expr{i}, Order: []SortKey{{Expr: amount}}, Columns: []WindowColumn{{Func: RowNumber, Field: long}}}, twice),
		"window of all": window(Window{Order: []SortKey{{Expr: amount}}, Columns: []WindowColumn{
			{Func: FrameAggregate, Aggregate: Sum, Args: []Expr{amount}, Frame: Frame{End: FrameBound{Kind: CurrentRow}}, Field: double}}}, sorted),
	}
	few := sort(10, SortKey{Expr: amount})
	few.least = onceEach
	ops["top of few"] = few
	for name, kind := range map[string]SetOperation{"INTERSECT": Intersect, "EXCEPT ALL": ExceptAll} {
		ops[name] = longOperator{func(_ testing.TB, child func() Operator, b *Budget) (Operator, error) {
			return NewSetOperation(kind, child(), child(), b)
		}, twice}
	}
	ops["filter and project"] = longOperator{func(t testing.TB, child func() Operator, _ *Budget) (Operator, error) {
		return NewProject(NewFilter(child(), never(t)), []Expr{text}, []batch.Field{text.(*column).field}), nil
	}, onceEach}
	return ops
}

// cancelAfter drains an operator, cancels it after a while, and returns how long that took to have an effect, and how much of that all workers were
// running: on a busy machine they mostly wait. done: it had ended before.
func cancelAfter(t testing.TB, op Operator, after time.Duration) (took, running time.Duration, done bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var canceled time.Time
	var before int64
	timer := time.AfterFunc(after, func() {
		canceled, before = time.Now(), cpuTime()
		cancel()
	})
	for {
		_, err := op.Next(ctx)
		if errors.Is(err, io.EOF) {
			timer.Stop()
			return 0, 0, true
		}
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			return time.Since(canceled), time.Duration(cpuTime() - before), false
		}
	}
}

// forkedRows are rows for several workers.
func forkedRows(rows *inMemory) func() Operator {
	return func() Operator { return &inMemory{Operator: NewBatches(rows.Schema()), batches: rows.batches} }
}

// TestCancelledOperatorsHoldNothing: whatever an operator is doing when it is cancelled, in memory or with files, it ends soon, and Close gives everything
// back. The bound is generous, as the machine may be busy; BenchmarkCancel tells the times.
func TestCancelledOperatorsHoldNothing(t *testing.T) {
	child := forkedRows(someAggregateBatches(120_000, 60_000, true))
	for name, of := range longOperators() {
		for _, limit := range []int64{1 << 40, 8 << 20} {
			t.Run(fmt.Sprintf("%s of %d", name, limit), func(t *testing.T) {
				budget := spilling(t, limit)
				for after := time.Millisecond; ; after *= 10 {
					op, err := of.make(t, child, budget)
					require.NoError(t, err)
					took, _, done := cancelAfter(t, op, after)
					require.Less(t, took, time.Minute)
					require.NoError(t, op.Close())
					requireNothingLeft(t, budget)
					if done {
						break
					}
				}
			})
		}
	}
}

// BenchmarkCancel tells the longest time of the processor between a cancellation and its effect, of all workers and the garbage collector; and that between two looks at
// whether it has come, of one worker without a collector.
func BenchmarkCancel(b *testing.B) {
	rows := aggregateBatches(1_000_000, true)
	for name, of := range longOperators() {
		for _, limit := range []int64{1 << 40, 64 << 20} {
			if strings.HasPrefix(name, "concat") && limit < 1<<40 {
				continue // a text of a group does not go to disk
			}
			b.Run(fmt.Sprintf("%s of %d MiB", name, limit>>20), func(b *testing.B) {
				budget := spilling(b, limit)
				longest := time.Duration(0)
				for after := 10 * time.Millisecond; ; after += after {
					op, err := of.make(b, forkedRows(rows), budget)
					require.NoError(b, err)
					_, running, done := cancelAfter(b, op, after)
					longest = max(longest, running)
					require.NoError(b, op.Close())
					if done {
						break
					}
				}
				b.ReportMetric(longest.Seconds()*1e3, "cpu-ms-until-the-end")
				b.ReportMetric(betweenLooks(b, of, rows, budget).Seconds()*1e3, "cpu-ms-between-looks")
			})
		}
	}
}

// betweenLooks is the longest time of the processor between two looks for the end.
func betweenLooks(b *testing.B, of longOperator, rows *inMemory, budget *Budget) time.Duration {
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one worker, which asks ctx itself
	op, err := of.make(b, func() Operator { return NewBatches(rows.Schema(), rows.batches...) }, budget)
	require.NoError(b, err)
	ctx := &clockedContext{Context: context.Background(), last: cpuTime()}
	for err == nil {
		_, err = op.Next(ctx)
	}
	require.ErrorIs(b, err, io.EOF)
	_ = ctx.Err()
	require.NoError(b, op.Close())
	return time.Duration(ctx.longest)
}

// clockedContext keeps the longest time of the processor, in nanoseconds, between two questions whether it has ended.
type clockedContext struct {
	context.Context
	last, longest int64
}

func (c *clockedContext) Err() error {
	now := cpuTime()
	c.longest, c.last = max(c.longest, now-c.last), now
	return nil
}

func never(t testing.TB) Expr {
	less, err := NewCompare(Less, NewColumn(0, batch.Field{Type: batch.Type{Kind: batch.Int32}}), NewInt(0))
	require.NoError(t, err)
	return less
}

// countingContext ends when it was asked so many times whether it has.
type countingContext struct {
	context.Context
	asked, last int
}

func (c *countingContext) Err() error {
	if c.asked++; c.asked > c.last {
		return context.Canceled
	}
	return nil
}

// TestOperatorsLookOften: an operator asks whether its query has ended once for each batch that it takes in, or block of rows that it goes through; and when it has, at once
// ends.
func TestOperatorsLookOften(t *testing.T) {
	const n = 16 * batch.MaxRows
	rows := someAggregateBatches(n, n/2, true)
	for name, of := range longOperators() {
		t.Run(name, func(t *testing.T) {
			run := func(last int) (asked int, err error) {
				op, err := of.make(t, func() Operator { return NewBatches(rows.Schema(), rows.batches...) }, nil)
				require.NoError(t, err)
				ctx := &countingContext{Context: context.Background(), last: last}
				for err == nil {
					_, err = op.Next(ctx)
				}
				require.NoError(t, op.Close())
				return ctx.asked, err
			}
			all, err := run(math.MaxInt)
			require.ErrorIs(t, err, io.EOF)
			require.GreaterOrEqual(t, all, of.least(n))
			for last := 0; last < all; last += 1 + all/4 {
				asked, err := run(last)
				require.ErrorIs(t, err, context.Canceled)
				require.LessOrEqual(t, asked, last+3)
			}
		})
	}
}

// TestJoinTablesEndSoon: whatever a table of a join's build side is doing, it asks for the end once for each block of rows that it goes through, and at the end does no more.
func TestJoinTablesEndSoon(t *testing.T) {
	const n = 1 << 19
	column := func(value func(i int64) int64) *batch.Vector {
		v := batch.NewVector(long.Type, n)
		for i := range int64(n) {
			v.AppendInt64(value(i))
		}
		return v
	}
	scattered := func(i int64) int64 { return int64(mixWord(uint64(i % (n / 2)))) }
	for name, keys := range map[string][]*batch.Vector{
		"bits":     {column(func(i int64) int64 { return (i * 7919) % (n / 2) })},
		"narrow":   {column(func(i int64) int64 { return scattered(i) & (1<<31 - 1) })},
		"one word": {column(scattered)},
		"wide":     {column(scattered), column(func(i int64) int64 { return scattered(i + 1) })},
	} {
		t.Run(name, func(t *testing.T) {
			j := Join{}
			for i := range keys {
				j.Probe, j.Build = append(j.Probe, NewColumn(i, long)), append(j.Build, NewColumn(i, long))
			}
			build := func(last int) (asked int, err error) {
				ctx := &countingContext{Context: context.Background(), last: last}
				_, err = newJoinTable(ctx, &j, &joinRows{len: n, cols: keys, keys: keys}, &share{})
				return ctx.asked, err
			}
			all, err := build(1 << 30)
			require.NoError(t, err)
			require.Greater(t, all, n/batch.MaxRows+2*n/blockRows, "once through the keys, and twice through the numbers")
			for last := 0; last < all; last += 1 + all/20 {
				asked, err := build(last)
				require.ErrorIs(t, err, context.Canceled)
				require.LessOrEqual(t, asked, last+2)
			}
		})
	}
}
