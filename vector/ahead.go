package vector

import (
	"context"
	"slices"

	"lakesql/batch"
)

// ahead is a test of values that are computed before it, each once for all rows whose first value is not null. For the others the test is null, and nothing but
// the first value is computed.
type ahead struct {
	values []Expr
	test   Expr // of what has been computed
	alike  Expr // the same test of values that it computes itself: for what is known of it without a row

	known []int32 // the rows whose first value is not null
	cols  []*batch.Vector
	valid batch.Bitmap
	out   batch.Vector
}

// newAhead returns a test of operands, which make makes: those that are computed are so ahead.
func newAhead(operands []Expr, make func(operands []Expr) (Expr, error)) (Expr, error) {
	e := &ahead{values: operands[:1:1]}
	for _, x := range operands[1:] {
		if len(x.children()) > 0 {
			e.values = append(e.values, x)
		}
	}
	var err error
	if e.alike, err = make(operands); err != nil {
		return nil, err
	}
	known, left := slices.Clone(operands), len(e.values)
	for i, x := range operands {
		if len(x.children()) > 0 {
			known[i] = &computed{typ: x.Type(), fromEnd: left}
		}
		if i == 0 || len(x.children()) > 0 {
			left--
		}
	}
	e.test, err = make(known)
	return e, err
}

func (e *ahead) Type() batch.Type { return boolType }

func (e *ahead) children() []Expr { return append(slices.Clone(e.values), e.test) }

func (e *ahead) Clone() Expr {
	return &ahead{values: cloneAll(e.values), test: e.test.Clone(), alike: e.alike}
}

func (e *ahead) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	rows := *b
	e.cols = append(e.cols[:0], b.Cols...)
	for i, x := range e.values {
		v, err := x.Eval(ctx, &rows)
		if err != nil {
			return nil, err
		}
		if e.cols = append(e.cols, v); i == 0 && v.Valid != nil {
			e.know(b, v)
			rows.Sel = e.known
		}
	}
	rows.Cols = e.cols
	v, err := e.test.Eval(ctx, &rows)
	if err != nil || e.cols[len(b.Cols)].Valid == nil {
		return v, err
	}
	reset(&e.out, boolType, b.Len)
	e.valid = resize(e.valid, (b.Len+63)/64)
	clear(e.valid)
	selected(&rows, func(i int) {
		if !v.IsNull(i) {
			e.out.Bools[i] = boolAt(v, i)
			e.valid.Set(i)
		}
	})
	e.out.Valid = e.valid
	return &e.out, nil
}

// know finds the rows whose first value is not null.
func (e *ahead) know(b *batch.Batch, first *batch.Vector) {
	e.known = resize(e.known, b.Len)[:0]
	selected(b, func(i int) {
		if !first.IsNull(i) {
			e.known = append(e.known, int32(i))
		}
	})
}

// computed is a value in the test of an ahead, which has put it behind the columns of the batch.
type computed struct {
	typ     batch.Type
	fromEnd int // 1: it is the last column
}

func (e *computed) Type() batch.Type { return e.typ }

func (e *computed) children() []Expr { return nil }

func (e *computed) Clone() Expr { return e }

func (e *computed) Eval(_ context.Context, b *batch.Batch) (*batch.Vector, error) {
	return b.Cols[len(b.Cols)-e.fromEnd], nil
}
