package stream

import (
	"context"
	"fmt"
	"time"

	"lakesql/stream/source"
)

// waiter is one WAIT FOR STREAM ... UNTIL CAUGHT UP. Its marks are taken and compared by the stream's goroutine, which is
// the only one that may ask the sources; it outlives sessions.
type waiter struct {
	done  chan struct{}
	marks []source.Mark // one a source; nil until they are taken
}

// WaitFor waits until the stream has reached until. timeout 0 waits as long as ctx lives. CAUGHT UP means that everything
// that was in the sources when the call came, whole or still being written, is committed and visible. A stream that
// fails, or is stopped, ends the wait with an error; one that finishes has caught up.
func (m *Manager) WaitFor(ctx context.Context, database, name string, until Until, timeout time.Duration) error {
	s, err := m.find(database, name)
	if err != nil {
		return err
	}
	var expired <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.C
	}
	w := &waiter{done: make(chan struct{})}
	if until.Batch == nil {
		s.addWaiter(w)
		defer s.removeWaiter(w)
	}
	for {
		done, changed, err := s.waited(until)
		if done || err != nil {
			return err
		}
		select {
		case <-w.done:
			return nil
		case <-changed:
		case <-expired:
			return s.timedOut(until, timeout)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// waited looks whether a wait is over for another reason than the waiter's own.
func (s *stream) waited(until Until) (done bool, changed <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := s.def.FullName()
	if until.Batch != nil && s.status.LastBatchID >= *until.Batch {
		return true, nil, nil
	}
	switch {
	case s.dropped:
		return false, nil, NotFound(name)
	case s.status.State == Failed:
		return false, nil, &Error{Kind: KindStreamFailed, Stream: name, Message: "the wait ends because the stream FAILED: " + s.status.Reason}
	case s.status.State == Paused:
		return false, nil, &Error{Kind: KindWrongState, Stream: name, Message: fmt.Sprintf("stream %s is PAUSED and reads nothing; type START STREAM %s first", name, name)}
	case s.status.State == Finished && until.Batch == nil:
		return true, nil, nil
	case s.status.State == Finished:
		return false, nil, &Error{Kind: KindWrongState, Stream: name, Message: fmt.Sprintf(
			"stream %s has FINISHED with batch %d and runs no batch %d; START STREAM %s reads what is new", name, s.status.LastBatchID, *until.Batch, name)}
	}
	return false, s.changed, nil
}

func (s *stream) timedOut(until Until, timeout time.Duration) error {
	st := s.snapshot()
	what := "has not caught up"
	if until.Batch != nil {
		what = fmt.Sprintf("has not committed batch %d (its last is %d)", *until.Batch, st.LastBatchID)
	}
	reason := st.Reason
	if reason != "" {
		reason = ": " + reason
	}
	name := st.Definition.FullName()
	return &Error{Kind: KindTimeout, Stream: name, Message: fmt.Sprintf("stream %s %s within %s; it is %s%s, with a backlog of %d files (%d of them still being written) and %d rows",
		name, what, timeout, st.State, reason, st.BacklogFiles, st.WaitingFiles, st.BacklogRows)}
}

func (s *stream) addWaiter(w *waiter) {
	s.mu.Lock()
	s.waiters[w] = struct{}{}
	s.mu.Unlock()
	s.pokeRun()
}

func (s *stream) removeWaiter(w *waiter) {
	s.mu.Lock()
	delete(s.waiters, w)
	s.mu.Unlock()
}

func (s *stream) currentWaiters() []*waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*waiter, 0, len(s.waiters))
	for w := range s.waiters {
		out = append(out, w)
	}
	return out
}

// takeMarks marks this moment for waiters that are new. It looks after they came, so their mark holds all that was there.
func (ss *session) takeMarks(ctx context.Context) error {
	var marks []source.Mark
	for _, w := range ss.s.currentWaiters() {
		if w.marks != nil {
			continue
		}
		if marks == nil {
			for _, src := range ss.sources {
				mark, err := src.Mark(ctx)
				if err != nil {
					return fmt.Errorf("look what there is to catch up with: %w", err)
				}
				marks = append(marks, mark)
			}
		}
		w.marks = marks
	}
	return nil
}

// settleWaiters lets those go whose marks are reached. empty says that a look after the marks found no data at all from
// which a schema could be told: then nothing is missing but what is still being written. Where the trigger ends, a waiter waits
// for that: it must not find the stream RUNNING behind its wait.
func (ss *session) settleWaiters(ctx context.Context, empty bool) error {
	if ss.def.Trigger.ends() {
		return nil
	}
	for _, w := range ss.s.currentWaiters() {
		if w.marks == nil {
			continue
		}
		reached := empty && ss.backlog().Waiting == 0
		if !reached {
			var err error
			if reached, err = ss.reached(ctx, w.marks); err != nil {
				return err
			}
		}
		if reached {
			ss.s.removeWaiter(w)
			close(w.done)
		}
	}
	return nil
}

func (ss *session) reached(ctx context.Context, marks []source.Mark) (bool, error) {
	for i, src := range ss.sources {
		ok, err := src.Reached(ctx, marks[i], ss.committed[i])
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}
