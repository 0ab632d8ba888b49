package vector

import (
	"context"
	"slices"

	"lakesql/batch"
)

// minSet is the length from which on a list of integers is looked up instead of compared one by one.
const minSet = 8

// NewIn returns arg IN (list). An item sees the rows alone whose arg is not null and that are equal to no item before it: another is not asked for what
// may fail, or warn.
func NewIn(arg Expr, list []Expr) (Expr, error) {
	if len(list) == 0 {
		return nil, unsupported("IN ()")
	}
	equals, err := equalsOf(arg, list)
	if err != nil {
		return nil, err
	}
	if e, ok := newSet(equals); ok {
		return e, nil
	}
	isComputed := func(x Expr) bool { return len(x.children()) > 0 }
	if !slices.ContainsFunc(list, isComputed) && !(isComputed(arg) && len(list) > 1) {
		return NewOr(equals...)
	}
	return newAhead([]Expr{arg}, func(operands []Expr) (Expr, error) {
		equals, err := equalsOf(operands[0], list)
		if err != nil {
			return nil, err
		}
		return NewOr(equals...)
	})
}

func equalsOf(arg Expr, list []Expr) ([]Expr, error) {
	equals := make([]Expr, len(list))
	for i, x := range list {
		var err error
		if equals[i], err = NewCompare(Equal, arg, x); err != nil {
			return nil, err
		}
	}
	return equals, nil
}

// set is arg IN (constants) by a hash table.
type set struct {
	arg      Expr
	equals   []*compare // what it stands for
	ints     map[int64]struct{}
	texts    map[string]struct{}
	hasNull  bool // the list has a NULL: what is not found is null
	byCode   []bool
	byCodeOf *batch.Vector
	valid    batch.Bitmap
	out      batch.Vector
}

// newSet makes a set of comparisons with constants that share one conversion of their left side; false when they do not, or are few.
func newSet(equals []Expr) (Expr, bool) {
	first := equals[0].(*compare)
	e := &set{arg: first.l, ints: map[int64]struct{}{}, texts: map[string]struct{}{}}
	t := e.arg.Type()
	if l := t.Layout(); l != batch.LayoutBytes && (l != batch.LayoutI64 && l != batch.LayoutI32 || len(equals) < minSet) {
		return nil, false
	}
	for _, x := range equals {
		c := x.(*compare)
		value, ok := c.r.(*literal)
		if !ok || c.l.Type() != t {
			return nil, false
		}
		e.equals = append(e.equals, c)
		switch {
		case value.value == nil:
			e.hasNull = true
		case t.Layout() == batch.LayoutBytes:
			e.texts[string(value.value.BytesAt(0))] = struct{}{}
		default:
			e.ints[intAt(value.value, 0)] = struct{}{}
		}
	}
	return e, true
}

func (e *set) Type() batch.Type { return boolType }

func (e *set) children() []Expr { return []Expr{e.arg} }

func (e *set) Clone() Expr {
	return &set{arg: e.arg.Clone(), equals: e.equals, ints: e.ints, texts: e.texts, hasNull: e.hasNull}
}

func (e *set) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	v, err := e.arg.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	reset(&e.out, boolType, b.Len)
	if v.Dict == nil {
		selected(b, func(i int) { e.out.Bools[i] = !v.IsNull(i) && e.has(v, i) })
	} else {
		if e.byCodeOf != v.Dict {
			e.byCode, e.byCodeOf = resize(e.byCode, v.Dict.Len), v.Dict
			for i := range e.byCode {
				e.byCode[i] = e.has(v.Dict, i)
			}
		}
		byCodes(e.out.Bools, v, e.byCode)
	}
	e.out.Valid = v.Valid
	if e.hasNull {
		e.notFoundIsNull(v, b)
	}
	return &e.out, nil
}

func (e *set) has(v *batch.Vector, i int) bool {
	if v.Type.Layout() == batch.LayoutBytes {
		_, ok := e.texts[string(v.BytesAt(i))]
		return ok
	}
	_, ok := e.ints[intAt(v, i)]
	return ok
}

func (e *set) notFoundIsNull(v *batch.Vector, b *batch.Batch) {
	e.valid = resize(e.valid, (b.Len+63)/64)
	clear(e.valid)
	selected(b, func(i int) {
		if !v.IsNull(i) && e.out.Bools[i] {
			e.valid.Set(i)
		}
	})
	e.out.Valid = e.valid
}
