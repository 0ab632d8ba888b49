package vector

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"lakesql/batch"
)

// groupBy groups the rows that several workers take in. While there are few groups each worker has a grouping of its own, and these are merged. Of many
// groups the rows are kept as they are, by the part of the hashes of their keys that they are in, so that each part is grouped by itself, in the cache.
//
//  1. Workers take in rows.
//  2. divide makes the work that is left: one item for all groups, or one for each part.
//  3. next returns grouping after grouping; each has groups that no other one has.
type groupBy struct {
	plan    *groupPlan
	budget  *Budget
	few     int // groups of a worker before it parts its rows
	workers []*groupWorker

	mu    sync.Mutex
	items []*groupItem // to be grouped
	done  []*grouping  // ahead of next
	order int          // of the next grouping
}

func newGroupBy(plan *groupPlan, budget *Budget) *groupBy {
	return &groupBy{plan: plan, budget: budget, few: mostSmall}
}

func (b *groupBy) addWorker() *groupWorker {
	w := &groupWorker{plan: b.plan, few: b.few, small: newGrouping(b.plan, b.budget)}
	b.workers = append(b.workers, w)
	return w
}

// isParted says whether a worker has parted rows.
func (b *groupBy) isParted() bool {
	return slices.ContainsFunc(b.workers, func(w *groupWorker) bool { return w.many != nil })
}

// gather ends the rows, which nobody has parted: all groups are in one grouping. It returns which those of each worker are there; nil: the same.
func (b *groupBy) gather(ctx context.Context) (*grouping, [][]uint32, error) {
	small := make([]*grouping, len(b.workers))
	for i, w := range b.workers {
		small[i], w.small = w.small, nil
	}
	g, numbers, err := mergeInOrder(ctx, small)
	b.done = append(b.done, g)
	return g, numbers, err
}

// divide ends the rows.
func (b *groupBy) divide(ctx context.Context) error {
	if !b.isParted() {
		_, _, err := b.gather(ctx)
		return err
	}
	for range nParts {
		b.items = append(b.items, &groupItem{level: 1})
	}
	for _, w := range b.workers {
		if err := w.divide(ctx, b.items); err != nil {
			return err
		}
	}
	return nil
}

// finish divides, and groups as much as memory allows, by all workers at once.
func (b *groupBy) finish(ctx context.Context) error {
	if err := b.divide(ctx); err != nil {
		return err
	}
	if len(b.items) == 0 {
		return nil
	}
	return InParallel(ctx, len(b.workers), func(ctx context.Context, _ int) error {
		for b.budget.roomy() {
			item := b.takeItem(func(item *groupItem) bool { return !item.spilled() })
			if item == nil {
				return nil
			}
			g, err := b.group(ctx, item)
			if err != nil {
				return err
			}
			b.mu.Lock()
			b.done = append(b.done, g)
			b.mu.Unlock()
		}
		return nil
	})
}

// takeItem takes the first item of a kind; nil: there is none.
func (b *groupBy) takeItem(kind func(*groupItem) bool) *groupItem {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, item := range b.items {
		if kind(item) {
			b.items = append(b.items[:i:i], b.items[i+1:]...)
			return item
		}
	}
	return nil
}

// next returns the next grouping, which the caller releases, and its number; or io.EOF. Several goroutines may call it.
func (b *groupBy) next(ctx context.Context) (*grouping, int, error) {
	b.mu.Lock()
	order := b.order
	b.order++
	if len(b.done) > 0 {
		g := b.done[0]
		b.done = b.done[1:]
		b.mu.Unlock()
		return g, order, nil
	}
	b.mu.Unlock()
	item := b.takeItem(func(*groupItem) bool { return true })
	if item == nil {
		return nil, 0, io.EOF
	}
	g, err := b.group(ctx, item)
	return g, order, err
}

// nextOfAll is next for the only caller: what there was no room for is grouped by all workers at once.
func (b *groupBy) nextOfAll(ctx context.Context) (*grouping, error) {
	if len(b.done) == 0 {
		var items []*groupItem
		for len(items) < len(b.workers) && len(b.items) > 0 {
			items = append(items, b.takeItem(func(*groupItem) bool { return true }))
		}
		found := make([]*grouping, len(items))
		err := InParallel(ctx, len(items), func(ctx context.Context, i int) (err error) {
			found[i], err = b.group(ctx, items[i])
			return err
		})
		for _, g := range found {
			if g != nil {
				b.done = append(b.done, g)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	g, _, err := b.next(ctx)
	return g, err
}

// group groups the rows of an item. What there is no room for becomes further items.
func (b *groupBy) group(ctx context.Context, item *groupItem) (*grouping, error) {
	g, further, err := item.group(ctx, b.plan, b.budget)
	if err != nil {
		g.release()
		for _, i := range append(further, item) {
			err = errors.Join(err, i.close())
		}
		return nil, err
	}
	b.mu.Lock()
	b.items = append(further, b.items...)
	b.mu.Unlock()
	return g, nil
}

// close gives everything back. It can be called twice.
func (b *groupBy) close() error {
	var errs []error
	for _, w := range b.workers {
		errs = append(errs, w.close())
	}
	for _, g := range b.done {
		g.release()
	}
	for _, item := range b.items {
		errs = append(errs, item.close())
	}
	b.workers, b.done, b.items = nil, nil, nil
	return errors.Join(errs...)
}

// mostSmall is the number of groups from which on a worker parts its rows: the tables and the states of more are beyond the second-level cache.
const mostSmall = 32 << 10

// groupWorker takes in rows. It belongs to one goroutine at a time.
type groupWorker struct {
	plan  *groupPlan
	few   int
	small *grouping
	many  *partedRows // nil: few groups so far

	rows         int64 // before there is many
	asked, known int64 // since: those that were looked up in small, and of them those whose groups it has
}

// take takes in rows of a stream.
func (w *groupWorker) take(ctx context.Context, in *groupRows, morsel int64) error {
	if w.many != nil {
		return w.takeMany(ctx, in)
	}
	w.small.startMorsel(morsel)
	if err := w.small.add(in); err != nil {
		return err
	}
	err := w.small.memory.set(w.small.size())
	if !w.small.keyed() {
		return err
	}
	w.rows += int64(in.n)
	if w.tooMany() || w.small.memory.mustSpill() {
		w.many = newPartedRows(w.plan, w.small.memory.budget)
		return nil
	}
	return err
}

const (
	// fewTexts is how many times as many groups a worker has of single texts, or of other keys that are found without a search, before it parts its rows,
	// where the groups have rowsOfText rows each or more: most rows then find the number of their text by its code in a dictionary.
	fewTexts   = 8
	rowsOfText = 4
)

// tooMany says whether there are so many groups that rows are better parted first.
func (w *groupWorker) tooMany() bool {
	n := w.small.groups()
	return n > w.few && !(w.small.table.direct && n <= fewTexts*w.few && w.rows >= int64(n)*rowsOfText)
}

const (
	// knownTrial is how many rows are looked up among the groups that came first before it is judged whether that is of use.
	knownTrial = 8 * batch.MaxRows
	// knownWorth is the part of them, as 1/knownWorth, that must then have been there.
	knownWorth = 2
)

// takeMany parts rows, but for those of the groups that came first, while these are the groups of many rows.
func (w *groupWorker) takeMany(ctx context.Context, in *groupRows) error {
	if w.asked >= knownTrial && w.known*knownWorth < w.asked {
		return w.many.add(ctx, in)
	}
	rest, err := w.small.addKnown(in)
	if err != nil {
		return err
	}
	if err := w.small.memory.set(w.small.size()); err != nil {
		return err
	}
	w.asked += int64(in.n)
	w.known += int64(in.n - len(rest))
	if len(rest) == 0 {
		return nil
	}
	others := *in
	others.rows, others.n = rest, len(rest)
	return w.many.add(ctx, &others)
}

// divide gives what the worker has to the items of its part.
func (w *groupWorker) divide(ctx context.Context, items []*groupItem) error {
	if err := w.divideSmall(ctx, items); err != nil {
		return err
	}
	if w.many == nil {
		return nil
	}
	w.many.divide(items)
	w.many = nil
	return nil
}

// divideSmall tells each item which of the groups that came first are its own.
func (w *groupWorker) divideSmall(ctx context.Context, items []*groupItem) error {
	g := w.small
	w.small = nil
	shared := &sharedGrouping{grouping: g}
	shared.users.Store(int32(len(items)))
	hasher := newRowHasher(w.plan.keys)
	own := make([][]int32, len(items))
	for lo := 0; lo < g.groups(); lo += batch.MaxRows {
		if err := ctx.Err(); err != nil {
			g.release()
			return err
		}
		hi := min(lo+batch.MaxRows, g.groups())
		for k, h := range hasher.hash(g.encoder.decode(g.table, lo, hi), nil, hi-lo) {
			p := partOf(h, 0)
			own[p] = append(own[p], int32(lo+k))
		}
	}
	for p, item := range items {
		item.few = append(item.few, fewGroups{from: shared, groups: own[p]})
	}
	return nil
}

func (w *groupWorker) close() error {
	w.small.release()
	w.small = nil
	if w.many == nil {
		return nil
	}
	return w.many.close()
}
