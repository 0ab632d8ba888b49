package vector

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// groupDigits is how many digits MySQL keeps in a word of a decimal: a quotient has whole words behind the point.
const groupDigits = 9

func wholeGroups(digits uint8) uint8 { return (digits + groupDigits - 1) / groupDigits * groupDigits }

// QuotientScale is how many digits MySQL computes behind the point of the quotient of two decimals of these scales; what comes behind them is cut off. It
// shows fewer: those of the dividend and increment, the system variable div_precision_increment.
func QuotientScale(l, r, increment uint8) uint8 {
	wideL, wideR := wholeGroups(l), wholeGroups(r)
	more := int(increment) - int(wideL-l) - int(wideR-r)
	return wholeGroups(wideL + wideR + uint8(max(more, 0)))
}

// NewDivide returns l / r by MySQL's rules, NULL where r is zero: of doubles a double, of integers and decimals a decimal with the digits of QuotientScale.
// A quotient that has more than 38 digits is an *OverflowError.
func NewDivide(l, r Expr, increment uint8) (Expr, error) {
	if isFloat(l.Type().Kind) || isFloat(r.Type().Kind) {
		common, ok := commonType(l.Type(), r.Type())
		if !ok {
			return nil, unsupported("%s / %s", l.Type(), r.Type())
		}
		return newArith(&arith{op: Divide, l: l, r: r, typ: common}, [2]batch.Type{common, common})
	}
	// Of two integers too, a literal has the digits that it has.
	l, r = shrink(l, batch.DecimalOf(1, 0)), shrink(r, batch.DecimalOf(1, 0))
	of, okL := asDecimal(l.Type())
	by, okR := asDecimal(r.Type())
	if !okL || !okR {
		return nil, unsupported("%s / %s", l.Type(), r.Type())
	}
	scale := QuotientScale(of.Scale, by.Scale, increment)
	up := scale + by.Scale - of.Scale
	if scale >= batch.MaxPrecision || up > batch.MaxPrecision {
		return nil, unsupported("%s / %s", l.Type(), r.Type())
	}
	whole := of.Precision - of.Scale + by.Scale
	e := &arith{op: Divide, l: l, r: r, factor: power10(up), wide: whole+scale > batch.MaxPrecision}
	e.typ = batch.DecimalOf(max(min(whole+scale, batch.MaxPrecision), 1), scale)
	return newArith(e, [2]batch.Type{of, by})
}

// NewShown rounds what is computed from quotients to the digits that MySQL shows. They have room for what rounding carries: no quotient comes so close to
// the next power of ten.
func NewShown(arg Expr, to batch.Type) (Expr, error) {
	from := arg.Type()
	if from.Kind != batch.Decimal || to.Kind != batch.Decimal || from.Precision-from.Scale > to.Precision-to.Scale {
		return nil, unsupported("%s with the digits of %s", from, to)
	}
	if from == to {
		return arg, nil
	}
	return &cast{arg: arg, to: to, convert: rescale, monotone: true}, nil
}

// decimals computes + - * exactly.
func (e *arith) decimals(l, r *batch.Vector, b *batch.Batch) error {
	if e.typ.Layout() == batch.LayoutI64 {
		e.smallDecimals(l.I64, r.I64)
		return nil
	}
	if e.op == Multiply {
		if !e.products(l, r) {
			return e.decimalOverflow(l, r, b)
		}
		return nil
	}
	out := e.out.Dec
	ls, rs := l.Dec[:len(out)], r.Dec[:len(out)]
	for i := range out {
		x, y := ls[i], rs[i]
		if e.op == Add {
			lo, carry := bits.Add64(x.LowBits(), y.LowBits(), 0)
			out[i] = decimal128.New(x.HighBits()+y.HighBits()+int64(carry), lo)
		} else {
			lo, borrow := bits.Sub64(x.LowBits(), y.LowBits(), 0)
			out[i] = decimal128.New(x.HighBits()-y.HighBits()-int64(borrow), lo)
		}
	}
	if !e.wide {
		return nil
	}
	for _, x := range out { // two numbers of 38 digits have a sum of 128 bits
		if m, _ := magnitude(x); !m.less(digits38) {
			return e.decimalOverflow(l, r, b)
		}
	}
	return nil
}

// smallDecimals computes where the result has 64 bits.
func (e *arith) smallDecimals(l, r []int64) {
	out := e.out.I64
	l, r = l[:len(out)], r[:len(out)]
	switch e.op {
	case Add:
		for i := range out {
			out[i] = l[i] + r[i]
		}
	case Subtract:
		for i := range out {
			out[i] = l[i] - r[i]
		}
	default:
		for i := range out {
			out[i] = l[i] * r[i]
		}
	}
}

// products reports whether all of them, of selected rows and others, have a place in the result.
func (e *arith) products(l, r *batch.Vector) bool {
	out := e.out.Dec
	if l.Type.Layout() == batch.LayoutDec && r.Type.Layout() == batch.LayoutI64 {
		l, r = r, l
	}
	fits := true
	switch {
	case r.Type.Layout() == batch.LayoutI64:
		ls, rs := l.I64[:len(out)], r.I64[:len(out)]
		for i := range out {
			out[i] = product64(ls[i], rs[i])
		}
	case l.Type.Layout() == batch.LayoutI64:
		ls, rs := l.I64[:len(out)], r.Dec[:len(out)]
		for i := range out {
			if y := rs[i]; isInt64(y) {
				out[i] = product64(ls[i], int64(y.LowBits()))
			} else {
				var ok bool
				out[i], ok = product128(decimal128.FromI64(ls[i]), y)
				fits = fits && ok
			}
		}
	default:
		ls, rs := l.Dec[:len(out)], r.Dec[:len(out)]
		for i := range out {
			var ok bool
			out[i], ok = product128(ls[i], rs[i])
			fits = fits && ok
		}
	}
	return fits
}

// decimalOverflow is the error of the first row that counts and has no place in the result.
func (e *arith) decimalOverflow(l, r *batch.Vector, b *batch.Batch) error {
	return e.firstError(b, func(i int) error {
		fits := true
		if e.op == Multiply {
			_, fits = product128(l.DecimalAt(i), r.DecimalAt(i))
		} else {
			m, _ := magnitude(e.out.Dec[i])
			fits = m.less(digits38)
		}
		if fits {
			return nil
		}
		return e.outOfRange(l, r, i)
	})
}

func (e *arith) outOfRange(l, r *batch.Vector, i int) error {
	kind := "DECIMAL"
	if e.op == IntDivide {
		kind = "BIGINT"
	}
	return &OverflowError{Type: kind, Expr: fmt.Sprintf("(%s %s %s)", l.AppendText(nil, i), e.op, r.AppendText(nil, i))}
}

// divideDecimals computes / DIV and %. What is cut off a quotient is behind its last digit; the rest has the sign of the dividend.
func (e *arith) divideDecimals(ctx context.Context, l, r *batch.Vector, b *batch.Batch) error {
	return e.eachDivision(ctx, b, func(i int) (zero bool, err error) {
		x, negative := magnitude(l.DecimalAt(i))
		y, negativeBy := magnitude(r.DecimalAt(i))
		if y == (u128{}) {
			return true, nil
		}
		if e.op == Modulo {
			_, rest := x.dividedBy(y)
			setDecimal(&e.out, i, rest.signed(negative))
			return false, nil
		}
		if e.op == IntDivide {
			q, _ := x.dividedBy(y)
			n := q.signed(negative != negativeBy)
			if int64(q.hi) != 0 || !isInt64(n) {
				return false, e.outOfRange(l, r, i)
			}
			e.out.I64[i] = int64(n.LowBits())
			return false, nil
		}
		q, ok := scaledQuotient(x, e.factor, y)
		if !ok || !q.less(digits38) {
			return false, e.outOfRange(l, r, i)
		}
		setDecimal(&e.out, i, q.signed(negative != negativeBy))
		return false, nil
	})
}
