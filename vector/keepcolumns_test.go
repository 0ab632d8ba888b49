package vector

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// asked is an operator that notes which columns are looked at, and hands out no others.
type asked struct {
	Operator
	kept []int
	out  batch.Batch
}

func (a *asked) keepColumns(columns []int) {
	a.kept = slices.Compact(slices.Sorted(slices.Values(columns)))
}

func (a *asked) Next(ctx context.Context) (*batch.Batch, error) {
	b, err := a.Operator.Next(ctx)
	if err != nil {
		return nil, err
	}
	a.out = *b
	a.out.Cols = slices.Clone(b.Cols)
	for i := range a.out.Cols {
		if !slices.Contains(a.kept, i) {
			a.out.Cols[i] = nil
		}
	}
	return &a.out, nil
}

// threeColumns are the numbers 0 to n-1, each column with the same.
func threeColumns(n int) (*asked, []Expr, []batch.Field) {
	var fields []batch.Field
	var columns []Expr
	v := batch.NewVector(long.Type, n)
	for i := range n {
		v.AppendInt64(int64(i))
	}
	for i := range 3 {
		fields, columns = append(fields, long), append(columns, NewColumn(i, long))
	}
	schema := batch.NewSchema(fields...)
	return &asked{Operator: NewBatches(schema, batch.New(schema, v, v, v))}, columns, fields
}

// TestProjectReadsNoMore than the columns that are looked at above it, and those of what it computes.
func TestProjectReadsNoMore(t *testing.T) {
	child, columns, _ := threeColumns(3)
	square := must(NewArith(Multiply, columns[1], columns[1]))
	fields := []batch.Field{long, {Name: "square", Type: square.Type(), Nullable: true}, long, long}
	below := NewProject(child, []Expr{columns[0], square, columns[2], columns[0]}, fields)
	require.Equal(t, []int{0, 1, 2}, child.kept)
	op := NewProject(below, []Expr{NewColumn(3, long)}, []batch.Field{long})
	require.Equal(t, []int{0, 1}, child.kept)
	require.Equal(t, "0\n1\n2\n", drain(t, op))
}

// TestAggregationReadsNoMore than its keys and what the aggregates are of that are looked at above it, or can fail.
func TestAggregationReadsNoMore(t *testing.T) {
	child, columns, _ := threeColumns(3)
	first := func(e Expr) Aggregate { return Aggregate{Func: First, Args: []Expr{e}, Field: long} }
	sum := Aggregate{Func: Sum, Args: []Expr{columns[0]}, Field: batch.Field{Type: batch.DecimalOf(38, 0), Nullable: true}}
	distinct := Aggregate{Func: Count, Distinct: true, Args: []Expr{columns[2]}, Field: long}
	of := must2(NewAggregate(child, columns[1:2], []Aggregate{first(columns[1]), first(columns[2]), sum, distinct}, nil))
	require.Equal(t, []int{0, 1, 2}, child.kept)
	op := NewProject(of, []Expr{NewColumn(0, long)}, []batch.Field{long})
	require.Equal(t, []int{0, 1}, child.kept)
	require.Equal(t, "0\n1\n2\n", drain(t, op))
}
