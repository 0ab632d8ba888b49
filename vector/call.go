package vector

import (
	"context"

	"lakesql/batch"
)

// RowFunc computes one value at a time: for what has no kernel. It belongs to one goroutine.
type RowFunc interface {
	// Bind gives it the vectors of its arguments, all of one length, until the next Bind.
	Bind(args []*batch.Vector)
	// Append appends the value for row i of the arguments to out. Its warnings are those of ctx.
	Append(ctx context.Context, out *batch.Vector, i int) error
	// Clone returns the same function for another goroutine.
	Clone() RowFunc
}

// call is a RowFunc over its arguments. Of a single argument that is dictionary encoded it computes each value of the dictionary once, and keeps the codes.
type call struct {
	f    RowFunc
	typ  batch.Type
	args []Expr

	vectors []*batch.Vector
	out     *batch.Vector

	codes byCode
	null  *batch.Vector // one row: the value for a null
}

// NewCall returns f of args, a value of type t that may be null.
func NewCall(f RowFunc, t batch.Type, args ...Expr) Expr {
	return &call{f: f, typ: t, args: args, out: batch.NewVector(t, 0)}
}

func (e *call) Type() batch.Type { return e.typ }

func (e *call) children() []Expr { return e.args }

func (e *call) Clone() Expr { return NewCall(e.f.Clone(), e.typ, cloneAll(e.args)...) }

func (e *call) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	e.vectors = resize(e.vectors, len(e.args))
	for i, a := range e.args {
		var err error
		if e.vectors[i], err = a.Eval(ctx, b); err != nil {
			return nil, err
		}
	}
	if len(e.args) == 1 && e.vectors[0].Dict != nil {
		if out := e.byCode(ctx, b); out != nil {
			return out, nil
		}
	}
	e.f.Bind(e.vectors)
	e.out.Reset()
	at := 0
	for n := range b.Rows() {
		i := b.Row(n)
		if i > at {
			e.out.AppendNulls(i - at)
		}
		if err := e.f.Append(ctx, e.out, i); err != nil {
			return nil, err
		}
		at = i + 1
	}
	e.out.AppendNulls(b.Len - at)
	return e.out, nil
}

// byCode is the result with the codes of the argument; nil where that is not to be, or a null has a value.
func (e *call) byCode(ctx context.Context, b *batch.Batch) *batch.Vector {
	in := e.vectors[0]
	if in.Valid != nil && e.null == nil {
		null, ok := e.compute(ctx, batch.NewNulls(in.Type, 1))
		if !ok {
			return nil
		}
		e.null = null
	}
	if in.Valid != nil && !e.null.IsNull(0) {
		return nil
	}
	return e.codes.eval(in, b, func(dict *batch.Vector) (*batch.Vector, bool) { return e.compute(ctx, dict) })
}

// compute is the function of each row; false where it fails or warns for one, which no row may have asked for.
func (e *call) compute(ctx context.Context, in *batch.Vector) (*batch.Vector, bool) {
	warned := false
	ctx = WithWarnings(ctx, func(Warning) { warned = true })
	out := batch.NewVector(e.typ, in.Len)
	e.f.Bind([]*batch.Vector{in})
	for i := range in.Len {
		if err := e.f.Append(ctx, out, i); err != nil || warned {
			return nil, false
		}
	}
	return out, true
}
