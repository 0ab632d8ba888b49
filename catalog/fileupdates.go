package catalog

import (
	"cmp"
	"slices"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/delta/dv"
	"lakesql/format/parquet"
)

// fileUpdates are what happens to the rows of one file.
type fileUpdates struct {
	number  int64
	file    delta.File
	matched dv.Bitmap // all rows that the SELECT gave
	acted   dv.Bitmap // of MERGE: those of them that an action was for
	deleted dv.Bitmap
	updates rowUpdates
	last    int64 // the farthest row so far
}

// rowUpdates are the rows of a file that change, in the order in which they came until sort.
type rowUpdates struct {
	rows    []int64         // positions in the file
	actions []uint8         // nil: all have the first action
	sources []int64         // numbers of the rows of MERGE's source; nil where there is none
	values  []*batch.Vector // by position
}

func newFileUpdates(number int64, values []batch.Field) *fileUpdates {
	f := &fileUpdates{number: number, last: -1}
	for _, v := range values {
		f.updates.values = append(f.updates.values, batch.NewVector(v.Type, 0))
	}
	return f
}

// match notes that a row came. true: for the first time.
func (f *fileUpdates) match(at int64) bool {
	if at <= f.last && f.matched.Contains(at) {
		return false
	}
	f.last = max(f.last, at)
	f.matched.Add(at)
	return true
}

// sort puts the updates in the order of their rows.
func (u *rowUpdates) sort() {
	if slices.IsSorted(u.rows) {
		return
	}
	order := make([]int32, len(u.rows))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(u.rows[a], u.rows[b]) })
	u.keep(order)
}

// keep leaves the updates at these places, in that order.
func (u *rowUpdates) keep(places []int32) {
	u.rows = picked(u.rows, places)
	if u.actions != nil {
		u.actions = picked(u.actions, places)
	}
	if u.sources != nil {
		u.sources = picked(u.sources, places)
	}
	for c, v := range u.values {
		u.values[c] = v.Gather(places)
	}
}

func picked[T any](from []T, places []int32) []T {
	out := make([]T, len(places))
	for i, p := range places {
		out[i] = from[p]
	}
	return out
}

// action is the number of the action of an update.
func (u *rowUpdates) action(place int) uint8 {
	if u.actions == nil {
		return 0
	}
	return u.actions[place]
}

// within are the places of the updates of the rows [from, to).
func (u *rowUpdates) within(from, to int64) (lo, hi int) {
	lo, _ = slices.BinarySearch(u.rows, from)
	hi, _ = slices.BinarySearch(u.rows, to)
	return lo, hi
}

// rangeGap is how many rows between two wanted ones are read and dropped, rather than begun anew behind.
const rangeGap = 512

// ranges are the rows of a file that are wanted, in ascending order, with what lies in small gaps between them.
func ranges(rows func(yield func(int64) bool)) []parquet.RowRange {
	var out []parquet.RowRange
	for at := range rows {
		if n := len(out); n > 0 && at-out[n-1].End <= rangeGap {
			out[n-1].End = at + 1
		} else {
			out = append(out, parquet.RowRange{Start: at, End: at + 1})
		}
	}
	return out
}
