package vector

import (
	"context"
	"errors"
	"io"
	"slices"

	"lakesql/batch"
)

// SortKey is one of the expressions that rows are ordered by. Null is below every value, NaN above every other number; texts are ordered by bytes.
type SortKey struct {
	Expr       Expr
	Descending bool
}

// sorting is ORDER BY, perhaps with a limit.
//
//  1. Each fork of the child has a sorter, which keeps the fork's rows: of a limit of n, those that may be among its first n.
//  2. Each sorter sorts what it has in runs, and merges them into a file when memory is nearly used.
//  3. The runs are merged while they are handed out. Rows with the same keys come in the order of the child.
type sorting struct {
	child   Operator
	keys    []SortKey
	limit   int
	budget  *Budget
	forks   []Fork
	sorters []*sorter
	read    bool
	err     error // of reading the rows
	merged  *sortedRuns
	files   []*sortedRun
	top     topBound
	left    int // rows to hand out
	picked  []pickedRow
	out     batch.Batch
}

// NewSort returns an operator with the rows of child in the order of the keys; with a limit, 0 or more, only the first ones. budget may be nil.
func NewSort(child Operator, keys []SortKey, limit int, budget *Budget) (Operator, error) {
	for _, k := range keys {
		if !batch.Ordered(k.Expr.Type()) {
			return nil, unsupported("ORDER BY of a %s", k.Expr.Type())
		}
	}
	return &sorting{child: child, keys: keys, limit: limit, budget: budget}, nil
}

// NoLimit is the limit of a sort of all rows.
const NoLimit = int(^uint(0) >> 1)

func (s *sorting) Schema() *batch.Schema { return s.child.Schema() }

func (s *sorting) keepColumns(columns []int) {
	for _, k := range s.keys {
		columns = append(columns, columnsOf(k.Expr)...)
	}
	keepColumns(s.child, columns)
}

func (s *sorting) budgets() []**Budget { return []**Budget{&s.budget} }

func (s *sorting) Next(ctx context.Context) (*batch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !s.read {
		s.read, s.err = true, s.readAll(ctx)
	}
	if s.err != nil {
		return nil, s.err
	}
	if s.left == 0 {
		return nil, io.EOF
	}
	if s.picked, s.err = s.merged.take(ctx, s.picked[:0], min(s.left, batch.MaxRows)); s.err != nil {
		return nil, s.err
	}
	n := len(s.picked)
	if s.left -= n; n == 0 {
		s.left = 0
		return nil, io.EOF
	}
	s.out = batch.Batch{Schema: s.Schema(), Cols: s.out.Cols[:0], Len: n}
	for i := range s.Schema().Fields {
		s.out.Cols = append(s.out.Cols, gatherColumn(s.picked, i))
	}
	return &s.out, nil
}

func (s *sorting) readAll(ctx context.Context) error {
	if s.limit == 0 {
		return nil
	}
	if s.limit <= mostTop {
		s.top.descending = s.keys[0].Descending
		filterBy(s.child, &s.top.filter, []Expr{s.keys[0].Expr})
	}
	s.forks = forksOf(s.child)
	for i := range s.forks {
		o := &sorter{
			keys: slices.Clone(s.keys), limit: s.limit, memory: share{budget: s.budget, what: "a sort"}, top: &s.top, schema: runSchema(s.Schema(), s.keys),
		}
		for k := range o.keys {
			if i > 0 { // the first one has the keys themselves
				o.keys[k].Expr = o.keys[k].Expr.Clone()
			}
		}
		s.sorters = append(s.sorters, o)
	}
	if err := drainForks(ctx, s.forks, s.sorters); err != nil {
		return err
	}
	var runs []*sortedRun
	for _, o := range s.sorters {
		runs = append(runs, o.runs...)
		s.files = append(s.files, o.files...)
		o.files = nil
	}
	for len(s.files) > mostRuns {
		r, err := spillRun(ctx, s.budget, runSchema(s.Schema(), s.keys), s.keys, s.files[:mostRuns], s.limit)
		if err != nil {
			return err
		}
		s.files = append(s.files[mostRuns:len(s.files):len(s.files)], r)
	}
	var err error
	s.left = s.limit
	s.merged, err = newSortedRuns(ctx, s.keys, append(runs, s.files...))
	return err
}

// Close implements Operator.
func (s *sorting) Close() error {
	var errs []error
	for _, o := range s.sorters {
		errs = append(errs, o.memory.set(0))
		s.files = append(s.files, o.files...)
	}
	for _, r := range s.files {
		errs = append(errs, r.file.close())
	}
	s.files = nil
	s.sorters, s.merged, s.left, s.read = nil, nil, 0, true
	if s.forks != nil {
		errs = append(errs, closeForks(s.forks))
	} else {
		errs = append(errs, s.child.Close())
	}
	return errors.Join(errs...)
}
