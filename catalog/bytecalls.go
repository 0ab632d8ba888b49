package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// A function of texts is one of bytes, too, where each byte is a character: its arguments are given to it as texts of the characters 0 to 255, and its text is bytes again.

// ofBytes calls a function of texts so, its bytes and texts both as bytes.
func ofBytes(eval func(*sql.Context, []any) (any, error)) func(*sql.Context, []any) (any, error) {
	return func(ctx *sql.Context, args []any) (any, error) {
		args = slices.Clone(args)
		for i, a := range args {
			switch a := a.(type) {
			case []byte:
				args[i] = eachByte(a)
			case string:
				args[i] = eachByte([]byte(a))
			}
		}
		v, err := eval(ctx, args)
		text, ok := v.(string)
		if err != nil || !ok {
			return v, err
		}
		out := make([]byte, 0, len(text))
		for _, c := range text {
			out = append(out, byte(c))
		}
		return out, nil
	}
}

// eachByte is a text with a character for each byte.
func eachByte(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		out.WriteRune(rune(c))
	}
	return out.String()
}

func anyBytes(ctx *sql.Context, args []sql.Expression) bool {
	return slices.ContainsFunc(args, func(e sql.Expression) bool {
		return e.Resolved() && types.IsBinaryType(e.Type(ctx)) && types.IsTextBlob(e.Type(ctx)) // and no JSON
	})
}

// bytesOr is a function of so many texts, which is one of bytes where an argument is: GMS's takes bytes for a text that they may not be.
func bytesOr(name string, count int, gms func(ctx *sql.Context, args []sql.Expression) sql.Expression) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		switch {
		case len(args) != count:
			return nil, sql.ErrInvalidArgumentNumber.New(name, count, len(args))
		case anyBytes(ctx, args):
			return callOfBytes(ctx, name, args, gms)
		}
		return gms(ctx, args), nil
	}}
}

// callOfBytes is a call of GMS's function for bytes.
func callOfBytes(
	ctx *sql.Context, name string, args []sql.Expression, gms func(ctx *sql.Context, args []sql.Expression) sql.Expression,
) (sql.Expression, error) {
	f := scalarFunction(name, len(args), len(args), fixedType(types.LongBlob, ofBytes(func(ctx *sql.Context, values []any) (any, error) {
		literals := make([]sql.Expression, len(values))
		for i, v := range values {
			text, err := asText(ctx, v)
			if err != nil {
				return nil, err
			}
			literals[i] = expression.NewLiteral(text, types.LongText)
		}
		v, err := gms(ctx, literals).Eval(ctx, nil)
		if err != nil {
			return nil, err
		}
		return sql.UnwrapAny(ctx, v)
	})))
	return f.NewInstance(ctx, args)
}

// trimBytes is TRIM of bytes.
func trimBytes(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	t, ok := e.(*function.Trim)
	if !ok || !anyBytes(ctx, t.Children()) {
		return e, transform.SameTree, nil
	}
	direction := ast.Both
	switch text := strings.ToLower(t.String()); {
	case strings.HasPrefix(text, "trim(leading "):
		direction = ast.Leading
	case strings.HasPrefix(text, "trim(trailing "):
		direction = ast.Trailing
	}
	out, err := callOfBytes(ctx, "trim", t.Children(), func(_ *sql.Context, args []sql.Expression) sql.Expression {
		return function.NewTrim(args[0], args[1], direction)
	})
	return out, transform.NewTree, err
}
