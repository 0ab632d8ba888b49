package catalog

import (
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// mostFormatted is how many digits behind the point FORMAT writes at most.
const mostFormatted = 30

// newFormat is FORMAT(number, digits), of integers and DECIMALs with each digit that they have: GMS's has those of a DOUBLE. With a locale, and of other numbers, it is GMS's.
func newFormat(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) == 2 && args[0].Resolved() && (types.IsInteger(args[0].Type(ctx)) || types.IsDecimal(args[0].Type(ctx))) {
		return formatted.NewInstance(ctx, args)
	}
	return function.NewFormat(ctx, args...)
}

var formatted = scalarFunction("format", 2, 2, fixedType(types.LongText, func(ctx *sql.Context, args []any) (any, error) {
	converted, _, err := types.InternalDecimalType.Convert(ctx, args[0])
	if err != nil {
		return nil, err
	}
	digits, err := asInteger(ctx, args[1])
	if err != nil {
		return nil, err
	}
	n, err := atScale(converted.(*apd.Decimal), uint8(min(max(digits, 0), mostFormatted)))
	if err != nil {
		return nil, err
	}
	return grouped(n.(*apd.Decimal).Text('f')), nil
}))

// grouped puts commas between each three digits before the point.
func grouped(text string) string {
	digits := strings.TrimPrefix(text, "-")
	whole, fraction, hasPoint := strings.Cut(digits, ".")
	var b strings.Builder
	if digits != text {
		b.WriteByte('-')
	}
	for i, d := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	if hasPoint {
		b.WriteByte('.')
		b.WriteString(fraction)
	}
	return b.String()
}
