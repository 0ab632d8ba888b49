package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/vector"
)

// windowFunctions take the place of GMS's functions of these names, and are those of them that GMS does not have.
var windowFunctions = map[string]sql.Function{}

// windowKinds are the functions that only windows have: how many arguments they take that are values, and whether a number follows the first of them.
var windowKinds = map[string]struct {
	kind             vector.WindowFunc
	values, optional int
	number           bool
}{
	"row_number": {kind: vector.RowNumber}, "rank": {kind: vector.Rank}, "dense_rank": {kind: vector.DenseRank},
	"percent_rank": {kind: vector.PercentRank}, "cume_dist": {kind: vector.CumeDist}, "ntile": {kind: vector.Ntile, number: true},
	"lag": {kind: vector.Lag, values: 1, optional: 2}, "lead": {kind: vector.Lead, values: 1, optional: 2},
	"first_value": {kind: vector.FirstValue, values: 1}, "last_value": {kind: vector.LastValue, values: 1}, "nth_value": {kind: vector.NthValue, values: 1, number: true},
}

// aggregatesOverWindows are the aggregates that take OVER in MySQL, and that GMS takes for no window functions.
var aggregatesOverWindows = []string{"bit_and", "bit_or", "bit_xor", "json_objectagg"}

func init() {
	for name, k := range windowKinds {
		windowFunctions[name] = sql.FunctionN{Name: name, Fn: func(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
			f := &windowFunction{name: name, kind: k.kind}
			least := k.values
			if k.number {
				least++
			}
			if len(args) < least || len(args) > least+k.optional {
				return nil, sql.ErrInvalidArgumentNumber.New(strings.ToUpper(name), least, len(args))
			}
			f.values = slices.Clone(args[:k.values])
			if rest := args[k.values:]; len(rest) > 0 {
				f.number, f.values = rest[0], append(f.values, rest[1:]...)
			}
			return f, nil
		}}
	}
	gms := planbuilder.IsWindowFunc
	planbuilder.IsWindowFunc = func(ctx *sql.Context, name string) (bool, error) {
		if _, ok := windowKinds[name]; ok || slices.Contains(aggregatesOverWindows, name) {
			return true, nil
		}
		return gms(ctx, name)
	}
}

// windowFunction is a function that is of windows only. It has no rows of its own: package compile executes a Window.
type windowFunction struct {
	name   string
	kind   vector.WindowFunc
	values []sql.Expression // the argument, and of LAG and LEAD what stands for a row that is not there
	number sql.Expression   // of rows or parts; nil: 1
	window *sql.WindowDefinition
	id     sql.ColumnId
}

var (
	_ sql.WindowAggregation  = (*windowFunction)(nil)
	_ sql.FunctionExpression = (*windowFunction)(nil)
	_ sql.CollationCoercible = (*windowFunction)(nil)
	_ compile.WindowFunction = (*windowFunction)(nil)
)

// WindowFunc is which function it is.
func (f *windowFunction) WindowFunc() vector.WindowFunc { return f.kind }

// Values are the argument and a default.
func (f *windowFunction) Values() []sql.Expression { return f.values }

// Number is the number among the arguments.
func (f *windowFunction) Number(ctx *sql.Context) (int64, error) {
	if f.number == nil {
		return 1, nil
	}
	v, err := f.number.Eval(ctx, nil)
	if err != nil {
		return 0, err
	}
	least := int64(1)
	if f.kind == vector.Lag || f.kind == vector.Lead {
		least = 0
	}
	n, inRange, err := types.Int64.Convert(ctx, v)
	if v == nil || err != nil || inRange != sql.InRange || !types.IsInteger(f.number.Type(ctx)) || n.(int64) < least {
		return 0, sql.ErrInvalidArgument.New(f.name)
	}
	return n.(int64), nil
}

// Id is that of the column.
func (f *windowFunction) Id() sql.ColumnId { return f.id }

// WithId returns it under another id.
func (f *windowFunction) WithId(id sql.ColumnId) sql.IdExpression {
	out := *f
	out.id = id
	return &out
}

// FunctionName is the function's name.
func (f *windowFunction) FunctionName() string { return f.name }

// Description is for listings.
func (f *windowFunction) Description() string {
	return "looks at the rows of a window beside the current one."
}

// Window is what it is over.
func (f *windowFunction) Window() *sql.WindowDefinition { return f.window }

// WithWindow returns it over a window.
func (f *windowFunction) WithWindow(_ *sql.Context, w *sql.WindowDefinition) sql.WindowAdaptableExpression {
	out := *f
	out.window = w
	return &out
}

// Resolved says whether all that it looks at is.
func (f *windowFunction) Resolved() bool { return expression.ExpressionsResolved(f.Children()...) }

func (f *windowFunction) String() string {
	var args []string
	for i, e := range f.values {
		args = append(args, e.String())
		if i == 0 && f.number != nil {
			args = append(args, f.number.String())
		}
	}
	if len(f.values) == 0 && f.number != nil {
		args = append(args, f.number.String())
	}
	out := f.name + "(" + strings.Join(args, ", ") + ")"
	if f.window != nil {
		out += " " + f.window.String()
	}
	return out
}

// Type is MySQL's: numbers of rows and parts are unsigned.
func (f *windowFunction) Type(ctx *sql.Context) sql.Type {
	switch f.kind {
	case vector.RowNumber, vector.Rank, vector.DenseRank, vector.Ntile:
		return types.Uint64
	case vector.PercentRank, vector.CumeDist:
		return types.Float64
	}
	of := f.values[0].Type(ctx)
	if len(f.values) == 1 || f.values[1].Type(ctx) == types.Null || of.Equals(f.values[1].Type(ctx)) {
		return of
	}
	other := f.values[1]
	if negative, ok := other.(*expression.UnaryMinus); ok {
		other = negative.Child
	}
	if _, ok := other.(*expression.Literal); ok && types.IsInteger(of) && types.IsInteger(other.Type(ctx)) {
		if v, err := f.values[1].Eval(ctx, nil); err == nil {
			if _, inRange, err := of.Convert(ctx, v); err == nil && inRange == sql.InRange {
				return of
			}
		}
	}
	return types.GeneralizeTypes(of, f.values[1].Type(ctx))
}

// IsNullable is true of values, which may have no row.
func (f *windowFunction) IsNullable(*sql.Context) bool { return len(f.values) > 0 }

// CollationCoercibility is that of the argument, or of a number.
func (f *windowFunction) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	if len(f.values) > 0 {
		return sql.GetCoercibility(ctx, f.values[0])
	}
	return sql.Collation_binary, 5
}

// Eval is an error: the value is that of many rows.
func (f *windowFunction) Eval(*sql.Context, sql.Row) (any, error) {
	return nil, sql.ErrWindowUnsupported.New(f.name)
}

// NewWindowFunction is an error: it is not GMS that executes it.
func (f *windowFunction) NewWindowFunction(*sql.Context) (sql.WindowFunction, error) {
	return nil, sql.ErrWindowUnsupported.New(f.name)
}

// Children are the window's expressions and the arguments.
func (f *windowFunction) Children() []sql.Expression {
	out := append(slices.Clone(f.window.ToExpressions()), f.values...)
	if f.number != nil {
		out = append(out, f.number)
	}
	return out
}

// WithChildren returns it over others.
func (f *windowFunction) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != len(f.Children()) {
		return nil, sql.ErrInvalidChildrenNumber.New(f, len(children), len(f.Children()))
	}
	out := *f
	n := len(f.window.ToExpressions())
	var err error
	if out.window, err = f.window.FromExpressions(ctx, children[:n]); err != nil {
		return nil, err
	}
	if out.values = children[n : n+len(f.values)]; f.number != nil {
		out.number = children[len(children)-1]
	}
	return &out, nil
}

// Convert is a value as one of the function's type.
func (f *windowFunction) Convert(ctx *sql.Context, v any) (any, error) {
	if v == nil || f.Type(ctx).Equals(f.values[0].Type(ctx)) && len(f.values) == 1 {
		return v, nil
	}
	out, _, err := f.Type(ctx).Convert(ctx, v)
	return out, err
}
