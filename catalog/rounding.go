package catalog

import (
	"fmt"
	"math"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// roundFunction is ROUND, or with cut TRUNCATE: of a DECIMAL, a DECIMAL with the digits that MySQL gives it, where GMS's has those of its argument; of a DOUBLE,
// the DOUBLE that is nearest; of an integer a BIGINT, which keeps to be unsigned. Of what is no number it is GMS's.
func roundFunction(name string, cut bool, gms sql.CreateFuncNArgs) sql.Function {
	ours := func(ctx *sql.Context, args []sql.Expression) (scalarBody, bool) {
		if len(args) == 0 || len(args) > 2 || cut && len(args) < 2 || !args[0].Resolved() {
			return scalarBody{}, false
		}
		if body, ok := roundedDouble(ctx, args, cut); ok {
			return body, true
		}
		if body, ok := roundedInteger(ctx, args, cut); ok {
			return body, true
		}
		return rounded(ctx, args, cut)
	}
	again := func(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
		if body, ok := ours(ctx, args); ok {
			return body, nil
		}
		return evaluated(ctx, args, gms)
	}
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if body, ok := ours(ctx, args); ok {
			return &scalarCall{name: name, args: args, make: again, scalarBody: body}, nil
		}
		return gms(ctx, args...)
	}}
}

// rounded is false for what is no DECIMAL, and where the digits to keep are no constant.
func rounded(ctx *sql.Context, args []sql.Expression, cut bool) (scalarBody, bool) {
	d, isDecimal := args[0].Type(ctx).(sql.DecimalType)
	digits, ok := compile.RoundingDigits(ctx, args[1:])
	if !isDecimal || !ok {
		return scalarBody{}, false
	}
	precision, scale := vector.RoundedDecimal(d.Precision(), d.Scale(), digits, cut)
	with := exactContext
	if cut {
		with = cutContext
	}
	digits = max(min(digits, int64(scale)), -types.DecimalTypeMaxPrecision)
	return scalarBody{typ: exactType(precision, scale), eval: func(ctx *sql.Context, values []any) (any, error) {
		n, _, err := types.InternalDecimalType.Convert(ctx, values[0])
		if err != nil {
			return nil, err
		}
		out := new(apd.Decimal)
		if _, err := with.Quantize(out, n.(*apd.Decimal), -int32(digits)); err != nil {
			return nil, err
		}
		if _, err := with.Quantize(out, out, -int32(scale)); err != nil {
			return nil, err
		}
		if out.IsZero() {
			out.Negative = false
		}
		return out, nil
	}}, true
}

// roundedDouble is false for what is no FLOAT, no DOUBLE, and no text that is read as one.
func roundedDouble(ctx *sql.Context, args []sql.Expression, cut bool) (scalarBody, bool) {
	if t := args[0].Type(ctx); !types.IsFloat(t) && !types.IsTextOnly(t) {
		return scalarBody{}, false
	}
	return scalarBody{typ: types.Float64, eval: func(ctx *sql.Context, values []any) (any, error) {
		f, _, err := types.Float64.Convert(ctx, values[0])
		if sql.ErrTruncatedIncorrect.Is(err) {
			ctx.Warn(mysqltype.WrongValue, "Truncated incorrect DOUBLE value: '%v'", values[0])
		} else if err != nil {
			return nil, err
		}
		digits := int64(0)
		if len(values) > 1 {
			if digits, err = asInteger(ctx, values[1]); err != nil {
				return nil, err
			}
		}
		return roundDouble(f.(float64), digits, cut), nil
	}}, true
}

// roundedInteger is false for what is no integer.
func roundedInteger(ctx *sql.Context, args []sql.Expression, cut bool) (scalarBody, bool) {
	if !types.IsInteger(args[0].Type(ctx)) {
		return scalarBody{}, false
	}
	t := sql.Type(types.Int64)
	if types.IsUnsigned(args[0].Type(ctx)) {
		t = types.Uint64
	}
	with := exactContext
	if cut {
		with = cutContext
	}
	return scalarBody{typ: t, eval: func(ctx *sql.Context, values []any) (any, error) {
		digits := int64(0)
		if len(values) > 1 {
			var err error
			if digits, err = asInteger(ctx, values[1]); err != nil {
				return nil, err
			}
		}
		if digits >= 0 {
			v, _, err := t.Convert(ctx, values[0])
			return v, err
		}
		n, err := numberOf(ctx, values[0])
		if err != nil {
			return nil, err
		}
		out := new(apd.Decimal)
		if _, err := with.Quantize(out, n, int32(min(-digits, types.DecimalTypeMaxPrecision))); err != nil {
			return nil, err
		}
		v, inRange, err := t.Convert(ctx, out)
		if err == nil && inRange != sql.InRange {
			return nil, &vector.OverflowError{Type: "BIGINT", Expr: fmt.Sprintf("round(%s,%d)", n.Text('f'), digits)}
		}
		return v, err
	}}, true
}

// mostDigits is more than a DOUBLE has before or behind the point.
const mostDigits = 400

// roundDouble rounds half to even, as MySQL does with approximate values ("Rounding Behavior" of its manual). Infinities and NaN stay.
func roundDouble(f float64, digits int64, cut bool) float64 {
	whole := math.RoundToEven
	if cut {
		whole = math.Trunc
	}
	if digits < 0 {
		power := math.Pow10(int(-max(digits, -mostDigits)))
		if math.IsInf(power, 0) {
			return 0
		}
		return whole(f/power)*power + 0 // not -0
	}
	power := math.Pow10(int(min(digits, mostDigits)))
	if scaled := f * power; !math.IsInf(scaled, 0) && !math.IsNaN(scaled) {
		return whole(scaled)/power + 0
	}
	return f
}

// newTruncate is GMS's TRUNCATE.
func newTruncate(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) != 2 {
		return nil, sql.ErrInvalidArgumentNumber.New("truncate", 2, len(args))
	}
	return function.NewTruncate(ctx, args[0], args[1]), nil
}

// evaluated is a function of GMS's, of values.
func evaluated(ctx *sql.Context, args []sql.Expression, gms sql.CreateFuncNArgs) (scalarBody, error) {
	e, err := gms(ctx, args...)
	if err != nil {
		return scalarBody{}, err
	}
	return scalarBody{typ: e.Type(ctx), nulls: true, eval: func(ctx *sql.Context, values []any) (any, error) {
		literals := make([]sql.Expression, len(values))
		for i, v := range values {
			literals[i] = expression.NewLiteral(v, args[i].Type(ctx))
		}
		e, err := gms(ctx, literals...)
		if err != nil {
			return nil, err
		}
		return e.Eval(ctx, nil)
	}}, nil
}

// newAbs is ABS: of an integer a BIGINT, where GMS's leaves the least number of a type negative.
func newAbs(ctx *sql.Context, e sql.Expression) sql.Expression {
	if !e.Resolved() || !types.IsSigned(e.Type(ctx)) || types.IsBoolean(e.Type(ctx)) {
		return function.NewAbsVal(ctx, e)
	}
	call, err := absOfInteger.NewInstance(ctx, []sql.Expression{e})
	if err != nil {
		return function.NewAbsVal(ctx, e)
	}
	return call
}

var absOfInteger = scalarFunction("abs", 1, 1, func(_ *sql.Context, of []sql.Expression) (scalarBody, error) {
	return scalarBody{typ: types.Int64, eval: func(ctx *sql.Context, args []any) (any, error) {
		n, err := asInteger(ctx, args[0])
		if n == math.MinInt64 {
			return nil, &vector.OverflowError{Type: "BIGINT", Expr: functionText(ctx, "abs", of)}
		}
		return max(n, -n), err
	}}, nil
})
