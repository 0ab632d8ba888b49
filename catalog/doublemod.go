package catalog

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
)

// doubleMod is % with a FLOAT or DOUBLE on a side, a DOUBLE. GMS's is one for columns alone, and of other operands a DECIMAL, which not every DOUBLE has a place in.
type doubleMod struct{ *expression.Mod }

var (
	_ sql.Expression         = doubleMod{}
	_ sql.CollationCoercible = doubleMod{}
	_ compile.Wrapper        = doubleMod{}
)

// newMod is GMS's, in a doubleMod where it is one.
func newMod(ctx *sql.Context, m *expression.Mod) sql.Expression {
	for _, operand := range m.Children() {
		if operand.Resolved() && types.IsFloat(operand.Type(ctx)) {
			return doubleMod{m}
		}
	}
	return m
}

// Unwrap returns what compiles: batches have it so.
func (m doubleMod) Unwrap() sql.Expression { return m.Mod }

// Type is a DOUBLE.
func (m doubleMod) Type(*sql.Context) sql.Type { return types.Float64 }

// WithChildren returns it over other operands.
func (m doubleMod) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(children), 2)
	}
	return newMod(ctx, expression.NewMod(children[0], children[1])), nil
}

// Eval is the rest, with the sign of the dividend; NULL by zero. Both operands are computed, as in MySQL, though the first be NULL: the second may have a warning.
func (m doubleMod) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	var of [2]float64
	null := false
	for i, operand := range m.Children() {
		v, err := operand.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if v == nil {
			null = true
			continue
		}
		converted, _, err := types.Float64.Convert(ctx, v)
		if sql.ErrTruncatedIncorrect.Is(err) {
			ctx.Warn(mysqltype.WrongValue, "%s", err.Error())
			err = nil
		}
		if err != nil {
			return nil, err
		}
		of[i], _ = converted.(float64)
	}
	if null {
		return nil, nil
	}
	if of[1] == 0 {
		if ctx.Session != nil {
			ctx.Warn(expression.ERDivisionByZero, "Division by 0")
		}
		return nil, nil
	}
	return math.Mod(of[0], of[1]), nil
}
