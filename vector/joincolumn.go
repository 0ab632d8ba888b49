package vector

import "lakesql/batch"

// joinColumn is a column of a join's result, in memory that it uses again.
type joinColumn struct {
	out   batch.Vector
	valid batch.Bitmap
	null  *batch.Vector // nulls
	long  *batch.Vector // values without a fixed size
	texts *batch.Vector // of a build side: codes are its rows; nil: it has other codes, or no texts
}

// gather returns the values of rows of v.
func (c *joinColumn) gather(v *batch.Vector, rows []int32) *batch.Vector {
	return c.scatter(v, rows, nil, len(rows), false)
}

// scatter returns a vector of n rows that has the value of rows[k] of v at row at[k] (nil: k). What it has elsewhere is null when missing is set, else
// unspecified. Texts of a build side are not copied: they become codes.
func (c *joinColumn) scatter(v *batch.Vector, rows, at []int32, n int, missing bool) *batch.Vector {
	out := &c.out
	switch layout := v.Type.Layout(); {
	case v.Len == 0:
		return c.nulls(v.Type, n) // there are no codes for them
	case c.texts != nil:
		c.codes(c.texts, n)
		placeRows(out.Codes, rows, at)
	case v.Dict != nil:
		c.codes(v.Dict, n)
		place(out.Codes, v.Codes, rows, at)
	case layout == batch.LayoutBytes || layout == batch.LayoutStruct || layout == batch.LayoutList || layout == batch.LayoutVoid:
		return c.copy(v, rows, at, n, missing)
	default:
		reset(out, v.Type, n)
		placeFixed(out, v, rows, at)
	}
	c.validity(v, rows, at, n, missing)
	return out
}

// codes makes out a vector of n codes.
func (c *joinColumn) codes(dict *batch.Vector, n int) {
	out := &c.out
	if out.Dict != dict || cap(out.Codes) < n {
		out.Codes = make([]uint32, max(n, batch.MaxRows)) // where none is set it must be one of the dictionary
	}
	out.Type, out.Len, out.Dict, out.Codes = dict.Type, n, dict, out.Codes[:n]
}

// placeRows is place for the values 0, 1, 2 and so on.
func placeRows(out []uint32, rows, at []int32) {
	for k, i := range rows {
		out[rowOf(at, k)] = uint32(i)
	}
}

// placeFixed is scatter for values of a fixed size.
func placeFixed(out, v *batch.Vector, rows, at []int32) {
	switch v.Type.Layout() {
	case batch.LayoutBools:
		place(out.Bools, v.Bools, rows, at)
	case batch.LayoutI8:
		place(out.I8, v.I8, rows, at)
	case batch.LayoutI16:
		place(out.I16, v.I16, rows, at)
	case batch.LayoutI32:
		place(out.I32, v.I32, rows, at)
	case batch.LayoutI64:
		place(out.I64, v.I64, rows, at)
	case batch.LayoutF32:
		place(out.F32, v.F32, rows, at)
	case batch.LayoutF64:
		place(out.F64, v.F64, rows, at)
	case batch.LayoutDec:
		place(out.Dec, v.Dec, rows, at)
	}
}

func place[T any](out, values []T, rows, at []int32) {
	if at == nil {
		for k, i := range rows[:len(out)] {
			out[k] = values[i]
		}
		return
	}
	for k, i := range rows[:len(at)] {
		out[at[k]] = values[i]
	}
}

// validity sets that of out.
func (c *joinColumn) validity(v *batch.Vector, rows, at []int32, n int, missing bool) {
	if c.out.Valid = nil; v.Valid == nil && !missing {
		return
	}
	c.valid = resize(c.valid, (n+63)/64)
	c.out.Valid = c.valid
	clear(c.valid)
	if !missing && at == nil {
		c.valid.SetRange(0, n)
		for k, i := range rows {
			if !v.Valid.Get(int(i)) {
				c.valid.Clear(k)
			}
		}
		return
	}
	for k, i := range rows {
		if v.Valid == nil || v.Valid.Get(int(i)) {
			c.valid.Set(rowOf(at, k))
		}
	}
}

// copy is scatter for the types whose values have no fixed size.
func (c *joinColumn) copy(v *batch.Vector, rows, at []int32, n int, missing bool) *batch.Vector {
	if c.long == nil {
		c.long = batch.NewVector(v.Type, len(rows))
	}
	out := c.long
	out.Reset()
	if at == nil {
		out.AppendRows(v, rows)
		return out
	}
	next := 0
	for k, i := range rows {
		out.AppendNulls(int(at[k]) - next)
		out.AppendFrom(v, int(i))
		next = int(at[k]) + 1
	}
	out.AppendNulls(n - next)
	return out
}

// nulls returns n nulls.
func (c *joinColumn) nulls(t batch.Type, n int) *batch.Vector {
	if c.null == nil || c.null.Len < n {
		c.null = batch.NewNulls(t, max(n, batch.MaxRows))
	}
	return c.null.Slice(0, n)
}
