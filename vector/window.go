package vector

import (
	"context"

	"lakesql/batch"
)

// sparse is how many rows of a batch there are to one that is selected when the columns read so far are copied together, and the others read for the selected rows alone.
const sparse = 4

// window is rows that lie side by side in a file, of which a scan has read some columns.
type window struct {
	out   batch.Batch       // columns that are not read, or not needed any more, are nil
	rows  []int32           // the positions in the window of the rows of out; nil: all rows of the window
	sel   []int32           // what out.Sel lies in once a test has narrowed it
	kept  [2][]int32        // what rows lies in, by turns
	spare [][2]batch.Vector // by column: what it lies in once it was copied together, by turns
	turn  int
	row   batch.Vector // the values of RowColumn

	tests  []*rowTest // in the order in which they are made
	learnt []*rowTest // of them, those of runtime filters
}

// readWindow reads the rows that the reader has gone to: those of live, or all where that is nil, that pass the tests. nil: none does.
func (s *Scan) readWindow(ctx context.Context, n int, live []int32) (*batch.Batch, error) {
	w := &s.window
	w.out = batch.Batch{Schema: s.schema, Cols: resize(w.out.Cols, len(s.place)), Len: n, Sel: live}
	clear(w.out.Cols)
	w.rows = nil
	s.compact(nil)
	tests, err := s.testsNow()
	if err != nil {
		return nil, err
	}
	for k, t := range tests {
		if err := s.load(t.columns); err != nil {
			return nil, err
		}
		v, err := t.expr.Eval(ctx, &w.out)
		if err != nil {
			return nil, err
		}
		before := w.out.Rows()
		w.sel = narrow(w.sel, &w.out, v)
		t.count(before, w.out.Rows())
		if out := before - w.out.Rows(); t.learnt && out > 0 {
			s.count(func(c *ScanStats) { c.Learnt.Rows += int64(out) })
		}
		if w.out.Rows() == 0 {
			return nil, nil
		}
		s.compact(tests[k+1:])
	}
	for i := range s.place {
		if s.leftOut(i) {
			w.out.Cols[i] = nil
		} else if err := s.loadColumn(i); err != nil {
			return nil, err
		}
	}
	return &w.out, nil
}

// testsNow are the tests for the rows of the open file, at the moment, in the order in which they are made.
func (s *Scan) testsNow() ([]*rowTest, error) {
	tests := s.tests
	if s.now.passed {
		tests = nil
	}
	s.window.learnt = s.window.learnt[:0]
	for _, l := range s.learnt {
		more, err := l.now()
		if err != nil {
			return nil, err
		}
		s.window.learnt = append(s.window.learnt, more...)
	}
	s.window.tests = inOrder(s.window.tests, tests, s.window.learnt...)
	return s.window.tests, nil
}

// load reads columns, if that was not done before.
func (s *Scan) load(columns []int) error {
	for _, i := range columns {
		if err := s.loadColumn(i); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scan) loadColumn(i int) (err error) {
	w, c := &s.window, s.filter.columns[i]
	switch {
	case w.out.Cols[i] != nil:
	case c.position >= 0:
		w.out.Cols[i], err = s.now.reader.Column(s.place[i], w.rows)
	case c.field.Name == FileColumn:
		w.out.Cols[i] = s.now.number.vector(c.field.Type, w.out.Len)
	default:
		reset(&w.row, c.field.Type, w.out.Len)
		first := s.now.reader.Position()
		for k := range w.row.I64 {
			at := int64(k)
			if w.rows != nil {
				at = int64(w.rows[k])
			}
			w.row.I64[k] = first + at
		}
		w.out.Cols[i] = &w.row
	}
	return err
}

// compact copies the selected rows together where they are few. tests are those to come.
func (s *Scan) compact(tests []*rowTest) {
	w := &s.window
	if w.out.Sel == nil || len(w.out.Sel)*sparse > w.out.Len {
		return
	}
	w.turn = 1 - w.turn
	sel := w.out.Sel
	kept := append(w.kept[w.turn][:0], sel...)
	if w.rows != nil {
		for k, i := range sel {
			kept[k] = w.rows[i]
		}
	}
	w.kept[w.turn] = kept
	if w.spare == nil {
		w.spare = make([][2]batch.Vector, len(w.out.Cols))
	}
	for i, c := range w.out.Cols {
		if c == nil {
			continue
		}
		if s.leftOut(i) && !looksAt(tests, i) {
			w.out.Cols[i] = nil
			continue
		}
		w.out.Cols[i] = gathered(&w.spare[i][w.turn], c, sel)
	}
	w.rows, w.out.Len, w.out.Sel = kept, len(kept), nil
}

// gathered is rows of a vector, at least one, in the memory of into where that can be.
func gathered(into, v *batch.Vector, rows []int32) *batch.Vector {
	if len(v.Children) > 0 || len(rows) == 0 {
		return v.Gather(rows)
	}
	into.Type = v.Type
	into.Reset()
	into.AppendRows(v, rows)
	return into
}
