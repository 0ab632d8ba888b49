package batch

import (
	"bytes"
	"cmp"
	"math"
)

// Ordered says whether values of the type have an order that Compare knows: all but nested ones, variants and void.
func Ordered(t Type) bool {
	switch t.Layout() {
	case LayoutStruct, LayoutList, LayoutVoid, LayoutNone:
		return false
	}
	return true
}

// Compare orders row i of a and row j of b, which have the same ordered type and are not null: negative, 0 or positive. NaN is
// above all numbers, as in Spark; texts are compared by bytes.
func Compare(a *Vector, i int, b *Vector, j int) int {
	if a.Dict != nil {
		a, i = a.Dict, int(a.Codes[i])
	}
	if b.Dict != nil {
		b, j = b.Dict, int(b.Codes[j])
	}
	switch a.Type.Layout() {
	case LayoutBools:
		switch {
		case a.Bools[i] == b.Bools[j]:
			return 0
		case b.Bools[j]:
			return -1
		}
		return 1
	case LayoutI8:
		return cmp.Compare(a.I8[i], b.I8[j])
	case LayoutI16:
		return cmp.Compare(a.I16[i], b.I16[j])
	case LayoutI32:
		return cmp.Compare(a.I32[i], b.I32[j])
	case LayoutI64:
		return cmp.Compare(a.I64[i], b.I64[j])
	case LayoutF32:
		return compareFloats(float64(a.F32[i]), float64(b.F32[j]))
	case LayoutF64:
		return compareFloats(a.F64[i], b.F64[j])
	case LayoutDec:
		return a.Dec[i].Cmp(b.Dec[j])
	default:
		return bytes.Compare(a.BytesAt(i), b.BytesAt(j))
	}
}

// compareFloats is cmp.Compare, but for NaN, which it has below all.
func compareFloats(a, b float64) int {
	switch aNaN, bNaN := math.IsNaN(a), math.IsNaN(b); {
	case aNaN && bNaN:
		return 0
	case aNaN:
		return 1
	case bNaN:
		return -1
	}
	return cmp.Compare(a, b)
}
