package vector

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
)

// TestBetweenModel compares BETWEEN with its two comparisons. Operands that are computed are so once: the value for each row, bounds where it is not null.
func TestBetweenModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]batch.Type{{Kind: batch.Int64}, {Kind: batch.Float64}, {Kind: batch.String}, {Kind: batch.Date}, batch.DecimalOf(30, 2)}).Draw(t, "type")
		n := rapid.IntRange(1, 12).Draw(t, "rows")
		schema := &batch.Schema{}
		var cols []*batch.Vector
		var plain, operands []Expr
		asked := make([]int, 3)
		for i := range asked {
			f := batch.Field{Name: "c", Type: typ, Nullable: true}
			schema.Fields = append(schema.Fields, f)
			cols = append(cols, drawColumn(t, typ, n))
			plain = append(plain, NewColumn(i, f))
			operands = append(operands, &counted{plain[i], &asked[i]})
		}
		e := must(NewBetween(operands[0], operands[1], operands[2])).Clone()
		model := must(NewBetween(plain[0], plain[1], plain[2]))
		require.IsType(t, &logic{}, model, "what cannot fail is two comparisons, by which files are left out")
		b := batch.New(schema, cols...)
		if rapid.Bool().Draw(t, "selected") {
			b.Sel = []int32{}
			for i := range n {
				if rapid.Bool().Draw(t, "keep") {
					b.Sel = append(b.Sel, int32(i))
				}
			}
		}
		for range 2 { // buffers are used again
			clear(asked)
			got, err := e.Eval(context.Background(), b)
			require.NoError(t, err)
			want, err := model.Eval(context.Background(), b)
			require.NoError(t, err)
			known := 0
			for k := range b.Rows() {
				i := b.Row(k)
				if cols[0].Value(i) != nil {
					known++
				}
				require.Equal(t, want.Value(i), got.Value(i))
			}
			require.Equal(t, []int{b.Rows(), known, known}, asked)
		}
	})
}

// TestBoundsThatMayFailKeepFiles: statistics leave out no file whose rows are asked for a bound that may fail.
func TestBoundsThatMayFailKeepFiles(t *testing.T) {
	long := batch.Type{Kind: batch.Int64}
	n, m := NewColumn(0, batch.Field{Name: "n", Type: long, Nullable: true}), NewColumn(1, batch.Field{Name: "m", Type: long, Nullable: true})
	columns := []bounds{{min: NewInt(10).(*literal).value, max: NewInt(20).(*literal).value, value: true}, unbounded}
	sum := must(NewArith(Add, m, NewInt(1)))
	column := func(i int) bounds { return columns[i] }
	require.False(t, canMatch(must(NewBetween(n, NewInt(30), m)), column))
	require.False(t, canMatch(must(NewBetween(n, NewFloat(30.5), NewInt(40))), column))
	require.True(t, canMatch(must(NewBetween(n, NewInt(30), sum)), column))
	require.True(t, canMatch(must(NewBetween(sum, NewInt(30), m)), column))
	require.False(t, canMatch(must(NewIn(n, []Expr{NewInt(30), must(NewCast(NewInt(5), long))})), column))
}
