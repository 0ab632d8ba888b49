package vector

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
)

// TestSetOperationModel compares UNION, INTERSECT and EXCEPT, whole, by forks and with files, with rows that are counted one by one.
func TestSetOperationModel(t *testing.T) {
	space := spilling(t, 0).space
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.SampledFrom([]int{0, 1, 7, 9, 10, 13}).Draw(t, "column")
		j := rapid.IntRange(0, len(modelTypes)-1).Draw(t, "other")
		if isFloat(modelTypes[j].Kind) {
			j = i // which of two equal floats comes is not told
		}
		fields := []batch.Field{modelSchema().Fields[i], modelSchema().Fields[j]}
		side := func(batches []*batch.Batch, forked bool) Operator {
			var op Operator = NewBatches(modelSchema(), batches...)
			if forked {
				op = newSplit(modelSchema(), func(morsel, forks int) int { return morsel * 2 % forks }, batches...)
			}
			return NewProject(op, []Expr{NewColumn(i, modelSchema().Fields[i]), NewColumn(j, modelSchema().Fields[j])}, fields)
		}
		left, right := drawBatches(t), drawBatches(t)
		lines := func(op Operator) []string { return strings.SplitAfter(drain(t, op), "\n") }
		count := func(op Operator) map[string]int {
			out := map[string]int{}
			for _, line := range lines(op) {
				if line != "" {
					out[line]++
				}
			}
			return out
		}
		l, r := count(side(left, false)), count(side(right, false))
		all := append(lines(side(left, false)), lines(side(right, false))...)
		require.Equal(t, strings.Join(all, ""), drain(t, NewUnion(&batch.Schema{Fields: fields}, side(left, false), side(right, false))))
		sorted := func(op Operator) string {
			op, err := NewSort(op, []SortKey{{Expr: NewInt(0)}}, NoLimit, nil)
			require.NoError(t, err)
			return drain(t, op)
		}
		require.Equal(t, strings.Join(all, ""), sorted(NewUnion(&batch.Schema{Fields: fields}, side(left, true), side(right, true))), "the order of morsels")
		for kind := Intersect; kind <= ExceptAll; kind++ {
			want := map[string]int{}
			for row, n := range l {
				switch kind {
				case Intersect:
					n = min(n, r[row], 1)
				case IntersectAll:
					n = min(n, r[row])
				case Except:
					n = boolInt(r[row] == 0)
				case ExceptAll:
					n = max(0, n-r[row])
				}
				if n > 0 {
					want[row] = n
				}
			}
			scarce, hog := NewBudget(64<<10, space), share{}
			hog.budget = scarce
			require.NoError(t, hog.set(60<<10))
			for how, budget := range map[string]*Budget{"in memory": NewBudget(1<<30, nil), "spilled": scarce} {
				for _, forked := range []bool{false, true} {
					op, err := NewSetOperation(kind, side(left, forked), side(right, forked), budget)
					require.NoError(t, err)
					require.Equal(t, want, count(op), "operation %d %s", kind, how)
				}
			}
			require.NoError(t, hog.set(0))
			requireNothingLeft(t, scarce)
		}
	})
}
