package vector

import (
	"cmp"
	"context"
	"math"
	"slices"

	"lakesql/batch"
)

// groupPlan says what is computed of the groups of rows.
type groupPlan struct {
	keys    []batch.Type
	columns []groupColumn
	streams []groupStream // at least one
}

// groupColumn is an Aggregate as a column of the groups.
type groupColumn struct {
	Aggregate
	key int // the column is this key; or noKey, notComputed
}

const (
	noKey       = -1
	notComputed = -2 // nobody asks for the column
)

// groupStream is rows that come: vectors of which some are the keys, and some the arguments of columns.
type groupStream struct {
	types     []batch.Type
	keys      []int
	args      [][]int // by column; nil: these rows have nothing for it
	positions int     // the vector of the places of the rows among all; -1: none is needed
}

// groupRows are rows of a stream.
type groupRows struct {
	stream int
	cols   []*batch.Vector
	rows   []int32 // the rows that count, in ascending order; nil: the first n
	n      int     // how many those are
	length int     // of the vectors
	hashes []uint64
}

// grouping is groups of rows with their aggregates.
type grouping struct {
	plan    *groupPlan
	states  []accumulator // by column; nil where it is a key, or not computed
	encoder *keyEncoder
	table   *groupTable
	any     bool          // there was a row
	runs    []morselStart // one a morsel
	memory  share

	keys  []*batch.Vector
	args  []*batch.Vector
	of    []uint32
	found []uint32
	rest  []int32
	known []int32
}

// morselStart is where the groups begin that first appeared in a morsel.
type morselStart struct {
	morsel int64
	group  int
}

// noGroup stands for the group of a key that a table does not have.
const noGroup = math.MaxUint32

func newGrouping(plan *groupPlan, budget *Budget) *grouping {
	g := &grouping{plan: plan, memory: share{budget: budget, what: "an aggregation"}, states: make([]accumulator, len(plan.columns))}
	if len(plan.keys) > 0 {
		g.encoder = newKeyEncoder(plan.keys)
		g.table = newGroupTable(g.encoder.width, g.encoder.direct())
	}
	for i, c := range plan.columns {
		if c.key == noKey {
			state, err := newAccumulator(c.Aggregate)
			if err != nil {
				panic(err) // it was right when the aggregation was made
			}
			g.states[i] = state
		}
	}
	return g
}

func (g *grouping) keyed() bool { return g.table != nil }

func (g *grouping) groups() int {
	if g.keyed() {
		return g.table.count
	}
	return 1
}

// startMorsel notes that the rows of a morsel follow.
func (g *grouping) startMorsel(morsel int64) {
	if len(g.runs) > 0 && g.runs[len(g.runs)-1].morsel == morsel {
		return
	}
	at := 0
	if g.keyed() {
		at = g.table.count
	}
	g.runs = append(g.runs, morselStart{morsel, at})
}

// add takes in rows.
func (g *grouping) add(in *groupRows) error {
	of := grouped{rows: in.rows, n: in.n}
	if g.keyed() {
		words, null, err := g.encode(in)
		if err != nil {
			return err
		}
		g.found = resize(g.found, in.n)
		g.table.find(g.found, words, null, nil)
		of.of = g.byRow(in)
	}
	return g.update(in, &of)
}

// addKnown takes in the rows whose groups are there already, and returns the others. It must be keyed.
func (g *grouping) addKnown(in *groupRows) (rest []int32, err error) {
	g.encoder.frozen = true
	words, null, err := g.encode(in)
	g.encoder.frozen = false
	if err != nil {
		return nil, err
	}
	g.found = resize(g.found, in.n)
	g.table.lookUp(g.found, words, null)
	g.rest, g.known = g.rest[:0], g.known[:0]
	for k, n := range g.found {
		row := int32(k)
		if in.rows != nil {
			row = in.rows[k]
		}
		if n == noGroup {
			g.rest = append(g.rest, row)
		} else {
			g.known = append(g.known, row)
		}
	}
	if len(g.known) == 0 {
		return g.rest, nil
	}
	return g.rest, g.update(in, &grouped{rows: g.known, n: len(g.known), of: g.byRow(in)})
}

func (g *grouping) encode(in *groupRows) (words []uint64, null []bool, err error) {
	g.keys = g.plan.keysOf(in, g.keys)
	return g.encoder.encodeHashed(g.keys, in.rows, in.n, in.hashes)
}

// byRow is found, by row.
func (g *grouping) byRow(in *groupRows) []uint32 {
	if in.rows == nil {
		return g.found
	}
	g.of = resize(g.of, in.length)
	for k, i := range in.rows {
		g.of[i] = g.found[k]
	}
	return g.of
}

// lastFound is, by row, the groups of the rows that it took in last.
func (g *grouping) lastFound(in *groupRows) []uint32 {
	if in.rows == nil {
		return g.found
	}
	return g.of
}

// update hands rows to the accumulators that they are for.
func (g *grouping) update(in *groupRows, of *grouped) error {
	stream := &g.plan.streams[in.stream]
	if g.any, of.groups = true, g.groups(); stream.positions >= 0 {
		of.positions = in.cols[stream.positions].I64
	}
	for i, args := range stream.args {
		if args == nil {
			continue
		}
		g.args = g.args[:0]
		for _, at := range args {
			g.args = append(g.args, in.cols[at])
		}
		of.args = g.args
		if err := g.states[i].add(of); err != nil {
			return err
		}
	}
	return nil
}

// result is a column of the groups [lo, hi).
func (g *grouping) result(ctx context.Context, column, lo, hi int) (*batch.Vector, error) {
	if key := g.plan.columns[column].key; key >= 0 {
		return g.encoder.decodeColumn(g.table, key, lo, hi).Decode(), nil
	}
	return g.states[column].result(ctx, lo, hi)
}

func (g *grouping) size() int64 {
	n := int64(0)
	if g.keyed() {
		n = g.encoder.size() + g.table.size()
	}
	for _, s := range g.states {
		if s != nil {
			n += s.size()
		}
	}
	return n
}

// release gives the memory back. nil holds none.
func (g *grouping) release() {
	if g != nil {
		_ = g.memory.set(0) // to hold less is no error
	}
}

// merge takes in some groups of another one, and returns which they are here.
func (g *grouping) merge(ctx context.Context, from *grouping, groups []int32) ([]uint32, error) {
	of := make([]uint32, len(groups)) // all are the one group
	if g.keyed() {
		words, null, err := g.encoder.adopt(from.encoder, someKeys{t: from.table, groups: groups, n: len(groups)})
		if err != nil {
			return nil, err
		}
		g.table.find(of, words, null, nil)
	}
	g.any = true
	for i, s := range g.states {
		if s == nil {
			continue
		}
		if err := s.merge(ctx, from.states[i], groups, of, g.groups()); err != nil {
			return nil, err
		}
	}
	return of, nil
}

// mergeAll takes in all groups of another one, which is released.
func (g *grouping) mergeAll(ctx context.Context, from *grouping) error {
	if _, err := g.mergeRange(ctx, from, 0, from.groups(), nil); err != nil {
		return err
	}
	from.release()
	return g.memory.set(g.size())
}

// mergeRange takes in the groups [lo, end) of another one, and appends which they are here to numbers.
func (g *grouping) mergeRange(ctx context.Context, from *grouping, lo, end int, numbers []uint32) ([]uint32, error) {
	var groups []int32
	for ; lo < end; lo += batch.MaxRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		groups = groups[:0]
		for i := lo; i < min(lo+batch.MaxRows, end); i++ {
			groups = append(groups, int32(i))
		}
		of, err := g.merge(ctx, from, groups)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, of...)
	}
	return numbers, nil
}

// part is the groups of a worker that first appeared in one morsel.
type part struct {
	worker int
	morsel int64
	lo, hi int
}

// mergeInOrder merges what workers have grouped into one, in which the groups have the order of the rows in which they first appeared, and returns which the groups of
// each are there; nil: the same. All but the result are released.
func mergeInOrder(ctx context.Context, workers []*grouping) (*grouping, [][]uint32, error) {
	numbers := make([][]uint32, len(workers))
	some := 0
	out := workers[0]
	var parts []part
	for w, from := range workers {
		if !from.any {
			continue
		}
		some, out = some+1, from
		if !from.keyed() {
			parts = append(parts, part{worker: w, morsel: from.runs[0].morsel, hi: 1})
			continue
		}
		for i, r := range from.runs {
			p := part{worker: w, morsel: r.morsel, lo: r.group, hi: from.groups()}
			if i+1 < len(from.runs) {
				p.hi = from.runs[i+1].group
			}
			parts = append(parts, p)
		}
	}
	if some <= 1 {
		return out, numbers, nil
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.morsel, b.morsel) })
	out = newGrouping(out.plan, out.memory.budget)
	var err error
	for _, p := range parts { // those of one worker are in the order of its groups
		if numbers[p.worker], err = out.mergeRange(ctx, workers[p.worker], p.lo, p.hi, numbers[p.worker]); err != nil {
			break
		}
	}
	for _, g := range workers {
		if g.any {
			g.release()
		}
	}
	if err != nil {
		return out, nil, err
	}
	return out, numbers, out.memory.set(out.size())
}
