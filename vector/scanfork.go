package vector

import (
	"context"
	"io"
	"sync"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
)

// Fork implements Forker. A morsel is a file, or a row group of one that has several.
func (s *Scan) Fork(n int) []Fork {
	q := &morselQueue{scan: s, users: n}
	out := make([]Fork, n)
	for i := range out {
		reader := *s // its columns and its counts
		out[i] = &scanFork{reader: &reader, queue: q}
	}
	return out
}

// morselQueue deals a scan's morsels out.
type morselQueue struct {
	mu      sync.Mutex
	scan    *Scan // for its files and its filter
	waiting []morsel
	count   int64
	users   int   // forks that are not closed
	err     error // io.EOF after the last morsel
}

// morsel is some rows of a file.
type morsel struct {
	number int64
	file   delta.File
	fileNo int64
	reader *delta.FileReader  // of the first morsel of a file, which goes to the fork that opened it; nil: to be opened
	rows   []parquet.RowRange // nil: all
}

// take returns the next morsel, or io.EOF.
func (q *morselQueue) take(ctx context.Context) (morsel, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.err == nil && len(q.waiting) == 0 {
		q.err = q.openNext(ctx)
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

// openNext opens the next file, and puts its morsels into waiting; none when nothing in it can match the filter. It needs mu.
func (q *morselQueue) openNext(ctx context.Context) error {
	n, f, err := q.scan.nextFile()
	if err != nil {
		return err
	}
	reader, rows, err := q.scan.open(ctx, f)
	if err != nil || reader == nil {
		return err
	}
	all := morsel{file: f, fileNo: n, reader: reader, rows: rows}
	groups := reader.Parquet().RowGroups()
	if len(groups) == 1 || f.DeletionVector() != nil { // each reader would read the deletion vector again
		q.waiting = append(q.waiting, all)
		return nil
	}
	start := int64(0)
	for _, g := range groups {
		group := parquet.RowRange{Start: start, End: start + g.NumRows}
		start = group.End
		if m := (morsel{file: f, fileNo: n, rows: group.Meet(rows)}); len(m.rows) > 0 {
			m.reader, reader = reader, nil
			q.waiting = append(q.waiting, m)
		}
	}
	if reader != nil {
		return reader.Close()
	}
	return nil
}

// leave is called once by each fork. The last one ends the files.
func (q *morselQueue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.users--; q.users > 0 {
		return
	}
	if q.err = io.EOF; q.scan.stop != nil {
		q.scan.stop()
	}
}

// scanFork reads some of a scan's morsels.
type scanFork struct {
	reader *Scan // hands out the rows of an open file
	queue  *morselQueue
	morsel int64
	ctx    context.Context // of the reads; ends with Close
	cancel context.CancelFunc
}

func (f *scanFork) Schema() *batch.Schema { return f.reader.schema }

func (f *scanFork) Morsel() int64 { return f.morsel }

func (f *scanFork) Next(ctx context.Context) (*batch.Batch, error) {
	if f.ctx == nil {
		f.ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f.reader.closed {
			return nil, io.EOF
		}
		if f.reader.now == nil {
			if err := f.advance(); err != nil {
				return nil, err
			}
		}
		b, err := f.reader.nextOfFile(ctx)
		if b != nil || err != nil {
			return b, err
		}
	}
}

// advance opens the next morsel.
func (f *scanFork) advance() error {
	m, err := f.queue.take(f.ctx)
	if err != nil {
		return err
	}
	if m.reader == nil {
		if m.reader, err = f.reader.openReader(f.ctx, m.file); err != nil {
			return err
		}
	}
	m.reader.Restrict(m.rows)
	f.morsel, f.reader.now = m.number, newOpenFile(m.fileNo, m.reader)
	return nil
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
	if f.cancel != nil {
		f.cancel()
	}
	f.queue.leave()
	return err
}
