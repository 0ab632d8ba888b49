package dv

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// Bitmap is a set of rows: physical positions in one data file, from 0, across its row groups. A nil Bitmap is empty. One
// that nobody changes any more may be shared by goroutines.
type Bitmap struct{ rows roaring64.Bitmap }

// Of returns a set of these rows.
func Of(rows ...int64) *Bitmap {
	b := new(Bitmap)
	for _, r := range rows {
		b.Add(r)
	}
	return b
}

// Add adds a row.
func (b *Bitmap) Add(row int64) { b.rows.Add(uint64(row)) }

// AddRange adds the rows [start, end).
func (b *Bitmap) AddRange(start, end int64) { b.rows.AddRange(uint64(start), uint64(end)) }

// Or adds the rows of o.
func (b *Bitmap) Or(o *Bitmap) {
	if o != nil {
		b.rows.Or(&o.rows)
	}
}

// AndNot takes away the rows of o.
func (b *Bitmap) AndNot(o *Bitmap) {
	if o != nil {
		b.rows.AndNot(&o.rows)
	}
}

// Clone returns a copy that may be changed.
func (b *Bitmap) Clone() *Bitmap {
	out := new(Bitmap)
	out.Or(b)
	return out
}

// Contains tells whether the row is in the set.
func (b *Bitmap) Contains(row int64) bool { return b != nil && b.rows.Contains(uint64(row)) }

// Intersects tells whether the sets have a row in common.
func (b *Bitmap) Intersects(o *Bitmap) bool {
	return b != nil && o != nil && b.rows.Intersects(&o.rows)
}

// Equal tells whether the sets are the same.
func (b *Bitmap) Equal(o *Bitmap) bool {
	if b.Cardinality() == 0 || o.Cardinality() == 0 {
		return b.Cardinality() == o.Cardinality()
	}
	return b.rows.Equals(&o.rows)
}

// Cardinality is the number of rows.
func (b *Bitmap) Cardinality() int64 {
	if b == nil {
		return 0
	}
	return int64(b.rows.GetCardinality())
}

// Max is the last row; -1 of an empty set.
func (b *Bitmap) Max() int64 {
	if b.Cardinality() == 0 {
		return -1
	}
	return int64(b.rows.Maximum())
}

// All yields the rows in ascending order.
func (b *Bitmap) All() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if b == nil {
			return
		}
		for it := b.rows.Iterator(); it.HasNext(); {
			if !yield(int64(it.Next())) {
				return
			}
		}
	}
}

// Live appends to dst those of the indexes [0, n) whose row, start plus the index, is not in the set. all says that it is all
// of them, and then dst is returned as it was: a batch needs no selection.
func (b *Bitmap) Live(dst []int32, start int64, n int) (live []int32, all bool) {
	if b == nil || n == 0 {
		return dst, true
	}
	it := b.rows.Iterator()
	it.AdvanceIfNeeded(uint64(start))
	if !it.HasNext() || it.PeekNext() >= uint64(start)+uint64(n) {
		return dst, true
	}
	at := 0
	for it.HasNext() {
		deleted := int64(it.Next()) - start
		if deleted >= int64(n) {
			break
		}
		for ; at < int(deleted); at++ {
			dst = append(dst, int32(at))
		}
		at++
	}
	for ; at < n; at++ {
		dst = append(dst, int32(at))
	}
	return dst, false
}
