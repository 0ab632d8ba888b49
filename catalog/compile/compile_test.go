package compile

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// numbers is a child of k rows (i mod 3, i); it fails with err at its end when err is not nil.
type numbers struct {
	k, next int
	err     error
	closed  bool
}

func (n *numbers) Next(*sql.Context) (sql.Row, error) {
	if n.next == n.k && n.err != nil {
		return nil, n.err
	}
	if n.next == n.k {
		return nil, io.EOF
	}
	n.next++
	return sql.Row{int64(n.next-1) % 3, int64(n.next - 1)}, nil
}

func (n *numbers) Close(*sql.Context) error {
	n.closed = true
	return nil
}

func grouped(key sql.Expression) *plan.GroupBy {
	value := expression.NewGetField(1, types.Int64, "v", true)
	return plan.NewGroupBy([]sql.Expression{aggregation.NewMax(value), key, aggregation.NewCount(value)}, []sql.Expression{key}, nil)
}

func TestGroupByInTheOrderOfFirstAppearance(t *testing.T) {
	ctx := sql.NewEmptyContext()
	child := &numbers{k: 7}
	g := newGroupBy(ctx, grouped(expression.NewGetField(0, types.Int64, "k", true)), child)
	rows, err := Drain(ctx, g)
	require.NoError(t, err)
	require.Equal(t, []sql.Row{{int64(6), int64(0), int64(3)}, {int64(4), int64(1), int64(2)}, {int64(5), int64(2), int64(2)}}, rows)
	require.True(t, child.closed)
}

func TestGroupByEndsWithItsChildsError(t *testing.T) {
	ctx := sql.NewEmptyContext()
	broken := errors.New("broken")
	_, err := Drain(ctx, newGroupBy(ctx, grouped(expression.NewGetField(0, types.Int64, "k", true)), &numbers{k: 5000, err: broken}))
	require.ErrorIs(t, err, broken)
}

func TestGroupByEndsWhenCancelled(t *testing.T) {
	inner, cancel := context.WithCancel(context.Background())
	ctx := sql.NewContext(inner)
	cancel()
	_, err := newGroupBy(ctx, grouped(expression.NewGetField(0, types.Int64, "k", true)), &numbers{k: 1 << 40}).Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func TestDatesAreFoldedOnce(t *testing.T) {
	ctx := sql.NewEmptyContext()
	at := expression.NewGetField(0, types.DatetimeMaxPrecision, "at", true)
	for text, folds := range map[string]bool{"2024-01-02": true, "2024-01-02 03:04:05.678": true, "yesterday": false} {
		literal := expression.NewLiteral(text, types.LongText)
		for _, e := range []sql.Expression{expression.NewGreaterThan(at, literal), expression.NewEquals(literal, at)} {
			out, err := foldDates(ctx, e)
			require.NoError(t, err)
			require.Equal(t, !folds, out == e, "%s", e)
		}
	}
	name := expression.NewEquals(expression.NewGetField(0, types.LongText, "s", true), expression.NewLiteral("2024-01-02", types.LongText))
	out, err := foldDates(ctx, name)
	require.NoError(t, err)
	require.Equal(t, sql.Expression(name), out)
}

func TestWhatCompilesAndWhatDoesNot(t *testing.T) {
	ctx := sql.NewEmptyContext()
	p := &pipeline{
		fields: []batch.Field{{Name: "a", Type: batch.Type{Kind: batch.Int64}, Nullable: true}, {Name: "s", Type: batch.Type{Kind: batch.String}, Nullable: true}},
		names:  []string{"a", "s"},
	}
	a := expression.NewGetField(0, types.Int64, "a", true)
	s := expression.NewGetField(1, types.LongText, "s", true)
	one := expression.NewLiteral(int64(1), types.Int64)
	for _, c := range []struct {
		e    sql.Expression
		want bool
	}{
		{a, true}, {s, true}, {one, true},
		{expression.NewPlus(a, one), true}, {expression.NewMult(a, a), true},
		{wrapped{expression.NewPlus(a, one)}, true},
		{expression.NewEquals(a, one), true}, {expression.NewNot(expression.NewIsNull(s)), true},
		{expression.NewAnd(expression.NewGreaterThan(a, one), expression.NewLike(s, expression.NewLiteral("x%", types.LongText), nil)), true},
		{expression.NewGetField(1, types.Int64, "a", true), false}, // the name stands elsewhere
		{expression.NewGetField(2, types.Int64, "b", true), false}, // a column of an outer row
		{expression.NewBindVar("v1"), false},
		{wrapped{expression.NewBindVar("v1")}, false},
	} {
		_, err := compileExpr(ctx, p, c.e)
		require.Equal(t, c.want, err == nil, "%s: %v", c.e, err)
	}
}

// wrapped is a Wrapper.
type wrapped struct{ sql.Expression }

func (w wrapped) Unwrap() sql.Expression { return w.Expression }
