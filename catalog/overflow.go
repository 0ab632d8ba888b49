package catalog

import (
	"math"
	"math/big"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/vector"
)

// checkOverflow makes + - * of integers, and arithmetic of floats, an error where the result is out of range, as MySQL and batches have it; GMS's wraps
// around, and has infinities.
func checkOverflow(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	switch e.(type) {
	case *expression.Arithmetic, *expression.Div:
		if types.IsFloat(e.Type(ctx)) {
			return checkedFloat{e.(expression.BinaryExpression)}, transform.NewTree, nil
		}
	}
	if m, ok := e.(*expression.UnaryMinus); ok && types.IsInteger(m.Child.Type(ctx)) {
		return checkedMinus{m}, transform.NewTree, nil
	}
	a, ok := e.(*expression.Arithmetic)
	if !ok || !types.IsInteger(a.Type(ctx)) || !types.IsInteger(a.LeftChild.Type(ctx)) || !types.IsInteger(a.RightChild.Type(ctx)) {
		return e, transform.SameTree, nil
	}
	return checked{a}, transform.NewTree, nil
}

// checked is + - or * of integers.
type checked struct{ *expression.Arithmetic }

var (
	_ sql.Expression  = checked{}
	_ compile.Wrapper = checked{}
)

// Unwrap returns the expression that compiles: batches check by themselves.
func (c checked) Unwrap() sql.Expression { return c.Arithmetic }

// WithChildren returns it over other operands.
func (c checked) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.Arithmetic.WithChildren(ctx, children...)
	if a, ok := e.(*expression.Arithmetic); ok && err == nil {
		return checked{a}, nil
	}
	return e, err
}

// Type is unsigned where an operand is, as MySQL has it; what is subtracted is signed with NO_UNSIGNED_SUBTRACTION.
func (c checked) Type(ctx *sql.Context) sql.Type {
	if (isUnsigned(ctx, c.LeftChild) || isUnsigned(ctx, c.RightChild)) && !(c.Op == "-" && sql.LoadSqlMode(ctx).ModeEnabled("NO_UNSIGNED_SUBTRACTION")) {
		return types.Uint64
	}
	if t := c.Arithmetic.Type(ctx); t != types.Uint64 {
		return t
	}
	return types.Int64
}

// isUnsigned tells whether an operand is unsigned to MySQL: GMS has unsigned types for small literals too.
func isUnsigned(ctx *sql.Context, e sql.Expression) bool {
	switch e := e.(type) {
	case *expression.Literal:
		n, ok := e.Value().(uint64)
		return ok && n > math.MaxInt64
	case *expression.Convert, *expression.GetField, *scalarCall, *exactArith, checked:
		return e.Type(ctx) == types.Uint64
	case compile.Wrapper:
		return isUnsigned(ctx, e.Unwrap())
	}
	return false
}

// Eval computes exactly and looks whether the type holds the result. As in MySQL, the right operand is computed beside a NULL, too.
func (c checked) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := c.LeftChild.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	r, err := c.RightChild.Eval(ctx, row)
	if err != nil || l == nil || r == nil {
		return nil, err
	}
	unsigned := c.Type(ctx) == types.Uint64
	if x, y, ok := int64s(l, r); ok && !unsigned {
		if v, ok := smallResult(c.Op, x, y); ok {
			return v, nil
		}
	}
	x, y := bigInteger(l), bigInteger(r)
	if x == nil || y == nil {
		return c.Arithmetic.Eval(ctx, row)
	}
	v := new(big.Int)
	switch c.Op {
	case "+":
		v.Add(x, y)
	case "-":
		v.Sub(x, y)
	default:
		v.Mul(x, y)
	}
	switch {
	case unsigned && v.IsUint64():
		return v.Uint64(), nil
	case unsigned:
		return nil, &vector.OverflowError{Type: "BIGINT UNSIGNED", Expr: expressionText(ctx, c)}
	case v.IsInt64():
		return v.Int64(), nil
	}
	return nil, &vector.OverflowError{Type: "BIGINT", Expr: expressionText(ctx, c)}
}

// checkedMinus is - of an integer. GMS's of the least one is another error, it fails at the numbers of YEAR and its like, and cuts off unsigned ones.
type checkedMinus struct{ *expression.UnaryMinus }

var (
	_ sql.Expression         = checkedMinus{}
	_ sql.CollationCoercible = checkedMinus{}
	_ compile.Wrapper        = checkedMinus{}
)

// Unwrap returns the expression that compiles.
func (e checkedMinus) Unwrap() sql.Expression { return e.UnaryMinus }

// WithChildren returns it over another operand.
func (e checkedMinus) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	out, err := e.UnaryMinus.WithChildren(ctx, children...)
	if m, ok := out.(*expression.UnaryMinus); ok && err == nil {
		return checkedMinus{m}, nil
	}
	return out, err
}

// Type is a BIGINT, or GMS's DECIMAL for the literal that is the least one.
func (e checkedMinus) Type(ctx *sql.Context) sql.Type {
	if t := e.UnaryMinus.Type(ctx); types.IsDecimal(t) {
		return t
	}
	return types.Int64
}

// Eval tells MySQL's error of what a BIGINT does not hold.
func (e checkedMinus) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if types.IsDecimal(e.Type(ctx)) {
		return e.UnaryMinus.Eval(ctx, row)
	}
	v, err := e.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	n := bigInteger(v)
	if n == nil {
		return e.UnaryMinus.Eval(ctx, row)
	}
	if n.Neg(n); !n.IsInt64() {
		return nil, &vector.OverflowError{Type: "BIGINT", Expr: expressionText(ctx, e)}
	}
	return n.Int64(), nil
}

// smallResult is the result where it plainly fits.
func smallResult(op string, x, y int64) (int64, bool) {
	const small, tiny = 1 << 62, 1 << 31
	switch {
	case op == "*":
		return x * y, -tiny < x && x < tiny && -tiny < y && y < tiny
	case -small >= x || x >= small || -small >= y || y >= small:
		return 0, false
	case op == "+":
		return x + y, true
	default:
		return x - y, true
	}
}

func int64s(l, r any) (x, y int64, ok bool) {
	x, lok := signed(l)
	y, rok := signed(r)
	return x, y, lok && rok
}

func signed(v any) (int64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int: // of YEAR and its like
		return int64(v), true
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	}
	return 0, false
}

// bigInteger is nil for what is no integer.
func bigInteger(v any) *big.Int {
	if u, ok := v.(uint64); ok {
		return new(big.Int).SetUint64(u)
	}
	if i, ok := signed(v); ok {
		return big.NewInt(i)
	}
	return nil
}

// checkedFloat is arithmetic of a DOUBLE.
type checkedFloat struct{ expression.BinaryExpression }

var (
	_ sql.Expression  = checkedFloat{}
	_ compile.Wrapper = checkedFloat{}
)

// Unwrap returns the expression that compiles: batches check by themselves.
func (c checkedFloat) Unwrap() sql.Expression { return c.BinaryExpression }

// WithChildren returns it over other operands.
func (c checkedFloat) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.BinaryExpression.WithChildren(ctx, children...)
	if b, ok := e.(expression.BinaryExpression); ok && err == nil {
		return checkedFloat{b}, nil
	}
	return e, err
}

// Eval looks whether an infinity comes of numbers that are none.
func (c checkedFloat) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := c.BinaryExpression.Eval(ctx, row)
	if f, ok := v.(float64); err != nil || !ok || !math.IsInf(f, 0) {
		return v, err
	}
	of := make([]float64, 2)
	if session, ok := ctx.Session.(compile.WarningCatcher); ok { // the operands have warned
		var told []*sql.Warning
		defer session.CatchWarnings(session.CatchWarnings(&told))
	}
	for i, operand := range []sql.Expression{c.Left(), c.Right()} {
		x, err := operand.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if x, _, err = types.Float64.Convert(ctx, x); err != nil {
			return nil, err
		}
		if of[i], _ = x.(float64); math.IsInf(of[i], 0) {
			return v, nil
		}
	}
	return nil, &vector.OverflowError{Type: "DOUBLE", Expr: expressionText(ctx, c)}
}
