package catalog

import (
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/sqlext"
)

// summed is what SUM and AVG add up: of a date or time the number that it is written as, where GMS's take seconds since 1970.
func summed(ctx *sql.Context, e sql.Expression) sql.Expression {
	if d, ok := e.(*expression.DistinctExpression); ok {
		return expression.NewDistinctExpression(summed(ctx, d.Child))
	}
	return asNumber(ctx, e)
}

// asNumber is an expression, a date or time as the number that it is written as.
func asNumber(ctx *sql.Context, e sql.Expression) sql.Expression {
	switch {
	case !isDate(ctx, e):
		return e
	case types.IsDateType(e.Type(ctx)):
		return &dateNumber{expression.UnaryExpressionStub{Child: e}}
	}
	return &timeNumber{expression.UnaryExpressionStub{Child: e}}
}

// numberDates makes numbers of dates that are calculated with, or cast to one. GMS takes seconds since 1970, or a date for a time.
func numberDates(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	switch e.(type) {
	case *expression.Convert:
		if !types.IsNumber(e.Type(ctx)) {
			return e, transform.SameTree, nil
		}
	case *expression.Arithmetic, *expression.Div, *expression.IntDiv, *expression.Mod, *expression.UnaryMinus:
	case sql.FunctionExpression:
		if !numberFunctions[functionName(e)] {
			return e, transform.SameTree, nil
		}
	default:
		return e, transform.SameTree, nil
	}
	children := slices.Clone(e.Children())
	if slices.ContainsFunc(children, func(c sql.Expression) bool { _, moves := c.(*expression.Interval); return moves || !c.Resolved() }) {
		return e, transform.SameTree, nil
	}
	same := transform.SameTree
	for i, c := range children {
		if isDate(ctx, c) {
			children[i], same = asNumber(ctx, c), transform.NewTree
		}
	}
	if same {
		return e, same, nil
	}
	if f, ok := correctedFunctions[functionName(e)]; ok { // which one it is depends on the types
		out, err := f.NewInstance(ctx, children)
		return out, transform.NewTree, err
	}
	out, err := e.WithChildren(ctx, children...)
	return out, transform.NewTree, err
}

// functionName is the name of a function in lower case, "" of what is none.
func functionName(e sql.Expression) string {
	if f, ok := e.(sql.FunctionExpression); ok {
		return strings.ToLower(f.FunctionName())
	}
	return ""
}

// numberFunctions are the functions of numbers, by GMS's names and ours.
var numberFunctions = map[string]bool{
	"abs": true, "acos": true, "asin": true, "atan": true, "bit_count": true, "ceil": true, "ceiling": true, "cos": true, "cot": true, "degrees": true, "exp": true, "export_set": true, "floor": true, "format": true, "from_unixtime": true,
	"inet_ntoa": true, "ln": true, "log": true, "log10": true, "log2": true, "make_set": true, "mod": true, "pow": true, "power": true, "radians": true, "round": true, "sec_to_time": true, "sign": true, "sin": true, "sqrt": true,
	"tan": true, "truncate": true, sqlext.IntervalFunction: true,
}

// timeNumber is a DATETIME as a DECIMAL: 20240229235959.123456, with as many digits behind the point as its type has; without such as a BIGINT.
type timeNumber struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*timeNumber)(nil)
	_ sql.CollationCoercible = (*timeNumber)(nil)
)

// Written is the date or time.
func (e *timeNumber) Written() sql.Expression { return e.Child }

func (e *timeNumber) String() string { return e.Child.String() }

// timeDigits are those of year, month, day, hour, minute and second.
const timeDigits = 14

// Type is that of the number.
func (e *timeNumber) Type(ctx *sql.Context) sql.Type {
	scale := e.scale(ctx)
	if scale == 0 {
		return types.Int64
	}
	return types.MustCreateDecimalType(uint8(timeDigits+scale), uint8(scale))
}

func (e *timeNumber) scale(ctx *sql.Context) int {
	if t, ok := e.Child.Type(ctx).(sql.DatetimeType); ok {
		return t.Precision()
	}
	return 0
}

// CollationCoercibility is that of a number.
func (e *timeNumber) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren is of another time.
func (e *timeNumber) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &timeNumber{expression.UnaryExpressionStub{Child: children[0]}}, nil
}

// Eval is the number.
func (e *timeNumber) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	converted, _, err := types.DatetimeMaxPrecision.Convert(ctx, v)
	at, ok := converted.(time.Time)
	if err != nil || !ok {
		return nil, err
	}
	if e.scale(ctx) == 0 {
		return numberOfDate(at)*1_000_000 + numberOfClock(at), nil
	}
	out := apd.New(numberOfDate(at)*1_000_000+numberOfClock(at), 0)
	if _, err := exactContext.Add(out, out, apd.New(int64(at.Nanosecond()/1000), -6)); err != nil {
		return nil, err
	}
	_, err = exactContext.Quantize(out, out, -int32(e.scale(ctx)))
	return out, err
}
