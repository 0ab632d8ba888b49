package vector

import (
	"context"

	"lakesql/batch"
)

// BoundKind is where a frame begins or ends.
type BoundKind uint8

// The bounds of frames.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// FrameBound is the beginning or the end of a frame.
type FrameBound struct {
	Kind BoundKind
	// Rows is how many rows before or behind, of a frame of rows.
	Rows int64
	// Key is the one key of the order, and Value, of its type, the key at which the frame of a row begins or ends, of a frame that is a range. A null
	// Value of a row whose key is none is beyond all.
	Key, Value Expr
}

// Frame is the rows of a partition that a function sees of each row. The zero value is the partition's first row up to the current one's last peer,
// once End.Kind is CurrentRow.
type Frame struct {
	Rows       bool // of rows, else of a range: the current row has its peers with it
	Start, End FrameBound
}

// frames are the rows [lo[i], hi[i]) of the frame of each row i. Within a partition neither ever descends.
type frames struct{ lo, hi []int32 }

// framesOf are the frames of a column.
func (r *windowRows) framesOf(ctx context.Context, c *WindowColumn, in boundInputs) (frames, error) {
	f := frames{lo: make([]int32, r.n), hi: make([]int32, r.n)}
	peers := r.peersOf(c.Peers)
	ends := func(i int) (first, behind int32) {
		if c.Frame.Rows {
			return int32(i), int32(i) + 1
		}
		return peers.start[i], peers.end[i]
	}
	err := inBlocks(ctx, r.n, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			start, end := r.partitions.start[i], r.partitions.end[i]
			first, behind := ends(i)
			f.lo[i] = bound(c.Frame.Start, start, end, first, i)
			f.hi[i] = bound(c.Frame.End, start, end, behind, i+1)
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	if in.start >= 0 {
		err = r.search(ctx, f.lo, r.inputs[in.startKey], r.inputs[in.start], peers.start, c.Frame.Start.Kind, false)
	}
	if err == nil && in.end >= 0 {
		err = r.search(ctx, f.hi, r.inputs[in.endKey], r.inputs[in.end], peers.end, c.Frame.End.Kind, true)
	}
	if err != nil {
		return f, err
	}
	for i, hi := range f.hi {
		f.lo[i] = min(f.lo[i], hi)
	}
	return f, nil
}

// bound is where a frame of rows begins or ends; current is that of the current row, and at where it is without a distance.
func bound(b FrameBound, start, end, current int32, at int) int32 {
	switch b.Kind {
	case UnboundedPreceding:
		return start
	case UnboundedFollowing:
		return end
	case CurrentRow:
		return current
	case Preceding:
		return int32(max(int64(start), int64(at)-min(b.Rows, int64(at))))
	default:
		return int32(min(int64(end), int64(at)+min(b.Rows, int64(end))))
	}
}

// search sets where ranges begin, or end: at the first row whose key is at, or behind, the value of each row. Nulls are no part of the range of a value;
// theirs are their peers.
func (r *windowRows) search(ctx context.Context, out []int32, keys, values *batch.Vector, peers []int32, kind BoundKind, end bool) error {
	before := func(j, i int) bool { // row j is not there yet
		o := batch.Compare(keys, j, values, i)
		if r.order[0].Descending {
			o = -o
		}
		return o < 0 || end && o == 0
	}
	at := 0
	return inBlocks(ctx, r.n, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			first, last := int(r.partitions.start[i]), int(r.partitions.end[i])
			if keys.IsNull(i) {
				out[i] = peers[i]
				continue
			}
			if keys.IsNull(first) { // the nulls come first
				first = int(r.peersOf(1).end[first])
			}
			if keys.IsNull(last - 1) {
				last = int(r.peersOf(1).start[last-1])
			}
			switch {
			case !values.IsNull(i):
				at = min(max(at, first), last)
				for at < last && before(at, i) {
					at++
				}
				for at > first && !before(at-1, i) {
					at--
				}
			case kind == Preceding:
				at = first
			default:
				at = last
			}
			out[i] = int32(at)
		}
		return nil
	})
}

// blockRows is how many rows are computed between two looks at whether the query was cancelled.
const blockRows = 4 * batch.MaxRows

// inBlocks does n rows block by block.
func inBlocks(ctx context.Context, n int, do func(lo, hi int) error) error {
	for lo := 0; lo < n; lo += blockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(lo, min(lo+blockRows, n)); err != nil {
			return err
		}
	}
	return nil
}
