package catalog

import (
	"regexp"
	"strconv"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
)

// decimalCast is CAST(e AS DECIMAL(p, s)) by MySQL's rules: rounded to s digits, and what has more than p of them is the nearest that has not, with a warning.
// GMS's rounds to no scale of 0, makes 0 of what is too large, and keeps the sign of what becomes 0.
type decimalCast struct {
	*expression.Convert
	typ sql.DecimalType
}

var (
	_ sql.Expression         = decimalCast{}
	_ sql.CollationCoercible = decimalCast{}
	_ compile.Wrapper        = decimalCast{}
	_ compile.Caster         = decimalCast{}
)

// convertDigits finds p of DECIMAL(p, 0) in the text of GMS's conversion, which keeps it to itself.
var convertDigits = regexp.MustCompile(`, decimal\((\d+)\)\)$`)

// newDecimalCast is of a conversion to DECIMAL.
func newDecimalCast(ctx *sql.Context, convert *expression.Convert) sql.Expression {
	typ := convert.Type(ctx).(sql.DecimalType)
	if digits := convertDigits.FindStringSubmatch(convert.String()); digits != nil {
		p, err := strconv.ParseUint(digits[1], 10, 8)
		if sized, sizeErr := types.CreateColumnDecimalType(uint8(p), 0); err == nil && sizeErr == nil {
			typ = sized
		}
	}
	return decimalCast{convert, typ}
}

// Unwrap returns GMS's.
func (c decimalCast) Unwrap() sql.Expression { return c.Convert }

// Type is the DECIMAL.
func (c decimalCast) Type(*sql.Context) sql.Type { return c.typ }

// CastTo says what batches compute, where no value can be too large.
func (c decimalCast) CastTo(*sql.Context) (sql.Expression, batch.Type, bool) {
	t, err := mysqltype.ToDelta(c.typ)
	return c.Child, t, err == nil
}

// WithChildren returns it over another expression.
func (c decimalCast) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.Convert.WithChildren(ctx, children...)
	if convert, ok := e.(*expression.Convert); ok && err == nil {
		return decimalCast{convert, c.typ}, nil
	}
	return e, err
}

// Eval is the DECIMAL.
func (c decimalCast) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if _, isLiteral := c.Child.(*expression.Literal); isLiteral && err == nil {
		v, err = types.ConvertHexBlobToDecimalForNumericContext(v, c.Child.Type(ctx)) // X'35' is a number
	}
	if err != nil || v == nil {
		return nil, err
	}
	n, err := decimalValue(ctx, v)
	if err != nil || n == nil || n.Form != apd.Finite {
		return c.typ.Zero(), nil // as GMS has what is no number
	}
	return c.of(ctx, n), nil
}

// decimalValue is a value that is no NULL as a DECIMAL with all its digits, of a text the number that it begins with, with MySQL's warning. GMS fails at some texts.
func decimalValue(ctx *sql.Context, v any) (*apd.Decimal, error) {
	v, err := mysqltype.Scalar(ctx, v)
	if err != nil {
		return nil, err
	}
	if text, ok := v.(string); ok {
		return exactNumber(ctx, text), nil
	}
	return types.InternalDecimalType.ConvertToDecimal(v)
}

// exactNumber is a text as a DECIMAL, with MySQL's warning.
func exactNumber(ctx *sql.Context, text string) *apd.Decimal {
	n, exact := mysqltype.DecimalOf(text)
	if !exact {
		ctx.Warn(mysqltype.WrongValue, "Truncated incorrect DECIMAL value: '%s'", mysqltype.ShownText(text))
	}
	if n == nil {
		n = new(apd.Decimal)
	}
	return n
}

// of is a finite number as the DECIMAL.
func (c decimalCast) of(ctx *sql.Context, n *apd.Decimal) *apd.Decimal {
	if c.typ.Equals(types.InternalDecimalType) {
		return withoutMinus(n)
	}
	out := new(apd.Decimal)
	if _, err := exactContext.Quantize(out, n, -int32(c.typ.Scale())); err != nil || out.NumDigits() > int64(c.typ.Precision()) {
		return c.limit(ctx, n.Negative)
	}
	return withoutMinus(out)
}

// limit is the largest value, or the smallest, with MySQL's warning.
func (c decimalCast) limit(ctx *sql.Context, negative bool) *apd.Decimal {
	ctx.Warn(mysqltype.OutOfRange, "Out of range value for column '%s' at row 1", c)
	return mysqltype.DecimalLimit(c.typ, negative)
}

// withoutMinus is a number as it is, and 0 for -0.
func withoutMinus(n *apd.Decimal) *apd.Decimal {
	if n.Negative && n.IsZero() {
		return new(apd.Decimal).Abs(n)
	}
	return n
}
