package stream

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/vector"
)

// output is where the workers of one batch write its rows.
type output struct {
	mu      sync.Mutex
	writers []*delta.FileWriter // of each worker its own, or one for all
	rows    []int64             // by worker
}

// newOutput makes a writer for each of so many workers. They share one where more would leave more and smaller files in the partitions, or values of identity columns twice.
func (ss *session) newOutput(snap *delta.Snapshot, fit *fitting, workers int) (*output, error) {
	out := &output{rows: make([]int64, workers)}
	for range workers {
		w, err := delta.NewFileWriter(ss.target.Table.Store(), snap, fit.metadata, delta.FileWriterOptions{
			Evaluator: ss.s.m.cfg.Evaluator, Hold: ss.s.m.cfg.Memory.Hold, Writers: workers,
		})
		if err != nil {
			return nil, err
		}
		if out.writers = append(out.writers, w); !w.Parts() {
			break
		}
	}
	return out, nil
}

// write adds rows of one worker.
func (o *output) write(ctx context.Context, worker int, rows *batch.Batch) error {
	o.rows[worker] += int64(rows.Rows())
	if len(o.writers) < len(o.rows) {
		o.mu.Lock()
		defer o.mu.Unlock()
		worker = 0
	}
	return o.writers[worker].Write(ctx, rows)
}

// close makes the files durable.
func (o *output) close(ctx context.Context, res *batchResult) error {
	files := make([][]delta.AddFile, len(o.writers))
	err := vector.InParallel(ctx, len(files), func(ctx context.Context, i int) (err error) {
		files[i], err = o.writers[i].Close(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for _, some := range files {
		res.files = append(res.files, some...)
	}
	for _, f := range res.files {
		res.bytes += f.Size
	}
	for _, n := range o.rows {
		res.rows += n
	}
	return nil
}

// abort drops what close has not made durable.
func (o *output) abort() {
	for _, w := range o.writers {
		_ = w.Abort() // the error that counts is the one that is returned
	}
}

// writeFiles drains rows into the table's data files, by as many workers as the rows can have and the pool has free. It closes rows.
func (ss *session) writeFiles(ctx context.Context, rows vector.Operator, snap *delta.Snapshot, fit *fitting, res *batchResult) error {
	forks, done := ss.fork(rows)
	defer done()
	out, err := ss.newOutput(snap, fit, len(forks))
	if err == nil {
		defer out.abort()
		err = vector.InParallel(ctx, len(forks), func(ctx context.Context, i int) error { return ss.drain(ctx, i, forks[i], fit, out) })
	}
	for _, f := range forks {
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
	}
	if err != nil {
		return err
	}
	return out.close(ctx, res)
}

// drain is the work of one worker.
func (ss *session) drain(ctx context.Context, worker int, rows vector.Operator, fit *fitting, out *output) error {
	for {
		chunk, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &selectError{err}
		}
		if chunk.Rows() == 0 {
			continue
		}
		if err := out.write(ctx, worker, fit.whole(chunk)); err != nil {
			return err
		}
		if err := ss.turnOf(worker).yield(ctx); err != nil {
			return err
		}
	}
}

// fork makes what the workers read: more than one where the rows can be parted and nobody waits for the workers that are free.
func (ss *session) fork(rows vector.Operator) (forks []vector.Operator, done func()) {
	f, ok := rows.(vector.Forker)
	if !ok || len(ss.sources) != 1 {
		return []vector.Operator{rows}, func() {}
	}
	helpers := ss.turn.helpers(runtime.GOMAXPROCS(0) - 1)
	for _, fork := range f.Fork(1 + len(helpers)) {
		forks = append(forks, fork)
	}
	release := func(some []*turn) {
		for _, helper := range some {
			helper.release()
		}
	}
	release(helpers[len(forks)-1:])
	ss.helpers = helpers[:len(forks)-1]
	return forks, func() {
		release(ss.helpers)
		ss.helpers = nil
	}
}

// turnOf is the place in the pool of one of the batch's workers.
func (ss *session) turnOf(worker int) *turn {
	if worker == 0 || worker > len(ss.helpers) {
		return ss.turn
	}
	return ss.helpers[worker-1]
}
