package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// deviation is VARIANCE or STDDEV: a DOUBLE whatever the argument is, where GMS's has the argument's type, which rounds it, computed as batches do it.
type deviation struct {
	sql.Aggregation // GMS's
	sample, root    bool
}

var (
	_ sql.Aggregation              = (*deviation)(nil)
	_ sql.CollationCoercible       = (*deviation)(nil)
	_ compile.DeviationAggregation = (*deviation)(nil)
)

// deviationFunctions take the place of GMS's functions of these names.
var deviationFunctions = map[string]sql.Function{}

func init() {
	for _, f := range []struct {
		names        []string
		sample, root bool
		gms          func(sql.Expression) sql.Aggregation
	}{
		{[]string{"std", "stddev", "stddev_pop"}, false, true, func(e sql.Expression) sql.Aggregation { return aggregation.NewStdDevPop(e) }},
		{[]string{"stddev_samp"}, true, true, func(e sql.Expression) sql.Aggregation { return aggregation.NewStdDevSamp(e) }},
		{[]string{"variance", "var_pop"}, false, false, func(e sql.Expression) sql.Aggregation { return aggregation.NewVarPop(e) }},
		{[]string{"var_samp"}, true, false, func(e sql.Expression) sql.Aggregation { return aggregation.NewVarSamp(e) }},
	} {
		for _, name := range f.names {
			deviationFunctions[name] = sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
				return &deviation{Aggregation: f.gms(summed(ctx, e)), sample: f.sample, root: f.root}
			}}
		}
	}
}

// Sample tells that the mean is the sample's own, so that one row has no spread.
func (a *deviation) Sample() bool { return a.sample }

// Root tells STDDEV from VARIANCE.
func (a *deviation) Root() bool { return a.root }

// Type is a DOUBLE.
func (a *deviation) Type(*sql.Context) sql.Type { return types.Float64 }

// IsNullable is true: without rows the result is NULL.
func (a *deviation) IsNullable(*sql.Context) bool { return true }

// CollationCoercibility is that of a number.
func (a *deviation) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// DebugString is GMS's.
func (a *deviation) DebugString(ctx *sql.Context) string { return sql.DebugString(ctx, a.Aggregation) }

// WithChildren returns it over another argument.
func (a *deviation) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	inner, err := a.Aggregation.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return a.around(inner), nil
}

// WithWindow returns it over a window.
func (a *deviation) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return a.around(a.Aggregation.WithWindow(ctx, w))
}

// WithId returns it under another id.
func (a *deviation) WithId(id sql.ColumnId) sql.IdExpression {
	return a.around(a.Aggregation.WithId(id))
}

func (a *deviation) around(inner any) *deviation {
	return &deviation{Aggregation: inner.(sql.Aggregation), sample: a.sample, root: a.root}
}

// NewBuffer starts a group.
func (a *deviation) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	own, err := transform.Clone(ctx, a.Children()[0]) // DISTINCT keeps what it has seen
	return &floatBuffer{argument: own, fold: a.start()}, err
}

// NewWindowFunction starts a window.
func (a *deviation) NewWindowFunction(ctx *sql.Context) (sql.WindowFunction, error) {
	inner, err := a.Aggregation.NewWindowFunction(ctx)
	return &floatWindow{WindowFunction: inner, argument: a.Children()[0], start: a.start}, err
}

func (a *deviation) start() floatFold { return &floatDeviation{sample: a.sample, root: a.root} }
