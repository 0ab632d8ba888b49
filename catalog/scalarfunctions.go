package catalog

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// asText is a value as the text that MySQL makes of it for a function.
func asText(ctx *sql.Context, v any) (string, error) {
	converted, _, err := types.LongText.Convert(ctx, v)
	if err == nil {
		converted, err = sql.UnwrapAny(ctx, converted)
	}
	text, _ := converted.(string)
	return text, err
}

// asInteger is a value as a BIGINT, rounded.
func asInteger(ctx *sql.Context, v any) (int64, error) {
	if text, ok := v.(string); ok {
		return int64(integerText(ctx, text)), nil
	}
	converted, _, err := types.Int64.Convert(ctx, v)
	n, _ := converted.(int64)
	return n, err
}

// kernelFunction is a function of package vector for rows: one that GMS has otherwise than MySQL. kinds are those that f takes, String, Int64 or Timestamp; from the
// least-th on they may be left out. What is a long text is bytes where an argument is.
func kernelFunction(name string, f *vector.Function, t sql.Type, least int, kinds ...batch.Kind) sql.Function {
	eval := kernelEval(f, kinds...)
	return scalarFunction(name, least, len(kinds), func(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
		if t == types.LongText && anyBytes(ctx, args) {
			return scalarBody{typ: types.LongBlob, nulls: true, eval: ofBytes(eval)}, nil
		}
		return scalarBody{typ: t, nulls: true, eval: eval}, nil
	})
}

// kernelEval calls a function of package vector with arguments of kinds.
func kernelEval(f *vector.Function, kinds ...batch.Kind) func(ctx *sql.Context, args []any) (any, error) {
	return func(ctx *sql.Context, args []any) (any, error) {
		row := &batch.Batch{Len: 1} // of columns: a literal is spread over many rows
		operands := make([]vector.Expr, len(args))
		for i, v := range args {
			column, err := kernelColumn(ctx, kinds[i], v)
			if err != nil {
				return nil, err
			}
			row.Cols = append(row.Cols, column)
			operands[i] = vector.NewColumn(i, batch.Field{Type: column.Type, Nullable: true})
		}
		x, err := vector.NewScalar(f, operands...)
		if err != nil {
			return nil, err
		}
		warn := func(w vector.Warning) { ctx.Warn(w.Code, "%s", w.Message) }
		out, err := x.Eval(vector.WithWarnings(ctx, warn), row)
		if err != nil {
			return nil, err
		}
		return mysqltype.NewGetter(batch.Field{Type: x.Type(), Nullable: true}, out)(0), nil
	}
}

// kernelColumn is a value as MySQL converts it for a function, as the one row of a column.
func kernelColumn(ctx *sql.Context, kind batch.Kind, v any) (*batch.Vector, error) {
	out := batch.NewVector(batch.Type{Kind: kind}, 1)
	switch kind {
	case batch.Int64:
		if v != nil {
			n, err := asInteger(ctx, v)
			out.AppendInt64(n)
			return out, err
		}
	case batch.Timestamp:
		if v != nil {
			if at := asTime(ctx, v); at != nil {
				out.AppendInt64(at.UnixMicro())
				return out, nil
			}
		}
	default:
		if v != nil {
			text, err := asText(ctx, v)
			out.AppendString(text)
			return out, err
		}
	}
	out.AppendNull()
	return out, nil
}

// asTime is a value as a time; nil, with MySQL's warning, for what is none.
func asTime(ctx *sql.Context, v any) *time.Time {
	if text, ok := v.(string); !ok || !noDate(text) {
		converted, _, err := types.DatetimeMaxPrecision.Convert(ctx, v)
		if at, ok := converted.(time.Time); ok && (err == nil || sql.ErrTruncatedIncorrect.Is(err)) {
			return &at
		}
	}
	ctx.Warn(mysqltype.WrongValue, "Incorrect datetime value: '%v'", v)
	return nil
}

// dayOf is DATE(time). GMS's is a text.
func dayOf(ctx *sql.Context, args []any) (any, error) {
	at := asTime(ctx, args[0])
	if at == nil {
		return nil, nil
	}
	return midnight(*at), nil
}

// lastDays is TO_DAYS('9999-12-31').
const lastDays = 3652424

const yearDays = 365

// dateOfDays is FROM_DAYS(n), NULL with MySQL's warning outside of the days that MySQL has.
var dateOfDays = scalarFunction("from_days", 1, 1, func(_ *sql.Context, args []sql.Expression) (scalarBody, error) {
	return scalarBody{typ: types.Date, eval: func(ctx *sql.Context, values []any) (any, error) {
		n, err := asInteger(ctx, values[0])
		if err != nil {
			return nil, err
		}
		if n < 1 || n > lastDays {
			ctx.Warn(outOfRange, "DATE value is out of range in 'from_days(%s)'", sqlText(args[0]))
			return nil, nil
		}
		day := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(n-yearDays-1))
		if n <= yearDays { // of the year 0, in which MySQL has no 29 February
			day = time.Date(1, 1, int(n), 0, 0, 0, 0, time.UTC).AddDate(-1, 0, 0)
		}
		return day, nil
	}}, nil
})
