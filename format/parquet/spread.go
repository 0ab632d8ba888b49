package parquet

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"lakesql/batch"
)

// spreadNulls puts nulls between the rows of a vector, which has none yet: its rows become those whose level is 1, the others are null. The
// levels are 0 or 1, and as many are 1 as the vector has rows.
func spreadNulls(v *batch.Vector, levels []byte) {
	rows := v.Len
	if rows == len(levels) {
		return
	}
	if rows == 0 {
		v.AppendNulls(len(levels))
		return
	}
	first := slices.Index(levels, 1)
	switch {
	case v.Dict != nil:
		v.Codes = spread(v.Codes, levels, first)
	case v.Type.Layout() == batch.LayoutBytes:
		spreadOffsets(v, levels)
	default:
		spreadPlain(v, levels, first)
	}
	v.Len, v.Valid = len(levels), validOf(levels)
}

func spreadPlain(v *batch.Vector, levels []byte, first int) {
	switch v.Type.Layout() {
	case batch.LayoutBools:
		v.Bools = spread(v.Bools, levels, first)
	case batch.LayoutI8:
		v.I8 = spread(v.I8, levels, first)
	case batch.LayoutI16:
		v.I16 = spread(v.I16, levels, first)
	case batch.LayoutI32:
		v.I32 = spread(v.I32, levels, first)
	case batch.LayoutI64:
		v.I64 = spread(v.I64, levels, first)
	case batch.LayoutF32:
		v.F32 = spread(v.F32, levels, first)
	case batch.LayoutF64:
		v.F64 = spread(v.F64, levels, first)
	case batch.LayoutDec:
		v.Dec = spread(v.Dec, levels, first)
	}
}

// spread moves values to the rows whose level is 1, from the last on and without a branch: below a null stands the value that precedes
// it. Before the first row with a value, any value stands.
func spread[T any](values []T, levels []byte, first int) []T {
	next := len(values) - 1
	values = slices.Grow(values, len(levels)-len(values))[:len(levels)]
	for i := len(levels) - 1; i >= first; i-- {
		values[i] = values[next]
		next -= int(levels[i])
	}
	clear(values[:first])
	return values
}

// spreadOffsets gives each null row no bytes.
func spreadOffsets(v *batch.Vector, levels []byte) {
	next := v.Len
	v.Off = slices.Grow(v.Off, len(levels)-v.Len)[:len(levels)+1]
	for i := len(levels); i > 0; i-- {
		v.Off[i] = v.Off[next]
		next -= int(levels[i-1])
	}
}

// validOf returns a bitmap with the rows whose level is 1.
func validOf(levels []byte) batch.Bitmap {
	valid := make(batch.Bitmap, (len(levels)+63)/64)
	for i := range len(levels) / 8 {
		word := binary.LittleEndian.Uint64(levels[8*i:])
		valid[i/8] |= uint64(gatherBits(word)) << (8 * (i % 8))
	}
	for i := len(levels) &^ 7; i < len(levels); i++ {
		valid[i/64] |= uint64(levels[i]) << (i % 64)
	}
	return valid
}

// countOnes returns how many levels are 1; all are 0 or 1.
func countOnes(levels []byte) int {
	n := 0
	for len(levels) >= 8 {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(levels))
		levels = levels[8:]
	}
	for _, l := range levels {
		n += int(l)
	}
	return n
}
