package vector

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"lakesql/batch"
)

const (
	// joinPartitions is how many parts a join that does not fit is cut into at once.
	joinPartitions = 1 << partitionBits
	partitionBits  = 4
	// mostPartitioned is how often a part is cut again. What does not fit then are the rows of one key.
	mostPartitioned = 6
)

// spilledJoin is a join whose build side does not fit: both sides are written to disk in parts by their keys, and then joined part by part. Rows with equal keys are in the
// same part, and so each part is a join by itself.
type spilledJoin struct {
	depth   int         // how often the rows were cut before
	spilled atomic.Bool // the build side is being spilled

	mu           sync.Mutex
	build, probe [joinPartitions][]*spill // guarded by mu; one a worker
}

// canPartition says whether the join can be cut into parts.
func (b *joinBuild) canPartition() bool {
	return b.memory.budget != nil && b.memory.budget.space != nil && b.parts.depth < mostPartitioned && len(b.join.Build) > 0 &&
		(b.join.Kind != NotInJoin || b.join.existence() && len(b.join.Build) == 1)
}

// part notes that the build side is being spilled. That can only be with a budget.
func (b *joinBuild) part() {
	b.parts.spilled.Store(true)
	b.memory.budget.part()
}

// take takes over what a worker has written.
func (s *spilledJoin) take(to *[joinPartitions][]*spill, from *partitioner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range from.files {
		if f != nil {
			to[i] = append(to[i], f)
		}
	}
	from.files = [joinPartitions]*spill{}
}

// close removes the files.
func (s *spilledJoin) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i := range joinPartitions {
		for _, f := range append(s.build[i], s.probe[i]...) {
			errs = append(errs, f.close())
		}
		s.build[i], s.probe[i] = nil, nil
	}
	return errors.Join(errs...)
}

// partitioner writes rows to the files of their parts.
type partitioner struct {
	join   *spilledJoin
	schema *batch.Schema
	budget *Budget
	files  [joinPartitions]*spill
	rows   [joinPartitions][]int32
	hasher *rowHasher
}

// newPartitioner returns one for rows with keys of some types.
func (b *joinBuild) newPartitioner(schema *batch.Schema) *partitioner {
	types := make([]batch.Type, len(b.join.Build))
	for i, e := range b.join.Build {
		types[i] = e.Type()
	}
	return &partitioner{join: &b.parts, schema: schema, budget: b.memory.budget, hasher: newRowHasher(types)}
}

// write adds the selected rows of a batch with these keys.
func (p *partitioner) write(ctx context.Context, b *batch.Batch, keys []*batch.Vector) error {
	for i := range p.rows {
		p.rows[i] = p.rows[i][:0]
	}
	shift := partitionBits * p.join.depth // tables of one word look at the highest bits
	for k, h := range p.hasher.hash(keys, b.Sel, b.Rows()) {
		part := h >> shift & (joinPartitions - 1)
		p.rows[part] = append(p.rows[part], int32(b.Row(k)))
	}
	for i, rows := range p.rows {
		if len(rows) == 0 {
			continue
		}
		if p.files[i] == nil {
			p.files[i] = p.budget.newSpill(p.schema)
		}
		some := *b
		some.Sel = rows
		if err := p.files[i].write(ctx, &some); err != nil {
			return err
		}
	}
	return nil
}

// memory is about how many bytes the files hold.
func (p *partitioner) memory() int64 {
	n := int64(0)
	for _, f := range p.files {
		if f != nil {
			n += f.memory()
		}
	}
	return n
}

func (p *partitioner) close() error {
	var errs []error
	for _, f := range p.files {
		errs = append(errs, f.close())
	}
	p.files = [joinPartitions]*spill{}
	return errors.Join(errs...)
}

// spilledRows hands out what was spilled, file after file or, by its forks, side by side.
type spilledRows struct {
	schema *batch.Schema
	files  []*spill
	opened bool // the first file
	morsel int64
}

func (s *spilledRows) Schema() *batch.Schema { return s.schema }

func (s *spilledRows) Morsel() int64 { return s.morsel }

func (s *spilledRows) Fork(n int) []Fork {
	forks := make([]Fork, max(1, min(n, len(s.files))))
	for i := range forks {
		lo, hi := i*len(s.files)/len(forks), (i+1)*len(s.files)/len(forks)
		forks[i] = &spilledRows{schema: s.schema, files: s.files[lo:hi], morsel: int64(lo)}
	}
	return forks
}

func (s *spilledRows) Next(ctx context.Context) (*batch.Batch, error) {
	for len(s.files) > 0 {
		if !s.opened {
			if err := s.files[0].rewind(); err != nil {
				return nil, err
			}
			s.opened = true
		}
		b, err := s.files[0].next(ctx)
		if !errors.Is(err, io.EOF) {
			return b, err
		}
		if err := s.files[0].close(); err != nil {
			return nil, err
		}
		if s.files, s.opened = s.files[1:], false; len(s.files) > 0 {
			s.morsel++
		}
	}
	return nil, io.EOF
}

func (s *spilledRows) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.close())
	}
	s.files = nil
	return errors.Join(errs...)
}

// spill writes what the worker has to disk.
func (w *buildWorker) spill(ctx context.Context) error {
	if w.parts == nil {
		w.parts = w.build.newPartitioner(w.build.buildSchema)
	}
	for len(w.chunks) > 0 {
		c := w.chunks[0]
		w.chunks = w.chunks[1:]
		keys := make([]*batch.Vector, len(w.keys))
		for i, e := range w.keys {
			if keys[i] = c.keys[i]; keys[i] == nil {
				keys[i] = c.cols[e.(*column).index]
			} else if e, ok := e.(*column); ok {
				c.cols[e.index] = keys[i]
			}
		}
		if err := w.parts.write(ctx, &batch.Batch{Schema: w.build.buildSchema, Cols: c.cols, Len: c.len}, keys); err != nil {
			return err
		}
	}
	w.chunks, w.bytes = nil, 0
	_ = w.memory.set(w.parts.memory()) // a few buffers, whatever the budget
	return nil
}

// nextSpilled is next for a join in parts: the rows of this fork go to their parts first, and the fork that is the last one to be done joins them.
func (p *prober) nextSpilled(ctx context.Context, probe Fork) (*batch.Batch, error) {
	if !p.done {
		if err := p.spillProbe(ctx, probe); err != nil {
			return nil, err
		}
		p.done = true
		if p.build.ended(nil, probe.Morsel()) {
			p.after = true
		}
	}
	for p.after && !(p.join.Kind == NotInJoin && p.build.rows.null) {
		if p.part == nil {
			if p.at == joinPartitions {
				return nil, io.EOF
			}
			p.part = p.build.joinPart(p.at)
			p.at++
		}
		b, err := p.part.Next(ctx)
		if !errors.Is(err, io.EOF) {
			return b, err
		}
		if err := p.part.Close(); err != nil {
			return nil, err
		}
		p.part = nil
	}
	return nil, io.EOF
}

// spillProbe reads a fork of the probe to its end.
func (p *prober) spillProbe(ctx context.Context, probe Fork) error {
	b := p.build
	parts := b.newPartitioner(b.probeSchema)
	memory := share{budget: b.memory.budget, what: b.memory.what}
	defer func() { _ = memory.set(0) }()
	for {
		rows, err := probe.Next(ctx)
		if errors.Is(err, io.EOF) {
			b.parts.take(&b.parts.probe, parts)
			return nil
		}
		if err == nil {
			p.keys, err = evalAll(ctx, p.join.Probe, p.keys, rows)
		}
		if err == nil {
			err = parts.write(ctx, rows, p.keys)
		}
		if err != nil {
			return errors.Join(err, parts.close())
		}
		_ = memory.set(parts.memory()) // a few buffers, whatever the budget
	}
}

// joinPart returns the join of a part. What belongs to it is closed with it.
func (b *joinBuild) joinPart(i int) *joining {
	b.parts.mu.Lock()
	defer b.parts.mu.Unlock()
	probe := &spilledRows{schema: b.probeSchema, files: b.parts.probe[i]}
	build := &spilledRows{schema: b.buildSchema, files: b.parts.build[i]}
	b.parts.probe[i], b.parts.build[i] = nil, nil
	j := b.join
	j.Probe, j.Build = cloneAll(j.Probe), cloneAll(j.Build)
	if j.Residual != nil {
		j.Residual = j.Residual.Clone()
	}
	out := &joining{join: j, build: newJoinBuild(build, b.probeSchema, j, b.memory.budget)}
	out.build.parts.depth = b.parts.depth + 1
	out.build.probeOut, out.build.buildOut = b.probeOut, b.buildOut
	out.build.elsewhere = true
	out.over(whole{probe})
	return out
}
