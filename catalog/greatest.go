package catalog

import (
	"bytes"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// greatestFunction is GREATEST, or LEAST. GMS's knows its own texts, numbers and dates only: columns of the lake are given to it as such, booleans as numbers, dates as
// texts where another argument is one; bytes are compared by ours, and among numbers are one.
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
			case isBytes && numbers && types.IsBinaryType(t):
				args[i] = expression.NewConvert(a, expression.ConvertToDouble)
			case types.IsTextOnly(t), (texts || isBytes) && isDate(ctx, a):
				args[i] = compile.NewDateText(a)
			}
		}
		if isBytes && !numbers {
			return ofBytes.NewInstance(ctx, args)
		}
		return gms(ctx, args...)
	}}
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
