package vector

import (
	"slices"

	"lakesql/batch"
)

// constantOf returns the one value that every row of v has: a dictionary of a single value, no row null.
func constantOf(v *batch.Vector) (*batch.Vector, bool) {
	if v.Dict != nil && v.Dict.Len == 1 && v.Valid == nil {
		return v.Dict, true
	}
	return nil, false
}

// constant hands out a value, or null, as vectors of any length.
type constant struct {
	value *batch.Vector // one row; nil: null
	out   batch.Vector
}

func (c *constant) vector(t batch.Type, n int) *batch.Vector {
	if c.value == nil {
		if c.out.Len < n {
			c.out = *batch.NewNulls(t, n)
		}
		return c.out.Slice(0, n)
	}
	c.out.Type, c.out.Dict, c.out.Len = t, c.value, n
	if len(c.out.Codes) < n {
		c.out.Codes = make([]uint32, max(n, batch.MaxRows))
	}
	out := c.out
	out.Codes = out.Codes[:n]
	return &out
}

// flattener turns dictionary vectors into plain ones, in memory that it uses again where the values have a fixed size.
type flattener struct{ out batch.Vector }

func (f *flattener) flat(v *batch.Vector) *batch.Vector {
	if v.Dict == nil {
		return v
	}
	reset(&f.out, v.Type, v.Len)
	f.out.Valid = v.Valid
	switch v.Type.Layout() {
	case batch.LayoutBools:
		pick(f.out.Bools, v.Dict.Bools, v.Codes)
	case batch.LayoutI8:
		pick(f.out.I8, v.Dict.I8, v.Codes)
	case batch.LayoutI16:
		pick(f.out.I16, v.Dict.I16, v.Codes)
	case batch.LayoutI32:
		pick(f.out.I32, v.Dict.I32, v.Codes)
	case batch.LayoutI64:
		pick(f.out.I64, v.Dict.I64, v.Codes)
	case batch.LayoutF32:
		pick(f.out.F32, v.Dict.F32, v.Codes)
	case batch.LayoutF64:
		pick(f.out.F64, v.Dict.F64, v.Codes)
	case batch.LayoutDec:
		pick(f.out.Dec, v.Dict.Dec, v.Codes)
	default:
		return v.Decode()
	}
	return &f.out
}

// pick sets out[i] to the value of row i's code. Codes of null rows may be anything.
func pick[T any](out, values []T, codes []uint32) {
	for i, code := range codes[:len(out)] {
		if int(code) < len(values) {
			out[i] = values[code]
		}
	}
}

// spreader turns vectors into plain ones. It spreads a constant once.
type spreader struct {
	from *batch.Vector // the constant that out holds
	out  *batch.Vector
	flat flattener
}

func (s *spreader) plain(v *batch.Vector) *batch.Vector {
	if v.Dict == nil {
		return v
	}
	c, ok := constantOf(v)
	if !ok {
		return s.flat.flat(v)
	}
	if s.from != c || s.out.Len < v.Len {
		wide := &batch.Vector{Type: v.Type, Len: max(v.Len, batch.MaxRows), Dict: c}
		wide.Codes = make([]uint32, wide.Len)
		s.from, s.out = c, wide.Decode()
	}
	return s.out.Slice(0, v.Len)
}

// resize returns s with n elements of unspecified value, not nil: no rows are an empty list of them, and nil is all.
func resize[T any](s []T, n int) []T {
	if s == nil {
		return make([]T, n)
	}
	return slices.Grow(s[:0], n)[:n]
}

// bothValid returns the rows that are valid in a and in b, in buf's memory where it needs memory.
func bothValid(buf *batch.Bitmap, a, b batch.Bitmap, n int) batch.Bitmap {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	words := (n + 63) / 64
	*buf = resize(*buf, words)
	for i := range words {
		(*buf)[i] = a[i] & b[i]
	}
	return *buf
}

// selected calls f with each selected row of b.
func selected(b *batch.Batch, f func(i int)) {
	if b.Sel == nil {
		for i := range b.Len {
			f(i)
		}
		return
	}
	for _, i := range b.Sel {
		f(int(i))
	}
}

// reset makes out an empty plain vector of n rows for values to be set in, without a validity.
func reset(out *batch.Vector, t batch.Type, n int) {
	out.Type, out.Len, out.Valid, out.Dict = t, n, nil, nil
	switch t.Layout() {
	case batch.LayoutBools:
		out.Bools = resize(out.Bools, n)
	case batch.LayoutI64:
		out.I64 = resize(out.I64, n)
	case batch.LayoutI32:
		out.I32 = resize(out.I32, n)
	case batch.LayoutI16:
		out.I16 = resize(out.I16, n)
	case batch.LayoutI8:
		out.I8 = resize(out.I8, n)
	case batch.LayoutF32:
		out.F32 = resize(out.F32, n)
	case batch.LayoutF64:
		out.F64 = resize(out.F64, n)
	case batch.LayoutDec:
		out.Dec = resize(out.Dec, n)
	case batch.LayoutBytes:
		out.Off, out.Bytes = append(out.Off[:0], 0), out.Bytes[:0]
	}
}
