package vector

import (
	"context"
	"fmt"

	"lakesql/batch"
)

// choose is CASE: for each row the value of the first branch whose condition is true; or COALESCE: the first value that is not null. A condition or value sees the rows
// alone that it is asked for, so that one which would fail is not asked about others.
type choose struct {
	conditions []Expr // empty: COALESCE
	values     []Expr // one more than conditions, if any: the last one is ELSE's
	typ        batch.Type

	chosen []int32         // the branch of each row
	found  []*batch.Vector // the values of each branch
	mine   [][]int32       // the rows of each branch
	open   []int32
	out    batch.Vector
}

// NewCase returns CASE WHEN conditions[0] THEN values[0] ... ELSE otherwise END. All values have one type of those that have an order.
func NewCase(conditions, values []Expr, otherwise Expr) (Expr, error) {
	if len(conditions) == 0 || len(conditions) != len(values) {
		return nil, fmt.Errorf("case with %d conditions and %d values", len(conditions), len(values))
	}
	e := &choose{conditions: conditions, values: append(append([]Expr{}, values...), otherwise), typ: otherwise.Type()}
	for _, c := range conditions {
		if c.Type() != boolType {
			return nil, unsupported("CASE WHEN of a %s", c.Type())
		}
	}
	for _, v := range e.values {
		if v.Type() != e.typ || !batch.Ordered(e.typ) {
			return nil, unsupported("CASE of a %s and a %s", v.Type(), e.typ)
		}
	}
	return e, nil
}

// NewCoalesce returns COALESCE(values...). All values have one type of those that have an order.
func NewCoalesce(values ...Expr) (Expr, error) {
	if len(values) == 0 {
		return nil, unsupported("COALESCE of nothing")
	}
	e := &choose{values: values, typ: values[0].Type()}
	for _, v := range values {
		if v.Type() != e.typ || !batch.Ordered(e.typ) {
			return nil, unsupported("COALESCE of a %s and a %s", v.Type(), e.typ)
		}
	}
	return e, nil
}

func (e *choose) Type() batch.Type { return e.typ }

func (e *choose) children() []Expr { return append(append([]Expr{}, e.conditions...), e.values...) }

func (e *choose) Clone() Expr {
	return &choose{conditions: cloneAll(e.conditions), values: cloneAll(e.values), typ: e.typ}
}

func (e *choose) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	e.chosen = resize(e.chosen, b.Len)
	e.found, e.mine = resize(e.found, len(e.values)), resize(e.mine, len(e.values))
	clear(e.found)
	rest := *b
	last := len(e.values) - 1
	for n, value := range e.values {
		taken := rest
		if n < last && len(e.conditions) > 0 {
			if err := e.split(ctx, e.conditions[n], n, &rest, &taken); err != nil {
				return nil, err
			}
		}
		if n == last {
			selected(&rest, func(i int) { e.chosen[i] = int32(n) })
		}
		if taken.Rows() == 0 {
			continue
		}
		var err error
		if e.found[n], err = value.Eval(ctx, &taken); err != nil {
			return nil, err
		}
		if n < last && len(e.conditions) == 0 {
			e.divide(e.found[n], isKnown, n, &rest, &taken)
		}
	}
	e.assemble(b)
	return &e.out, nil
}

func isTrue(v *batch.Vector, i int) bool { return !v.IsNull(i) && boolAt(v, i) }

func isKnown(v *batch.Vector, i int) bool { return !v.IsNull(i) }

// split gives the rows for which a condition is true to taken, the rows of branch n, and leaves the others in rest.
func (e *choose) split(ctx context.Context, condition Expr, n int, rest, taken *batch.Batch) error {
	var v *batch.Vector
	if rest.Rows() > 0 {
		var err error
		if v, err = condition.Eval(ctx, rest); err != nil {
			return err
		}
	}
	e.divide(v, isTrue, n, rest, taken)
	return nil
}

// divide gives the rows for which is holds to taken, the rows of branch n, and leaves the others in rest.
func (e *choose) divide(v *batch.Vector, is func(v *batch.Vector, i int) bool, n int, rest, taken *batch.Batch) {
	// rest's rows may lie in open: what is written there is never ahead of what is read.
	mine, open := resize(e.mine[n], rest.Len)[:0], e.open[:0]
	selected(rest, func(i int) {
		if is(v, i) {
			mine, e.chosen[i] = append(mine, int32(i)), int32(n)
		} else {
			open = append(open, int32(i))
		}
	})
	e.mine[n], e.open = mine, open
	taken.Sel, rest.Sel = notNil(mine), notNil(open)
}

// notNil is a selection of these rows: nil would be all.
func notNil(rows []int32) []int32 {
	if rows == nil {
		return []int32{}
	}
	return rows
}

// assemble puts the values of the branches together.
func (e *choose) assemble(b *batch.Batch) {
	reset(&e.out, e.typ, b.Len)
	for n, v := range e.found {
		if v == nil {
			continue
		}
		rows := &batch.Batch{Len: b.Len, Sel: b.Sel}
		if n < len(e.values)-1 {
			rows.Sel = e.mine[n]
		}
		branch := int32(n)
		if v.Valid != nil {
			if e.out.Valid == nil {
				e.out.Valid = batch.NewBitmap(b.Len)
			}
			selected(rows, func(i int) {
				if e.chosen[i] == branch && v.IsNull(i) {
					e.out.Valid.Clear(i)
				}
			})
		}
		e.take(v, rows, branch)
	}
	if e.typ.Layout() == batch.LayoutBytes {
		e.takeTexts(b)
	}
}

// take copies the values of fixed size of a branch's rows, which are among rows.
func (e *choose) take(v *batch.Vector, rows *batch.Batch, branch int32) {
	switch e.typ.Layout() {
	case batch.LayoutBools:
		takeValues(e, e.out.Bools, v, func(v *batch.Vector) []bool { return v.Bools }, rows, branch)
	case batch.LayoutI8:
		takeValues(e, e.out.I8, v, func(v *batch.Vector) []int8 { return v.I8 }, rows, branch)
	case batch.LayoutI16:
		takeValues(e, e.out.I16, v, func(v *batch.Vector) []int16 { return v.I16 }, rows, branch)
	case batch.LayoutI32:
		takeValues(e, e.out.I32, v, func(v *batch.Vector) []int32 { return v.I32 }, rows, branch)
	case batch.LayoutI64:
		takeValues(e, e.out.I64, v, func(v *batch.Vector) []int64 { return v.I64 }, rows, branch)
	case batch.LayoutF32:
		takeValues(e, e.out.F32, v, func(v *batch.Vector) []float32 { return v.F32 }, rows, branch)
	case batch.LayoutF64:
		takeValues(e, e.out.F64, v, func(v *batch.Vector) []float64 { return v.F64 }, rows, branch)
	case batch.LayoutDec:
		for i := range rows.Rows() {
			if at := rows.Row(i); e.chosen[at] == branch && !v.IsNull(at) {
				e.out.Dec[at] = v.DecimalAt(at)
			}
		}
	}
}

func takeValues[T any](e *choose, out []T, v *batch.Vector, values func(*batch.Vector) []T, rows *batch.Batch, branch int32) {
	if v.Dict == nil {
		from := values(v)
		selected(rows, func(i int) {
			if e.chosen[i] == branch {
				out[i] = from[i]
			}
		})
		return
	}
	from := values(v.Dict)
	selected(rows, func(i int) {
		if code := v.Codes[i]; e.chosen[i] == branch && int(code) < len(from) {
			out[i] = from[code]
		}
	})
}

// takeTexts appends the texts of all rows in their order.
func (e *choose) takeTexts(b *batch.Batch) {
	at := 0
	end := func(i int) {
		for ; at < i; at++ {
			e.out.Off = append(e.out.Off, int32(len(e.out.Bytes)))
		}
	}
	selected(b, func(i int) {
		end(i)
		if v := e.found[e.chosen[i]]; v != nil && !v.IsNull(i) {
			e.out.Bytes = append(e.out.Bytes, v.BytesAt(i)...)
		}
	})
	end(b.Len)
}
