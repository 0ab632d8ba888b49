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
	equals := make([]Expr, len(list))
	for i, x := range list {
		e, err := NewCompare(Equal, arg, x)
		if err != nil {
			return nil, err
		}
		equals[i] = e
	}
	if e, ok := newSet(equals); ok {
		return e, nil
	}
	test, err := NewOr(equals...)
	if err != nil || !slices.ContainsFunc(list, func(x Expr) bool { return len(x.children()) > 0 }) {
		return test, err
	}
	return &listed{arg: arg, test: test}, nil
}

// listed is arg IN (list) where items are computed.
type listed struct {
	arg, test Expr
	known     []int32 // the rows whose arg is not null
	valid     batch.Bitmap
	out       batch.Vector
}

func (e *listed) Type() batch.Type { return boolType }

func (e *listed) children() []Expr { return []Expr{e.arg, e.test} }

func (e *listed) Clone() Expr { return &listed{arg: e.arg.Clone(), test: e.test.Clone()} }

func (e *listed) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	v, err := e.arg.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	if v.Valid == nil {
		return e.test.Eval(ctx, b)
	}
	e.known = resize(e.known, b.Len)[:0]
	selected(b, func(i int) {
		if !v.IsNull(i) {
			e.known = append(e.known, int32(i))
		}
	})
	rows := *b
	rows.Sel = e.known
	reset(&e.out, boolType, b.Len)
	e.valid = resize(e.valid, (b.Len+63)/64)
	clear(e.valid)
	if v, err = e.test.Eval(ctx, &rows); err != nil {
		return nil, err
	}
	selected(&rows, func(i int) {
		if !v.IsNull(i) {
			e.out.Bools[i] = boolAt(v, i)
			e.valid.Set(i)
		}
	})
	e.out.Valid = e.valid
	return &e.out, nil
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
