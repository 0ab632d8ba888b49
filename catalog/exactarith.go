package catalog

import (
	"fmt"
	"math"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/vector"
)

// exactArith is + - * / DIV or % of integers and DECIMALs with the type and the digits that MySQL's has ("Arithmetic Operators" and "Precision Math" of
// its manual). GMS counts digits otherwise, and divides integers as doubles.
type exactArith struct {
	expression.BinaryExpressionStub
	op        vector.ArithOp
	increment uint8 // div_precision_increment
	typ       sql.Type
	scale     uint8 // of what Eval gives: a quotient has more digits than its type shows
}

var (
	_ sql.Expression              = (*exactArith)(nil)
	_ sql.CollationCoercible      = (*exactArith)(nil)
	_ compile.ExactArithmetic     = (*exactArith)(nil)
	_ expression.BinaryExpression = (*exactArith)(nil)
)

// newExactArith is false where an operand is no integer and no DECIMAL, or GMS's own is right: + - * of integers.
func newExactArith(ctx *sql.Context, op vector.ArithOp, l, r sql.Expression, increment uint8) (*exactArith, bool) {
	of, okL := exactDigits(ctx, l)
	by, okR := exactDigits(ctx, r)
	integers := types.IsInteger(l.Type(ctx)) && types.IsInteger(r.Type(ctx))
	if !okL || !okR || integers && op <= vector.Multiply {
		return nil, false
	}
	e := &exactArith{BinaryExpressionStub: expression.BinaryExpressionStub{LeftChild: l, RightChild: r}, op: op, increment: increment}
	carriedL, carriedR := carriedScale(ctx, l), carriedScale(ctx, r)
	e.scale = max(carriedL, carriedR)
	scale := max(of.scale, by.scale)
	digits := max(of.precision-of.scale, by.precision-by.scale) + scale
	switch op {
	case vector.Add, vector.Subtract:
		digits++
	case vector.Multiply:
		e.scale = min(carriedL+carriedR, maxCarriedScale)
		digits, scale = of.precision+by.precision, of.scale+by.scale
	case vector.Divide:
		e.scale = vector.QuotientScale(carriedL, carriedR, increment)
		digits, scale = of.precision+by.scale+increment, of.scale+increment
	case vector.Modulo:
		digits = max(of.precision, by.precision)
	}
	switch unsignedL, unsignedR := types.IsUnsigned(l.Type(ctx)), types.IsUnsigned(r.Type(ctx)); {
	case op == vector.IntDivide && (unsignedL || unsignedR), op == vector.Modulo && integers && unsignedL:
		e.typ = types.Uint64
	case op == vector.IntDivide, op == vector.Modulo && integers:
		e.typ = types.Int64
	default:
		e.typ = exactType(digits, scale)
	}
	return e, true
}

// maxCarriedScale is the most digits behind the point that MySQL computes with.
const maxCarriedScale = 31

// exactType is a DECIMAL with as many digits as MySQL has. Its values are shown with all of them.
func exactType(digits, scale uint8) sql.DecimalType {
	scale = min(scale, types.DecimalTypeMaxScale)
	return types.MustCreateColumnDecimalType(min(max(digits, scale, 1), types.DecimalTypeMaxPrecision), scale)
}

// digitsOf are the digits that MySQL gives an operand.
type digitsOf struct{ precision, scale uint8 }

// exactDigits is false for what is no integer and no DECIMAL. A literal has the digits that it is written with.
func exactDigits(ctx *sql.Context, e sql.Expression) (digitsOf, bool) {
	if !e.Resolved() {
		return digitsOf{}, false
	}
	t := e.Type(ctx)
	if d, ok := t.(sql.DecimalType); ok {
		return digitsOf{d.Precision(), d.Scale()}, true
	}
	digits, ok := integerDigits[t]
	if l, isLiteral := e.(*expression.Literal); isLiteral && ok {
		if l.Value() == nil {
			return digitsOf{}, false
		}
		digits, _ := expression.GetPrecisionAndScale(l.Value())
		return digitsOf{max(digits, 1), 0}, true
	}
	return digitsOf{uint8(digits), 0}, ok
}

// carriedScale is how many digits behind the point the values of an operand have while MySQL computes, which are more than its type shows where
// there is a quotient in it.
func carriedScale(ctx *sql.Context, e sql.Expression) uint8 {
	switch e := e.(type) {
	case *exactArith:
		if types.IsDecimal(e.typ) {
			return e.scale
		}
		return 0
	case *exactChoice:
		return e.scale
	case *expression.UnaryMinus:
		return carriedScale(ctx, e.Child)
	case *function.AbsVal:
		return carriedScale(ctx, e.Child)
	case *expression.Alias:
		return carriedScale(ctx, e.Child)
	}
	if d, ok := e.Type(ctx).(sql.DecimalType); ok {
		return d.Scale()
	}
	return 0
}

// ExactArithmetic is what compiles.
func (e *exactArith) ExactArithmetic() (op vector.ArithOp, increment uint8) { return e.op, e.increment }

func (e *exactArith) String() string {
	return fmt.Sprintf("(%s %s %s)", e.LeftChild, e.op, e.RightChild)
}

// DebugString is what GMS's would be.
func (e *exactArith) DebugString(ctx *sql.Context) string {
	return fmt.Sprintf("(%s %s %s)", sql.DebugString(ctx, e.LeftChild), e.op, sql.DebugString(ctx, e.RightChild))
}

// Type is MySQL's.
func (e *exactArith) Type(*sql.Context) sql.Type { return e.typ }

// IsNullable is true of a division: by zero it is NULL.
func (e *exactArith) IsNullable(ctx *sql.Context) bool {
	return e.op >= vector.Divide || e.BinaryExpressionStub.IsNullable(ctx)
}

// CollationCoercibility is that of a number.
func (*exactArith) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren returns it over other operands.
func (e *exactArith) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 2)
	}
	if out, ok := newExactArith(ctx, e.op, children[0], children[1], e.increment); ok {
		return out, nil
	}
	return gmsArith(e.op, children[0], children[1]), nil
}

// gmsArith is GMS's expression of an operation.
func gmsArith(op vector.ArithOp, l, r sql.Expression) sql.Expression {
	switch op {
	case vector.Divide:
		return expression.NewDiv(l, r)
	case vector.IntDivide:
		return expression.NewIntDiv(l, r)
	case vector.Modulo:
		return expression.NewMod(l, r)
	}
	return expression.NewArithmetic(l, r, op.String())
}

// Eval computes with all digits that MySQL computes with.
func (e *exactArith) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	l, err := evalNumber(ctx, e.LeftChild, row)
	if err != nil {
		return nil, err
	}
	r, err := evalNumber(ctx, e.RightChild, row)
	if err != nil || l == nil || r == nil {
		return nil, err
	}
	if e.op >= vector.Divide && r.IsZero() {
		if ctx.Session != nil {
			ctx.Warn(expression.ERDivisionByZero, "Division by 0")
		}
		return nil, nil
	}
	out := new(apd.Decimal)
	switch e.op {
	case vector.Add:
		_, err = exactContext.Add(out, l, r)
	case vector.Subtract:
		_, err = exactContext.Sub(out, l, r)
	case vector.Multiply:
		_, err = exactContext.Mul(out, l, r)
	case vector.Divide:
		of := new(apd.Decimal).Set(l)
		of.Exponent += int32(e.scale)
		_, err = exactContext.QuoInteger(out, of, r)
		out.Exponent -= int32(e.scale)
	case vector.IntDivide:
		_, err = exactContext.QuoInteger(out, l, r)
	default:
		_, err = exactContext.Rem(out, l, r)
	}
	if err != nil || out.NumDigits()+int64(min(out.Exponent, 0)) > maxWholeDigits {
		return nil, &vector.OverflowError{Type: "DECIMAL", Expr: expressionText(ctx, e)}
	}
	if -out.Exponent > maxCarriedScale {
		if _, err := cutContext.Quantize(out, out, -maxCarriedScale); err != nil {
			return nil, err
		}
	}
	if out.IsZero() {
		out.Negative = false
	}
	if types.IsDecimal(e.typ) {
		return out, nil
	}
	return e.integer(ctx, out)
}

// maxWholeDigits is the most that MySQL has in front of the point while it computes.
const maxWholeDigits = 81

func (e *exactArith) integer(ctx *sql.Context, n *apd.Decimal) (any, error) {
	if e.typ == types.Uint64 {
		big := n.Coeff.MathBigInt()
		if !n.Negative && n.Exponent == 0 && big.IsUint64() {
			return big.Uint64(), nil
		}
	} else if v, err := n.Int64(); err == nil {
		return v, nil
	}
	return nil, &vector.OverflowError{Type: "BIGINT", Expr: expressionText(ctx, e)}
}

// evalNumber is the value of an exact operand; nil for NULL.
func evalNumber(ctx *sql.Context, e sql.Expression, row sql.Row) (*apd.Decimal, error) {
	v, err := e.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case int64:
		return apd.New(v, 0), nil
	case uint64:
		if v <= math.MaxInt64 {
			return apd.New(int64(v), 0), nil
		}
	}
	return numberOf(ctx, v)
}
