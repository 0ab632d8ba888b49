package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/vector"
)

func init() { compile.MoveKey = moveKey }

// moveKey is a key of a window's order and a distance, computed as MySQL computes + and - elsewhere.
func moveKey(ctx *sql.Context, key, distance sql.Expression, back bool) sql.Expression {
	if interval, ok := distance.(*expression.Interval); ok {
		return newShifted(ctx, key, interval, back)
	}
	op, sign := vector.Add, "+"
	if back {
		op, sign = vector.Subtract, "-"
	}
	if e, ok := newExactArith(ctx, op, key, distance, defaultDivPrecisionIncrement); ok {
		return e
	}
	a := expression.NewArithmetic(key, distance, sign)
	switch {
	case types.IsFloat(a.Type(ctx)):
		return checkedFloat{a}
	case types.IsInteger(a.Type(ctx)):
		return checked{a}
	}
	return a
}
