package catalog

import (
	"sort"

	"lakesql/batch"
)

// sourceRows are the rows of MERGE's source. Each has a number: its place among them.
type sourceRows struct {
	schema  *batch.Schema
	batches []*batch.Batch // without selections
	starts  []int64        // the number of the first row of each
	rows    int64
	bytes   int64 // about
	known   bool  // they have been read
}

// maxSourceBytes bounds MERGE's source, which is kept while the target is read: a laptop has room for it beside the join's table of it.
const maxSourceBytes = 1 << 30

// add keeps a batch. It refuses one that is too much.
func (s *sourceRows) add(b *batch.Batch) error {
	for _, v := range b.Cols {
		s.bytes += vectorBytes(v)
	}
	if s.bytes > maxSourceBytes {
		return refuse(KindInvalid, "MERGE: the source is more than the %d MiB that are kept of it in memory (%d rows so far); merge it in parts, "+
			"USING (SELECT ... WHERE ...), or leave out columns that no clause names", maxSourceBytes>>20, s.rows)
	}
	s.batches, s.starts = append(s.batches, b), append(s.starts, s.rows)
	s.rows += int64(b.Len)
	return nil
}

// vectorBytes is about what a vector holds.
func vectorBytes(v *batch.Vector) int64 {
	n := int64(len(v.Bytes)) + 8*int64(v.Len)
	for _, child := range v.Children {
		n += vectorBytes(child)
	}
	return n
}

// appendTo adds a column of a row to a vector of the column's type.
func (s *sourceRows) appendTo(v *batch.Vector, column int, number int64) {
	i := sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > number }) - 1
	v.AppendFrom(s.batches[i].Cols[column], int(number-s.starts[i]))
}
