package vector

import (
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
	First          // the value in the group's first row
	AnyValue       // the first value that is not null
	VariancePop    // of DOUBLEs: a DOUBLE
	VarianceSample // likewise, null for one value
	StddevPop
	StddevSample
	GroupConcat // of texts, and of what they are ordered by: the texts one after another
)

// Aggregate is one column of the result of an aggregation.
type Aggregate struct {
	Func     AggregateFunc
	Args     []Expr         // Count: any number; GroupConcat: the text, and what orders; else one
	Distinct bool           // for Count, Sum and Average: rows with the same arguments count once; for GroupConcat those with the same text
	Concat   *Concatenation // of GroupConcat
	Field    batch.Field
}

// aggregation is GROUP BY by hash, or aggregates over all rows when there are no keys.
//
//  1. Each fork of the child has a worker, which takes in the fork's batches: into main, and into a set for each list of arguments that is DISTINCT. A set has the
//     number of the group in place of the keys while that is of use.
//  2. The distinct rows of each set go into main, as rows of a stream of their own.
//  3. The groups of main are handed out.
type aggregation struct {
	child   Operator
	by      []Expr
	of      []Aggregate
	budget  *Budget
	unread  []bool // by column of the result: it is not computed; nil: all are
	forks   []Fork
	inputs  []Expr // the keys and the arguments, each once
	keys    []Expr // by column of the result: the key that it is; nil: it is none
	main    *groupBy
	direct  bool // main takes in the child's rows, as its first stream
	sets    []*distinctSet
	workers []*aggregateWorker
	schema  *batch.Schema
	read    bool
	err     error // of reading
	now     *grouping
	next    int // group of now
	out     batch.Batch
}

// distinctSet is the distinct rows of the keys and some arguments.
type distinctSet struct {
	*groupBy
	inputs   []int      // which they are
	stream   int        // of main, that they go into
	numbered *groupPlan // of the rows with the numbers of groups in place of the keys
}

// NewAggregate returns an operator with a row for each distinct value of the keys; without keys it has one row, also for no rows. A few groups come in
// the order in which they first appear, many in any. Results are exact: a sum or an average that its type cannot hold is an *OverflowError. What the
// budget, which may be nil, has no room for is spilled.
func NewAggregate(child Operator, keys []Expr, aggregates []Aggregate, budget *Budget) (Operator, error) {
	a := &aggregation{child: child, by: keys, of: aggregates, budget: budget, schema: &batch.Schema{}}
	for _, x := range aggregates {
		a.schema.Fields = append(a.schema.Fields, x.Field)
	}
	if err := a.plan(); err != nil {
		return nil, err
	}
	keepColumns(child, columnsOf(a.inputs...))
	return a, nil
}

// keepColumns leaves out aggregates of columns that cannot fail: GROUP BY has one for each column that HAVING or ORDER BY might look at.
func (a *aggregation) keepColumns(columns []int) {
	a.unread = make([]bool, len(a.of))
	for i, x := range a.of {
		sums := x.Func != First && x.Func != AnyValue && x.Func != Count && x.Func != Min && x.Func != Max
		computes := slices.ContainsFunc(x.Args, func(e Expr) bool { _, ok := e.(*column); return !ok })
		a.unread[i] = !sums && !computes && !slices.Contains(columns, i)
	}
	if err := a.plan(); err != nil {
		panic(err) // it was right with all of them
	}
	keepColumns(a.child, columnsOf(a.inputs...))
}

// leftOut says whether a column of the result is not computed.
func (a *aggregation) leftOut(i int) bool { return a.unread != nil && a.unread[i] }

func (a *aggregation) budgets() []**Budget {
	places := []**Budget{&a.budget, &a.main.budget}
	for _, s := range a.sets {
		places = append(places, &s.budget)
	}
	return places
}

// filterBy implements runtimeFiltered: rows with another key are of other groups.
func (a *aggregation) filterBy(f *runtimeFilter, values []Expr) bool {
	below, ok := substituteAll(values, a.keys)
	return ok && filterBy(a.child, f, below)
}

// plan makes main, and the sets that it needs.
func (a *aggregation) plan() error {
	keys, aggregates := a.by, a.of
	a.inputs, a.sets, a.direct = nil, nil, false
	plan := &groupPlan{columns: make([]groupColumn, len(aggregates))}
	a.keys = make([]Expr, len(aggregates))
	rows := groupStream{positions: -1, args: make([][]int, len(aggregates))}
	for _, k := range keys {
		if t := k.Type(); !batch.Ordered(t) {
			return unsupported("GROUP BY of a %s", t)
		}
		rows.keys = append(rows.keys, a.input(k))
	}
	for i, x := range aggregates {
		c := &plan.columns[i]
		if c.Aggregate, c.key = x, noKey; a.leftOut(i) {
			c.key = notComputed
			continue
		}
		if x.Func == First {
			c.key = slices.IndexFunc(keys, func(k Expr) bool { return isSameColumn(k, x.Args[0]) && !isFloat(k.Type().Kind) })
		}
		if c.key >= 0 {
			a.keys[i] = keys[c.key]
		}
		if _, err := newAccumulator(x); c.key < 0 && err != nil {
			return err
		}
		if c.key >= 0 || x.isDistinct() {
			continue
		}
		a.direct = true
		rows.args[i] = []int{}
		for _, e := range x.Args {
			rows.args[i] = append(rows.args[i], a.input(e))
		}
		if x.Func == First || x.Func == AnyValue || x.Func == GroupConcat {
			rows.positions = 0 // placed below
		}
	}
	for i, x := range aggregates {
		if x.isDistinct() && !a.leftOut(i) {
			if err := a.planDistinct(plan, rows.keys, i, x); err != nil {
				return err
			}
		}
	}
	a.direct = a.direct || len(keys) > 0 && len(a.sets) != 1 || len(a.sets) == 0
	for _, e := range a.inputs {
		rows.types = append(rows.types, e.Type())
	}
	if rows.positions >= 0 {
		rows.positions = len(rows.types)
		rows.types = append(rows.types, positionType)
	}
	plan.streams = append([]groupStream{rows}, plan.streams...)
	for _, k := range keys {
		plan.keys = append(plan.keys, k.Type())
	}
	a.main = newGroupBy(plan, a.budget)
	return nil
}

// isDistinct says whether it makes a difference that rows with the same arguments count once.
func (x *Aggregate) isDistinct() bool {
	return x.Distinct && len(x.Args) > 0 && (x.Func == Count || x.Func == Sum || x.Func == Average)
}

// input is the place of an expression among the inputs; the same column has one place.
func (a *aggregation) input(e Expr) int {
	at := slices.IndexFunc(a.inputs, func(x Expr) bool { return x == e || isSameColumn(x, e) })
	if at < 0 {
		at = len(a.inputs)
		a.inputs = append(a.inputs, e)
	}
	return at
}

// planDistinct has column i of main get the distinct rows of a set, which other columns may share.
func (a *aggregation) planDistinct(plan *groupPlan, keys []int, i int, x Aggregate) error {
	inputs := slices.Clone(keys)
	var args []int
	for n, e := range x.Args {
		if !batch.Ordered(e.Type()) {
			return unsupported("DISTINCT of a %s", e.Type())
		}
		inputs = append(inputs, a.input(e))
		args = append(args, len(keys)+n)
	}
	for s, set := range a.sets {
		if slices.Equal(set.inputs, inputs) {
			plan.streams[s].args[i] = args
			return nil
		}
	}
	stream := groupStream{positions: -1, args: make([][]int, len(plan.columns))}
	stream.args[i] = args
	of := &groupPlan{}
	all := groupStream{positions: -1}
	for n, at := range inputs {
		of.keys = append(of.keys, a.inputs[at].Type())
		all.keys = append(all.keys, n)
	}
	stream.types, stream.keys = of.keys, all.keys[:len(keys)]
	all.types = of.keys
	of.streams = []groupStream{all}
	plan.streams = append(plan.streams, stream)
	a.sets = append(a.sets, &distinctSet{groupBy: newGroupBy(of, a.budget), inputs: inputs, stream: len(plan.streams), numbered: numberedPlan(of.keys[len(keys):])})
	return nil
}

// isSameColumn says whether two expressions are the same column. It holds all that there is to a value, but that two floats that are equal may differ.
func isSameColumn(a, b Expr) bool {
	x, okX := a.(*column)
	y, okY := b.(*column)
	return okX && okY && x.index == y.index
}

func (a *aggregation) Schema() *batch.Schema { return a.schema }

func (a *aggregation) Next(ctx context.Context) (*batch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !a.read {
		a.read, a.err = true, a.readAll(ctx)
	}
	for a.err == nil {
		if a.now == nil {
			if a.now, a.err = a.main.nextOfAll(ctx); a.err != nil { // io.EOF too
				break
			}
			a.next = 0
		}
		lo, hi := a.next, min(a.next+batch.MaxRows, a.now.groups())
		if lo == hi {
			a.now.release()
			a.now = nil
			continue
		}
		a.next = hi
		a.out = batch.Batch{Schema: a.schema, Cols: a.out.Cols[:0], Len: hi - lo}
		for i := range a.schema.Fields {
			if a.leftOut(i) {
				a.out.Cols = append(a.out.Cols, nil)
				continue
			}
			v, err := a.now.result(ctx, i, lo, hi)
			if err != nil {
				return nil, err
			}
			a.out.Cols = append(a.out.Cols, v)
		}
		return &a.out, nil
	}
	return nil, a.err
}

func (a *aggregation) readAll(ctx context.Context) error {
	a.forks = forksOf(a.child)
	for i := range a.forks {
		w := &aggregateWorker{aggregation: a, inputs: a.inputs}
		if i > 0 { // the first one has the expressions themselves
			w.inputs = cloneAll(a.inputs)
		}
		w.main = a.main.addWorker()
		for _, s := range a.sets {
			w.sets = append(w.sets, s.addWorker())
		}
		w.numbered = newNumberedSets(w, len(a.forks))
		a.workers = append(a.workers, w)
	}
	if err := drainForks(ctx, a.forks, a.workers); err != nil {
		return err
	}
	if !slices.ContainsFunc(a.workers, func(w *aggregateWorker) bool { return w.numbered == nil }) {
		return a.finishNumbered(ctx)
	}
	if err := InParallel(ctx, len(a.workers), func(ctx context.Context, i int) error { return a.workers[i].spread(ctx) }); err != nil {
		return err
	}
	for _, s := range a.sets {
		if err := a.feed(ctx, s); err != nil {
			return err
		}
	}
	return a.main.finish(ctx)
}

// finishNumbered puts the rows that all workers have numbered into main.
func (a *aggregation) finishNumbered(ctx context.Context) error {
	main, numbers, err := a.main.gather(ctx)
	for s := range a.sets {
		if err == nil {
			err = a.addNumbered(ctx, s, main, numbers)
		}
	}
	return err
}

// feed puts the rows of a set into main, by all workers at once.
func (a *aggregation) feed(ctx context.Context, s *distinctSet) error {
	if err := s.divide(ctx); err != nil {
		return err
	}
	return InParallel(ctx, len(a.workers), func(ctx context.Context, i int) error {
		for {
			g, order, err := s.next(ctx)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			err = a.workers[i].feed(ctx, s, g, order)
			g.release()
			if err != nil {
				return err
			}
		}
	})
}

// Close implements Operator.
func (a *aggregation) Close() error {
	a.read, a.err = true, errors.Join(a.err, io.EOF)
	a.now.release()
	a.now = nil
	errs := []error{a.main.close()}
	for _, w := range a.workers {
		w.numbered.release()
	}
	for _, s := range a.sets {
		errs = append(errs, s.close())
	}
	if a.forks != nil {
		errs = append(errs, closeForks(a.forks))
	} else {
		errs = append(errs, a.child.Close())
	}
	return errors.Join(errs...)
}

// aggregateWorker takes in the batches of one fork.
type aggregateWorker struct {
	*aggregation
	inputs    []Expr
	main      *groupWorker
	sets      []*groupWorker
	numbered  *numberedSets // nil: rows go to sets
	cols      []*batch.Vector
	chosen    []*batch.Vector
	positions batch.Vector
	morsel    int64
	counted   int64 // rows of the morsel
}

func (w *aggregateWorker) add(ctx context.Context, b *batch.Batch, morsel int64) error {
	if morsel != w.morsel {
		w.morsel, w.counted = morsel, 0
	}
	n := b.Rows()
	if n == 0 {
		w.counted += int64(b.Len)
		return nil
	}
	var err error
	if w.cols, err = evalAll(ctx, w.inputs, w.cols, b); err != nil {
		return err
	}
	if w.aggregation.main.plan.streams[0].positions >= 0 {
		w.cols = append(w.cols, w.position(b.Len))
	}
	w.counted += int64(b.Len)
	in := &groupRows{cols: w.cols, rows: b.Sel, n: n, length: b.Len}
	if w.direct || w.numbered != nil {
		if err := w.main.take(ctx, in, morsel); err != nil {
			return err
		}
	}
	if w.numbered == nil {
		return w.addToSets(ctx, in)
	}
	if fits, err := w.numbered.add(in); err != nil || fits {
		return err
	}
	return w.spread(ctx)
}

func (w *aggregateWorker) addToSets(ctx context.Context, in *groupRows) error {
	for i, s := range w.aggregation.sets {
		w.chosen = w.chosen[:0]
		for _, at := range s.inputs {
			w.chosen = append(w.chosen, in.cols[at])
		}
		if err := w.sets[i].take(ctx, &groupRows{cols: w.chosen, rows: in.rows, n: in.n, length: in.length}, w.morsel); err != nil {
			return err
		}
	}
	return nil
}

// spread gives the rows that were numbered to the sets, as later ones.
func (w *aggregateWorker) spread(ctx context.Context) error {
	if w.numbered == nil {
		return nil
	}
	numbered := w.numbered
	w.numbered = nil
	return numbered.spread(ctx)
}

// positionType is the type of the places of rows among the child's, as a column.
var positionType = batch.Type{Kind: batch.Int64}

// position is the places of the rows of a batch.
func (w *aggregateWorker) position(n int) *batch.Vector {
	reset(&w.positions, positionType, n)
	for i := range w.positions.I64 {
		w.positions.I64[i] = w.morsel<<40 | w.counted + int64(i)
	}
	return &w.positions
}

func (w *aggregateWorker) finish(context.Context) error { return nil }

// feed puts the rows of a set into main; order is the place of their part among the set's.
func (w *aggregateWorker) feed(ctx context.Context, s *distinctSet, g *grouping, order int) error {
	if w.countOnly(s, g) {
		return nil
	}
	for lo := 0; lo < g.groups(); lo += batch.MaxRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(batch.MaxRows, g.groups()-lo)
		in := &groupRows{stream: s.stream, cols: g.encoder.decode(g.table, lo, lo+n), n: n, length: n}
		if err := w.main.take(ctx, in, lastMorsels+int64(order)); err != nil {
			return err
		}
	}
	return nil
}

// lastMorsels are behind those of all rows.
const lastMorsels = 1 << 62

// countOnly adds the rows of a set of one column to COUNT(DISTINCT) over all rows, which needs to see none of them; false: it is not that.
func (w *aggregateWorker) countOnly(s *distinctSet, g *grouping) bool {
	if len(s.inputs) != 1 || g.table.width != 1 {
		return false
	}
	stream := &w.aggregation.main.plan.streams[s.stream]
	for i, args := range stream.args {
		if args != nil && w.main.plan.columns[i].Func != Count {
			return false
		}
	}
	n := int64(g.groups())
	if g.table.null != 0 {
		n--
	}
	w.main.small.any = true
	w.main.small.startMorsel(lastMorsels)
	for i, args := range stream.args {
		if args != nil {
			c := w.main.small.states[i].(*counts)
			c.n = extend(c.n, 1)
			c.n[0] += n
		}
	}
	return true
}

func newAccumulator(a Aggregate) (accumulator, error) {
	types := make([]batch.Type, len(a.Args))
	for i, e := range a.Args {
		types[i] = e.Type()
	}
	if a.Func != Count && len(types) != 1 && (a.Func != GroupConcat || len(types) != 1+len(a.Concat.Descending)) {
		return nil, fmt.Errorf("aggregate %s has %d arguments", a.Field.Name, len(types))
	}
	state, result := stateOf(a, types)
	if state == nil {
		return nil, unsupported("aggregate %s of a %s", a.Field.Name, types[0])
	}
	if result != a.Field.Type {
		return nil, fmt.Errorf("aggregate %s: it is declared as %s and is %s", a.Field.Name, a.Field.Type, result)
	}
	return state, nil
}

// stateOf returns the accumulator of an aggregate and the type of its results; nil: there is none.
func stateOf(a Aggregate, args []batch.Type) (accumulator, batch.Type) {
	long := batch.Type{Kind: batch.Int64}
	switch a.Func {
	case Count:
		return &counts{}, long
	case First, AnyValue:
		if args[0].Layout() != batch.LayoutNone {
			return newFirsts(args[0], a.Func == AnyValue), args[0]
		}
	case VariancePop, VarianceSample, StddevPop, StddevSample:
		if args[0].Kind == batch.Float64 {
			return &deviations{sample: a.Func == VarianceSample || a.Func == StddevSample, root: a.Func >= StddevPop}, args[0]
		}
	case GroupConcat:
		ordered := !slices.ContainsFunc(args, func(t batch.Type) bool { return !batch.Ordered(t) })
		if ordered && (args[0].Kind == batch.String || args[0].Kind == batch.Binary) {
			return newConcats(a, args), args[0]
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
