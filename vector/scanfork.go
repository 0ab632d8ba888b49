package vector

import (
	"context"
	"errors"
	"io"
	"sync"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
)

// Fork implements Forker. A morsel is a file, a row group of one that has several, or where there are fewer of those than forks, some pages of one.
func (s *Scan) Fork(n int) []Fork {
	s.begin()
	q := &morselQueue{scan: s, users: n, forks: n}
	out := make([]Fork, n)
	for i := range out {
		reader := *s // its columns and its counts
		reader.tests, reader.learnt = cloneTests(s.tests), cloneLearnt(s.learnt)
		out[i] = &scanFork{reader: &reader, queue: q}
	}
	return out
}

const (
	// piecesPerFork is into how many pieces for each fork a file is cut that no other file follows: with more, the forks end at the same time; with fewer, less of the file is read twice.
	piecesPerFork = 2
	// minPieceRows is how many rows a piece of a row group has at least: dictionaries are read anew for each.
	minPieceRows = 1 << 15
)

// morselQueue deals a scan's morsels out.
type morselQueue struct {
	mu      sync.Mutex
	scan    *Scan      // for its files and its filter
	next    []numbered // files that are not ruled out and not opened
	ended   bool       // no files come after next
	waiting []morsel
	count   int64
	forks   int
	users   int             // forks that are not closed
	ctx     context.Context // of the reads of all forks; ends with the last one
	cancel  context.CancelFunc
	err     error // io.EOF after the last morsel
}

// numbered is a file that the filter does not rule out.
type numbered struct {
	number   int64
	file     delta.File
	coverage Coverage
}

// morsel is some rows of a file.
type morsel struct {
	number int64
	file   delta.File
	fileNo int64
	matching
}

// take returns the next morsel, or io.EOF.
func (q *morselQueue) take(ctx context.Context) (morsel, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ctx == nil {
		q.ctx, q.cancel = context.WithCancel(context.WithoutCancel(ctx))
	}
	for q.err == nil && len(q.waiting) == 0 {
		q.err = q.openNext()
	}
	if q.err != nil {
		return morsel{}, q.err
	}
	m := q.waiting[0]
	q.waiting = q.waiting[1:]
	m.number = q.count
	q.count++
	return m, nil
}

// lookAhead finds the files that come next, as many as there are forks. It needs mu.
func (q *morselQueue) lookAhead() error {
	for !q.ended && len(q.next) < q.forks {
		n, err := q.scan.nextFile()
		if errors.Is(err, io.EOF) {
			q.ended = true
			return nil
		}
		if err != nil {
			return err
		}
		if n.coverage != NoRows {
			q.next = append(q.next, n)
		}
	}
	return nil
}

// openNext opens the next file, and puts its morsels into waiting; none when nothing in it can match the filter. It needs mu.
func (q *morselQueue) openNext() error {
	if err := q.lookAhead(); err != nil {
		return err
	}
	if len(q.next) == 0 {
		return io.EOF
	}
	f := q.next[0]
	q.next = q.next[1:]
	o, err := q.scan.open(q.ctx, f)
	if err != nil || o.reader == nil {
		return err
	}
	pieces, err := q.pieces(o)
	if err != nil {
		return errors.Join(err, o.reader.Close())
	}
	for _, rows := range pieces {
		m := morsel{file: f.file, fileNo: f.number, matching: matching{reader: o.reader.Share(), rows: rows, passed: o.passed}}
		q.waiting = append(q.waiting, m)
	}
	return o.reader.Close()
}

// pieces cuts the rows of a file that can match into morsels. It needs mu.
func (q *morselQueue) pieces(o matching) ([][]parquet.RowRange, error) {
	groups := o.reader.Parquet().RowGroups()
	parts := 1 // of a row group
	if len(q.next) < q.forks-1 && len(groups) > 0 {
		parts = (q.forks*piecesPerFork + len(groups) - 1) / len(groups)
	}
	var out [][]parquet.RowRange
	for g, group := range groups {
		all := parquet.RowRange{Start: group.Start, End: group.Start + group.NumRows}
		left := all.Meet(o.rows)
		if len(left) == 0 {
			continue
		}
		most := min(int64(parts), countRows(left)/minPieceRows)
		if most > 1 {
			cuts, err := o.reader.Cuts(g)
			if err != nil {
				return nil, err
			}
			for _, cut := range spacedCuts(cuts, left, most) {
				if piece := (parquet.RowRange{Start: all.Start, End: cut}).Meet(left); len(piece) > 0 {
					out = append(out, piece)
				}
				all.Start = cut
			}
		}
		if rest := all.Meet(left); len(rest) > 0 {
			out = append(out, rest)
		}
	}
	return out, nil
}

// spacedCuts are those of the cuts, which ascend, that part rows into at most n pieces of about the same size.
func spacedCuts(cuts []int64, rows []parquet.RowRange, n int64) []int64 {
	size := countRows(rows) / n
	var out []int64
	from := int64(0)
	for _, cut := range cuts {
		if piece := (parquet.RowRange{Start: from, End: cut}).Meet(rows); countRows(piece) >= size {
			out, from = append(out, cut), cut
		}
	}
	return out
}

// leave is called once by each fork. The last one ends the files.
func (q *morselQueue) leave() (err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.users--; q.users > 0 {
		return nil
	}
	for _, m := range q.waiting {
		err = errors.Join(err, m.reader.Close())
	}
	q.waiting, q.err = nil, io.EOF
	if q.cancel != nil {
		q.cancel()
	}
	if q.scan.stop != nil {
		q.scan.stop()
	}
	return err
}

// scanFork reads some of a scan's morsels.
type scanFork struct {
	reader *Scan // hands out the rows of an open file
	queue  *morselQueue
	morsel int64
}

func (f *scanFork) Schema() *batch.Schema { return f.reader.schema }

func (f *scanFork) Morsel() int64 { return f.morsel }

func (f *scanFork) Next(ctx context.Context) (*batch.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f.reader.closed {
			return nil, io.EOF
		}
		if f.reader.now == nil {
			if err := f.advance(ctx); err != nil {
				return nil, err
			}
		}
		b, err := f.reader.nextOfFile(ctx)
		if b != nil || err != nil {
			return b, err
		}
	}
}

// advance opens the next morsel that has rows.
func (f *scanFork) advance(ctx context.Context) error {
	for {
		m, err := f.queue.take(ctx)
		if err != nil {
			return err
		}
		some, err := f.reader.restrict(ctx, m.reader, m.file, m.rows)
		if err == nil && some {
			f.morsel, f.reader.now = m.number, newOpenFile(m.fileNo, m.reader, m.passed)
			return nil
		}
		if err = errors.Join(err, m.reader.Close()); err != nil {
			return err
		}
	}
}

func (f *scanFork) Close() error {
	if f.reader.closed {
		return nil
	}
	f.reader.closed = true
	var err error
	if f.reader.now != nil {
		err = f.reader.now.reader.Close()
	}
	return errors.Join(err, f.queue.leave())
}
