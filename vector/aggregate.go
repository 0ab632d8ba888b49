package vector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"lakesql/batch"
)

// AggregateFunc is what an aggregate computes.
type AggregateFunc uint8

// The aggregates. All but First leave out nulls, and but for the counts are null where nothing is left.
const (
	Count   AggregateFunc = iota // a long: the rows in which no argument is null; without arguments all rows
	Sum                          // of numbers: a DECIMAL where they are exact, else a DOUBLE
	Average                      // likewise
	Min
	Max
	First // the value in the group's first row
)

// Aggregate is one column of the result of an aggregation.
type Aggregate struct {
	Func     AggregateFunc
	Args     []Expr // Count: any number; else one
	Distinct bool   // for Count, Sum and Average: rows with the same arguments count once
	Field    batch.Field
}

// aggregation is GROUP BY by hash, or aggregates over all rows when there are no keys.
//
//  1. Each fork of the child has a grouping of its own, which takes in the fork's batches.
//  2. The groupings are merged into one, group by group in the order of the child's rows.
//  3. The groups are handed out in the order of their first rows.
type aggregation struct {
	child   Operator
	forks   []Fork
	workers []*grouping
	schema  *batch.Schema
	whole   *grouping // nil until the rows are read
	err     error     // of reading them
	next    int       // group
	out     batch.Batch
}

// NewAggregate returns an operator with a row for each distinct value of the keys, in the order in which those first appear; without keys it
// has one row, also for no rows. Results are exact: a sum or an average that its type cannot hold is an *OverflowError. budget may be nil.
func NewAggregate(child Operator, keys []Expr, aggregates []Aggregate, budget *Budget) (Operator, error) {
	g, err := newGrouping(keys, aggregates, budget)
	if err != nil {
		return nil, err
	}
	looked := columnsOf(keys...)
	for _, x := range aggregates {
		looked = append(looked, columnsOf(x.Args...)...)
	}
	keepColumns(child, looked)
	a := &aggregation{child: child, workers: []*grouping{g}, schema: &batch.Schema{}}
	for _, x := range aggregates {
		a.schema.Fields = append(a.schema.Fields, x.Field)
	}
	return a, nil
}

func (a *aggregation) Schema() *batch.Schema { return a.schema }

func (a *aggregation) Next(ctx context.Context) (*batch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.whole == nil && a.err == nil {
		a.err = a.read(ctx)
	}
	if a.err != nil {
		return nil, a.err
	}
	lo, hi := a.next, min(a.next+batch.MaxRows, a.whole.groups())
	if lo == hi {
		return nil, io.EOF
	}
	a.next = hi
	a.out = batch.Batch{Schema: a.schema, Cols: a.out.Cols[:0], Len: hi - lo}
	for i := range a.whole.columns {
		v, err := a.whole.result(i, lo, hi)
		if err != nil {
			return nil, err
		}
		a.out.Cols = append(a.out.Cols, v)
	}
	return &a.out, nil
}

func (a *aggregation) read(ctx context.Context) error {
	if a.forks == nil {
		a.forks = forksOf(a.child)
		for len(a.workers) < len(a.forks) {
			a.workers = append(a.workers, a.workers[0].empty())
		}
	}
	err := drainForks(ctx, a.forks, a.workers)
	if err != nil {
		return err
	}
	a.whole, err = mergeGroupings(ctx, a.workers)
	return err
}

// Close implements Operator.
func (a *aggregation) Close() error {
	for _, g := range append(a.workers, a.whole) {
		g.release()
	}
	a.workers, a.whole = nil, &grouping{keyed: true}
	if a.forks != nil {
		err := closeForks(a.forks)
		a.forks, a.child = nil, NewBatches(a.schema)
		return err
	}
	return a.child.Close()
}

// grouping is groups of rows with their aggregates, as one worker has them.
type grouping struct {
	keys    []Expr
	columns []aggregateColumn
	keyed   bool
	encoder *keyEncoder
	table   *groupTable
	any     bool          // there was a row
	runs    []morselStart // one a morsel
	memory  share

	of    []uint32
	found []uint32
	began []int32
}

// morselStart is where the groups begin that first appeared in a morsel.
type morselStart struct {
	morsel int64
	group  int
}

// aggregateColumn is an Aggregate with its state.
type aggregateColumn struct {
	Aggregate
	key   int // the column is this key; -1: none
	state accumulator
	args  []*batch.Vector
}

func newGrouping(keys []Expr, aggregates []Aggregate, budget *Budget) (*grouping, error) {
	g := &grouping{keys: keys, keyed: len(keys) > 0, memory: share{budget: budget, what: "an aggregation"}}
	types := make([]batch.Type, len(keys))
	for i, k := range keys {
		if types[i] = k.Type(); !batch.Ordered(types[i]) {
			return nil, unsupported("GROUP BY of a %s", types[i])
		}
	}
	if g.keyed {
		g.encoder = newKeyEncoder(types)
		g.table = newGroupTable(g.encoder.width, g.encoder.direct())
	}
	for _, a := range aggregates {
		c := aggregateColumn{Aggregate: a, key: -1}
		if a.Func == First {
			c.key = slices.IndexFunc(keys, func(k Expr) bool { return isSameColumn(k, a.Args[0]) && !isFloat(k.Type().Kind) })
		}
		if c.key < 0 {
			var err error
			if c.state, err = newAccumulator(a, g.keyed); err != nil {
				return nil, err
			}
		}
		g.columns = append(g.columns, c)
	}
	return g, nil
}

// isSameColumn says whether a key holds all that there is to a value: two floats that are equal may differ.
func isSameColumn(a, b Expr) bool {
	x, okX := a.(*column)
	y, okY := b.(*column)
	return okX && okY && x.index == y.index
}

func newAccumulator(a Aggregate, keyed bool) (accumulator, error) {
	types := make([]batch.Type, len(a.Args))
	for i, e := range a.Args {
		types[i] = e.Type()
	}
	if a.Func != Count && len(types) != 1 {
		return nil, fmt.Errorf("aggregate %s has %d arguments", a.Field.Name, len(types))
	}
	state, result := stateOf(a, types)
	if state == nil {
		return nil, unsupported("aggregate %s of a %s", a.Field.Name, types[0])
	}
	if result != a.Field.Type {
		return nil, fmt.Errorf("aggregate %s: it is declared as %s and is %s", a.Field.Name, a.Field.Type, result)
	}
	if a.Distinct && (a.Func == Count || a.Func == Sum || a.Func == Average) {
		for _, t := range types {
			if !batch.Ordered(t) {
				return nil, unsupported("DISTINCT of a %s", t)
			}
		}
		state = newDistinct(state, types, keyed)
	}
	return state, nil
}

// stateOf returns the accumulator of an aggregate and the type of its results; nil: there is none.
func stateOf(a Aggregate, args []batch.Type) (accumulator, batch.Type) {
	long := batch.Type{Kind: batch.Int64}
	switch a.Func {
	case Count:
		return &counts{}, long
	case First:
		if args[0].Layout() != batch.LayoutNone {
			return newFirsts(args[0]), args[0]
		}
	case Min, Max:
		if s, ok := newExtremes(args[0], a.Func == Max); ok {
			return s, args[0]
		}
	case Sum, Average:
		if isFloat(args[0].Kind) {
			return &floatSums{average: a.Func == Average}, batch.Type{Kind: batch.Float64}
		}
		exact, ok := asDecimal(args[0])
		if (ok || args[0].Kind == batch.Bool) && a.Field.Type.Kind == batch.Decimal {
			return &exactSums{what: a.Field.Name, scale: exact.Scale, to: a.Field.Type, average: a.Func == Average}, a.Field.Type
		}
	}
	return nil, long
}

// empty returns a grouping for the same without rows, with buffers of its own.
func (g *grouping) empty() *grouping {
	aggregates := make([]Aggregate, len(g.columns))
	for i, c := range g.columns {
		aggregates[i] = c.Aggregate
		aggregates[i].Args = cloneAll(c.Args)
	}
	out, err := newGrouping(cloneAll(g.keys), aggregates, g.memory.budget)
	if err != nil {
		panic(err) // it was right the first time
	}
	return out
}

func (g *grouping) groups() int {
	if g.keyed {
		if g.table == nil {
			return 0
		}
		return g.table.count
	}
	return 1
}

// add takes in a batch.
func (g *grouping) add(ctx context.Context, b *batch.Batch, morsel int64) error {
	in := grouped{rows: b.Sel, n: b.Rows()}
	if in.n == 0 {
		return nil
	}
	if len(g.runs) == 0 || g.runs[len(g.runs)-1].morsel != morsel {
		g.runs = append(g.runs, morselStart{morsel, g.groupsSoFar()})
	}
	if g.keyed {
		keys, err := evalAll(ctx, g.keys, nil, b)
		if err != nil {
			return err
		}
		if err := g.find(&in, keys, b.Len); err != nil {
			return err
		}
	} else if !g.any {
		in.began = []int32{int32(b.Row(0))}
	}
	g.any, in.groups = true, g.groups()
	for i := range g.columns {
		c := &g.columns[i]
		if c.key >= 0 {
			continue
		}
		var err error
		if c.args, err = evalAll(ctx, c.Args, c.args, b); err != nil {
			return err
		}
		in.args = c.args
		if err := c.state.add(&in); err != nil {
			return err
		}
	}
	return g.memory.set(g.size())
}

func (g *grouping) finish() error { return nil }

func (g *grouping) groupsSoFar() int {
	if g.keyed {
		return g.table.count
	}
	return 0
}

func evalAll(ctx context.Context, exprs []Expr, out []*batch.Vector, b *batch.Batch) ([]*batch.Vector, error) {
	out = out[:0]
	for _, e := range exprs {
		v, err := e.Eval(ctx, b)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// find finds the groups of the rows by their keys, which are columns of length rows.
func (g *grouping) find(in *grouped, keys []*batch.Vector, length int) error {
	words, null, err := g.encoder.encode(keys, in.rows, in.n)
	if err != nil {
		return err
	}
	g.found = resize(g.found, in.n)
	g.began = g.table.find(g.found, words, null, g.began[:0])
	in.of, in.began = g.found, g.began
	if in.rows == nil {
		return nil
	}
	g.of = resize(g.of, length)
	for k, i := range in.rows {
		g.of[i] = g.found[k]
	}
	for k, at := range g.began {
		g.began[k] = in.rows[at]
	}
	in.of = g.of
	return nil
}

// result is a column of the groups [lo, hi).
func (g *grouping) result(column, lo, hi int) (*batch.Vector, error) {
	c := &g.columns[column]
	if c.key >= 0 {
		return g.encoder.decodeColumn(g.table, c.key, lo, hi).Decode(), nil
	}
	return c.state.result(lo, hi)
}

func (g *grouping) size() int64 {
	n := int64(0)
	if g.keyed {
		n = g.encoder.size() + g.table.size()
	}
	for i := range g.columns {
		if s := g.columns[i].state; s != nil {
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

// mergeGroupings merges what workers have grouped, and releases all but the result.
func mergeGroupings(ctx context.Context, workers []*grouping) (*grouping, error) {
	workers = slices.DeleteFunc(slices.Clone(workers), func(g *grouping) bool { return !g.any && g != workers[0] })
	if len(workers) > 1 && !workers[0].any {
		workers = workers[1:]
	}
	if len(workers) == 1 {
		return workers[0], nil
	}
	out := workers[0].empty()
	of, err := out.begin(ctx, workers)
	if err != nil {
		return nil, errors.Join(err, out.memory.set(0))
	}
	for i := range out.columns {
		to := out.columns[i].state
		for w, g := range workers {
			if to == nil {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, errors.Join(err, out.memory.set(0))
			}
			if err := to.merge(g.columns[i].state, of[w], out.groups()); err != nil {
				return nil, errors.Join(err, out.memory.set(0))
			}
			g.columns[i].state = nil
		}
	}
	for _, g := range workers {
		g.release()
	}
	return out, out.memory.set(out.size())
}

// part is the groups of a worker that first appeared in one morsel.
type part struct {
	worker int
	morsel int64
	lo, hi int
}

// begin makes all the workers' groups, in the order of the rows, and returns for each worker what its groups are here.
func (g *grouping) begin(ctx context.Context, workers []*grouping) (of [][]uint32, err error) {
	var parts []part
	for w, from := range workers {
		for i, r := range from.runs {
			p := part{worker: w, morsel: r.morsel, lo: r.group, hi: from.groups()}
			if i+1 < len(from.runs) {
				p.hi = from.runs[i+1].group
			}
			parts = append(parts, p)
		}
		of = append(of, make([]uint32, from.groups()))
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.morsel, b.morsel) })
	if !g.keyed {
		g.any = true
		g.beginFirsts(workers[parts[0].worker], []int32{0})
		return of, nil
	}
	for _, p := range parts {
		for lo := p.lo; lo < p.hi; lo += batch.MaxRows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			from, hi := workers[p.worker], min(lo+batch.MaxRows, p.hi)
			in := grouped{n: hi - lo}
			if err := g.find(&in, from.encoder.decode(from.table, lo, hi), in.n); err != nil {
				return nil, err
			}
			copy(of[p.worker][lo:hi], in.of)
			for k := range in.began {
				in.began[k] += int32(lo)
			}
			g.beginFirsts(from, in.began)
		}
		if err := g.memory.set(g.size()); err != nil {
			return nil, err
		}
	}
	return of, nil
}

func (g *grouping) beginFirsts(from *grouping, groups []int32) {
	for i := range g.columns {
		if f, ok := g.columns[i].state.(*firsts); ok {
			f.begin(from.columns[i].state.(*firsts), groups)
		}
	}
}
