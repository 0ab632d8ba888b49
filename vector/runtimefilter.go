package vector

import (
	"context"
	"sync/atomic"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
)

// runtimeFilter is a predicate over some values of a row that becomes known, or narrower, while rows are read: that they are among the keys of a join's build side, or
// before the worst row that a top-N still takes. Rows for which it is not true need not be handed out. It only ever saves work: whoever publishes it
// still looks at the rows that come. Several goroutines may use it.
type runtimeFilter struct{ known atomic.Pointer[predicateOver] }

// predicateOver makes a new predicate over expressions that stand for the filter's values. It is called by several goroutines.
type predicateOver func(values []Expr) (Expr, error)

// publish makes the predicate known. A later one takes its place, and is not true where the earlier one was not.
func (f *runtimeFilter) publish(p predicateOver) { f.known.Store(&p) }

// runtimeFiltered is an operator that can leave out rows by a runtimeFilter, or whose child can.
type runtimeFiltered interface {
	// filterBy is called before Next and Fork. values are the filter's, over the operator's columns. It returns false when nobody can make use of the filter.
	filterBy(f *runtimeFilter, values []Expr) bool
}

// filterBy gives an operator a runtimeFilter.
func filterBy(op Operator, f *runtimeFilter, values []Expr) bool {
	r, ok := op.(runtimeFiltered)
	return ok && r.filterBy(f, values)
}

// between is lo <= value AND value <= hi for bounds of one row each and of the value's type; a nil one is no bound.
func between(value Expr, lo, hi *batch.Vector) (Expr, error) {
	var tests []Expr
	for _, b := range []struct {
		op    CompareOp
		bound *batch.Vector
	}{{GreaterEqual, lo}, {LessEqual, hi}} {
		if b.bound == nil {
			continue
		}
		test, err := NewCompare(b.op, value.Clone(), &literal{typ: b.bound.Type, constant: constant{value: b.bound}})
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	if len(tests) == 0 {
		return NewBool(true), nil
	}
	return NewAnd(tests...)
}

// substitute puts expressions in the places of the columns of e; false when e is more than a column and conversions of it.
func substitute(e Expr, columns []Expr) (Expr, bool) {
	switch e := e.(type) {
	case *column:
		_, isColumn := columns[e.index].(*column)
		return columns[e.index].Clone(), isColumn || isConversion(columns[e.index])
	case *cast:
		arg, ok := substitute(e.arg, columns)
		return &cast{arg: arg, to: e.to, monotone: e.monotone, convert: e.convert}, ok && e.monotone
	}
	return nil, false
}

// isConversion says whether an expression is a column, or a conversion of one that keeps the order.
func isConversion(e Expr) bool {
	if c, ok := e.(*cast); ok {
		return c.monotone && isConversion(c.arg)
	}
	_, ok := e.(*column)
	return ok
}

const (
	// learntTrial is how many rows a published predicate is tried on before it is judged.
	learntTrial = 8 * batch.MaxRows
	// learntWorth is the part of the rows that it must then have left out, as 1/learntWorth, to be asked again.
	learntWorth = 8
)

// learntTests are the tests of one runtimeFilter in a scan. A predicate that leaves out hardly any row is not asked about rows any more, only about files and row groups.
type learntTests struct {
	filter *runtimeFilter
	values []Expr
	from   *predicateOver // what tests are of
	tests  []*rowTest
}

func cloneLearnt(all []*learntTests) []*learntTests {
	out := make([]*learntTests, len(all))
	for i, l := range all {
		out[i] = &learntTests{filter: l.filter, values: cloneAll(l.values)}
	}
	return out
}

// now are the tests at the moment.
func (l *learntTests) now() ([]*rowTest, error) {
	known := l.filter.known.Load()
	if known == l.from {
		l.tests = worthAsking(l.tests)
		return l.tests, nil
	}
	predicate, err := (*known)(l.values)
	if err != nil {
		return nil, err
	}
	l.from, l.tests = known, nil
	for _, test := range conjuncts(predicate) {
		t := newRowTest(test)
		t.learnt = true
		l.tests = append(l.tests, t)
	}
	return l.tests, nil
}

// worthAsking leaves out the tests that have turned out to be true for nearly all rows.
func worthAsking(tests []*rowTest) []*rowTest {
	for i, t := range tests {
		if t.asked >= learntTrial && (t.asked-t.passed)*learntWorth < t.asked {
			kept := append(tests[:i:i], tests[i+1:]...)
			return worthAsking(kept)
		}
	}
	return tests
}

// learntFilters are the filters, by what is known at the moment, of files and row groups.
func (s *Scan) learntFilters() ([]*FileFilter, error) {
	var out []*FileFilter
	for _, l := range s.learnt {
		known := l.filter.known.Load()
		if known == nil {
			continue
		}
		predicate, err := (*known)(l.values)
		if err != nil {
			return nil, err
		}
		out = append(out, s.filter.with(predicate))
	}
	return out, nil
}

// learntWants tells whether a file can have rows that the runtime filters let through.
func (s *Scan) learntWants(file delta.File) (bool, error) {
	filters, err := s.learntFilters()
	if err != nil {
		return false, err
	}
	for _, f := range filters {
		if c, err := f.Match(file); err != nil || c == NoRows {
			return false, err
		}
	}
	return true, nil
}

// restrict makes an open file's reader read those of the rows (nil: all) that the runtime filters let through, and tells whether there can be any.
func (s *Scan) restrict(ctx context.Context, reader *delta.FileReader, file delta.File, rows []parquet.RowRange) (some bool, err error) {
	filters, err := s.learntFilters()
	if err != nil {
		return false, err
	}
	for _, f := range filters {
		var left skipped
		if rows, left, err = f.rows(ctx, file, reader.Parquet(), rows); err != nil {
			return false, err
		}
		s.leave(left)
		s.count(func(c *ScanStats) {
			c.Learnt.RowGroups += left.groups
			c.Learnt.PageRows += left.rows
		})
		if len(rows) == 0 {
			return false, nil
		}
	}
	reader.Restrict(rows)
	return true, nil
}
