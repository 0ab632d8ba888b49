package parquet

import (
	"slices"

	"lakesql/batch"
)

// appendDense appends rows [from, to) of src, which holds no nulls.
func appendDense(dst, src *batch.Vector, from, to int) { dst.AppendRows(src.Slice(from, to), nil) }

// appendSpread appends one row a definition level: the next value of src, from position from on, where the level is 1, else null.
// The levels are 0 or 1, and src has a value for each 1. src is plain or has the dictionary of dst.
func appendSpread(dst, src *batch.Vector, from int, levels []byte) {
	n := len(levels)
	for n > 0 && levels[n-1] == 0 {
		n--
	}
	trailing := len(levels) - n
	appendLevels(dst, levels[:n])
	switch {
	case dst.Dict != nil:
		dst.Codes = spread(dst.Codes, src.Codes[from:], levels[:n])
	case dst.Type.Layout() == batch.LayoutBytes:
		spreadBytes(dst, src, from, levels[:n])
	default:
		spreadPlain(dst, src, from, levels[:n])
	}
	dst.AppendNulls(trailing)
}

func spreadPlain(dst, src *batch.Vector, from int, levels []byte) {
	switch dst.Type.Layout() {
	case batch.LayoutBools:
		dst.Bools = spread(dst.Bools, src.Bools[from:], levels)
	case batch.LayoutI8:
		dst.I8 = spread(dst.I8, src.I8[from:], levels)
	case batch.LayoutI16:
		dst.I16 = spread(dst.I16, src.I16[from:], levels)
	case batch.LayoutI32:
		dst.I32 = spread(dst.I32, src.I32[from:], levels)
	case batch.LayoutI64:
		dst.I64 = spread(dst.I64, src.I64[from:], levels)
	case batch.LayoutF32:
		dst.F32 = spread(dst.F32, src.F32[from:], levels)
	case batch.LayoutF64:
		dst.F64 = spread(dst.F64, src.F64[from:], levels)
	case batch.LayoutDec:
		dst.Dec = spread(dst.Dec, src.Dec[from:], levels)
	}
}

// spread appends one value a level without a branch: below a null stands the value that follows it. The last level is 1.
func spread[T any](dst, src []T, levels []byte) []T {
	at, next := len(dst), 0
	dst = slices.Grow(dst, len(levels))[:at+len(levels)]
	out := dst[at:]
	for i, level := range levels {
		out[i] = src[next]
		next += int(level)
	}
	return dst
}

func spreadBytes(dst, src *batch.Vector, from int, levels []byte) {
	next := from
	shift := int64(len(dst.Bytes)) - int64(src.Off[from])
	dst.Off = slices.Grow(dst.Off, len(levels))
	for _, level := range levels {
		next += int(level)
		dst.Off = append(dst.Off, int32(int64(src.Off[next])+shift))
	}
	dst.Bytes = append(dst.Bytes, src.Bytes[src.Off[from]:src.Off[next]]...)
	checkBytes(dst)
}

// checkBytes refuses a vector whose offsets do not fit. Scans cut their batches long before; see batchRows.
func checkBytes(v *batch.Vector) {
	if len(v.Bytes) > maxVectorBytes {
		panic("more than 2 GiB of strings in one batch")
	}
}

// appendLevels adds the rows' validity.
func appendLevels(dst *batch.Vector, levels []byte) {
	if dst.Valid == nil {
		dst.Valid = batch.NewBitmap(dst.Len)
	}
	dst.Valid = dst.Valid.Grow(dst.Len + len(levels))
	valid := dst.Valid
	for i, level := range levels {
		row := dst.Len + i
		valid[row>>6] |= uint64(level) << (uint(row) & 63)
	}
	dst.Len += len(levels)
}
