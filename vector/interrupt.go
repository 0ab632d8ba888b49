package vector

import (
	"context"
	"slices"
)

// interruptRows is how many rows are gone through, or pairs of them compared, between two looks at whether a query was cancelled: some
// milliseconds of the slowest such work.
const interruptRows = 1 << 12

// interrupt tells loops over rows when their query was cancelled.
type interrupt struct {
	ctx  context.Context
	rows int
	err  error // of the context, when the loop is to end
}

// now says, once for each row, whether the loop is to end.
func (i *interrupt) now() bool {
	if i.rows++; i.rows%interruptRows == 0 {
		i.look()
	}
	return i.err != nil
}

func (i *interrupt) look() {
	if i.err == nil {
		i.err = i.ctx.Err()
	}
}

// sortRows sorts rows, unless they are in order. When ctx ends, so does the sorting, in any order of the rows.
func sortRows[R any](ctx context.Context, rows []R, compare func(a, b R) int) error {
	ends := interrupt{ctx: ctx}
	if ends.look(); ends.err != nil {
		return ends.err
	}
	until := func(a, b R) int {
		if ends.now() {
			return 0 // all that is left to do is fast
		}
		return compare(a, b)
	}
	if !slices.IsSortedFunc(rows, until) {
		slices.SortFunc(rows, until)
	}
	return ends.err
}
