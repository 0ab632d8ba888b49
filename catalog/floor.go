package catalog

import (
	"math"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/mysqltype"
)

// wholeFunction is FLOOR or CEIL, with the type that MySQL gives it: a DECIMAL where the whole digits of one may not fit a BIGINT. GMS's is a BIGINT, and it rounds the
// column itself, which other expressions look at.
func wholeFunction(
	ofFloat func(float64) float64, ofDecimal func(out, of *apd.Decimal) (apd.Condition, error),
) func(*sql.Context, []sql.Expression) (scalarBody, error) {
	return func(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
		t := wholeType(args[0].Type(ctx))
		return scalarBody{typ: t, eval: func(ctx *sql.Context, values []any) (any, error) {
			switch v := values[0].(type) {
			case float32:
				return ofFloat(float64(v)), nil
			case *apd.Decimal:
				out := new(apd.Decimal)
				if _, err := ofDecimal(out, v); err != nil {
					return nil, err
				}
				if out.IsZero() {
					out.Negative = false
				}
				converted, _, err := t.Convert(ctx, out)
				return converted, err
			}
			converted, _, err := t.Convert(ctx, values[0])
			if sql.ErrTruncatedIncorrect.Is(err) {
				ctx.Warn(mysqltype.WrongValue, "%s", err.Error())
				err = nil
			}
			if f, ok := converted.(float64); ok {
				return ofFloat(f), err
			}
			return converted, err
		}}, nil
	}
}

// bigintDigits is how many whole digits of a DECIMAL MySQL is sure to have room for in a BIGINT.
const bigintDigits = 18

// wholeType is that of a number of a type without its digits behind the point.
func wholeType(of sql.Type) sql.Type {
	switch t := of.(type) {
	case sql.DecimalType:
		digits := t.Precision() - t.Scale()
		if t.Scale() > 0 {
			digits++ // 9.9 becomes 10
		}
		if digits <= bigintDigits {
			return types.Int64
		}
		return types.MustCreateColumnDecimalType(min(digits, types.DecimalTypeMaxPrecision), 0)
	}
	switch {
	case types.IsUnsigned(of):
		return types.Uint64
	case types.IsNumber(of) && !types.IsFloat(of):
		return types.Int64
	}
	return types.Float64
}

var (
	floorNumber = wholeFunction(math.Floor, exactContext.Floor)
	ceilNumber  = wholeFunction(math.Ceil, exactContext.Ceil)
)
