package parquet

import (
	"bytes"
	"cmp"

	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// chunkIndex gathers the column index and the offset index of a column chunk, page by page.
type chunkIndex struct {
	columns format.ColumnIndex
	offsets format.OffsetIndex // page offsets count from the first data page

	// unbounded says that a page's bounds cannot be given, and so the column index cannot: readers must trust those of every page.
	unbounded bool

	last     bounds // of the last page that has values
	any      bool   // whether there is one
	up, down bool   // the bounds seen so far never fall, never rise
}

func newChunkIndex() *chunkIndex { return &chunkIndex{up: true, down: true} }

// add takes in a data page: its place, the row that it begins with, its nulls and bounds.
func (x *chunkIndex) add(t batch.Type, at format.PageLocation, nulls int64, b *bounds) {
	x.offsets.PageLocations = append(x.offsets.PageLocations, at)
	x.columns.NullCounts = append(x.columns.NullCounts, nulls)
	low, high, ok := []byte{}, []byte{}, true
	empty := !b.seen && !b.nan
	if !empty {
		low, high, ok = b.encode(t)
	}
	if x.unbounded = x.unbounded || !ok; x.unbounded {
		return
	}
	x.columns.NullPages = append(x.columns.NullPages, empty)
	x.columns.MinValues = append(x.columns.MinValues, low)
	x.columns.MaxValues = append(x.columns.MaxValues, high)
	if empty {
		return
	}
	if t.Layout() == batch.LayoutBytes { // as the index has them
		b = &bounds{lowText: low, highText: high}
	}
	if x.any {
		l, h := x.last.compare(b, t)
		x.up, x.down = x.up && l <= 0 && h <= 0, x.down && l >= 0 && h >= 0
	}
	x.last, x.any = *b, true
}

// shift counts the pages' offsets from the file's beginning, given the offset of the first data page.
func (x *chunkIndex) shift(offset int64) {
	for i := range x.offsets.PageLocations {
		x.offsets.PageLocations[i].Offset += offset
	}
}

// order says how the pages' bounds are sorted.
func (x *chunkIndex) order() format.BoundaryOrder {
	switch {
	case x.up:
		return format.Ascending
	case x.down:
		return format.Descending
	}
	return format.Unordered
}

// compare compares the lower and the upper bounds of two sets of values without NaN.
func (b *bounds) compare(o *bounds, t batch.Type) (low, high int) {
	switch t.Layout() {
	case batch.LayoutF32, batch.LayoutF64:
		return cmp.Compare(b.low, o.low), cmp.Compare(b.high, o.high)
	case batch.LayoutDec:
		return b.lowDec.Cmp(o.lowDec), b.highDec.Cmp(o.highDec)
	case batch.LayoutBytes:
		return bytes.Compare(b.lowText, o.lowText), bytes.Compare(b.highText, o.highText)
	}
	return cmp.Compare(b.lowInt, o.lowInt), cmp.Compare(b.highInt, o.highInt)
}
