package catalog

import (
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog/mysqltype"
)

// invertBits writes ~e as +(18446744073709551615 - CAST(e AS UNSIGNED)): GMS has no ~, and takes + for nothing.
func invertBits(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		if u, ok := n.(*ast.UnaryExpr); ok && u.Operator == ast.TildaStr {
			u.Operator = ast.UPlusStr
			bits := &ast.ConvertExpr{Name: "cast", Expr: u.Expr, Type: &ast.ConvertType{Type: "unsigned"}}
			u.Expr = &ast.ParenExpr{Expr: &ast.BinaryExpr{Operator: ast.MinusStr, Left: ast.NewIntVal([]byte("18446744073709551615")), Right: bits}}
		}
		return true, nil
	}, stmt)
}

// bitOperation is e & f, |, ^, << or >>, of 64 bits. GMS computes with a DOUBLE where an operand has more than 63.
func bitOperation(operator string) sql.Function {
	return scalarFunction(operator, 2, 2, fixedType(types.Uint64, func(ctx *sql.Context, args []any) (any, error) {
		l, err := asBits(ctx, args[0])
		if err != nil {
			return nil, err
		}
		r, err := asBits(ctx, args[1])
		switch operator {
		case ast.BitAndStr:
			return l & r, err
		case ast.BitOrStr:
			return l | r, err
		case ast.BitXorStr:
			return l ^ r, err
		case ast.ShiftLeftStr:
			return l << r, err
		}
		return l >> r, err
	}))
}

// asBits is a number as an integer, rounded, in two's complement; a text as far as it is one, with a warning; bytes as those of a number.
func asBits(ctx *sql.Context, v any) (uint64, error) {
	switch v := v.(type) {
	case uint64:
		return v, nil
	case float32:
		return asBits(ctx, float64(v))
	case float64: // a DOUBLE is rounded to the even number where it is between two, a DECIMAL away from 0
		switch even := math.RoundToEven(v); {
		case even >= math.MaxUint64:
			return math.MaxUint64, nil
		case even >= math.MaxInt64:
			return uint64(even), nil
		case even <= math.MinInt64:
			return 1 << 63, nil
		default:
			return uint64(int64(even)), nil
		}
	case []byte:
		bits, _, err := types.Uint64.Convert(ctx, v)
		n, _ := bits.(uint64)
		return n, err
	}
	if text, ok := v.(string); ok {
		return integerText(ctx, text), nil
	}
	converted, _, err := types.InternalDecimalType.Convert(ctx, v)
	if err != nil {
		return 0, err
	}
	n, ok := converted.(*apd.Decimal)
	if !ok {
		return 0, nil
	}
	whole := new(apd.Decimal)
	if _, err := exactContext.Quantize(whole, n, 0); err != nil {
		return 0, err
	}
	text := whole.Text('f')
	if signed, err := strconv.ParseInt(text, 10, 64); err == nil || strings.HasPrefix(text, "-") { // the least where there are more digits
		return uint64(signed), nil
	}
	unsigned, _ := strconv.ParseUint(text, 10, 64) // the greatest where there are more digits
	return unsigned, nil
}

// integerText is a text as an integer, with MySQL's warning.
func integerText(ctx *sql.Context, text string) uint64 {
	bits, exact := mysqltype.IntegerOf(text)
	if !exact {
		ctx.Warn(mysqltype.WrongValue, "Truncated incorrect INTEGER value: '%s'", mysqltype.ShownText(text))
	}
	return bits
}
