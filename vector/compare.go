package vector

import (
	"bytes"
	"cmp"
	"context"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// CompareOp is a comparison.
type CompareOp uint8

// The comparisons. NullSafeEqual is MySQL's <=>.
const (
	Equal CompareOp = iota
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	NullSafeEqual
)

// holds reports whether the operator holds for an order of -1, 0 or 1.
func (op CompareOp) holds(order int) bool {
	switch op {
	case NotEqual:
		return order != 0
	case Less:
		return order < 0
	case LessEqual:
		return order <= 0
	case Greater:
		return order > 0
	case GreaterEqual:
		return order >= 0
	default:
		return order == 0
	}
}

// flip returns the operator with its sides exchanged.
func (op CompareOp) flip() CompareOp {
	switch op {
	case Less:
		return Greater
	case LessEqual:
		return GreaterEqual
	case Greater:
		return Less
	case GreaterEqual:
		return LessEqual
	default:
		return op
	}
}

// compare is l op r; both have one type of the layouts I64, I32, F64, Dec, Bytes.
type compare struct {
	op         CompareOp
	l, r       Expr
	ls, rs     spreader
	valid      batch.Bitmap
	byCode     []bool
	byCodeOf   *batch.Vector // the dictionary and the constant that byCode is for
	byCodeWith *batch.Vector
	out        batch.Vector
}

// NewCompare returns l op r, a boolean. Numbers compare by MySQL's rules: exactly unless one of them is a FLOAT or DOUBLE, then as doubles, where
// NaN equals itself and is greater than anything else, as in Spark. Strings compare by bytes. Dates and timestamps compare in UTC.
func NewCompare(op CompareOp, l, r Expr) (Expr, error) {
	l, r, err := Comparable(l, r)
	if err != nil {
		return nil, err
	}
	return &compare{op: op, l: l, r: r}, nil
}

// Comparable converts two expressions to the one type in which NewCompare compares them.
func Comparable(l, r Expr) (Expr, Expr, error) {
	l, r = shrink(l, r.Type()), shrink(r, l.Type())
	t, ok := commonType(l.Type(), r.Type())
	if !ok {
		return nil, nil, unsupported("comparison of %s with %s", l.Type(), r.Type())
	}
	l, err := NewCast(l, t)
	if err != nil {
		return nil, nil, err
	}
	if r, err = NewCast(r, t); err != nil {
		return nil, nil, err
	}
	return foldConstant(l), foldConstant(r), nil
}

// commonType is the type in which two values are compared.
func commonType(a, b batch.Type) (batch.Type, bool) {
	numeric := func(t batch.Type) bool {
		_, isInt := integer(t.Kind)
		return isInt || isFloat(t.Kind) || t.Kind == batch.Decimal || t.Kind == batch.Bool
	}
	temporal := func(t batch.Type) bool { return t.Kind == batch.Date || isTimestamp(t.Kind) }
	switch {
	case numeric(a) && numeric(b):
		return commonNumber(a, b)
	case a == b && a.Kind == batch.Date:
		return a, true
	case temporal(a) && temporal(b):
		return batch.Type{Kind: batch.Timestamp}, true
	case a == b && (a.Kind == batch.String || a.Kind == batch.Binary):
		return a, true
	}
	return batch.Type{}, false
}

// commonNumber is the type in which MySQL computes with two numbers. A boolean counts as an integer.
func commonNumber(a, b batch.Type) (batch.Type, bool) {
	switch {
	case isFloat(a.Kind) || isFloat(b.Kind):
		if a.Kind == batch.Bool || b.Kind == batch.Bool {
			return batch.Type{}, false
		}
		return batch.Type{Kind: batch.Float64}, true
	case a.Kind == batch.Decimal || b.Kind == batch.Decimal:
		a, okA := asDecimal(a)
		b, okB := asDecimal(b)
		scale := max(a.Scale, b.Scale)
		precision := max(a.Precision-a.Scale, b.Precision-b.Scale) + scale
		return batch.DecimalOf(precision, scale), okA && okB && precision <= batch.MaxPrecision
	default:
		return batch.Type{Kind: batch.Int64}, true
	}
}

// asDecimal returns the decimal type that holds every value of a decimal or integer type.
func asDecimal(t batch.Type) (batch.Type, bool) {
	if t.Kind == batch.Decimal {
		return t, true
	}
	digits, ok := integer(t.Kind)
	return batch.DecimalOf(digits, 0), ok
}

// ExactDecimal returns the decimal type that holds every value of an expression that gives a decimal or an integer. A literal has the digits that it has.
func ExactDecimal(e Expr) (batch.Type, bool) {
	return asDecimal(shrink(e, batch.DecimalOf(1, 0)).Type())
}

// shrink gives an integer literal next to a decimal the digits that it has, as MySQL does, instead of those that a long can have.
func shrink(e Expr, other batch.Type) Expr {
	l, ok := e.(*literal)
	if !ok || l.value == nil || l.typ.Kind != batch.Int64 || other.Kind != batch.Decimal {
		return e
	}
	n := l.value.I64[0]
	digits := uint8(1)
	for rest := n / 10; rest != 0; rest /= 10 {
		digits++
	}
	return NewDecimal(decimal128.FromI64(n), digits, 0)
}

// foldConstant evaluates a conversion of a literal once and for all.
func foldConstant(e Expr) Expr {
	c, ok := e.(*cast)
	if !ok {
		return e
	}
	in, ok := c.arg.(*literal)
	if !ok {
		return e
	}
	if in.value == nil {
		return NewNull(c.to)
	}
	out := &batch.Vector{}
	c.run(out, in.value, &batch.Batch{Len: 1})
	return &literal{typ: c.to, constant: constant{value: out}}
}

func (e *compare) Type() batch.Type { return boolType }

func (e *compare) children() []Expr { return []Expr{e.l, e.r} }

func (e *compare) Clone() Expr { return &compare{op: e.op, l: e.l.Clone(), r: e.r.Clone()} }

func (e *compare) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	l, err := e.l.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	r, err := e.r.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	reset(&e.out, boolType, b.Len)
	e.values(l, r)
	if e.op == NullSafeEqual {
		e.nullSafe(l, r)
	} else {
		e.out.Valid = bothValid(&e.valid, l.Valid, r.Valid, b.Len)
	}
	return &e.out, nil
}

// values compares all rows, null or not.
func (e *compare) values(l, r *batch.Vector) {
	if c, ok := constantOf(r); ok {
		e.withConstant(e.op, l, c)
		return
	}
	if c, ok := constantOf(l); ok {
		e.withConstant(e.op.flip(), r, c)
		return
	}
	l, r = e.ls.plain(l), e.rs.plain(r)
	out := e.out.Bools
	switch l.Type.Layout() {
	case batch.LayoutI64:
		comparePairs(e.op, out, l.I64, r.I64)
	case batch.LayoutI32:
		comparePairs(e.op, out, l.I32, r.I32)
	case batch.LayoutF64:
		for i := range out {
			out[i] = e.op.holds(orderFloats(l.F64[i], r.F64[i]))
		}
	case batch.LayoutDec:
		for i := range out {
			out[i] = e.op.holds(l.Dec[i].Cmp(r.Dec[i]))
		}
	case batch.LayoutBytes:
		for i := range out {
			out[i] = e.op.holds(bytes.Compare(l.BytesAt(i), r.BytesAt(i)))
		}
	}
}

// withConstant compares a vector with a constant: a dictionary value by value, once.
func (e *compare) withConstant(op CompareOp, v, c *batch.Vector) {
	if v.Dict == nil {
		compareConstant(op, e.out.Bools, v, c)
		return
	}
	if e.byCodeOf != v.Dict || e.byCodeWith != c {
		e.byCode, e.byCodeOf, e.byCodeWith = resize(e.byCode, v.Dict.Len), v.Dict, c
		compareConstant(op, e.byCode, v.Dict, c)
	}
	byCodes(e.out.Bools, v, e.byCode)
}

// byCodes sets out[i] to the result for row i's code. Codes of null rows may be anything.
func byCodes(out []bool, v *batch.Vector, byCode []bool) {
	for i, code := range v.Codes[:v.Len] {
		out[i] = int(code) < len(byCode) && byCode[code]
	}
}

func compareConstant(op CompareOp, out []bool, v, c *batch.Vector) {
	switch v.Type.Layout() {
	case batch.LayoutI64:
		compareWith(op, out, v.I64[:v.Len], c.I64[0])
	case batch.LayoutI32:
		compareWith(op, out, v.I32[:v.Len], c.I32[0])
	case batch.LayoutF64:
		if x := c.F64[0]; x == x {
			compareWith(op, out, v.F64[:v.Len], x)
			return
		}
		for i := range out {
			out[i] = op.holds(orderFloats(v.F64[i], c.F64[0]))
		}
	case batch.LayoutDec:
		for i := range out {
			out[i] = op.holds(v.Dec[i].Cmp(c.Dec[0]))
		}
	case batch.LayoutBytes:
		x := c.BytesAt(0)
		if op == Equal || op == NotEqual || op == NullSafeEqual {
			for i := range out {
				out[i] = bytes.Equal(v.BytesAt(i), x) == (op != NotEqual)
			}
			return
		}
		for i := range out {
			out[i] = op.holds(bytes.Compare(v.BytesAt(i), x))
		}
	}
}

// compareWith has a loop an operator, so that each is free of branches. A NaN in v is above c, which must not be one.
func compareWith[T int32 | int64 | float64](op CompareOp, out []bool, v []T, c T) {
	out = out[:len(v)]
	switch op {
	case NotEqual:
		for i, x := range v {
			out[i] = x != c
		}
	case Less:
		for i, x := range v {
			out[i] = x < c
		}
	case LessEqual:
		for i, x := range v {
			out[i] = x <= c
		}
	case Greater:
		for i, x := range v {
			out[i] = !(x <= c) // not x > c, which is false for NaN
		}
	case GreaterEqual:
		for i, x := range v {
			out[i] = !(x < c)
		}
	default:
		for i, x := range v {
			out[i] = x == c
		}
	}
}

func comparePairs[T int32 | int64](op CompareOp, out []bool, l, r []T) {
	l, r = l[:len(out)], r[:len(out)]
	switch op {
	case NotEqual:
		for i := range out {
			out[i] = l[i] != r[i]
		}
	case Less:
		for i := range out {
			out[i] = l[i] < r[i]
		}
	case LessEqual:
		for i := range out {
			out[i] = l[i] <= r[i]
		}
	case Greater:
		for i := range out {
			out[i] = l[i] > r[i]
		}
	case GreaterEqual:
		for i := range out {
			out[i] = l[i] >= r[i]
		}
	default:
		for i := range out {
			out[i] = l[i] == r[i]
		}
	}
}

// orderFloats orders doubles with NaN equal to itself and above everything.
func orderFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a == a:
		return -1
	case b == b:
		return 1
	}
	return 0
}

// nullSafe corrects the rows with nulls: null <=> null holds, null <=> value does not.
func (e *compare) nullSafe(l, r *batch.Vector) {
	if l.Valid == nil && r.Valid == nil {
		return
	}
	for i := range e.out.Bools {
		if ln, rn := l.IsNull(i), r.IsNull(i); ln || rn {
			e.out.Bools[i] = ln && rn
		}
	}
}

// order compares row 0 of two plain vectors of one type.
func order(a, b *batch.Vector) int {
	switch a.Type.Layout() {
	case batch.LayoutBools:
		return cmp.Compare(boolInt(a.Bools[0]), boolInt(b.Bools[0]))
	case batch.LayoutI8, batch.LayoutI16, batch.LayoutI32, batch.LayoutI64:
		return cmp.Compare(intAt(a, 0), intAt(b, 0))
	case batch.LayoutF32:
		return orderFloats(float64(a.F32[0]), float64(b.F32[0]))
	case batch.LayoutF64:
		return orderFloats(a.F64[0], b.F64[0])
	case batch.LayoutDec:
		return decimal128.Num.Cmp(a.Dec[0], b.Dec[0])
	default:
		return bytes.Compare(a.BytesAt(0), b.BytesAt(0))
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
