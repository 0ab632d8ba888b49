package vector

import (
	"context"

	"lakesql/batch"
)

// logic is AND (stop false) or OR (stop true) by three-valued logic. An argument sees the rows alone that the ones before it left
// open, so that one which would fail is not asked about rows that are decided.
type logic struct {
	stop bool // the value that decides
	args []Expr
	open []int32
	rest batch.Batch
	out  batch.Vector
}

// NewAnd returns the conjunction of boolean expressions.
func NewAnd(args ...Expr) (Expr, error) { return newLogic(false, "AND", args) }

// NewOr returns the disjunction of boolean expressions.
func NewOr(args ...Expr) (Expr, error) { return newLogic(true, "OR", args) }

func newLogic(stop bool, name string, args []Expr) (Expr, error) {
	if len(args) == 0 {
		return nil, unsupported("%s of nothing", name)
	}
	e := &logic{stop: stop}
	for _, a := range args {
		if a.Type() != boolType {
			return nil, unsupported("%s of a %s", name, a.Type())
		}
		if inner, ok := a.(*logic); ok && inner.stop == stop {
			e.args = append(e.args, inner.args...)
		} else {
			e.args = append(e.args, a)
		}
	}
	return e, nil
}

func (e *logic) Type() batch.Type { return boolType }

func (e *logic) children() []Expr { return e.args }

func (e *logic) Clone() Expr { return &logic{stop: e.stop, args: cloneAll(e.args)} }

func (e *logic) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	reset(&e.out, boolType, b.Len)
	for i := range e.out.Bools {
		e.out.Bools[i] = !e.stop
	}
	e.rest = *b
	for n, a := range e.args {
		v, err := a.Eval(ctx, &e.rest)
		if err != nil {
			return nil, err
		}
		e.take(v)
		if n < len(e.args)-1 && len(e.rest.Sel) == 0 {
			break
		}
	}
	return &e.out, nil
}

// take brings in one argument's results and leaves the open rows in e.rest.Sel.
func (e *logic) take(v *batch.Vector) {
	open := resize(e.open, e.rest.Len)[:0]
	selected(&e.rest, func(i int) {
		switch {
		case v.IsNull(i):
			if e.out.Valid == nil {
				e.out.Valid = batch.NewBitmap(e.out.Len)
			}
			e.out.Valid.Clear(i)
			open = append(open, int32(i))
		case boolAt(v, i) == e.stop:
			e.out.Bools[i] = e.stop
			if e.out.Valid != nil {
				e.out.Valid.Set(i)
			}
		default:
			open = append(open, int32(i))
		}
	})
	e.open = open
	e.rest.Sel = open
}

// boolAt returns row i of a boolean vector that is not null there.
func boolAt(v *batch.Vector, i int) bool {
	if v.Dict != nil {
		return v.Dict.Bools[v.Codes[i]]
	}
	return v.Bools[i]
}

// not is the negation.
type not struct {
	arg Expr
	out batch.Vector
}

// NewNot returns the negation of a boolean expression.
func NewNot(arg Expr) (Expr, error) {
	if arg.Type() != boolType {
		return nil, unsupported("NOT of a %s", arg.Type())
	}
	return &not{arg: arg}, nil
}

func (e *not) Type() batch.Type { return boolType }

func (e *not) children() []Expr { return []Expr{e.arg} }

func (e *not) Clone() Expr { return &not{arg: e.arg.Clone()} }

func (e *not) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	v, err := e.arg.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	reset(&e.out, boolType, b.Len)
	e.out.Valid = v.Valid
	selected(b, func(i int) { e.out.Bools[i] = !v.IsNull(i) && !boolAt(v, i) })
	return &e.out, nil
}

// isNull is IS NULL.
type isNull struct {
	arg Expr
	out batch.Vector
}

// NewIsNull returns arg IS NULL, which is never null.
func NewIsNull(arg Expr) Expr { return &isNull{arg: arg} }

func (e *isNull) Type() batch.Type { return boolType }

func (e *isNull) children() []Expr { return []Expr{e.arg} }

func (e *isNull) Clone() Expr { return &isNull{arg: e.arg.Clone()} }

func (e *isNull) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	v, err := e.arg.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	reset(&e.out, boolType, b.Len)
	if v.Valid == nil {
		clear(e.out.Bools)
	} else {
		selected(b, func(i int) { e.out.Bools[i] = !v.Valid.Get(i) })
	}
	return &e.out, nil
}
