package batch

import (
	"slices"
	"unsafe"
)

// Gather returns the rows at these positions, in that order, as a new vector. A dictionary is kept and shared.
func (v *Vector) Gather(rows []int32) *Vector {
	out := NewVector(v.Type, len(rows))
	out.AppendRows(v, rows)
	return out
}

// AppendFrom adds row row of src, which has the same type.
func (v *Vector) AppendFrom(src *Vector, row int) {
	rows := [1]int32{int32(row)}
	v.appendRows(src, rows[:], false)
}

// AppendRows adds the rows of src at these positions, in that order; nil means all of them. src has the same type.
// An empty vector takes over the dictionary of src and stays encoded as long as what follows has the same dictionary; else
// it becomes plain.
func (v *Vector) AppendRows(src *Vector, rows []int32) { v.appendRows(src, rows, v.Len == 0) }

func (v *Vector) appendRows(src *Vector, rows []int32, adopt bool) {
	n := len(rows)
	if rows == nil {
		n = src.Len
	}
	if n == 0 {
		return
	}
	if adopt && src.Dict != nil {
		v.Dict = src.Dict
	}
	if v.Dict != nil && v.Dict != src.Dict {
		*v = *v.Decode()
	}
	switch {
	case v.Dict != nil:
		v.Codes = appendPicked(v.Codes, src.Codes, rows)
		v.appendValidity(src, rows, n)
	case src.Dict != nil:
		v.appendSpread(src, rows)
	default:
		v.appendPlain(src, rows, adopt)
		v.appendValidity(src, rows, n)
	}
}

// appendPlain adds the values of a plain src without their validity. adopt says whether empty children take over dictionaries.
func (v *Vector) appendPlain(src *Vector, rows []int32, adopt bool) {
	switch v.Type.Layout() {
	case LayoutBools:
		v.Bools = appendPicked(v.Bools, src.Bools, rows)
	case LayoutI8:
		v.I8 = appendPicked(v.I8, src.I8, rows)
	case LayoutI16:
		v.I16 = appendPicked(v.I16, src.I16, rows)
	case LayoutI32:
		v.I32 = appendPicked(v.I32, src.I32, rows)
	case LayoutI64:
		v.I64 = appendPicked(v.I64, src.I64, rows)
	case LayoutF32:
		v.F32 = appendPicked(v.F32, src.F32, rows)
	case LayoutF64:
		v.F64 = appendPicked(v.F64, src.F64, rows)
	case LayoutDec:
		v.Dec = appendPicked(v.Dec, src.Dec, rows)
	case LayoutBytes:
		v.appendBytesRows(src, rows)
	case LayoutStruct:
		for i, child := range v.Children {
			child.appendRows(src.Children[i], rows, adopt)
		}
	case LayoutList:
		v.appendListRows(src, rows, adopt)
	}
}

// appendPicked appends src's values at rows, or all of them when rows is nil.
func appendPicked[T any](dst, src []T, rows []int32) []T {
	if rows == nil {
		return append(dst, src...)
	}
	at := len(dst)
	dst = slices.Grow(dst, len(rows))[:at+len(rows)]
	for i, r := range rows {
		dst[at+i] = src[r]
	}
	return dst
}

func (v *Vector) appendBytesRows(src *Vector, rows []int32) {
	if rows == nil {
		base, first := len(v.Bytes), int(src.Off[0])
		v.Bytes = append(v.Bytes, src.Bytes[first:src.Off[src.Len]]...)
		Offset(len(v.Bytes))
		v.Off = slices.Grow(v.Off, src.Len)
		for _, off := range src.Off[1 : src.Len+1] {
			v.Off = append(v.Off, int32(base+int(off)-first))
		}
		return
	}
	v.Off = slices.Grow(v.Off, len(rows))
	for _, r := range rows {
		v.Bytes = append(v.Bytes, src.Bytes[src.Off[r]:src.Off[r+1]]...)
		v.Off = append(v.Off, Offset(len(v.Bytes)))
	}
}

func (v *Vector) appendListRows(src *Vector, rows []int32, adopt bool) {
	base := v.Children[0].Len
	var picked []int32 // the positions of the elements
	if rows == nil {
		first, end := src.Off[0], src.Off[src.Len]
		for i, child := range v.Children {
			child.appendRows(src.Children[i].Slice(int(first), int(end)), nil, adopt)
		}
		v.Off = slices.Grow(v.Off, src.Len)
		for _, off := range src.Off[1 : src.Len+1] {
			v.Off = append(v.Off, Offset(base+int(off-first)))
		}
		return
	}
	v.Off = slices.Grow(v.Off, len(rows))
	for _, r := range rows {
		if !src.IsNull(int(r)) {
			for at := src.Off[r]; at < src.Off[r+1]; at++ {
				picked = append(picked, at)
			}
		}
		v.Off = append(v.Off, Offset(base+len(picked)))
	}
	if len(picked) == 0 {
		return // nil would mean all of them
	}
	for i, child := range v.Children {
		child.appendRows(src.Children[i], picked, adopt)
	}
}

// appendSpread adds rows of a dictionary vector to a plain one.
func (v *Vector) appendSpread(src *Vector, rows []int32) {
	codes := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(src.Codes))), src.Len) // below 2^31, as Len is
	picked := codes
	if rows != nil {
		picked = make([]int32, len(rows))
		for i, r := range rows {
			picked[i] = codes[r]
		}
	}
	if src.Dict.Len == 0 { // all are null
		v.AppendNulls(len(picked))
		return
	}
	v.appendPlain(src.Dict, picked, false)
	v.appendValidity(src, rows, len(picked))
}

// appendValidity adds the validity of n rows of src and counts them.
func (v *Vector) appendValidity(src *Vector, rows []int32, n int) {
	if v.Valid == nil && src.Valid == nil {
		v.Len += n
		return
	}
	if v.Valid == nil {
		v.Valid = NewBitmap(v.Len)
	}
	v.Valid = v.Valid.Grow(v.Len + n)
	switch {
	case src.Valid == nil:
		v.Valid.SetRange(v.Len, v.Len+n)
	case rows == nil:
		copyBits(v.Valid, v.Len, src.Valid, 0, n)
	default:
		for i, r := range rows {
			if src.Valid.Get(int(r)) {
				v.Valid.Set(v.Len + i)
			}
		}
	}
	v.Len += n
}
