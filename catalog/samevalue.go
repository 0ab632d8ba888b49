package catalog

import (
	"bytes"
	"math"

	"lakesql/batch"
)

// sameValue tells whether two rows of vectors of one type hold the same: null and null, or values that are equal bit by bit.
func sameValue(a *batch.Vector, i int, b *batch.Vector, j int) bool {
	if a.IsNull(i) || b.IsNull(j) {
		return a.IsNull(i) && b.IsNull(j)
	}
	a, i = plain(a, i)
	b, j = plain(b, j)
	switch a.Type.Layout() {
	case batch.LayoutBools:
		return a.Bools[i] == b.Bools[j]
	case batch.LayoutI8:
		return a.I8[i] == b.I8[j]
	case batch.LayoutI16:
		return a.I16[i] == b.I16[j]
	case batch.LayoutI32:
		return a.I32[i] == b.I32[j]
	case batch.LayoutI64:
		return a.I64[i] == b.I64[j]
	case batch.LayoutF32:
		return math.Float32bits(a.F32[i]) == math.Float32bits(b.F32[j])
	case batch.LayoutF64:
		return math.Float64bits(a.F64[i]) == math.Float64bits(b.F64[j])
	case batch.LayoutDec:
		return a.Dec[i] == b.Dec[j]
	case batch.LayoutBytes:
		return bytes.Equal(a.BytesAt(i), b.BytesAt(j))
	default:
		return bytes.Equal(a.AppendJSON(nil, i), b.AppendJSON(nil, j))
	}
}

// plain is the place in the dictionary, where the vector has one.
func plain(v *batch.Vector, i int) (*batch.Vector, int) {
	if v.Dict != nil {
		return v.Dict, int(v.Codes[i])
	}
	return v, i
}
