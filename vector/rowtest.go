package vector

import (
	"cmp"
	"slices"

	"lakesql/batch"
)

// rowTest is a predicate that rows of a scan must pass.
type rowTest struct {
	expr    Expr
	columns []int // that it looks at
	asked   int64 // rows
	passed  int64 // of them, those for which it was true
	cost    int   // as testCost has it
	certain bool  // it cannot fail
	learnt  bool  // it is a runtime filter's
}

func newRowTest(e Expr) *rowTest {
	t := &rowTest{expr: e, columns: columnsOf(e)}
	t.cost, t.certain = testCost(e)
	return t
}

func (t *rowTest) mark(columns []bool) {
	for _, i := range t.columns {
		columns[i] = true
	}
}

func (t *rowTest) count(asked, passed int) {
	t.asked += int64(asked)
	t.passed += int64(passed)
}

func cloneTests(tests []*rowTest) []*rowTest {
	out := make([]*rowTest, len(tests))
	for i, t := range tests {
		out[i] = newRowTest(t.expr.Clone())
	}
	return out
}

func looksAt(tests []*rowTest, column int) bool {
	return slices.ContainsFunc(tests, func(t *rowTest) bool { return slices.Contains(t.columns, column) })
}

// inOrder appends tests in the order in which they are to be made: first what costs least for each row that it leaves out, as far as rows have shown. A test that may fail stays where
// it is, and so do those behind it: it must not be asked about more rows than before, and is asked about fewer when what stands before it is true for fewer.
func inOrder(out, tests []*rowTest, learnt ...*rowTest) []*rowTest {
	n := slices.IndexFunc(tests, func(t *rowTest) bool { return !t.certain })
	if n < 0 {
		n = len(tests)
	}
	out = append(out[:0], tests[:n]...)
	for _, t := range learnt {
		if t.certain {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *rowTest) int { return cmp.Compare(a.rank(), b.rank()) })
	out = append(out, tests[n:]...)
	for _, t := range learnt {
		if !t.certain {
			out = append(out, t)
		}
	}
	return out
}

// untold is how many rows a test counts as having been asked about before the first one, of which it left out half.
const untold = batch.MaxRows / 8

// rank is what a test costs for each row that it leaves out.
func (t *rowTest) rank() float64 {
	return float64(1+t.cost) * float64(t.asked+untold) / (float64(t.asked-t.passed) + untold/2)
}

// mayFail tells whether an expression may fail, or warn, for a row.
func mayFail(e Expr) bool {
	_, never := testCost(e)
	return !never
}

// testCost estimates what an expression costs for a row, in units of a comparison of numbers; false when it may fail.
func testCost(e Expr) (cost int, ok bool) {
	switch e := e.(type) {
	case *column, *literal, *computed:
		return 0, true
	case *compare:
		cost = 1
		if e.l.Type().Layout() == batch.LayoutBytes {
			cost = 4
		}
	case *isNull, *not, *logic, *ahead:
	case *set:
		cost = 3
	case *amongKeys:
		cost = 6
	case *like:
		cost = 8
	case *scalar:
		if e.f.fails {
			return 0, false
		}
		cost = 8
	case *cast:
		if !e.monotone {
			return 0, false
		}
		cost = 1
	default:
		return 0, false
	}
	for _, child := range e.children() {
		more, ok := testCost(child)
		if !ok {
			return 0, false
		}
		cost += more
	}
	return cost, true
}
