package vector

import (
	"context"
	"errors"
	"io"
	"slices"

	"lakesql/batch"
)

// windowSegment is whole partitions, and while it is gathered the beginning of another one.
type windowSegment struct {
	*windowing
	chunks  []windowChunk
	spilled *spill // the chunks that came first; nil: none
	written int    // rows in spilled
	rows    windowRows
	begins  []bool          // the rows with which a partition begins
	last    int             // the last of them
	results []*batch.Vector // by column; nil: not wanted
	memory  share
	held    int64 // bytes of chunks
	full    bool  // there is no room for more
	at      int   // rows handed out
}

// windowChunk is some rows as they came.
type windowChunk struct {
	cols []*batch.Vector
	n    int
}

// windowRows are what the functions see of a segment.
type windowRows struct {
	n          int
	inputs     []*batch.Vector
	partitions spans
	order      []SortKey
	orderAt    int // where the keys of the order begin among the inputs
	peers      []spans
}

func (o *windowing) newSegment() *windowSegment {
	s := &windowSegment{windowing: o, memory: share{budget: o.budget, what: "a window"}}
	s.rows.order, s.rows.orderAt = o.window.Order, len(o.window.Partition)
	s.rows.inputs = make([]*batch.Vector, len(o.inputs))
	for i, e := range o.inputs {
		s.rows.inputs[i] = batch.NewVector(e.Type(), 0)
	}
	return s
}

// whole says whether there are enough rows, and partitions that have ended.
func (s *windowSegment) whole() bool { return s.last > 0 && (s.full || s.rows.n >= segmentRows) }

// add takes in rows.
func (s *windowSegment) add(ctx context.Context, b *batch.Batch) error {
	before := s.rows.n
	s.rows.n += b.Rows()
	var err error
	if s.evalled, err = evalAll(ctx, s.windowing.inputs, s.evalled, b); err != nil {
		return err
	}
	size := int64(0)
	for i, v := range s.evalled {
		to := s.rows.inputs[i]
		to.AppendRows(v, b.Sel)
		size += vectorSize(to)
		if len(to.Bytes) > 1<<30 {
			return &MemoryError{What: "a window", Limit: 1 << 30}
		}
	}
	s.begins = append(s.begins, make([]bool, b.Rows())...)
	if before == 0 {
		s.begins[0] = true
	}
	for _, v := range s.rows.inputs[:len(s.window.Partition)] {
		markChanges(s.begins, v, max(1, before))
	}
	for i := s.rows.n - 1; i >= max(1, before); i-- {
		if s.begins[i] {
			s.last = i
			break
		}
	}
	s.keep(b)
	err = s.memory.set(size + s.held)
	if s.full = s.memory.mustSpill(); s.full && s.last == 0 {
		if err = s.spill(ctx); err == nil {
			err = s.memory.set(size)
		}
	}
	return err
}

// keep keeps the columns of rows.
func (s *windowSegment) keep(b *batch.Batch) {
	c := windowChunk{cols: slices.Clone(b.Cols), n: b.Rows()}
	for i, v := range c.cols {
		if v == nil {
			continue
		}
		if s.copied || b.Sel != nil {
			c.cols[i] = appendPlain(nil, v, b.Sel, 0)
		}
		s.held += usedBytes(c.cols[i])
	}
	s.chunks = append(s.chunks, c)
}

// spill writes the chunks to disk.
func (s *windowSegment) spill(ctx context.Context) error {
	schema := s.child.Schema()
	if s.spilled == nil {
		s.spilled = s.budget.newSpill(schema)
	}
	for _, c := range s.chunks {
		if err := s.spilled.write(ctx, &batch.Batch{Schema: schema, Cols: c.cols, Len: c.n}); err != nil {
			return err
		}
		s.written += c.n
	}
	s.chunks, s.held = nil, 0
	return nil
}

// cut takes the partition that has not ended out of the segment, into one of its own.
func (s *windowSegment) cut() (*windowSegment, error) {
	rest := s.newSegment()
	n := s.rows.n - s.last
	for i, v := range s.rows.inputs {
		rest.rows.inputs[i].AppendRows(v.Slice(s.last, s.rows.n), nil)
		s.rows.inputs[i] = v.Slice(0, s.last)
	}
	rest.rows.n, rest.begins = n, slices.Clone(s.begins[s.last:])
	s.begins, s.rows.n = s.begins[:s.last], s.last
	for n > 0 { // they came with the last rows, which are not spilled
		c := &s.chunks[len(s.chunks)-1]
		take := min(n, c.n)
		moved := windowChunk{cols: make([]*batch.Vector, len(c.cols)), n: take}
		for i, v := range c.cols {
			if v != nil {
				moved.cols[i], c.cols[i] = v.Slice(c.n-take, c.n), v.Slice(0, c.n-take)
				rest.held += usedBytes(moved.cols[i])
			}
		}
		rest.chunks = slices.Insert(rest.chunks, 0, moved)
		if c.n -= take; c.n == 0 {
			s.chunks = s.chunks[:len(s.chunks)-1]
		}
		n -= take
	}
	return rest, rest.memory.set(rest.held)
}

// compute computes the functions.
func (s *windowSegment) compute(ctx context.Context) error {
	s.rows.partitions = newSpans(s.begins)
	s.rows.peers = make([]spans, len(s.rows.order)+1)
	for i := range s.rows.inputs {
		s.rows.inputs[i] = s.rows.inputs[i].Decode()
	}
	s.results = make([]*batch.Vector, len(s.window.Columns))
	size := int64(0)
	for i := range s.window.Columns {
		if s.wanted != nil && !s.wanted[i] {
			continue
		}
		var err error
		if s.results[i], err = s.rows.column(ctx, &s.window.Columns[i], s.windowing.args[i], s.bounds[i]); err != nil {
			return err
		}
		size += vectorSize(s.results[i])
	}
	s.rows.inputs, s.rows.peers, s.rows.partitions, s.begins = nil, nil, spans{}, nil
	if s.spilled != nil {
		if err := s.spilled.rewind(); err != nil {
			return err
		}
	}
	return s.memory.set(size + s.held)
}

// take hands out the next rows, or io.EOF.
func (s *windowSegment) take(ctx context.Context) ([]*batch.Vector, int, error) {
	var c windowChunk
	switch {
	case s.at < s.written:
		b, err := s.spilled.next(ctx)
		if err != nil {
			return nil, 0, err
		}
		c = windowChunk{cols: slices.Clone(b.Cols), n: b.Len}
	case len(s.chunks) > 0:
		c = s.chunks[0]
		s.chunks = s.chunks[1:]
	default:
		return nil, 0, io.EOF
	}
	for _, v := range s.results {
		if v != nil {
			v = v.Slice(s.at, s.at+c.n)
		}
		c.cols = append(c.cols, v)
	}
	s.at += c.n
	return c.cols, c.n, nil
}

// close gives everything back. nil holds nothing.
func (s *windowSegment) close() error {
	if s == nil {
		return nil
	}
	s.chunks = nil
	return errors.Join(s.memory.set(0), s.spilled.close())
}

// peersOf are the rows that are equal by so many keys of the order.
func (r *windowRows) peersOf(keys int) spans {
	if keys == 0 {
		return r.partitions
	}
	if r.peers[keys].start == nil {
		begins := make([]bool, r.n)
		for i, start := range r.partitions.start {
			begins[i] = int(start) == i
		}
		for _, v := range r.inputs[r.orderAt : r.orderAt+keys] {
			markChanges(begins, v, 1)
		}
		r.peers[keys] = newSpans(begins)
	}
	return r.peers[keys]
}

// spans tell of each row where those begin and end that are equal to it in something. They lie side by side.
type spans struct{ start, end []int32 }

// newSpans returns the spans that begin where begins says so.
func newSpans(begins []bool) spans {
	s := spans{start: make([]int32, len(begins)), end: make([]int32, len(begins))}
	from := 0
	for i := 1; i <= len(begins); i++ {
		if i < len(begins) && !begins[i] {
			continue
		}
		for k := from; k < i; k++ {
			s.start[k], s.end[k] = int32(from), int32(i)
		}
		from = i
	}
	return s
}

// markChanges sets the marks of the rows from lo on, at least 1, whose value is another one than that of the row before.
func markChanges(marks []bool, v *batch.Vector, lo int) {
	if v.Valid == nil && v.Dict == nil {
		switch v.Type.Layout() {
		case batch.LayoutI32:
			markOthers(marks, v.I32, lo)
			return
		case batch.LayoutI64:
			markOthers(marks, v.I64, lo)
			return
		}
	}
	for i := lo; i < len(marks); i++ {
		if !marks[i] {
			marks[i] = !sameValue(v, i-1, i)
		}
	}
}

func markOthers[T comparable](marks []bool, values []T, lo int) {
	for i := lo; i < len(marks); i++ {
		marks[i] = marks[i] || values[i] != values[i-1]
	}
}

// sameValue says whether two rows are equal as keys.
func sameValue(v *batch.Vector, i, j int) bool {
	if v.IsNull(i) || v.IsNull(j) {
		return v.IsNull(i) == v.IsNull(j)
	}
	return v.Dict != nil && v.Codes[i] == v.Codes[j] || batch.Compare(v, i, v, j) == 0
}
