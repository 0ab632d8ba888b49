package vector

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// TestColumnsOfSomeBatches: a column that nobody looks at may be there in some batches, as behind an outer join, and not in others.
func TestColumnsOfSomeBatches(t *testing.T) {
	schema := batch.NewSchema(batch.Field{Name: "k", Type: batch.Type{Kind: batch.Int64}}, batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}},
		batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int64}})
	deal := func(whole ...bool) Operator {
		var all []*batch.Batch
		for i, w := range whole {
			b := batch.NewBuilder(schema)
			for k := range int64(3) {
				require.NoError(t, b.AppendRow(k, "s", int64(i)))
			}
			one := b.Finish()
			if !w {
				one.Cols[1], one.Cols[2] = nil, nil
			}
			all = append(all, one)
		}
		return NewBatches(schema, all...)
	}
	keys := func() []SortKey { return []SortKey{{Expr: NewColumn(0, schema.Fields[0])}} }
	for _, whole := range [][]bool{{true, false}, {false, true}, {false, true, false}, {true, false, true}} {
		sorted, err := NewSort(deal(whole...), keys(), NoLimit, NewBudget(1<<30, nil))
		require.NoError(t, err)
		parted := newPartSort(deal(whole...), 1, keys(), NewBudget(1<<30, nil))
		for name, op := range map[string]Operator{"sort": sorted, "part sort": parted} {
			keepColumns(op, []int{0})
			rows := 0
			for {
				b, err := op.Next(t.Context())
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err, name)
				require.NotNil(t, b.Cols[0])
				rows += b.Rows()
			}
			require.NoError(t, op.Close())
			require.Equal(t, 3*len(whole), rows, "%s %v", name, whole)
		}
	}
}
