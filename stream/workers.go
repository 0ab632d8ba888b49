package stream

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// turnTime is how long a batch works on while other streams stand in line: long against the price of a change, short against what a person waits for.
	turnTime = 50 * time.Millisecond
	// hangTime is how long a worker may give no sign of life, in one read of a disk or a network, until the next stream goes on beside it.
	hangTime = time.Second
	// workersPerCore is more than one, because a small batch mostly waits: for the disk to have what it has written.
	workersPerCore = 4
	// upkeepAtOnce is how many streams' tables are compacted at once, beside the batches. That is work for processors, and nobody waits for it.
	upkeepAtOnce = 2
	// upkeepTime is how long one of them keeps its place: it may hang on a disk. Few tables take longer, and their work goes on beside that of the next.
	upkeepTime = time.Minute
)

// workers is the pool in which the streams of a manager work. However many streams there are, so many open, look and run batches at once;
// the others stand in line, first come first served. A stream that waits for its sources, its trigger or its next attempt has no worker.
//
// Invariants:
//   - free + len(busy) is the size of the pool.
//   - Somebody stands in line only while free is 0.
//   - Each wait in line ends: a long batch hands its worker on after turnTime and goes to the end of the line, and a worker that gives no sign
//     of life for hangTime no longer counts. The stream that has it goes on; its next sign of life puts it in line.
type workers struct {
	mu   sync.Mutex
	free int                // guarded by mu
	busy map[*turn]struct{} // guarded by mu; who has a worker
	line []*turn            // guarded by mu; who waits, the first first
	hung *time.Timer        // guarded by mu; looks for workers that hang, nil while nobody waits
}

func newWorkers(n int) *workers { return &workers{free: n, busy: map[*turn]struct{}{}} }

func defaultWorkers() int { return workersPerCore * runtime.GOMAXPROCS(0) }

// turn is one stream's place in the pool. take and release are for the stream's goroutine. A nil turn has all that it wants.
type turn struct {
	pool  *workers
	ready chan struct{} // receives when a worker is given
	again sync.Mutex    // held by yield: a batch may read its sources on several goroutines
	// guarded by pool.mu
	since time.Time // when the worker was given, or the wait began
	alive time.Time // the last sign of life
}

// Pool is how a manager's workers are used at one moment.
type Pool struct{ Size, Busy, Waiting int }

// Workers returns how the pool that the streams share is used.
func (m *Manager) Workers() Pool {
	p := m.workers
	p.mu.Lock()
	defer p.mu.Unlock()
	return Pool{Size: p.free + len(p.busy), Busy: len(p.busy), Waiting: len(p.line)}
}

func (p *workers) newTurn() *turn { return &turn{pool: p, ready: make(chan struct{}, 1)} }

// take waits for a worker. Without an error the caller has one until it gives it back.
func (t *turn) take(ctx context.Context) error {
	if t == nil {
		return ctx.Err()
	}
	p := t.pool
	p.mu.Lock()
	t.since = time.Now()
	p.line = append(p.line, t)
	p.serveLocked()
	p.mu.Unlock()
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := slices.Index(p.line, t); at >= 0 {
		p.line = slices.Delete(p.line, at, at+1)
		return ctx.Err()
	}
	<-t.ready // it was given at the same moment
	p.releaseLocked(t)
	return ctx.Err()
}

// helpers are turns, with a worker each, for others who work for the same stream: at most n, and as many as are free while nobody waits for one.
func (t *turn) helpers(n int) []*turn {
	if t == nil {
		return make([]*turn, n)
	}
	p := t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*turn, 0, n)
	for len(out) < n && p.free > 0 {
		h := p.newTurn()
		p.line = append(p.line, h)
		p.serveLocked()
		<-h.ready
		out = append(out, h)
	}
	return out
}

// yield is a sign of life, and lets others work where this turn was long.
func (t *turn) yield(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.again.Lock()
	defer t.again.Unlock()
	p := t.pool
	p.mu.Lock()
	now := time.Now()
	_, counts := p.busy[t]
	t.alive = now
	if counts && (len(p.line) == 0 || now.Sub(t.since) < turnTime) {
		p.mu.Unlock()
		return nil
	}
	p.releaseLocked(t)
	p.mu.Unlock()
	return t.take(ctx)
}

// release gives the worker back. Without one it does nothing.
func (t *turn) release() {
	if t == nil {
		return
	}
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.pool.releaseLocked(t)
}

// waiting is how long the stream has stood in line, and how many streams are before it; 0 when it does not.
func (t *turn) waiting() (since time.Duration, before int) {
	if t == nil {
		return 0, 0
	}
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	at := slices.Index(t.pool.line, t)
	if at < 0 {
		return 0, 0
	}
	return time.Since(t.since), at
}

func (p *workers) releaseLocked(t *turn) {
	if _, counts := p.busy[t]; counts {
		delete(p.busy, t)
		p.free++
	}
	p.serveLocked()
}

// serveLocked gives free workers to those who wait, and sees to it that workers that hang are found while some still do.
func (p *workers) serveLocked() {
	now := time.Now()
	for p.free > 0 && len(p.line) > 0 {
		t := p.line[0]
		p.line = slices.Delete(p.line, 0, 1)
		p.free--
		p.busy[t] = struct{}{}
		t.since, t.alive = now, now
		t.ready <- struct{}{}
	}
	switch {
	case len(p.line) == 0 && p.hung != nil:
		p.hung.Stop()
		p.hung = nil
	case len(p.line) > 0 && p.hung == nil:
		p.hung = time.AfterFunc(hangTime, p.replaceHung)
	}
}

// replaceHung no longer counts the workers that give no sign of life.
func (p *workers) replaceHung() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hung = nil
	for t := range p.busy {
		if time.Since(t.alive) >= hangTime {
			delete(p.busy, t)
			p.free++
		}
	}
	p.serveLocked()
}
