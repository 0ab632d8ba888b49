package catalog

import (
	"bytes"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/vector"
)

// partFunction gives a part of a text, or of bytes: n elements from the from-th on, which counts from 1, and below 0 from the end. As in MySQL, all arguments are
// computed beside a NULL, too. GMS's are texts of bytes, too, and SUBSTRING fails at lengths that end behind the text.
func partFunction(name string, least, most int, which func(ctx *sql.Context, args []any, length int) (from, n int64, err error)) sql.Function {
	eval := func(ctx *sql.Context, args []any) (any, error) {
		if slices.Contains(args, nil) {
			return nil, nil
		}
		if b, ok := args[0].([]byte); ok {
			from, n, err := which(ctx, args, len(b))
			return part(b, from, n), err
		}
		text, err := asText(ctx, args[0])
		if err != nil {
			return nil, err
		}
		characters := []rune(text)
		from, n, err := which(ctx, args, len(characters))
		return string(part(characters, from, n)), err
	}
	return scalarFunction(name, least, most, func(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
		var t sql.Type = types.LongText
		if types.IsTextBlob(args[0].Type(ctx)) {
			t = args[0].Type(ctx)
		}
		return scalarBody{typ: t, nulls: true, eval: eval}, nil
	})
}

func substringFunction(name string) sql.Function { return partFunction(name, 2, 3, substring) }

func substring(ctx *sql.Context, args []any, length int) (from, n int64, err error) {
	if from, err = asInteger(ctx, args[1]); err != nil || len(args) < 3 {
		return from, int64(length), err
	}
	n, err = asInteger(ctx, args[2])
	return from, n, err
}

func leftPart(ctx *sql.Context, args []any, _ int) (from, n int64, err error) {
	n, err = asInteger(ctx, args[1])
	return 1, n, err
}

func rightPart(ctx *sql.Context, args []any, length int) (from, n int64, err error) {
	n, err = asInteger(ctx, args[1])
	n = min(n, int64(length))
	return int64(length) - n + 1, n, err
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

// placeFunction is LOCATE(part, text [, from]), or turned INSTR(text, part). Where bytes are among the arguments, the place is one of bytes.
func placeFunction(name string, f *vector.Function, turned bool, most int) sql.Function {
	ofTexts := kernelEval(f, batch.String, batch.String, batch.Int64)
	eval := func(ctx *sql.Context, args []any) (any, error) {
		switch {
		case slices.Contains(args, nil):
			return nil, nil
		case slices.ContainsFunc(args, isBytes):
			return placeOfBytes(ctx, args, turned)
		}
		return ofTexts(ctx, args)
	}
	return scalarFunction(name, 2, most, func(*sql.Context, []sql.Expression) (scalarBody, error) {
		return scalarBody{typ: types.Int64, nulls: true, eval: eval}, nil
	})
}

func placeOfBytes(ctx *sql.Context, args []any, turned bool) (any, error) {
	part, err := asBytes(ctx, args[0])
	if err != nil {
		return nil, err
	}
	in, err := asBytes(ctx, args[1])
	if turned {
		part, in = in, part
	}
	from := int64(1)
	if err == nil && len(args) > 2 {
		from, err = asInteger(ctx, args[2])
	}
	if err != nil || from < 1 || from > int64(len(in))+1 {
		return int64(0), err
	}
	at := bytes.Index(in[from-1:], part)
	if at < 0 {
		return int64(0), nil
	}
	return int64(at) + from, nil
}

func isBytes(v any) bool {
	_, ok := v.([]byte)
	return ok
}

// unlessBytes is a function of texts, and of bytes what eval gives for them. GMS's takes bytes for a text that they may not be.
func unlessBytes(name string, gms func(*sql.Context, sql.Expression) sql.Expression, eval func([]byte) []byte) sql.Function {
	ofBytes := scalarFunction(name, 1, 1, fixedType(types.LongBlob, func(ctx *sql.Context, args []any) (any, error) {
		b, err := asBytes(ctx, args[0])
		return eval(b), err
	}))
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) != 1 {
			return nil, sql.ErrInvalidArgumentNumber.New(name, "1", len(args))
		}
		if t := args[0].Type(ctx); types.IsTextBlob(t) && types.IsBinaryType(t) {
			return ofBytes.NewInstance(ctx, args)
		}
		return gms(ctx, args[0]), nil
	}}
}

func asTheyAre(b []byte) []byte { return b }

func reversed(b []byte) []byte {
	b = slices.Clone(b)
	slices.Reverse(b)
	return b
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
