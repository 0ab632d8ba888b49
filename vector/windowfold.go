package vector

import (
	"context"
	"math/bits"
)

// folding is how the rows of a frame are made one state.
type folding[S any] struct {
	add    func(s *S, row int)
	remove func(s *S, row int) // undoes add exactly; nil: nothing does
	merge  func(to, from *S)   // nil where there is remove
	emit   func(s *S) error    // takes the state of the next row's frame
}

// foldFrames hands out the state of each frame, in order. A frame that only grows has its new rows added; of one that leaves rows behind these are
// removed, or where that is not exact the frame is put together from a tree of the states of blocks of rows: a row costs the logarithm of its frame at the most.
func foldFrames[S any](ctx context.Context, f frames, of folding[S]) error {
	var state S
	var tree *foldTree[S]
	from, to := int32(0), int32(0) // the rows in state
	return inBlocks(ctx, len(f.lo), func(first, behind int) error {
		for i := first; i < behind; i++ {
			lo, hi := f.lo[i], f.hi[i]
			switch {
			case lo >= to: // nothing in common
				state, from, to = *new(S), lo, lo
			case lo == from || of.remove != nil:
				for ; from < lo; from++ {
					of.remove(&state, int(from))
				}
			case hi-lo <= 2*foldBlock:
				state, from, to = *new(S), lo, lo
			default:
				if tree == nil {
					var err error
					if tree, err = newFoldTree(ctx, len(f.lo), of); err != nil {
						return err
					}
				}
				state, from, to = *new(S), lo, hi
				tree.fold(&state, int(lo), int(hi))
			}
			for ; to < hi; to++ {
				of.add(&state, int(to))
			}
			if err := of.emit(&state); err != nil {
				return err
			}
		}
		return nil
	})
}

// foldBlock is how many rows the lowest states of a tree have.
const foldBlock = 16

// foldTree has the states of blocks of rows, of pairs of blocks, and so on. The blocks are levels[0].
type foldTree[S any] struct {
	of     folding[S]
	levels [][]S
}

func newFoldTree[S any](ctx context.Context, n int, of folding[S]) (*foldTree[S], error) {
	blocks := make([]S, n/foldBlock)
	err := inBlocks(ctx, len(blocks)*foldBlock, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			of.add(&blocks[i/foldBlock], i)
		}
		return nil
	})
	t := &foldTree[S]{of: of, levels: [][]S{blocks}}
	for err == nil && len(blocks) > 1 {
		above := make([]S, len(blocks)/2)
		for i := range above {
			above[i] = blocks[2*i]
			of.merge(&above[i], &blocks[2*i+1])
		}
		t.levels, blocks = append(t.levels, above), above
	}
	return t, err
}

// fold adds the rows [lo, hi) to a state, from the first to the last.
func (t *foldTree[S]) fold(s *S, lo, hi int) {
	for lo < hi {
		level := -1 // the highest whose next state begins at lo and does not pass hi
		if lo%foldBlock == 0 && hi-lo >= foldBlock {
			level = bits.Len(uint((hi-lo)/foldBlock)) - 1
			if at := lo / foldBlock; at > 0 {
				level = min(level, bits.TrailingZeros(uint(at)))
			}
			level = min(level, len(t.levels)-1)
		}
		if level < 0 {
			t.of.add(s, lo)
			lo++
			continue
		}
		t.of.merge(s, &t.levels[level][lo/foldBlock>>level])
		lo += foldBlock << level
	}
}
