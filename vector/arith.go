package vector

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"lakesql/batch"
)

// ArithOp is an arithmetic operation.
type ArithOp uint8

// The arithmetic operations.
const (
	Add ArithOp = iota
	Subtract
	Multiply
	Divide    // MySQL's /
	IntDivide // DIV
	Modulo    // %
)

func (op ArithOp) String() string { return [...]string{"+", "-", "*", "/", "DIV", "%"}[op] }

// arith is l op r; both have one type: long, double, or decimals of the scales that the kernel wants.
type arith struct {
	op     ArithOp
	l, r   Expr
	typ    batch.Type
	wide   bool // a decimal result may have more digits than its type
	factor u128 // Divide of decimals: what the dividend is multiplied with
	ls, rs spreader
	valid  batch.Bitmap
	out    batch.Vector
}

// NewArith returns l op r by MySQL's rules: integers give a long, decimals and integers a decimal with the digits that the result can have, a
// double makes the result a double. A value out of the range of the result, and a decimal with more than 38 digits, is an *OverflowError, for
// selected rows only. Division by zero is NULL. Supported are + - * % of all numbers and DIV of integers and decimals; NewDivide is the /.
func NewArith(op ArithOp, l, r Expr) (Expr, error) {
	l, r = shrink(l, r.Type()), shrink(r, l.Type())
	operands, result, ok := arithTypes(op, l.Type(), r.Type())
	if !ok {
		return nil, unsupported("%s %s %s", l.Type(), op, r.Type())
	}
	return newArith(&arith{op: op, l: l, r: r, typ: result, wide: isWide(op, operands, result)}, operands)
}

// Wide says whether a value of an expression of NewArith or NewDivide may have more digits than a decimal has here, which MySQL computes with.
func Wide(e Expr) bool {
	a, ok := e.(*arith)
	return ok && a.wide
}

func isWide(op ArithOp, operands [2]batch.Type, result batch.Type) bool {
	switch {
	case result.Kind != batch.Decimal || op > Multiply:
		return false
	case op == Multiply:
		return operands[0].Precision+operands[1].Precision > batch.MaxPrecision
	default:
		return result.Precision == batch.MaxPrecision
	}
}

func newArith(e *arith, operands [2]batch.Type) (Expr, error) {
	l, err := NewCast(e.l, operands[0])
	if err != nil {
		return nil, err
	}
	r, err := NewCast(e.r, operands[1])
	if err != nil {
		return nil, err
	}
	e.l, e.r = foldConstant(l), foldConstant(r)
	return e, nil
}

// arithTypes returns the types to compute in and that of the result.
func arithTypes(op ArithOp, l, r batch.Type) (operands [2]batch.Type, result batch.Type, ok bool) {
	if l.Kind == batch.Bool || r.Kind == batch.Bool || op == Divide {
		return operands, result, false
	}
	if l.Kind == batch.Decimal && !isFloat(r.Kind) || r.Kind == batch.Decimal && !isFloat(l.Kind) {
		return decimalTypes(op, l, r)
	}
	common, ok := commonType(l, r)
	if !ok {
		return operands, result, false
	}
	operands, result = [2]batch.Type{common, common}, common
	switch common.Kind {
	case batch.Int64:
		return operands, result, true
	case batch.Float64:
		return operands, result, op != IntDivide
	}
	return operands, result, false
}

// decimalTypes are the types of an operation on decimals. The sum has one digit more than its operands, the product the digits of both, as far as
// there is room for them.
func decimalTypes(op ArithOp, l, r batch.Type) (operands [2]batch.Type, result batch.Type, ok bool) {
	l, okL := asDecimal(l)
	r, okR := asDecimal(r)
	if !okL || !okR {
		return operands, result, false
	}
	scale := max(l.Scale, r.Scale)
	whole := max(l.Precision-l.Scale, r.Precision-r.Scale)
	switch op {
	case Add, Subtract:
		result = batch.DecimalOf(min(whole+scale+1, batch.MaxPrecision), scale)
		operands = [2]batch.Type{result, result}
	case Multiply:
		result = batch.DecimalOf(min(l.Precision+r.Precision, batch.MaxPrecision), l.Scale+r.Scale)
		operands = [2]batch.Type{l, r}
	default:
		result = batch.DecimalOf(whole+scale, scale)
		operands = [2]batch.Type{result, result}
		if op == IntDivide {
			return operands, batch.Type{Kind: batch.Int64}, whole+scale <= batch.MaxPrecision
		}
	}
	return operands, result, result.Precision <= batch.MaxPrecision && result.Scale <= min(maxMySQLScale, result.Precision)
}

// maxMySQLScale is the largest scale that MySQL gives a result.
const maxMySQLScale = 30

func (e *arith) Type() batch.Type { return e.typ }

func (e *arith) children() []Expr { return []Expr{e.l, e.r} }

func (e *arith) Clone() Expr {
	return &arith{op: e.op, l: e.l.Clone(), r: e.r.Clone(), typ: e.typ, wide: e.wide, factor: e.factor}
}

func (e *arith) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	l, err := e.l.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	r, err := e.r.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	l, r = e.ls.plain(l), e.rs.plain(r)
	reset(&e.out, e.typ, b.Len)
	e.out.Valid = bothValid(&e.valid, l.Valid, r.Valid, b.Len)
	switch {
	case l.Type.Kind == batch.Decimal && e.op >= Divide:
		err = e.divideDecimals(ctx, l, r, b)
	case e.typ.Kind == batch.Decimal:
		err = e.decimals(l, r, b)
	case e.typ.Kind == batch.Float64:
		err = e.floats(ctx, l, r, b)
	case e.op == IntDivide || e.op == Modulo:
		err = e.divideInts(ctx, l.I64, r.I64, b)
	default:
		err = e.ints(l.I64, r.I64, b)
	}
	if err != nil {
		return nil, err
	}
	return &e.out, nil
}

// ints computes + - * for all rows, and only when some row went out of range looks whether that row counts.
func (e *arith) ints(l, r []int64, b *batch.Batch) error {
	out := e.out.I64
	l, r = l[:len(out)], r[:len(out)]
	bad := false
	switch e.op {
	case Add:
		for i := range out {
			s := l[i] + r[i]
			bad = bad || (l[i]^s)&(r[i]^s) < 0
			out[i] = s
		}
	case Subtract:
		for i := range out {
			s := l[i] - r[i]
			bad = bad || (l[i]^r[i])&(l[i]^s) < 0
			out[i] = s
		}
	default:
		for i := range out {
			p, ok := multiply(l[i], r[i])
			bad = bad || !ok
			out[i] = p
		}
	}
	if !bad {
		return nil
	}
	return e.firstError(b, func(i int) error {
		if inRange(e.op, l[i], r[i]) {
			return nil
		}
		return &OverflowError{Type: "BIGINT", Expr: fmt.Sprintf("(%d %s %d)", l[i], e.op, r[i])}
	})
}

// firstError returns the first error of check among the rows that are selected and not null.
func (e *arith) firstError(b *batch.Batch, check func(i int) error) error {
	var first error
	selected(b, func(i int) {
		if first == nil && !e.out.IsNull(i) {
			first = check(i)
		}
	})
	return first
}

func multiply(a, b int64) (int64, bool) {
	p := a * b
	if int64(int32(a)) == a && int64(int32(b)) == b {
		return p, true
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if a < 0 {
		hi -= uint64(b)
	}
	if b < 0 {
		hi -= uint64(a)
	}
	return p, hi == uint64(int64(lo)>>63)
}

// inRange reports whether + - * of two integers fits.
func inRange(op ArithOp, a, b int64) bool {
	switch op {
	case Add:
		return (a^(a+b))&(b^(a+b)) >= 0
	case Subtract:
		return (a^b)&(a^(a-b)) >= 0
	default:
		_, ok := multiply(a, b)
		return ok
	}
}

// divideInts computes DIV and %. The rest has the sign of the dividend.
func (e *arith) divideInts(ctx context.Context, l, r []int64, b *batch.Batch) error {
	return e.eachDivision(ctx, b, func(i int) (zero bool, err error) {
		switch {
		case r[i] == 0:
			return true, nil
		case r[i] == -1 && e.op == Modulo:
			e.out.I64[i] = 0
		case r[i] == -1 && l[i] == math.MinInt64:
			return false, &OverflowError{Type: "BIGINT", Expr: fmt.Sprintf("(%d DIV -1)", l[i])}
		case e.op == IntDivide:
			e.out.I64[i] = l[i] / r[i]
		default:
			e.out.I64[i] = l[i] % r[i]
		}
		return false, nil
	})
}

// eachDivision calls divide for the rows that count, and makes those null, with a warning, that it says divide by zero.
func (e *arith) eachDivision(ctx context.Context, b *batch.Batch, divide func(i int) (zero bool, err error)) error {
	var nulls batch.Bitmap
	zeros := 0
	err := e.firstError(b, func(i int) error {
		zero, err := divide(i)
		if zero {
			if nulls == nil {
				nulls = batch.NewBitmap(b.Len)
			}
			nulls.Clear(i)
			zeros++
		}
		return err
	})
	warn(ctx, divisionByZero, zeros)
	if nulls != nil {
		e.out.Valid = bothValid(&nulls, nulls, e.out.Valid, b.Len)
	}
	return err
}

func (e *arith) floats(ctx context.Context, l, r *batch.Vector, b *batch.Batch) error {
	out := e.out.F64
	if e.op == Divide || e.op == Modulo {
		err := e.eachDivision(ctx, b, func(i int) (bool, error) {
			switch {
			case r.F64[i] == 0:
				return true, nil
			case e.op == Divide:
				out[i] = l.F64[i] / r.F64[i]
			default:
				out[i] = math.Mod(l.F64[i], r.F64[i])
			}
			return false, nil
		})
		if err != nil {
			return err
		}
	}
	switch e.op {
	case Add:
		for i := range out {
			out[i] = l.F64[i] + r.F64[i]
		}
	case Subtract:
		for i := range out {
			out[i] = l.F64[i] - r.F64[i]
		}
	case Multiply:
		for i := range out {
			out[i] = l.F64[i] * r.F64[i]
		}
	}
	if !slices.ContainsFunc(out, func(x float64) bool { return math.IsInf(x, 0) }) {
		return nil
	}
	return e.firstError(b, func(i int) error {
		if !math.IsInf(out[i], 0) || math.IsInf(l.F64[i], 0) || math.IsInf(r.F64[i], 0) {
			return nil
		}
		return &OverflowError{Type: "DOUBLE", Expr: fmt.Sprintf("(%v %s %v)", l.F64[i], e.op, r.F64[i])}
	})
}
