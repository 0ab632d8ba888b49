package catalog

import (
	"math"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
)

// integerCast is CAST(e AS SIGNED) or UNSIGNED by MySQL's rules: a DOUBLE is rounded to the even number where it is between two, and a negative number is one in two's complement.
// GMS rounds both away from 0, makes a negative DECIMAL positive, and warns of negative numbers.
type integerCast struct {
	*expression.Convert
	seen int // rows
}

var (
	_ sql.Expression         = (*integerCast)(nil)
	_ sql.CollationCoercible = (*integerCast)(nil)
	_ compile.Wrapper        = (*integerCast)(nil)
)

// Unwrap returns GMS's.
func (c *integerCast) Unwrap() sql.Expression { return c.Convert }

// WithChildren returns it over another expression.
func (c *integerCast) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.Convert.WithChildren(ctx, children...)
	if convert, ok := e.(*expression.Convert); ok && err == nil {
		return &integerCast{Convert: convert}, nil
	}
	return e, err
}

// Eval is the integer.
func (c *integerCast) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	c.seen++
	v, err := c.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if err != nil || v == nil {
		return nil, err
	}
	unsigned := types.IsUnsigned(c.Type(ctx))
	bits, err := c.bits(ctx, v, unsigned)
	if err != nil {
		return nil, err
	}
	if unsigned {
		return bits, nil
	}
	return int64(bits), nil
}

func (c *integerCast) bits(ctx *sql.Context, v any, unsigned bool) (uint64, error) {
	_, isLiteral := c.Child.(*expression.Literal)
	if raw, ok := v.([]byte); ok && isLiteral { // X'41' is a number
		return asBits(ctx, raw)
	}
	v, err := mysqltype.Scalar(ctx, v)
	if err != nil {
		return 0, err
	}
	switch v := v.(type) {
	case string:
		if types.IsJSON(c.Child.Type(ctx)) {
			return documentInteger(ctx, v, c.Child, c.seen), nil
		}
		bits := integerText(ctx, v)
		warnComplement(ctx, v, bits, unsigned)
		return bits, nil
	case []any, map[string]any:
		return documentInteger(ctx, v, c.Child, c.seen), nil
	case float32, float64:
		f, _, err := types.Float64.Convert(ctx, v)
		if n, ok := f.(float64); ok && err == nil && !unsigned && n >= math.MaxInt64 {
			return math.MaxInt64, nil
		}
		return asBits(ctx, v)
	case *apd.Decimal:
		return decimalBits(ctx, v, unsigned)
	}
	return asBits(ctx, v)
}

// documentInteger is what a document that is no number is as an integer: of a text the number that it is, with MySQL's warning for all else.
func documentInteger(ctx *sql.Context, v any, of sql.Expression, row int) uint64 {
	text, _ := v.(string)
	bits, exact := mysqltype.IntegerOf(text)
	if !exact {
		warnJSONCast(ctx, "INTEGER", of, row)
	}
	return bits
}

// warnComplement warns of a text that is an integer of the other sign than the type's.
func warnComplement(ctx *sql.Context, text string, bits uint64, unsigned bool) {
	if _, exact := mysqltype.IntegerOf(text); !exact || int64(bits) >= 0 {
		return
	}
	switch negative := decimalSign(text) < 0; {
	case negative && unsigned:
		ctx.Warn(complement, "Cast to unsigned converted negative integer to its positive complement")
	case !negative && !unsigned:
		ctx.Warn(complement, "Cast to signed converted positive out-of-range integer to its negative complement")
	}
}

// complement is the number of MySQL's warning.
const complement = 1105

// decimalSign is the sign of the number that a text begins with.
func decimalSign(text string) int {
	n, _ := mysqltype.DecimalOf(text)
	if n == nil {
		return 0
	}
	return n.Sign()
}

// decimalBits is a DECIMAL as an integer: beyond the type's it is the greatest or least, with MySQL's warning.
func decimalBits(ctx *sql.Context, n *apd.Decimal, unsigned bool) (uint64, error) {
	whole := new(apd.Decimal)
	if _, err := exactContext.Quantize(whole, n, 0); err != nil {
		return 0, err
	}
	least, most := apd.New(math.MinInt64, 0), apd.New(math.MaxInt64, 0)
	if unsigned {
		most, _, _ = apd.NewFromString("18446744073709551615") // digits alone are a number
	}
	if whole.Cmp(least) < 0 || whole.Cmp(most) > 0 {
		ctx.Warn(mysqltype.WrongValue, "Truncated incorrect DECIMAL value: '%s'", n.Text('f'))
		if whole.Negative {
			return 1 << 63, nil
		}
		whole = most
	}
	return asBits(ctx, whole)
}
