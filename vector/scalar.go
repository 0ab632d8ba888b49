package vector

import (
	"context"
	"math"
	"slices"

	"lakesql/batch"
)

// Function is a scalar function that has a kernel.
type Function struct {
	name string
	// takes are the types that arguments are converted to, and that of the result; false where there are other ones, or as many as it does not take.
	takes func(args []Expr) (params []batch.Type, result batch.Type, ok bool)
	// nulls: it sees them; else it is NULL when an argument is.
	nulls bool
	// fails: it may fail, or warn.
	fails bool
	// stops: where one of so many arguments is NULL, MySQL computes none behind it, which then neither fails nor warns.
	stops int
	bind  func(f *frame) valueFunc
}

// valueFunc sets row i of a result, or appends its bytes to those of the result; false: it is NULL.
type valueFunc func(i int) (ok bool)

// frame is what a kernel works on: vectors of one length. Those of texts may be dictionary encoded, the others are plain.
type frame struct {
	out   *batch.Vector
	args  []*batch.Vector
	found faults
}

// faults are what a kernel has to say besides its values.
type faults struct {
	err      error // the first
	warnings []Warning
}

func (f *faults) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *faults) warn(w Warning) { f.warnings = append(f.warnings, w) }

func (f *faults) none() bool { return f.err == nil && len(f.warnings) == 0 }

// scalar is a Function of its arguments.
type scalar struct {
	f       *Function
	typ     batch.Type
	args    []Expr
	varying int  // the only argument that is no literal; -1: there is another number of those
	lazy    bool // f.stops, and it matters

	in     []*batch.Vector
	open   []int32
	spread []spreader
	valid  batch.Bitmap
	out    batch.Vector
	codes  byCode
}

// NewScalar returns f of args, as far as the conversions of NewCast make of them what it takes. Of literals it is one.
func NewScalar(f *Function, args ...Expr) (Expr, error) {
	params, result, ok := f.takes(args)
	if !ok {
		return nil, unsupported("%s of these arguments", f.name)
	}
	e := &scalar{f: f, typ: result, args: make([]Expr, len(args)), varying: -1}
	varying := 0
	for i, a := range args {
		x, err := NewCast(a, params[i])
		if err != nil {
			return nil, err
		}
		e.args[i] = foldConstant(x)
		if _, isLiteral := e.args[i].(*literal); !isLiteral {
			e.varying, varying = i, varying+1
		}
	}
	if varying > 1 {
		e.varying = -1
	}
	e.lazy = f.stops > 0 && slices.ContainsFunc(e.args[1:], mayFail)
	if varying > 0 {
		return e, nil
	}
	return e.folded(), nil
}

// folded is the value of a call of literals; the call where it has more to say.
func (e *scalar) folded() Expr {
	values := make([]*batch.Vector, len(e.args))
	for i, a := range e.args {
		values[i] = a.(*literal).vector(a.Type(), 1)
	}
	out := &batch.Vector{}
	if found := e.run(out, values, &batch.Batch{Len: 1}); !found.none() {
		return e
	}
	if out.IsNull(0) {
		return NewNull(e.typ)
	}
	out.Valid = nil
	return &literal{typ: e.typ, constant: constant{value: out}}
}

func (e *scalar) Type() batch.Type { return e.typ }

func (e *scalar) children() []Expr { return e.args }

func (e *scalar) Clone() Expr {
	return &scalar{f: e.f, typ: e.typ, args: cloneAll(e.args), varying: e.varying, lazy: e.lazy}
}

func (e *scalar) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	if err := e.evalArgs(ctx, b); err != nil {
		return nil, err
	}
	if e.varying >= 0 {
		if in := e.in[e.varying]; in.Dict != nil && !(e.f.nulls && in.Valid != nil) {
			if out := e.codes.eval(in, b, func(dict *batch.Vector) (*batch.Vector, bool) { return e.ofDictionary(ctx, dict) }); out != nil {
				return out, nil
			}
		}
	}
	found := e.run(&e.out, e.in, b)
	for _, w := range found.warnings {
		warn(ctx, w, 1)
	}
	return &e.out, found.err
}

func (e *scalar) evalArgs(ctx context.Context, b *batch.Batch) error {
	e.in = resize(e.in, len(e.args))
	rest := *b // the rows for which the next argument is computed
	for i, a := range e.args {
		var err error
		if e.in[i], err = a.Eval(ctx, &rest); err != nil {
			return err
		}
		if e.lazy && i < e.f.stops && e.in[i].Valid != nil {
			open := resize(e.open, b.Len)[:0]
			selected(&rest, func(row int) {
				if e.in[i].Valid.Get(row) {
					open = append(open, int32(row))
				}
			})
			e.open, rest.Sel = open, open
		}
	}
	return nil
}

// ofDictionary is the function of each value of a dictionary that is its only varying argument; false where it fails or warns for one, which may be of no row.
func (e *scalar) ofDictionary(ctx context.Context, dict *batch.Vector) (*batch.Vector, bool) {
	in := make([]*batch.Vector, len(e.args))
	b := &batch.Batch{Len: dict.Len}
	for i, a := range e.args {
		if i == e.varying {
			in[i] = dict
			continue
		}
		var err error
		if in[i], err = a.Eval(ctx, b); err != nil {
			return nil, false
		}
	}
	out := &batch.Vector{}
	found := e.run(out, in, b)
	out.Valid = slices.Clone(out.Valid) // it may lie in e.valid
	return out, found.none()
}

// run computes the rows that b selects.
func (e *scalar) run(out *batch.Vector, in []*batch.Vector, b *batch.Batch) faults {
	reset(out, e.typ, b.Len)
	var valid batch.Bitmap
	e.spread = resize(e.spread, len(in))
	for i, v := range in {
		if !e.f.nulls {
			valid = bothValid(&e.valid, valid, v.Valid, b.Len)
		}
		if v.Type.Layout() != batch.LayoutBytes {
			in[i] = e.spread[i].plain(v)
		}
	}
	f := &frame{out: out, args: in}
	value := e.f.bind(f)
	texts := e.typ.Layout() == batch.LayoutBytes
	var nulls batch.Bitmap
	selected(b, func(i int) {
		if texts {
			if len(out.Bytes) > math.MaxInt32 {
				f.found.fail(&MemoryError{What: e.f.name, Limit: math.MaxInt32 + 1})
				out.Bytes = out.Bytes[:out.Off[len(out.Off)-1]]
			}
			endTexts(out, i)
		}
		if valid != nil && !valid.Get(i) || f.found.err != nil || value(i) {
			return
		}
		if nulls == nil {
			nulls = batch.NewBitmap(b.Len)
		}
		nulls.Clear(i)
	})
	if texts && len(out.Bytes) <= math.MaxInt32 {
		endTexts(out, b.Len)
	}
	if out.Valid = valid; nulls != nil {
		out.Valid = bothValid(&nulls, nulls, valid, b.Len)
	}
	return f.found
}

// endTexts ends the rows before row i.
func endTexts(out *batch.Vector, i int) {
	for len(out.Off) <= i {
		out.Off = append(out.Off, batch.Offset(len(out.Bytes)))
	}
}

// byCode is what a function gives for the values of a dictionary.
type byCode struct {
	of     *batch.Vector // the dictionary
	values *batch.Vector // nil: they are not computed at once
	valid  batch.Bitmap  // of values, which itself has no null
	rows   batch.Bitmap
}

// maxComputedDictionary is the most values of a dictionary that are computed before it is known which of them are asked for.
const maxComputedDictionary = 1 << 16

// eval is the function of a vector that is dictionary encoded, with its codes and its nulls; nil where that is not to be: a value of the dictionary that no row
// may ask for has none, or the dictionary is large. compute gives a new vector: others know dictionaries by their address.
func (c *byCode) eval(in *batch.Vector, b *batch.Batch, compute func(dict *batch.Vector) (*batch.Vector, bool)) *batch.Vector {
	if c.of != in.Dict {
		c.of, c.values, c.valid = in.Dict, nil, nil
		if in.Dict.Len > maxComputedDictionary {
			return nil
		}
		values, ok := compute(in.Dict)
		if !ok {
			return nil
		}
		c.values, c.valid = values, values.Valid
		values.Valid = nil
	}
	if c.values == nil {
		return nil
	}
	out := &batch.Vector{Type: c.values.Type, Len: in.Len, Codes: in.Codes, Dict: c.values, Valid: in.Valid}
	if c.valid == nil {
		return out
	}
	c.rows = resize(c.rows, (b.Len+63)/64)
	clear(c.rows)
	selected(b, func(i int) {
		if !in.IsNull(i) && c.valid.Get(int(in.Codes[i])) {
			c.rows.Set(i)
		}
	})
	out.Valid = c.rows
	return out
}
