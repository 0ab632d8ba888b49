package catalog

import (
	"context"
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// extremeFunctions take the place of GMS's functions of these names, whose result depends on where a NaN stands among the rows.
var extremeFunctions = map[string]sql.Function{
	"max": sql.Function1{Name: "max", Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
		return newExtreme(ctx, e, func(e sql.Expression) sql.Aggregation { return aggregation.NewMax(e) })
	}},
	"min": sql.Function1{Name: "min", Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
		return newExtreme(ctx, e, func(e sql.Expression) sql.Aggregation { return aggregation.NewMin(e) })
	}},
}

// newExtreme returns GMS's function, around it an extreme where the argument may be a NaN. DISTINCT changes no extreme, and GMS's takes no bytes.
func newExtreme(ctx *sql.Context, e sql.Expression, gms func(sql.Expression) sql.Aggregation) sql.Aggregation {
	if d, ok := e.(*expression.DistinctExpression); ok {
		e = d.Child
	}
	if t, ok := e.Type(ctx).(sql.NumberType); ok && types.IsFloat(t) {
		return &extreme{gms(&nanOrdered{expression.UnaryExpressionStub{Child: e}})}
	}
	return gms(e)
}

// extreme is MAX or MIN over FLOAT or DOUBLE. GMS's compares by the type of its argument, which is a nanOrdered.
type extreme struct {
	sql.Aggregation // GMS's
}

var (
	_ sql.Aggregation            = (*extreme)(nil)
	_ sql.CollationCoercible     = (*extreme)(nil)
	_ compile.AggregationWrapper = (*extreme)(nil)
	_ compile.Wrapper            = (*nanOrdered)(nil)
)

// UnwrapAggregation returns GMS's.
func (a *extreme) UnwrapAggregation() sql.Aggregation { return a.Aggregation }

// Type is that of the argument.
func (a *extreme) Type(ctx *sql.Context) sql.Type {
	return a.Children()[0].(*nanOrdered).Child.Type(ctx)
}

// CollationCoercibility is that of a number.
func (a *extreme) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// DebugString is GMS's.
func (a *extreme) DebugString(ctx *sql.Context) string { return sql.DebugString(ctx, a.Aggregation) }

// WithChildren returns it over another argument.
func (a *extreme) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	inner, err := a.Aggregation.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &extreme{inner.(sql.Aggregation)}, nil
}

// WithWindow returns it over a window.
func (a *extreme) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return &extreme{a.Aggregation.WithWindow(ctx, w).(sql.Aggregation)}
}

// WithId returns it under another id.
func (a *extreme) WithId(id sql.ColumnId) sql.IdExpression {
	return &extreme{a.Aggregation.WithId(id).(sql.Aggregation)}
}

// nanOrdered is an expression of a FLOAT or DOUBLE whose type compares as batches do.
type nanOrdered struct {
	expression.UnaryExpressionStub
}

// Unwrap returns the expression that compiles: batches order NaN so.
func (e *nanOrdered) Unwrap() sql.Expression { return e.Child }

// Eval is the value.
func (e *nanOrdered) Eval(ctx *sql.Context, row sql.Row) (any, error) { return e.Child.Eval(ctx, row) }

// Type compares NaN as the greatest number. It is the expression's own where that has become a DECIMAL, as the ABS of a time does.
func (e *nanOrdered) Type(ctx *sql.Context) sql.Type {
	t := e.Child.Type(ctx)
	if n, ok := t.(sql.NumberType); ok {
		return nanOrder{n}
	}
	return t
}

// String is the expression's.
func (e *nanOrdered) String() string { return e.Child.String() }

// WithChildren returns it over another expression.
func (e *nanOrdered) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &nanOrdered{expression.UnaryExpressionStub{Child: children[0]}}, nil
}

// nanOrder is FLOAT or DOUBLE with NaN equal to itself and above all others, as in Spark.
type nanOrder struct {
	sql.NumberType
}

// Compare compares two numbers.
func (t nanOrder) Compare(ctx context.Context, a, b any) (int, error) {
	switch x, y := isNaN(a), isNaN(b); {
	case x && y:
		return 0, nil
	case x && b != nil:
		return 1, nil
	case y && a != nil:
		return -1, nil
	}
	return t.NumberType.Compare(ctx, a, b)
}

func isNaN(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.IsNaN(v)
	case float32:
		return math.IsNaN(float64(v))
	}
	return false
}
