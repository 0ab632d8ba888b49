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
			op, err := NewSort(child, keys, limit, NewBudget(1<<30))
			require.NoError(t, err)
			require.Equal(t, want.String(), drain(t, NewLimit(op, skip, count)))
		}
	})
}

// TestTopOfMany cuts what is kept several times.
func TestTopOfMany(t *testing.T) {
	n := NewColumn(0, long)
	for _, descending := range []bool{true, false} {
		op, err := NewSort(numbers(300_000, 1000), []SortKey{{n, descending}}, 3, NewBudget(4<<20))
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
	op, err := NewSort(numbers(300_000, 1000), []SortKey{{n, true}}, NoLimit, NewBudget(1<<20))
	require.NoError(t, err)
	_, err = op.Next(context.Background())
	require.ErrorContains(t, err, "a sort needs more than the 1 MiB of memory")
	require.NoError(t, op.Close())
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
