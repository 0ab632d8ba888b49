package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"lakesql/checkpoint"
	"lakesql/stream/source"
)

// Reasons of states in which nothing runs.
const (
	finishedReason = "everything that was there has been read"
	closedReason   = "the server is stopping; the stream starts again with the next one"
)

// stream is one entry of the manager: a definition, what is known about it, and the goroutine that runs it, if any.
//
// Invariants:
//   - run is not nil exactly while a goroutine of this stream lives; there is one at the most.
//   - Only that goroutine touches the checkpoint and the sources. Statements that do so (RESET, DROP ... PURGE) hold
//     lifecycle and have halted it first.
//   - changed is closed, and replaced, after each change of what a waiter looks at.
type stream struct {
	m   *Manager
	pid uint32

	lifecycle sync.Mutex // held by each statement that starts, stops or changes the stream; never taken with mu held

	mu      sync.Mutex // guards what follows
	def     Definition
	run     *run
	status  Status // Definition and the computed fields are filled in by snapshot
	changed chan struct{}
	waiters map[*waiter]struct{}
	dropped bool                   // forgotten by DROP STREAM
	closed  bool                   // the manager is closed: start does nothing
	live    *checkpoint.Checkpoint // the one that the running session has open; nil: none
	// what STALLED is computed from
	backlogSince time.Time // when the backlog was last empty, or something was committed; zero: no backlog
	rowsInBatch  int64     // rows that the running batch has read so far
}

// run is one life of a stream's goroutine.
type run struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended
	poke   chan struct{} // a waiter is new, or options changed: look again
	turn   *turn
	// Of the goroutine's sessions:
	notices  []source.RowError // not kept yet
	toldLoss bool              // that the SELECT leaves out rescued values
}

func newStream(m *Manager, d Definition, pid uint32) *stream {
	s := &stream{m: m, pid: pid, def: d, changed: make(chan struct{}), waiters: map[*waiter]struct{}{}}
	s.status = Status{ProcessID: pid, State: Paused, Reason: "stopped", Since: m.now(), LastBatchID: -1, LastCommitVersion: -1}
	switch {
	case d.Paused:
	case d.Finished:
		s.status.State, s.status.Reason = Finished, finishedReason
	default:
		s.status.State, s.status.Reason = Starting, "the server has not started its streams yet"
	}
	return s
}

// start launches the goroutine unless it lives. The caller holds lifecycle.
func (s *stream) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.setLocked(Paused, closedReason)
		return
	}
	if s.run != nil || s.dropped {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{cancel: cancel, done: make(chan struct{}), poke: make(chan struct{}, 1), turn: s.m.workers.newTurn()}
	s.run = r
	s.status.Attempts, s.status.NextAttempt = 0, time.Time{}
	s.setLocked(Starting, "opening the checkpoint, the sources and the target")
	go s.loop(ctx, r)
}

// halt ends the goroutine and waits for it. The running batch is finished or dropped whole.
func (s *stream) halt() {
	s.mu.Lock()
	r := s.run
	s.mu.Unlock()
	if r == nil {
		return
	}
	r.cancel()
	<-r.done
}

// close halts the stream for good, without changing what it is after a restart.
func (s *stream) close() {
	s.mu.Lock()
	s.closed = true
	r := s.run
	s.mu.Unlock()
	if r != nil {
		r.cancel()
		<-r.done
	}
	s.setState(Paused, closedReason)
}

// isWorking reports whether the stream's goroutine lives and does not wait for a next attempt.
func (s *stream) isWorking() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run != nil && s.status.State != Retrying
}

// succeeded ends a row of failed attempts.
func (s *stream) succeeded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Attempts, s.status.NextAttempt = 0, time.Time{}
	if s.status.State == Retrying || s.status.State == Starting {
		s.setLocked(Running, "")
	}
}

func (s *stream) name() string {
	d := s.definition()
	return d.FullName()
}

func (s *stream) definition() Definition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.def
}

// setState records a state with its reason and tells whoever waits.
func (s *stream) setState(state State, reason string) {
	s.mu.Lock()
	s.setLocked(state, reason)
	s.mu.Unlock()
}

func (s *stream) setLocked(state State, reason string) {
	if s.status.State == state && s.status.Reason == reason {
		return
	}
	if s.status.State != state {
		s.status.Since = s.m.now()
	}
	s.status.State, s.status.Reason = state, reason
	s.broadcastLocked()
	s.m.cfg.Events.StateChanged(StateChanged{Stream: s.def.FullName(), State: state, Reason: reason})
}

func (s *stream) broadcastLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// update changes the status under its lock.
func (s *stream) update(change func(*Status)) {
	s.mu.Lock()
	change(&s.status)
	s.broadcastLocked()
	s.mu.Unlock()
}

// setBacklog records what the sources have not given out yet.
func (s *stream) setBacklog(b source.Backlog) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.BacklogFiles, s.status.BacklogBytes, s.status.BacklogRows, s.status.WaitingFiles = b.Files, b.Bytes, b.Rows, b.Waiting
	switch {
	case b.Empty() && s.status.State != Running:
		s.backlogSince = time.Time{}
	case s.backlogSince.IsZero():
		s.backlogSince = s.m.now()
	}
}

// workIsDue says that there is something to commit, whatever comes of it: the time until the stream counts as stalled runs.
func (s *stream) workIsDue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.backlogSince.IsZero() {
		s.backlogSince = s.m.now()
	}
}

// snapshot is the stream's status now. STALLED is found here and not by the stream's goroutine: that one may be what hangs.
func (s *stream) snapshot() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.status
	st.Definition = s.def
	st.Definition.Options = maps.Clone(s.def.Options)
	st.SourceDescriptions = slices.Clone(s.status.SourceDescriptions)
	if s.run != nil {
		if since, before := s.run.turn.waiting(); since >= hangTime {
			st.Reason = fmt.Sprintf("waits for a worker since %s; %d streams are before it", since.Truncate(time.Second), before)
		}
	}
	if reason, stalled := s.stalledLocked(); stalled {
		st.State, st.Reason = Stalled, reason
	}
	return st
}

// pokeRun makes the stream's goroutine look again.
func (s *stream) pokeRun() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == nil {
		return
	}
	select {
	case s.run.poke <- struct{}{}:
	default:
	}
}

// ended records how the goroutine's life ended. It is the goroutine's last act but closing done.
func (s *stream) ended(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = nil
	s.status.NextAttempt = time.Time{}
	s.backlogSince = time.Time{}
	switch {
	case err == nil:
		s.setLocked(Starting, "stopping") // whoever has halted it says what comes next
	case errors.Is(err, errFinished):
		s.setLocked(Finished, finishedReason)
	default:
		s.failedLocked(err)
	}
}

func (s *stream) failedLocked(err error) {
	s.status.LastError, s.status.LastErrorTime = err.Error(), s.m.now()
	s.setLocked(Failed, err.Error())
}
