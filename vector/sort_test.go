package vector

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
)

// TestSortModel compares sorts, with and without limits, by one worker and by several, with a stable sort of the rows.
func TestSortModel(t *testing.T) {
	space := spilling(t, 0).space
	rapid.Check(t, func(t *rapid.T) {
		batches := drawBatches(t)
		var keys []SortKey
		var columns []int
		for range rapid.IntRange(1, 3).Draw(t, "keys") {
			i := rapid.IntRange(0, len(modelTypes)-1).Draw(t, "column")
			columns = append(columns, i)
			e := NewColumn(i, modelSchema().Fields[i])
			if modelTypes[i].Kind == batch.Int32 {
				e = must(NewCast(e, batch.Type{Kind: batch.Int64})) // an expression
			}
			keys = append(keys, SortKey{e, rapid.Bool().Draw(t, "descending")})
		}
		all := batch.Concat(modelSchema(), batches...)
		order := make([]int, all.Len)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			for k, c := range columns {
				v, o := all.Cols[c], 0
				switch an, bn := v.IsNull(a), v.IsNull(b); {
				case an && bn:
				case an:
					o = -1
				case bn:
					o = 1
				default:
					o = batch.Compare(v, a, v, b)
				}
				if keys[k].Descending {
					o = -o
				}
				if o != 0 {
					return o
				}
			}
			return 0
		})
		skip, count := rapid.IntRange(0, 5).Draw(t, "skip"), rapid.SampledFrom([]int{NoLimit, 0, 1, 4, 30}).Draw(t, "limit")
		var want strings.Builder
		sorted := &batch.Batch{Schema: all.Schema, Cols: all.Cols, Len: all.Len, Sel: []int32{}}
		for n, i := range order {
			if n >= skip && n-skip < count {
				sorted.Sel = append(sorted.Sel, int32(i))
			}
		}
		want.WriteString(sorted.Format())
		deal := func(morsel, forks int) int { return (morsel * 2) % forks }
		for _, child := range []Operator{NewBatches(modelSchema(), batches...), newSplit(modelSchema(), deal, batches...)} {
			limit := NoLimit
			if count != NoLimit {
				limit = skip + count
			}
			op, err := NewSort(child, keys, limit, NewBudget(1<<30, nil))
			require.NoError(t, err)
			require.Equal(t, want.String(), drain(t, NewLimit(op, skip, count)))
		}
		scarce, hog := NewBudget(64<<10, space), share{}
		hog.budget = scarce
		require.NoError(t, hog.set(60<<10))
		op, err := NewSort(newSplit(modelSchema(), deal, batches...), keys, skip+min(count, NoLimit-skip), scarce)
		require.NoError(t, err)
		require.Equal(t, want.String(), drain(t, NewLimit(op, skip, count)), "spilled")
		require.NoError(t, hog.set(0))
		requireNothingLeft(t, scarce)
	})
}

// TestTopOfMany cuts what is kept several times.
func TestTopOfMany(t *testing.T) {
	n := NewColumn(0, long)
	for _, descending := range []bool{true, false} {
		op, err := NewSort(numbers(300_000, 1000), []SortKey{{n, descending}}, 3, NewBudget(4<<20, nil))
		require.NoError(t, err)
		want := "0\n1\n2\n"
		if descending {
			want = "299999\n299998\n299997\n"
		}
		require.Equal(t, want, drain(t, op))
	}
	var down strings.Builder
	for i := 299_999; i >= 0; i-- {
		fmt.Fprintln(&down, i)
	}
	for _, limit := range []int{NoLimit, 100_000} { // several runs
		op, err := NewSort(numbers(300_000, 1000), []SortKey{{n, true}}, limit, nil)
		require.NoError(t, err)
		require.True(t, first(min(limit, 300_000), down.String()) == drain(t, op))
	}
	op, err := NewSort(numbers(300_000, 1000), []SortKey{{n, true}}, NoLimit, NewBudget(1<<20, nil))
	require.NoError(t, err)
	_, err = op.Next(context.Background())
	require.ErrorContains(t, err, "a sort needs more than the 1 MiB of memory")
	require.NoError(t, op.Close())
}

// TestSortOfTenTimesItsBudgetFinishes: runs go to files, which are merged in several passes where they are many.
func TestSortOfTenTimesItsBudgetFinishes(t *testing.T) {
	budget := spilling(t, 1<<20)
	op, err := NewSort(numbers(1_000_000, 5000), []SortKey{{must(NewArith(Subtract, NewInt(0), NewColumn(0, long))), false}}, NoLimit, budget)
	require.NoError(t, err)
	next := int64(999_999)
	require.NoError(t, eachBatch(op, func(b *batch.Batch) {
		for _, x := range b.Cols[0].I64 {
			require.Equal(t, next, x)
			next--
		}
	}))
	require.EqualValues(t, -1, next)
	require.Greater(t, budget.Spilled(), int64(10<<20))
}

// TestTopSkipsWhatIsBehindIt: a scan leaves out row groups, files and rows that cannot be among the first ones.
func TestTopSkipsWhatIsBehindIt(t *testing.T) {
	n := NewColumn(0, long)
	for _, descending := range []bool{true, false} {
		child := &learning{Operator: numbers(300_000, 1000)}
		op, err := NewSort(child, []SortKey{{n, descending}}, 3, nil)
		require.NoError(t, err)
		require.Len(t, strings.Fields(drain(t, op)), 3)
		require.NotNil(t, child.filter)
		predicate, err := (*child.filter.known.Load())([]Expr{n})
		require.NoError(t, err)
		got, err := predicate.Eval(context.Background(), must2(numbers(300_000, 300_000).Next(context.Background())))
		require.NoError(t, err)
		passed := 0
		for i := range 300_000 {
			if boolAt(got, i) {
				passed++
			}
		}
		require.Less(t, passed, 50_000)
		require.Positive(t, passed)
	}
}

// learning keeps the runtime filter that it is given.
type learning struct {
	Operator
	filter *runtimeFilter
}

func (l *learning) filterBy(f *runtimeFilter, _ []Expr) bool {
	l.filter = f
	return true
}

func must2[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestLimitReadsNoFurther: what would fail behind the last row is not asked.
func TestLimitReadsNoFurther(t *testing.T) {
	op := NewLimit(numbers(10, 2), 3, 2)
	require.Equal(t, "3\n4\n", drain(t, op))
	require.Equal(t, "", drain(t, NewLimit(numbers(2, 2), 3, 2)))
	child := &counting{Operator: numbers(100, 2)}
	require.Equal(t, "0\n", drain(t, NewLimit(child, 0, 1)))
	require.Equal(t, 1, child.calls)
}

type counting struct {
	Operator
	calls int
}

func (c *counting) Next(ctx context.Context) (*batch.Batch, error) {
	c.calls++
	return c.Operator.Next(ctx)
}
