package catalog

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/catalog/compile"
)

// greatestFunction is GREATEST, or LEAST. GMS's compares numbers as DOUBLEs and makes a DATETIME of DATEs: numbers, dates and bytes are compared by ours. It knows its own
// texts only: columns of the lake are given to it as such, booleans as numbers, dates as texts where another argument is one. Numbers among texts are texts, and all are bytes where one is.
func greatestFunction(name string, sign int, gms sql.CreateFuncNArgs) sql.Function {
	ofBytes := scalarFunction(name, 1, 1<<16, fixedType(types.LongBlob, func(ctx *sql.Context, args []any) (any, error) {
		var out []byte
		for i, a := range args {
			b, err := asBytes(ctx, a)
			if err != nil {
				return nil, err
			}
			if i == 0 || bytes.Compare(b, out)*sign > 0 {
				out = b
			}
		}
		return out, nil
	}))
	ofTexts := scalarFunction(name, 1, 1<<16, fixedType(types.LongText, func(ctx *sql.Context, args []any) (any, error) {
		out := ""
		for i, a := range args {
			text, err := asText(ctx, a)
			if err != nil {
				return nil, err
			}
			if i == 0 || strings.Compare(text, out)*sign > 0 {
				out = text
			}
		}
		return out, nil
	}))
	ours := scalarFunction(name, 1, 1<<16, greatestOf(sign))
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		is := func(family func(sql.Type) bool) bool {
			return slices.ContainsFunc(args, func(e sql.Expression) bool { return e.Resolved() && family(e.Type(ctx)) })
		}
		texts, isBytes, numbers := is(types.IsTextOnly), is(types.IsBinaryType), is(types.IsNumber)
		args = slices.Clone(args)
		for i, a := range args {
			switch t := a.Type(ctx); {
			case types.IsBoolean(t):
				args[i] = expression.NewConvert(a, expression.ConvertToSigned)
			case types.IsTextOnly(t), (texts || isBytes) && isDate(ctx, a):
				args[i] = compile.NewDateText(a)
			}
		}
		switch {
		case isBytes:
			return ofBytes.NewInstance(ctx, args)
		case texts && numbers:
			return ofTexts.NewInstance(ctx, args)
		case texts, !numbers && !is(types.IsTime), is(types.IsTimespan), numbers && is(types.IsTime), is(types.IsJSON):
			return gms(ctx, args...)
		}
		return ours.NewInstance(ctx, args)
	}}
}

// greatestOf is the greatest of numbers or of dates, or the least: of integers and DECIMALs exactly, in a type that has the digits of all.
func greatestOf(sign int) func(*sql.Context, []sql.Expression) (scalarBody, error) {
	return func(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
		t := greatestType(ctx, args)
		by := t
		switch typ := t.(type) {
		case sql.DecimalType:
			by = exactOrder{types.InternalDecimalType}
		case sql.NumberType:
			by = nanOrder{typ}
		}
		return scalarBody{typ: t, fixed: true, eval: func(ctx *sql.Context, args []any) (any, error) {
			out, err := extremeOf(ctx, by, args, sign)
			if n, ok := out.(*apd.Decimal); ok && err == nil {
				return atScale(n, t.(sql.DecimalType).Scale())
			}
			return out, err
		}}, nil
	}
}

func extremeOf(ctx *sql.Context, t sql.Type, args []any, sign int) (any, error) {
	var out any
	for i, a := range args {
		v, _, err := t.Convert(ctx, a)
		if err != nil || v == nil {
			return nil, err
		}
		if i > 0 {
			order, err := t.Compare(ctx, v, out)
			if err != nil {
				return nil, err
			}
			if order*sign <= 0 {
				continue
			}
		}
		out = v
	}
	return out, nil
}

// greatestType is the type that MySQL gives numbers, or dates.
func greatestType(ctx *sql.Context, args []sql.Expression) sql.Type {
	var floats, decimals, signed, unsigned, dates, times bool
	var whole, scale uint8
	precision := 0
	for _, e := range args {
		switch t := e.Type(ctx).(type) {
		case sql.NullType:
			continue
		case sql.DatetimeType:
			dates, times, precision = true, times || !types.IsDateType(t), max(precision, t.Precision())
			continue
		case sql.DecimalType:
			decimals = true
		default:
			floats = floats || types.IsFloat(t)
			unsigned, signed = unsigned || t == types.Uint64, signed || t != types.Uint64
		}
		if d, ok := exactDigits(ctx, e); ok {
			whole, scale = max(whole, d.precision-d.scale), max(scale, d.scale)
		}
	}
	switch {
	case times:
		return types.MustCreateDatetimeType(sqltypes.Datetime, precision)
	case dates:
		return types.Date
	case floats:
		return types.Float64
	case decimals, signed && unsigned:
		return exactType(whole+scale, scale)
	case unsigned:
		return types.Uint64
	}
	return types.Int64
}

// asBytes is a value as the bytes of its text.
func asBytes(ctx *sql.Context, v any) ([]byte, error) {
	switch v := v.(type) {
	case []byte:
		return v, nil
	case string: // X'FF' is one
		return []byte(v), nil
	}
	text, err := asText(ctx, v)
	return []byte(text), err
}
