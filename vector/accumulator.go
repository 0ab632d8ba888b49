package vector

import (
	"context"

	"lakesql/batch"
)

// accumulator keeps the state of one aggregate for every group. It belongs to one goroutine at a time.
type accumulator interface {
	// add takes in rows.
	add(in *grouped) error
	// merge takes in some groups of an accumulator of the same kind: its group groups[k] is group of[k] here. total is how many there are here.
	merge(ctx context.Context, from accumulator, groups []int32, of []uint32, total int) error
	// result returns the results of the groups [lo, hi). It changes nothing.
	result(ctx context.Context, lo, hi int) (*batch.Vector, error)
	// size is about how many bytes the state takes.
	size() int64
}

// grouped is the arguments of an aggregate for some rows of a batch, and the groups of those.
type grouped struct {
	args   []*batch.Vector
	rows   []int32  // the rows that count, in ascending order; nil: the first n
	n      int      // how many those are
	of     []uint32 // the group of each row of the batch; nil: 0
	groups int      // so far
	// positions are the places of the rows of the batch among all; nil when no aggregate asks for them.
	positions []int64
}

// valid returns those of the rows for which v is not null, in buf's memory where it needs memory; nil: the first n.
func (in *grouped) valid(v *batch.Vector, buf *[]int32) []int32 {
	if v.Valid == nil {
		return in.rows
	}
	*buf = resize(*buf, in.n)
	k := 0
	if in.rows == nil {
		for i := range in.n {
			(*buf)[k] = int32(i)
			k += boolInt(v.Valid.Get(i))
		}
	} else {
		for _, i := range in.rows {
			(*buf)[k] = i
			k += boolInt(v.Valid.Get(int(i)))
		}
	}
	return (*buf)[:k]
}

// extend returns states with room for a number of groups. Added ones are zero.
func extend[T any](states []T, groups int) []T {
	if groups > cap(states) {
		more := make([]T, groups, max(groups, 2*cap(states)))
		copy(more, states)
		return more
	}
	if n := len(states); groups > n {
		states = states[:groups]
		clear(states[n:])
	}
	return states
}

// at is states[i]; zero where a group without rows has none.
func at[T any](states []T, i int32) T {
	if int(i) < len(states) {
		return states[i]
	}
	return *new(T)
}

// within is states[lo:hi] as far as there are such: a group without rows may have none.
func within[T any](states []T, lo, hi int) []T {
	return extend(states[min(lo, len(states)):min(hi, len(states))], hi-lo)
}
