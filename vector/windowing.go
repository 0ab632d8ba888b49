package vector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"lakesql/batch"
)

// WindowFunc is what a window function computes of a row.
type WindowFunc uint8

// The window functions. The ranks and the number are longs that begin with 1.
const (
	RowNumber WindowFunc = iota
	Rank
	DenseRank
	PercentRank // a DOUBLE, as CumeDist is
	CumeDist
	Ntile          // the part, of N, that the row is in
	Lag            // the argument in the row N before, or the second argument in this one; without a second argument null
	Lead           // likewise N behind
	FirstValue     // the argument in the first row of the frame
	LastValue      // in the last one
	NthValue       // in the N-th one
	FrameAggregate // Aggregate over the rows of the frame
)

// WindowColumn is one column that a window adds.
type WindowColumn struct {
	Func      WindowFunc
	Aggregate AggregateFunc
	Args      []Expr
	N         int64
	Peers     int // so many keys of the window's order make rows equal
	Frame     Frame
	Field     batch.Field
}

// Window is window functions over the same partitions, in which rows are in the same order.
type Window struct {
	Partition []Expr
	Order     []SortKey
	Columns   []WindowColumn
}

// windowing computes window functions.
//
//  1. The rows come in the order of the partitions and, within one, in that of the window. The order of partitions is any.
//  2. They are gathered until there are many, and the last partition among them has ended: a segment. Of a partition that there is no room for, the
//     columns that no function looks at are spilled.
//  3. The functions are computed for the segment, which is handed out batch by batch.
type windowing struct {
	child  Operator
	window Window
	inputs []Expr // what functions look at, each once: first the keys of partitions, then those of the order
	args   [][]int
	bounds []boundInputs // by column
	wanted []bool        // by column; nil: all
	schema *batch.Schema
	budget *Budget
	copied bool // the rows of child are valid until its next ones only

	ended   bool
	err     error
	now     *windowSegment // being handed out
	next    *windowSegment // being gathered
	out     batch.Batch
	evalled []*batch.Vector
}

// boundInputs are the values and the keys of a frame's bounds among the inputs; -1: none.
type boundInputs struct{ start, startKey, end, endKey int }

// segmentRows is how many rows are gathered at the least: the functions are called once for all of them.
const segmentRows = 4 * batch.MaxRows

// NewWindow returns an operator with the rows of child, in any order, and a column more for each of the window's. What the budget, which may be nil, has
// no room for is spilled, but for what functions look at of a single partition.
func NewWindow(child Operator, w Window, budget *Budget) (Operator, error) {
	o := &windowing{window: w, budget: budget, schema: &batch.Schema{Fields: slices.Clone(child.Schema().Fields)}}
	var keys []SortKey
	for _, e := range w.Partition {
		keys = append(keys, SortKey{Expr: e})
		o.inputs = append(o.inputs, e)
	}
	for _, k := range w.Order {
		keys = append(keys, k)
		o.inputs = append(o.inputs, k.Expr)
	}
	for _, k := range keys {
		if !batch.Ordered(k.Expr.Type()) {
			return nil, unsupported("a window by a %s", k.Expr.Type())
		}
	}
	for i := range w.Columns {
		c := &w.Columns[i]
		if err := c.check(len(w.Order)); err != nil {
			return nil, err
		}
		args := make([]int, len(c.Args))
		for k, e := range c.Args {
			args[k] = o.input(e)
		}
		o.args = append(o.args, args)
		o.bounds = append(o.bounds, boundInputs{
			start: o.input(c.Frame.Start.Value), startKey: o.input(c.Frame.Start.Key), end: o.input(c.Frame.End.Value), endKey: o.input(c.Frame.End.Key),
		})
		o.schema.Fields = append(o.schema.Fields, c.Field)
	}
	if len(keys) == 0 {
		o.child, o.copied = child, true
		return o, nil
	}
	if len(w.Partition) > 0 {
		o.child = newPartSort(child, len(w.Partition), keys, budget)
		return o, nil
	}
	var err error
	o.child, err = NewSort(child, keys, NoLimit, budget)
	return o, err
}

// check refuses what cannot be computed.
func (c *WindowColumn) check(order int) error {
	var want batch.Type
	switch c.Func {
	case RowNumber, Rank, DenseRank, Ntile:
		want = batch.Type{Kind: batch.Int64}
	case PercentRank, CumeDist:
		want = batch.Type{Kind: batch.Float64}
	case FrameAggregate:
		if _, ok := frameAggregates[c.Aggregate]; !ok {
			return unsupported("aggregate %s of a window", c.Field.Name)
		}
		_, err := newAccumulator(Aggregate{Func: c.Aggregate, Args: c.Args, Field: c.Field})
		return err
	default:
		want = c.Args[0].Type()
		if want.Layout() == batch.LayoutVoid || len(c.Args) > 1 && c.Args[1].Type() != want {
			return unsupported("window function %s of a %s", c.Field.Name, want)
		}
	}
	if c.Field.Type != want || c.Peers > order {
		return fmt.Errorf("window function %s: it is declared as %s and is %s", c.Field.Name, c.Field.Type, want)
	}
	return nil
}

// input is the place of an expression among the inputs; -1 of nil.
func (o *windowing) input(e Expr) int {
	if e == nil {
		return -1
	}
	at := slices.IndexFunc(o.inputs, func(x Expr) bool { return x == e || isSameColumn(x, e) })
	if at < 0 {
		at = len(o.inputs)
		o.inputs = append(o.inputs, e)
	}
	return at
}

func (o *windowing) Schema() *batch.Schema { return o.schema }

func (o *windowing) keepColumns(columns []int) {
	below := len(o.child.Schema().Fields)
	o.wanted = make([]bool, len(o.window.Columns))
	kept := columnsOf(o.inputs...)
	for _, c := range columns {
		if c < below {
			kept = append(kept, c)
		} else {
			o.wanted[c-below] = true
		}
	}
	keepColumns(o.child, kept)
}

func (o *windowing) Next(ctx context.Context) (*batch.Batch, error) {
	for o.err == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if o.now != nil {
			cols, n, err := o.now.take(ctx)
			if err == nil {
				o.out = batch.Batch{Schema: o.schema, Cols: cols, Len: n}
				return &o.out, nil
			}
			if !errors.Is(err, io.EOF) {
				o.err = err
				break
			}
			o.err = o.now.close()
			o.now = nil
			continue
		}
		if o.ended {
			o.err = io.EOF
			break
		}
		o.now, o.err = o.gather(ctx)
	}
	return nil, o.err
}

// gather gathers the next segment, and computes its functions. nil: there are no more rows.
func (o *windowing) gather(ctx context.Context) (*windowSegment, error) {
	if o.next == nil {
		o.next = o.newSegment()
	}
	s := o.next
	for !s.whole() {
		b, err := o.child.Next(ctx)
		if errors.Is(err, io.EOF) {
			o.ended = true
			break
		}
		if err == nil && b.Rows() > 0 {
			err = s.add(ctx, b)
		}
		if err != nil {
			return nil, err
		}
	}
	var err error
	if o.next = nil; !o.ended {
		o.next, err = s.cut()
	}
	if err == nil && s.rows.n > 0 {
		err = s.compute(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// Close implements Operator.
func (o *windowing) Close() error {
	o.ended, o.err = true, errors.Join(o.err, io.EOF)
	err := errors.Join(o.now.close(), o.next.close(), o.child.Close())
	o.now, o.next = nil, nil
	return err
}
