package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// substringFunction is SUBSTRING(text, from, n): of bytes, bytes. GMS's is a text, and fails at lengths that end behind the text.
func substringFunction(name string) sql.Function {
	return scalarFunction(name, 2, 3, func(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
		var t sql.Type = types.LongText
		if types.IsTextBlob(args[0].Type(ctx)) {
			t = args[0].Type(ctx)
		}
		return scalarBody{typ: t, eval: substring}, nil
	})
}

func substring(ctx *sql.Context, args []any) (any, error) {
	from, err := asInteger(ctx, args[1])
	if err != nil {
		return nil, err
	}
	if b, ok := args[0].([]byte); ok {
		n, err := lengthOf(ctx, args, len(b))
		return part(b, from, n), err
	}
	text, err := asText(ctx, args[0])
	if err != nil {
		return nil, err
	}
	characters := []rune(text)
	n, err := lengthOf(ctx, args, len(characters))
	return string(part(characters, from, n)), err
}

// lengthOf is the third argument, or all where it is left out.
func lengthOf(ctx *sql.Context, args []any, all int) (int64, error) {
	if len(args) < 3 {
		return int64(all), nil
	}
	return asInteger(ctx, args[2])
}

// part are the n elements from the from-th on, which counts from 1, and below 0 from the end.
func part[T any](all []T, from, n int64) []T {
	if from--; from < -1 {
		from += 1 + int64(len(all))
	}
	if from < 0 || from >= int64(len(all)) || n <= 0 {
		return []T{}
	}
	return all[from:][:min(n, int64(len(all))-from)]
}

// newConcat is CONCAT: of bytes, bytes. GMS's is a text.
func newConcat(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	for _, a := range args {
		if types.IsBinaryType(a.Type(ctx)) {
			return concatOfBytes.NewInstance(ctx, args)
		}
	}
	return function.NewConcat(ctx, args...)
}

var concatOfBytes = scalarFunction("concat", 1, 1<<16, fixedType(types.LongBlob, func(ctx *sql.Context, args []any) (any, error) {
	out := []byte{}
	for _, a := range args {
		b, err := asBytes(ctx, a)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return out, nil
}))
