package vector

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"lakesql/batch"
)

// groupItem is all that there is to the groups of one part: what workers have grouped of it, and rows.
type groupItem struct {
	level   int // by which its rows are parted further
	few     []fewGroups
	grouped []*grouping
	streams []itemStream
	memory  share // of the chunks
}

// itemStream is the rows of a stream.
type itemStream struct {
	chunks []*rawChunk
	spills []*spill
}

// fewGroups is some groups of a grouping that has others, too.
type fewGroups struct {
	from   *sharedGrouping
	groups []int32
}

// sharedGrouping is released by its last user.
type sharedGrouping struct {
	*grouping
	users atomic.Int32
}

func (s *sharedGrouping) leave() {
	if s.users.Add(-1) == 0 {
		s.release()
	}
}

// stream is the rows of stream s.
func (i *groupItem) stream(s int) *itemStream {
	for len(i.streams) <= s {
		i.streams = append(i.streams, itemStream{})
	}
	return &i.streams[s]
}

// spilled says whether some rows are on disk.
func (i *groupItem) spilled() bool {
	for _, s := range i.streams {
		if len(s.spills) > 0 {
			return true
		}
	}
	return false
}

// itemGrouping is an item being grouped.
type itemGrouping struct {
	*groupItem
	plan    *groupPlan
	budget  *Budget
	out     *grouping
	hasher  *rowHasher // nil: there is room for all so far
	keys    []*batch.Vector
	further [1 << furtherBits]*groupItem
}

// group groups what it has, as far as there is room for it: the rest becomes further items. On an error these and the item itself are to be closed.
func (i *groupItem) group(ctx context.Context, plan *groupPlan, budget *Budget) (*grouping, []*groupItem, error) {
	w := &itemGrouping{groupItem: i, plan: plan, budget: budget}
	err := w.groups(ctx)
	if err == nil {
		err = w.rows(ctx)
	}
	var further []*groupItem
	for _, f := range w.further {
		if f != nil {
			further = append(further, f)
		}
	}
	if err != nil {
		return w.out, further, err
	}
	return w.out, further, i.close()
}

// groups merges what was grouped, into the largest one.
func (w *itemGrouping) groups(ctx context.Context) error {
	largest := -1
	for n, g := range w.grouped {
		if largest < 0 || g.groups() > w.grouped[largest].groups() {
			largest = n
		}
	}
	if largest < 0 {
		w.out = newGrouping(w.plan, w.budget)
	} else {
		w.out = w.grouped[largest]
		w.grouped[largest] = nil
	}
	for n, g := range w.grouped {
		if g != nil {
			w.grouped[n] = nil
			if err := w.out.mergeAll(ctx, g); err != nil {
				g.release()
				return err
			}
		}
	}
	for len(w.few) > 0 {
		few := w.few[0]
		for lo := 0; lo < len(few.groups); lo += batch.MaxRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := w.out.merge(ctx, few.from.grouping, few.groups[lo:min(lo+batch.MaxRows, len(few.groups))]); err != nil {
				return err
			}
		}
		few.from.leave()
		w.few = w.few[1:]
	}
	return w.settle()
}

// settle tells the budget what is held. When that is nearly all no more groups begin.
func (w *itemGrouping) settle() error {
	err := w.out.memory.set(w.out.size())
	if w.hasher == nil && w.level < lastLevel && w.out.groups() > 0 && w.out.memory.mustSpill() {
		w.hasher = newRowHasher(w.plan.keys)
	}
	return err
}

// rows groups the rows.
func (w *itemGrouping) rows(ctx context.Context) error {
	for s := range w.streams {
		stream := &w.streams[s]
		for n, c := range stream.chunks {
			if err := w.add(ctx, c.rows(s)); err != nil {
				return err
			}
			stream.chunks[n] = nil
			if err := w.memory.set(max(0, w.memory.bytes-c.size())); err != nil {
				return err
			}
		}
		for _, file := range stream.spills {
			if err := file.rewind(); err != nil {
				return err
			}
			for {
				b, err := file.next(ctx)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return err
				}
				if err := w.add(ctx, &groupRows{stream: s, cols: b.Cols, n: b.Len, length: b.Len}); err != nil {
					return err
				}
			}
			if err := file.close(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *itemGrouping) add(ctx context.Context, in *groupRows) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.hasher == nil {
		if err := w.out.add(in); err != nil {
			return err
		}
		return w.settle()
	}
	rest, err := w.out.addKnown(in)
	if err != nil || len(rest) == 0 {
		return err
	}
	w.keys = w.plan.keysOf(in, w.keys)
	var parts [1 << furtherBits][]int32
	for k, h := range w.hasher.hash(w.keys, rest, len(rest)) {
		p := partOf(h, w.level)
		parts[p] = append(parts[p], rest[k])
	}
	for p, rows := range parts {
		if len(rows) == 0 {
			continue
		}
		if w.further[p] == nil {
			w.further[p] = &groupItem{level: w.level + 1}
		}
		files := &w.further[p].stream(in.stream).spills
		if len(*files) == 0 {
			*files = []*spill{nil}
		}
		if err := spillRows(ctx, &(*files)[0], w.budget, w.plan, in, rows); err != nil {
			return err
		}
	}
	return w.out.memory.set(w.out.size())
}

// close gives everything back. It can be called twice.
func (i *groupItem) close() error {
	errs := []error{i.memory.set(0)}
	for _, g := range i.grouped {
		g.release()
	}
	for _, few := range i.few {
		few.from.leave()
	}
	for _, s := range i.streams {
		for _, file := range s.spills {
			errs = append(errs, file.close())
		}
	}
	i.grouped, i.few, i.streams = nil, nil, nil
	return errors.Join(errs...)
}
