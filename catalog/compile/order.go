package compile

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/iters"

	"lakesql/batch"
	"lakesql/vector"
)

// over is a pipeline with an operator on top that changes which rows come, or in which order, and no column.
func (p *pipeline) over(text string, op func(child vector.Operator) (vector.Operator, error)) *pipeline {
	out := *p
	out.source, out.scanned, out.projected = nil, nil, true
	out.text = append([]string{text}, p.text...)
	out.open = func(ctx *sql.Context) (vector.Operator, error) {
		child, err := p.open(ctx)
		if err != nil {
			return nil, err
		}
		return op(child)
	}
	return &out
}

// compileSort is ORDER BY; limit is nil for all rows.
func compileSort(ctx *sql.Context, n sql.Node, by sql.SortConditions, limit sql.Expression) (*pipeline, bool) {
	child, ok := compileNode(ctx, n)
	if !ok {
		return nil, false
	}
	c := compiler{ctx: ctx, p: child}
	keys, texts := make([]vector.SortKey, len(by)), make([]string, len(by))
	for i, condition := range by {
		if condition.NullOrdering != sql.NullsFirst {
			return nil, false
		}
		x, err := c.key(condition.Expr)
		if err != nil {
			return nil, false
		}
		keys[i], texts[i] = vector.SortKey{Expr: x, Descending: condition.Order == sql.Descending}, condition.String()
	}
	count, title := vector.NoLimit, "Sort "
	if limit != nil {
		if count, ok = rowCount(ctx, limit); !ok {
			return nil, false
		}
		title = fmt.Sprintf("Top %d by ", count)
	}
	if _, err := vector.NewSort(vector.NewBatches(&batch.Schema{}), keys, count, nil); err != nil {
		return nil, false
	}
	return child.over(title+strings.Join(texts, ", "), func(op vector.Operator) (vector.Operator, error) {
		return vector.NewSort(op, keys, count, child.budget)
	}), true
}

// compileLimit is LIMIT, or OFFSET.
func compileLimit(ctx *sql.Context, n sql.Node, offset bool, rows sql.Expression) (*pipeline, bool) {
	count, ok := rowCount(ctx, rows)
	if !ok {
		return nil, false
	}
	child, ok := compileNode(ctx, n)
	if !ok {
		return nil, false
	}
	if offset {
		return child.over(fmt.Sprintf("Offset %d", count), func(op vector.Operator) (vector.Operator, error) {
			return vector.NewLimit(op, count, vector.NoLimit), nil
		}), true
	}
	return child.over(fmt.Sprintf("Limit %d", count), func(op vector.Operator) (vector.Operator, error) {
		return vector.NewLimit(op, 0, count), nil
	}), true
}

// rowCount is the number of rows that a LIMIT says: a literal, or the sum that GMS makes of LIMIT and OFFSET.
func rowCount(ctx *sql.Context, e sql.Expression) (int, bool) {
	if w, ok := e.(Wrapper); ok {
		return rowCount(ctx, w.Unwrap())
	}
	if sum, ok := e.(*expression.Arithmetic); ok && sum.Op == "+" {
		l, okL := rowCount(ctx, sum.LeftChild)
		r, okR := rowCount(ctx, sum.RightChild)
		return l + r, okL && okR && l+r >= 0
	}
	if _, ok := e.(*expression.Literal); !ok {
		return 0, false
	}
	n, err := iters.GetInt64Value(ctx, e)
	return int(n), err == nil && n >= 0
}

// compileDistinct is an aggregation by all columns: each row the first time that it comes.
func compileDistinct(ctx *sql.Context, n sql.Node) (*pipeline, bool) {
	child, ok := compileNode(ctx, n)
	if !ok {
		return nil, false
	}
	c := compiler{ctx: ctx, p: child}
	keys := make([]vector.Expr, len(child.fields))
	firsts := make([]vector.Aggregate, len(child.fields))
	for i, column := range n.Schema(ctx) {
		x, err := c.key(expression.NewGetField(i, column.Type, child.names[i], column.Nullable))
		if err != nil {
			return nil, false
		}
		keys[i] = x
		firsts[i] = vector.Aggregate{Func: vector.First, Args: []vector.Expr{x}, Field: child.fields[i]}
	}
	if _, err := vector.NewAggregate(vector.NewBatches(&batch.Schema{}), keys, firsts, nil); err != nil {
		return nil, false
	}
	return child.over("Distinct", func(op vector.Operator) (vector.Operator, error) {
		return vector.NewAggregate(op, keys, firsts, child.budget)
	}), true
}
