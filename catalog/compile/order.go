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
	out.source, out.scanned, out.subqueries, out.computed, out.same = nil, nil, nil, true, ""
	out.plan = &step{title: text, of: &out, below: p.steps()}
	out.build = func(ctx *sql.Context) (vector.Operator, error) {
		child, err := p.open(ctx)
		if err != nil {
			return nil, err
		}
		return op(child)
	}
	return &out
}

// compileSort is ORDER BY; limit is nil for all rows.
func compileSort(ctx *sql.Context, in scope, n sql.Node, by sql.SortConditions, limit sql.Expression) (*pipeline, bool) {
	child, ok := compileNode(ctx, in, n)
	if !ok {
		return nil, false
	}
	count := vector.NoLimit
	if limit != nil {
		if count, ok = rowCount(ctx, limit); !ok {
			return nil, false
		}
	}
	return child.sorted(ctx, by, count)
}

// sorted is the pipeline's rows in an order, the first ones of them.
func (p *pipeline) sorted(ctx *sql.Context, by sql.SortConditions, count int) (*pipeline, bool) {
	c := compiler{ctx: ctx, p: p}
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
	title := "Sort "
	if count != vector.NoLimit {
		title = fmt.Sprintf("Top %d by ", count)
	}
	if _, err := vector.NewSort(vector.NewBatches(&batch.Schema{}), keys, count, nil); err != nil {
		return nil, false
	}
	return p.over(title+strings.Join(texts, ", "), func(op vector.Operator) (vector.Operator, error) {
		return vector.NewSort(op, keys, count, p.budget)
	}), true
}

// compileLimit is LIMIT, or OFFSET.
func compileLimit(ctx *sql.Context, in scope, n sql.Node, offset bool, rows sql.Expression) (*pipeline, bool) {
	count, ok := rowCount(ctx, rows)
	if !ok {
		return nil, false
	}
	child, ok := compileNode(ctx, in, n)
	if !ok {
		return nil, false
	}
	if offset {
		return child.without(count), true
	}
	return child.limited(count), true
}

// without is the pipeline's rows without the first ones.
func (p *pipeline) without(count int) *pipeline {
	return p.over(fmt.Sprintf("Offset %d", count), func(op vector.Operator) (vector.Operator, error) {
		return vector.NewLimit(op, count, vector.NoLimit), nil
	})
}

// limited is the pipeline's first rows.
func (p *pipeline) limited(count int) *pipeline {
	return p.over(fmt.Sprintf("Limit %d", count), func(op vector.Operator) (vector.Operator, error) {
		return vector.NewLimit(op, 0, count), nil
	})
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
func compileDistinct(ctx *sql.Context, in scope, n sql.Node) (*pipeline, bool) {
	child, ok := compileNode(ctx, in, n)
	if !ok {
		return nil, false
	}
	return child.distinct(ctx, n.Schema(ctx))
}

// distinct is the pipeline's rows, each the first time that it comes. schema is that of the rows.
func (p *pipeline) distinct(ctx *sql.Context, schema sql.Schema) (*pipeline, bool) {
	keys, firsts, ok := p.eachRow(ctx, schema)
	if !ok {
		return nil, false
	}
	if _, err := vector.NewAggregate(vector.NewBatches(&batch.Schema{}), keys, firsts, nil); err != nil {
		return nil, false
	}
	return p.over("Distinct", func(op vector.Operator) (vector.Operator, error) {
		return vector.NewAggregate(op, keys, firsts, p.budget)
	}), true
}

// eachRow are the keys of an aggregation by all columns, and these.
func (p *pipeline) eachRow(ctx *sql.Context, schema sql.Schema) ([]vector.Expr, []vector.Aggregate, bool) {
	c := compiler{ctx: ctx, p: p}
	keys := make([]vector.Expr, len(schema))
	firsts := make([]vector.Aggregate, len(schema))
	for i, column := range schema {
		x, err := c.key(expression.NewGetField(p.outer+i, column.Type, p.names[i], column.Nullable))
		if err != nil {
			return nil, nil, false
		}
		keys[i] = x
		firsts[i] = vector.Aggregate{Func: vector.First, Args: []vector.Expr{x}, Field: p.fields[i]}
	}
	return keys, firsts, true
}
