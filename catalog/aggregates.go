package catalog

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// exact is SUM or AVG as MySQL has them: over integers and DECIMAL they are DECIMAL and exact, where GMS's are always DOUBLE. Over FLOAT
// and DOUBLE they add up as batches do, and over everything else it is GMS's own.
type exact struct {
	sql.Aggregation // GMS's
	average         bool
}

var (
	_ sql.Aggregation          = (*exact)(nil)
	_ sql.CollationCoercible   = (*exact)(nil)
	_ compile.ExactAggregation = (*exact)(nil)
)

// exactFunctions take the place of GMS's functions of these names.
var exactFunctions = map[string]sql.Function{
	"sum": sql.Function1{Name: "sum", Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
		return &exact{Aggregation: aggregation.NewSum(summed(ctx, e))}
	}},
	"avg": sql.Function1{Name: "avg", Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
		return &exact{Aggregation: aggregation.NewAvg(summed(ctx, e)), average: true}
	}},
}

// What MySQL adds to the digits of the argument.
const (
	sumDigits     = 22
	averageDigits = 4
)

// integerDigits is how many digits the integer types have at most.
var integerDigits = map[sql.Type]int{
	types.Int8: 3, types.Uint8: 3, types.Boolean: 3, types.Int16: 5, types.Uint16: 5, types.Int24: 8, types.Uint24: 8,
	types.Int32: 10, types.Uint32: 10, types.Int64: 19, types.Uint64: 20,
}

func (a *exact) argument() sql.Expression { return a.Children()[0] }

// Average tells AVG from SUM.
func (a *exact) Average() bool { return a.average }

// Exact is the type of an exact result.
func (a *exact) Exact(ctx *sql.Context) (sql.DecimalType, bool) {
	digits, scale := 0, 0
	switch t := a.argument().Type(ctx).(type) {
	case sql.DecimalType:
		digits, scale = int(t.Precision()), int(t.Scale())
	default:
		if digits = integerDigits[t]; digits == 0 {
			return nil, false
		}
	}
	if a.average {
		digits, scale = digits+averageDigits, scale+averageDigits
	} else {
		digits += sumDigits
	}
	return types.MustCreateDecimalType(uint8(min(digits, types.DecimalTypeMaxPrecision)), uint8(min(scale, types.DecimalTypeMaxScale))), true
}

// Type is a DECIMAL where the argument is one or an integer.
func (a *exact) Type(ctx *sql.Context) sql.Type {
	if t, ok := a.Exact(ctx); ok {
		return t
	}
	return a.Aggregation.Type(ctx)
}

// IsNullable is true: without rows the result is NULL.
func (a *exact) IsNullable(*sql.Context) bool { return true }

// CollationCoercibility is that of a number.
func (a *exact) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// DebugString is GMS's.
func (a *exact) DebugString(ctx *sql.Context) string { return sql.DebugString(ctx, a.Aggregation) }

// WithChildren returns it over another argument.
func (a *exact) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	inner, err := a.Aggregation.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return a.around(inner), nil
}

// WithWindow returns it over a window.
func (a *exact) WithWindow(ctx *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	return a.around(a.Aggregation.WithWindow(ctx, w))
}

// WithId returns it under another id.
func (a *exact) WithId(id sql.ColumnId) sql.IdExpression { return a.around(a.Aggregation.WithId(id)) }

func (a *exact) around(inner any) *exact {
	return &exact{Aggregation: inner.(sql.Aggregation), average: a.average}
}

// NewBuffer starts a group.
func (a *exact) NewBuffer(ctx *sql.Context) (sql.AggregationBuffer, error) {
	t, ok := a.Exact(ctx)
	switch {
	case !ok && types.IsFloat(a.argument().Type(ctx)):
		own, err := transform.Clone(ctx, a.argument()) // DISTINCT keeps what it has seen
		return &floatBuffer{argument: own, fold: &floatTotal{average: a.average}}, err
	case !ok:
		return a.Aggregation.NewBuffer(ctx)
	}
	b := &exactBuffer{argument: a.argument(), result: exactResult{scale: t.Scale(), average: a.average}}
	if d, ok := b.argument.(*expression.DistinctExpression); ok {
		b.argument, b.seen = d.Child, make(map[string]struct{})
	}
	return b, nil
}

// NewWindowFunction starts a window.
func (a *exact) NewWindowFunction(ctx *sql.Context) (sql.WindowFunction, error) {
	inner, err := a.Aggregation.NewWindowFunction(ctx)
	if err != nil {
		return nil, err
	}
	t, ok := a.Exact(ctx)
	switch {
	case !ok && types.IsFloat(a.argument().Type(ctx)):
		return &floatWindow{WindowFunction: inner, argument: a.argument(), start: func() floatFold { return &floatTotal{average: a.average} }}, nil
	case !ok:
		return inner, nil
	}
	return &exactWindow{WindowFunction: inner, argument: a.argument(), result: exactResult{scale: t.Scale(), average: a.average}}, nil
}

// exactContext holds any sum of DECIMALs, and a quotient with digits to round.
var exactContext = apd.BaseContext.WithPrecision(2 * types.DecimalTypeMaxPrecision)

// total is a sum, and how many values are in it.
type total struct {
	sum   apd.Decimal
	count int64
}

// numberOf is a value as a number; nil for NULL.
func numberOf(ctx *sql.Context, v any) (*apd.Decimal, error) {
	if v == nil {
		return nil, nil
	}
	if n, ok := v.(*apd.Decimal); ok {
		return n, nil
	}
	return decimalValue(ctx, v)
}

func (t *total) add(ctx *sql.Context, v any) error {
	n, err := numberOf(ctx, v)
	if err != nil || n == nil {
		return err
	}
	t.count++
	_, err = exactContext.Add(&t.sum, &t.sum, n)
	return err
}

// exactResult makes a sum or an average of a total.
type exactResult struct {
	scale   uint8
	average bool
}

func (r exactResult) of(t *total) (any, error) {
	if t.count == 0 {
		return nil, nil
	}
	out := new(apd.Decimal).Set(&t.sum)
	if r.average {
		if _, err := exactContext.Quo(out, out, apd.New(t.count, 0)); err != nil {
			return nil, err
		}
	}
	if _, err := exactContext.Quantize(out, out, -int32(r.scale)); err != nil {
		return nil, err
	}
	if out.IsZero() {
		out.Negative = false // what was rounded to it may have been
	}
	return out, nil
}

// exactBuffer is one group.
type exactBuffer struct {
	argument sql.Expression
	seen     map[string]struct{} // of DISTINCT: numbers that are equal have one text; nil: every row counts
	result   exactResult
	total    total
}

// Update adds a row.
func (b *exactBuffer) Update(ctx *sql.Context, row sql.Row) error {
	v, err := b.argument.Eval(ctx, row)
	if err != nil {
		return err
	}
	if b.seen == nil {
		return b.total.add(ctx, v)
	}
	n, err := numberOf(ctx, v)
	if err != nil || n == nil {
		return err
	}
	var plain apd.Decimal
	plain.Reduce(n)
	plain.Negative = plain.Negative && !plain.IsZero()
	text := plain.String()
	if _, ok := b.seen[text]; ok {
		return nil
	}
	b.seen[text] = struct{}{}
	return b.total.add(ctx, n)
}

// Eval is the result.
func (b *exactBuffer) Eval(*sql.Context) (any, error) { return b.result.of(&b.total) }

// Dispose releases what the argument holds.
func (b *exactBuffer) Dispose(ctx *sql.Context) { dispose(ctx, b.argument) }

func dispose(ctx *sql.Context, e sql.Expression) {
	if d, ok := e.(sql.Disposable); ok {
		d.Dispose(ctx)
	}
}

// exactWindow is one window. The frames are GMS's.
type exactWindow struct {
	sql.WindowFunction
	argument sql.Expression
	result   exactResult

	start int     // of the partition
	sums  []total // of the partition's rows up to each
}

// StartPartition sums up the partition's rows.
func (w *exactWindow) StartPartition(ctx *sql.Context, rows sql.WindowInterval, buffer sql.WindowBuffer) error {
	w.start, w.sums = rows.Start, make([]total, 1, rows.End-rows.Start+1)
	var so total
	for _, row := range buffer[rows.Start:rows.End] {
		v, err := w.argument.Eval(ctx, row)
		if err != nil {
			return err
		}
		if err := so.add(ctx, v); err != nil {
			return err
		}
		next := total{count: so.count}
		next.sum.Set(&so.sum)
		w.sums = append(w.sums, next)
	}
	return nil
}

// Compute is the result of a frame.
func (w *exactWindow) Compute(_ *sql.Context, frame sql.WindowInterval, _ sql.WindowBuffer) (any, error) {
	if frame.End <= frame.Start {
		return nil, nil
	}
	from, to := &w.sums[frame.Start-w.start], &w.sums[frame.End-w.start]
	var in total
	in.count = to.count - from.count
	if _, err := exactContext.Sub(&in.sum, &to.sum, &from.sum); err != nil {
		return nil, err
	}
	return w.result.of(&in)
}
