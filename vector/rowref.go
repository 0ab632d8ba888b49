package vector

import (
	"cmp"

	"lakesql/batch"
)

// rowChunk is some rows that a sorter keeps: the columns, and the keys that are none of them. A column that nobody looks at is nil.
type rowChunk struct {
	cols []*batch.Vector
	keys []*batch.Vector
	len  int
}

// size is about how many bytes the chunk takes, twice where a column is a key.
func (c *rowChunk) size() int64 {
	n := int64(0)
	for _, v := range append(c.cols[:len(c.cols):len(c.cols)], c.keys...) {
		if v != nil {
			n += vectorSize(v)
		}
	}
	return n
}

// rowRef is a row of one of some chunks, with what orders most rows by itself. It has no pointer, so that the garbage collector does not go through all rows that
// are sorted.
type rowRef struct {
	word       uint64 // ascends with the first key, as far as 64 bits tell
	position   int64  // ascends with the order of the child's rows
	chunk, row int32
}

// pickedRow is a row that is to be copied.
type pickedRow struct {
	chunk    *rowChunk
	position int64
	row      int32
}

// pickRows appends rows of chunks to to.
func pickRows(to []pickedRow, rows []rowRef, chunks []*rowChunk) []pickedRow {
	for _, r := range rows {
		to = append(to, pickedRow{chunks[r.chunk], r.position, r.row})
	}
	return to
}

// compareRows orders two rows of chunks by all keys, and then by their positions.
func compareRows(keys []SortKey, a, b *rowRef, aChunks, bChunks []*rowChunk) int {
	if a.word != b.word {
		return cmp.Compare(a.word, b.word)
	}
	return compareKeys(keys, 0, a, b, aChunks, bChunks)
}

// compareKeys orders two rows of chunks by the keys from one on, and then by their positions.
func compareKeys(keys []SortKey, from int, a, b *rowRef, aChunks, bChunks []*rowChunk) int {
	aKeys, bKeys := aChunks[a.chunk].keys, bChunks[b.chunk].keys
	for i := from; i < len(keys); i++ {
		k, va, vb := &keys[i], aKeys[i], bKeys[i]
		o := 0
		switch an, bn := va.IsNull(int(a.row)), vb.IsNull(int(b.row)); {
		case an || bn:
			o = boolInt(bn) - boolInt(an)
		default:
			o = batch.Compare(va, int(a.row), vb, int(b.row))
		}
		if k.Descending {
			o = -o
		}
		if o != 0 {
			return o
		}
	}
	return cmp.Compare(a.position, b.position)
}

// gatherColumn returns a column of rows; nil where nobody looks at it.
func gatherColumn(rows []pickedRow, column int) *batch.Vector {
	return gatherVectors(rows, func(c *rowChunk) *batch.Vector { return c.cols[column] })
}

func gatherVectors(rows []pickedRow, of func(*rowChunk) *batch.Vector) *batch.Vector {
	first := of(rows[0].chunk)
	if first == nil {
		return nil
	}
	out, all := batch.NewVector(first.Type, len(rows)), true
	switch first.Type.Layout() {
	case batch.LayoutI32:
		out.I32, all = gatherValues(out, rows, of, func(v *batch.Vector) []int32 { return v.I32 })
	case batch.LayoutI64:
		out.I64, all = gatherValues(out, rows, of, func(v *batch.Vector) []int64 { return v.I64 })
	case batch.LayoutF64:
		out.F64, all = gatherValues(out, rows, of, func(v *batch.Vector) []float64 { return v.F64 })
	default:
		for _, r := range rows {
			v := of(r.chunk)
			if v == nil {
				return nil
			}
			out.AppendFrom(v, int(r.row))
		}
	}
	if !all {
		return nil
	}
	return out
}

// gatherValues returns the values of rows, and sets out's length and validity; false where a chunk does not have the column.
func gatherValues[T any](out *batch.Vector, rows []pickedRow, of func(*rowChunk) *batch.Vector, values func(*batch.Vector) []T) ([]T, bool) {
	to := make([]T, len(rows))
	out.Len = len(rows)
	for i, r := range rows {
		v := of(r.chunk)
		if v == nil {
			return nil, false
		}
		to[i] = values(v)[r.row]
		if v.IsNull(int(r.row)) {
			if out.Valid == nil {
				out.Valid = batch.NewBitmap(out.Len)
			}
			out.Valid.Clear(i)
		}
	}
	return to, true
}
