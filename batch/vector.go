package batch

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// NewVector returns an empty plain vector with room for capacity rows. It panics if the type is invalid.
func NewVector(t Type, capacity int) *Vector {
	v := &Vector{Type: t}
	switch t.Layout() {
	case LayoutBools:
		v.Bools = make([]bool, 0, capacity)
	case LayoutI8:
		v.I8 = make([]int8, 0, capacity)
	case LayoutI16:
		v.I16 = make([]int16, 0, capacity)
	case LayoutI32:
		v.I32 = make([]int32, 0, capacity)
	case LayoutI64:
		v.I64 = make([]int64, 0, capacity)
	case LayoutF32:
		v.F32 = make([]float32, 0, capacity)
	case LayoutF64:
		v.F64 = make([]float64, 0, capacity)
	case LayoutDec:
		v.Dec = make([]decimal128.Num, 0, capacity)
	case LayoutBytes:
		v.Off = make([]int32, 1, capacity+1)
	case LayoutStruct, LayoutList:
		if t.Layout() == LayoutList {
			v.Off = make([]int32, 1, capacity+1)
		}
		v.Children = make([]*Vector, len(t.Fields()))
		for i, f := range t.Fields() {
			v.Children[i] = NewVector(f.Type, capacity)
		}
	case LayoutVoid:
	default:
		panic(fmt.Sprintf("batch: no vector of %s", t))
	}
	return v
}

// NewNulls returns a plain vector of n rows, all null.
func NewNulls(t Type, n int) *Vector {
	v := NewVector(t, n)
	v.AppendNulls(n)
	return v
}

// IsNull says whether row i is null.
func (v *Vector) IsNull(i int) bool { return v.Valid != nil && !v.Valid.Get(i) }

// NullCount returns how many rows are null.
func (v *Vector) NullCount() int {
	if v.Valid == nil {
		return 0
	}
	return v.Len - v.Valid.Count(v.Len)
}

// Reset makes the vector empty and plain again and keeps its memory. What was sliced from it is overwritten by later appends.
func (v *Vector) Reset() {
	v.Len, v.Valid = 0, nil
	v.Bools, v.I8, v.I16, v.I32, v.I64 = v.Bools[:0], v.I8[:0], v.I16[:0], v.I32[:0], v.I64[:0]
	v.F32, v.F64, v.Dec = v.F32[:0], v.F64[:0], v.Dec[:0]
	v.Codes, v.Dict = v.Codes[:0], nil
	v.Bytes = v.Bytes[:0]
	switch v.Type.Layout() {
	case LayoutBytes, LayoutList:
		v.Off = append(v.Off[:0], 0)
	}
	for _, child := range v.Children {
		child.Reset()
	}
}

// Truncate drops the rows from n on, also those that only some of the children have.
func (v *Vector) Truncate(n int) {
	if v.Valid != nil {
		v.Valid = v.Valid[:bitmapWords(n)]
		if n&63 != 0 {
			v.Valid[n>>6] &= onesBelow(n & 63)
		}
	}
	v.Len = n
	if v.Dict != nil {
		v.Codes = v.Codes[:n]
		return
	}
	switch v.Type.Layout() {
	case LayoutBools:
		v.Bools = v.Bools[:n]
	case LayoutI8:
		v.I8 = v.I8[:n]
	case LayoutI16:
		v.I16 = v.I16[:n]
	case LayoutI32:
		v.I32 = v.I32[:n]
	case LayoutI64:
		v.I64 = v.I64[:n]
	case LayoutF32:
		v.F32 = v.F32[:n]
	case LayoutF64:
		v.F64 = v.F64[:n]
	case LayoutDec:
		v.Dec = v.Dec[:n]
	case LayoutBytes:
		v.Off, v.Bytes = v.Off[:n+1], v.Bytes[:v.Off[n]]
	case LayoutStruct:
		for _, child := range v.Children {
			child.Truncate(n)
		}
	case LayoutList:
		v.Off = v.Off[:n+1]
		for _, child := range v.Children {
			child.Truncate(int(v.Off[n]))
		}
	}
}

// BytesAt returns the bytes of row i of a String or Binary vector, plain or dictionary encoded. They alias the vector.
// At a null row the result is unspecified.
func (v *Vector) BytesAt(i int) []byte {
	if v.Dict != nil {
		v, i = v.Dict, int(v.Codes[i])
	}
	return v.Bytes[v.Off[i]:v.Off[i+1]]
}

// DecimalAt returns the unscaled value of row i of a Decimal vector in either layout, plain or dictionary encoded.
func (v *Vector) DecimalAt(i int) decimal128.Num {
	if v.Dict != nil {
		v, i = v.Dict, int(v.Codes[i])
	}
	if v.Type.Layout() == LayoutI64 {
		return decimal128.FromI64(v.I64[i])
	}
	return v.Dec[i]
}

// Slice returns the rows [lo, hi). It shares the values' memory; the result must not be appended to.
// Off of the slice begins where its first row begins in Bytes or in the children, not at 0.
func (v *Vector) Slice(lo, hi int) *Vector {
	s := &Vector{Type: v.Type, Len: hi - lo, Dict: v.Dict}
	if v.Valid != nil {
		s.Valid = v.Valid.slice(lo, hi)
	}
	if v.Dict != nil {
		s.Codes = v.Codes[lo:hi:hi]
		return s
	}
	switch v.Type.Layout() {
	case LayoutBools:
		s.Bools = v.Bools[lo:hi:hi]
	case LayoutI8:
		s.I8 = v.I8[lo:hi:hi]
	case LayoutI16:
		s.I16 = v.I16[lo:hi:hi]
	case LayoutI32:
		s.I32 = v.I32[lo:hi:hi]
	case LayoutI64:
		s.I64 = v.I64[lo:hi:hi]
	case LayoutF32:
		s.F32 = v.F32[lo:hi:hi]
	case LayoutF64:
		s.F64 = v.F64[lo:hi:hi]
	case LayoutDec:
		s.Dec = v.Dec[lo:hi:hi]
	case LayoutBytes:
		s.Off, s.Bytes = v.Off[lo:hi+1:hi+1], v.Bytes
	case LayoutStruct:
		s.Children = make([]*Vector, len(v.Children))
		for i, child := range v.Children {
			s.Children[i] = child.Slice(lo, hi)
		}
	case LayoutList:
		s.Off, s.Children = v.Off[lo:hi+1:hi+1], v.Children
	}
	return s
}

// As returns the vector as one of a type that is Alike; it shares the values' memory.
func (v *Vector) As(t Type) *Vector {
	if v.Type == t {
		return v
	}
	out := *v
	out.Type, out.Children = t, slices.Clone(v.Children)
	for i, f := range t.Fields() {
		out.Children[i] = v.Children[i].As(f.Type)
	}
	if v.Dict != nil {
		out.Dict = v.Dict.As(t)
	}
	return &out
}

// Decode returns the vector without a dictionary, at any depth: v itself when it has none, else a copy with the values spread, which shares the
// offsets and validity of what is nested.
func (v *Vector) Decode() *Vector {
	if v.Dict != nil {
		out := NewVector(v.Type, v.Len)
		out.appendSpread(v, nil)
		return out
	}
	out := v
	for i, child := range v.Children {
		plain := child.Decode()
		if plain == child {
			continue
		}
		if out == v {
			shallow := *v
			shallow.Children = slices.Clone(v.Children)
			out = &shallow
		}
		out.Children[i] = plain
	}
	return out
}

// Clone returns a deep copy that aliases nothing of v, but for its dictionary, which is never changed once it is in use.
func (v *Vector) Clone() *Vector {
	out := NewVector(v.Type, v.Len)
	out.AppendRows(v, nil)
	return out
}
