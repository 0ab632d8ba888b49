package vector

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"lakesql/batch"
)

// Shared is the rows of an operator that several others read. They are read once, when the first of them asks, kept, and spilled where memory is short.
//
//  1. The readers are made, and told which columns are looked at.
//  2. The first one that is read has all rows read.
//  3. When the last one is closed, or Shared itself, the rows are let go.
type Shared struct {
	child  Operator // nil: its forks are being read, or it is closed
	budget *Budget
	want   int // readers

	mu      sync.Mutex
	readers []*sharedReader
	open    int // readers that are not closed
	closed  bool

	start  sync.Once
	err    error
	chunks []*sharedChunk
	spills []*spill
	memory share
}

// sharedChunk is some rows of one morsel. A column that nobody looks at is nil.
type sharedChunk struct {
	morsel int64
	cols   []*batch.Vector
	len    int
}

// NewShared returns the rows of child for a number of readers. budget may be nil.
func NewShared(child Operator, readers int, budget *Budget) *Shared {
	return &Shared{child: child, budget: budget, want: readers, memory: share{budget: budget, what: "a result that is used twice"}}
}

// Reader returns an operator with some columns of the rows.
func (s *Shared) Reader(columns []int) Operator {
	r := &sharedReader{shared: s, columns: columns, schema: &batch.Schema{}, kept: columns, next: new(atomic.Int64)}
	for _, c := range columns {
		r.schema.Fields = append(r.schema.Fields, s.child.Schema().Fields[c])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers = append(s.readers, r)
	s.open++
	return r
}

// Close lets the rows go. It can be called twice, and before all readers are closed.
func (s *Shared) Close() error {
	s.start.Do(func() { s.err = errors.New("shared rows: closed") })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	errs := []error{s.memory.set(0)}
	if s.child != nil {
		errs = append(errs, s.child.Close())
	}
	for _, f := range s.spills {
		errs = append(errs, f.close())
	}
	s.chunks, s.spills, s.child = nil, nil, nil
	return errors.Join(errs...)
}

// leave is called once by each reader.
func (s *Shared) leave() error {
	s.mu.Lock()
	s.open--
	last := s.open == 0 && len(s.readers) == s.want
	s.mu.Unlock()
	if !last {
		return nil
	}
	return s.Close()
}

// await returns when the rows are there.
func (s *Shared) await(ctx context.Context) error {
	s.start.Do(func() {
		s.err = errors.New("shared rows: they are not there") // after a panic
		s.err = s.read(ctx)
	})
	return s.err
}

func (s *Shared) read(ctx context.Context) error {
	if columns, all := s.kept(); !all {
		keepColumns(s.child, columns)
	}
	forks := forksOf(s.child)
	s.child = nil
	workers := make([]*sharedWorker, len(forks))
	for i := range workers {
		workers[i] = &sharedWorker{shared: s, schema: forks[i].Schema(), memory: share{budget: s.budget, what: s.memory.what}}
	}
	err := drainForks(ctx, forks, workers)
	err = errors.Join(err, closeForks(forks))
	bytes := int64(0)
	for _, w := range workers {
		s.chunks = append(s.chunks, w.chunks...)
		if w.spilled != nil {
			s.spills = append(s.spills, w.spilled)
		}
		bytes += w.memory.bytes
		_ = w.memory.set(0) // to hold less is no error
	}
	slices.SortStableFunc(s.chunks, func(a, b *sharedChunk) int { return cmp.Compare(a.morsel, b.morsel) })
	for _, f := range s.spills {
		err = errors.Join(err, f.rewind())
	}
	return errors.Join(err, s.memory.set(bytes))
}

// kept are the columns that some reader looks at. all: it is not known of all readers.
func (s *Shared) kept() (columns []int, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.readers {
		columns = append(columns, r.kept...)
	}
	slices.Sort(columns)
	return slices.Compact(columns), len(s.readers) < s.want
}

// sharedWorker keeps the rows of one fork.
type sharedWorker struct {
	shared  *Shared
	schema  *batch.Schema
	chunks  []*sharedChunk
	full    int64 // bytes of the chunks but the last
	spilled *spill
	memory  share
}

func (w *sharedWorker) add(ctx context.Context, b *batch.Batch, morsel int64) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	c := w.chunk(morsel, n, len(b.Cols))
	for i, v := range b.Cols {
		c.cols[i] = appendPlain(c.cols[i], v, b.Sel, c.len)
	}
	c.len += n
	err := w.memory.set(w.full + c.size())
	if w.memory.mustSpill() {
		return w.spill(ctx)
	}
	return err
}

// chunk returns the chunk that the next n rows go to.
func (w *sharedWorker) chunk(morsel int64, n, columns int) *sharedChunk {
	if last := len(w.chunks) - 1; last >= 0 {
		c := w.chunks[last]
		if c.morsel == morsel && c.len+n <= batch.MaxRows {
			return c
		}
		w.full += c.size()
	}
	c := &sharedChunk{morsel: morsel, cols: make([]*batch.Vector, columns)}
	w.chunks = append(w.chunks, c)
	return c
}

// spill writes all rows to a file.
func (w *sharedWorker) spill(ctx context.Context) error {
	if w.spilled == nil {
		w.spilled = w.shared.budget.newSpill(w.schema)
	}
	for _, c := range w.chunks {
		if err := w.spilled.write(ctx, &batch.Batch{Schema: w.schema, Cols: c.cols, Len: c.len}); err != nil {
			return err
		}
	}
	w.chunks, w.full = nil, 0
	_ = w.memory.set(0)
	return w.memory.set(w.spilled.memory())
}

func (w *sharedWorker) finish(context.Context) error { return nil }

// size is about how many bytes the chunk takes.
func (c *sharedChunk) size() int64 {
	n := int64(0)
	for _, v := range c.cols {
		if v != nil {
			n += vectorSize(v)
		}
	}
	return n
}

// sharedReader hands out the rows, chunk by chunk, and then those of the files.
type sharedReader struct {
	shared  *Shared
	columns []int // of the child, by column
	schema  *batch.Schema
	kept    []int         // of the child
	next    *atomic.Int64 // the chunk or file that no fork has taken yet
	users   *atomic.Int32 // forks that are not closed; nil: it is not forked
	at      int64         // the chunk or file that the last rows are of
	file    *spill        // nil: no file is being read
	out     batch.Batch
	closed  bool
}

func (r *sharedReader) Schema() *batch.Schema { return r.schema }

// Morsel implements Fork.
func (r *sharedReader) Morsel() int64 { return r.at }

func (r *sharedReader) keepColumns(columns []int) {
	r.shared.mu.Lock()
	defer r.shared.mu.Unlock()
	r.kept = nil
	for _, c := range columns {
		r.kept = append(r.kept, r.columns[c])
	}
}

// Fork implements Forker.
func (r *sharedReader) Fork(n int) []Fork {
	out := make([]Fork, n)
	r.users = new(atomic.Int32)
	r.users.Store(int32(n))
	for i := range out {
		f := *r
		out[i] = &f
	}
	return out
}

// Next implements Operator.
func (r *sharedReader) Next(ctx context.Context) (*batch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.closed {
		return nil, io.EOF
	}
	s := r.shared
	if err := s.await(ctx); err != nil {
		return nil, err
	}
	for {
		if r.file != nil {
			b, err := r.file.next(ctx)
			if err == nil {
				return r.batch(b.Cols, b.Len), nil
			}
			if !errors.Is(err, io.EOF) {
				return nil, err
			}
			r.file = nil
		}
		r.at = r.next.Add(1) - 1
		switch i := int(r.at) - len(s.chunks); {
		case i < 0:
			c := s.chunks[r.at]
			return r.batch(c.cols, c.len), nil
		case i < len(s.spills):
			r.file = s.spills[i].reader()
		default:
			return nil, io.EOF
		}
	}
}

func (r *sharedReader) batch(cols []*batch.Vector, n int) *batch.Batch {
	r.out = batch.Batch{Schema: r.schema, Cols: resize(r.out.Cols, len(r.columns)), Len: n}
	for i, c := range r.columns {
		r.out.Cols[i] = cols[c]
	}
	return &r.out
}

// Close implements Operator.
func (r *sharedReader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	if r.users != nil && r.users.Add(-1) > 0 {
		return nil
	}
	return r.shared.leave()
}
