package vector

import (
	"context"

	"lakesql/batch"
)

// numberedRows is how many distinct rows of a set all workers keep by the numbers of their groups, as a multiple of groupBy.few: so many are merged by one worker in some milliseconds.
const numberedRows = 8

// numberType is the type of the numbers of groups, as a column.
var numberType = batch.Type{Kind: batch.Int32}

// numberedSets are the distinct rows that one worker has seen of each set, while groups are few: the number that the worker's main has for the group, and the arguments. So the keys
// are looked at once for all sets, and those of a set are short.
type numberedSets struct {
	worker  *aggregateWorker
	sets    []*grouping
	most    int // rows of a set
	numbers batch.Vector
	cols    []*batch.Vector
}

// numberedPlan is that of a set's rows; args are the types of its arguments.
func numberedPlan(args []batch.Type) *groupPlan {
	plan := &groupPlan{keys: append([]batch.Type{numberType}, args...)}
	rows := groupStream{types: plan.keys, positions: -1}
	for i := range plan.keys {
		rows.keys = append(rows.keys, i)
	}
	plan.streams = []groupStream{rows}
	return plan
}

// newNumberedSets returns nil where there is nothing to number.
func newNumberedSets(w *aggregateWorker, workers int) *numberedSets {
	if len(w.by) == 0 || len(w.aggregation.sets) == 0 {
		return nil
	}
	n := &numberedSets{worker: w, most: numberedRows * w.main.few / workers}
	for _, s := range w.aggregation.sets {
		n.sets = append(n.sets, newGrouping(s.numbered, s.budget))
	}
	return n
}

// add takes in rows that the worker's main has just taken in. false: it has more than it should keep.
func (n *numberedSets) add(in *groupRows) (fits bool, err error) {
	reset(&n.numbers, numberType, in.length)
	for i, g := range n.worker.main.small.lastFound(in) {
		n.numbers.I32[i] = int32(g)
	}
	fits = n.worker.main.many == nil
	for i, s := range n.worker.aggregation.sets {
		n.cols = append(n.cols[:0], &n.numbers)
		for _, at := range s.inputs[len(n.worker.by):] {
			n.cols = append(n.cols, in.cols[at])
		}
		g := n.sets[i]
		if err := g.add(&groupRows{cols: n.cols, rows: in.rows, n: in.n, length: in.length}); err != nil {
			return false, err
		}
		err := g.memory.set(g.size())
		switch {
		case g.groups() > n.most || g.memory.mustSpill():
			fits = false
		case err != nil:
			return false, err
		}
	}
	return fits, nil
}

// spread gives the rows, with their keys in place of the numbers, to the worker's sets, and ends.
func (n *numberedSets) spread(ctx context.Context) error {
	w := n.worker
	defer n.release()
	for i, g := range n.sets {
		for lo := 0; lo < g.groups(); lo += batch.MaxRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			cols := g.encoder.decode(g.table, lo, min(lo+batch.MaxRows, g.groups()))
			numbers := cols[0].I32
			var rows []*batch.Vector
			for key := range w.by {
				rows = append(rows, w.main.small.encoder.decodeGroups(w.main.small.table, key, numbers))
			}
			in := &groupRows{cols: append(rows, cols[1:]...), n: len(numbers), length: len(numbers)}
			if err := w.sets[i].take(ctx, in, w.morsel); err != nil {
				return err
			}
		}
		_ = g.memory.set(0) // to hold less is no error
	}
	return nil
}

// release gives the memory back. nil holds none.
func (n *numberedSets) release() {
	if n != nil {
		for _, g := range n.sets {
			g.release()
		}
		n.sets = nil
	}
}

// addNumbered puts the distinct rows of set s, of all workers, into main; numbers are what main has for the groups of each worker, nil: the same.
func (a *aggregation) addNumbered(ctx context.Context, s int, main *grouping, numbers [][]uint32) error {
	set := a.sets[s]
	all := newGrouping(set.numbered, set.budget)
	defer all.release()
	cols := make([]*batch.Vector, len(set.inputs))
	for w, worker := range a.workers {
		from := worker.numbered.sets[s]
		for lo := 0; lo < from.groups(); lo += batch.MaxRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			keys := someKeys{t: from.table, lo: lo, n: min(batch.MaxRows, from.groups()-lo)}
			of := make([]uint32, keys.n)
			for k, n := range from.encoder.decodeKeys(0, keys).I32 {
				if of[k] = uint32(n); numbers[w] != nil {
					of[k] = numbers[w][n]
				}
			}
			began, err := all.begin(from, keys, of)
			if err != nil {
				return err
			}
			for i := range len(set.inputs) - len(a.by) {
				cols[len(a.by)+i] = from.encoder.decodeKeys(1+i, keys)
			}
			in := &groupRows{stream: set.stream, cols: cols, length: keys.n}
			if err := main.update(in, &grouped{rows: began, n: len(began), of: of}); err != nil {
				return err
			}
		}
		from.release()
	}
	return main.memory.set(main.size())
}

// begin takes in rows that another worker numbered, which are of these groups of main, and returns those that it did not have.
func (g *grouping) begin(from *grouping, keys someKeys, of []uint32) (rows []int32, err error) {
	words, null, err := g.encoder.adopt(from.encoder, keys)
	if err != nil {
		return nil, err
	}
	for k, n := range of {
		g.encoder.values[k] = uint64(n)
	}
	g.encoder.replace(&g.encoder.columns[0], &batch.Vector{})
	g.found = resize(g.found, keys.n)
	g.known = g.table.find(g.found, words, null, g.known[:0])
	return g.known, g.memory.set(g.size())
}
