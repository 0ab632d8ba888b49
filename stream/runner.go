package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/google/uuid"

	"lakesql/checkpoint"
)

// How long a stream waits after a transient fault: from the first, doubled each time, up to the cap, without end.
const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = time.Minute
)

// Results of a session that are no faults.
var (
	errFinished = errors.New("finished")       // the trigger's work is done
	errReopen   = errors.New("open once more") // nothing is wrong: what was opened is out of date
)

// loop is the stream's goroutine: one session after another, until it is told to stop, has finished, or meets a fault
// that a retry cannot mend. A session starts from what is on disk only, so a retry is a restart.
func (s *stream) loop(ctx context.Context, r *run) {
	lease := &leaseKeeper{owner: s.m.cfg.Owner}
	err := s.sessions(ctx, r, lease)
	r.cancel()
	lease.release(s.m.log)
	s.ended(err)
	close(r.done)
}

// sessions returns nil when the stream was stopped, errFinished, or the error that it failed with.
func (s *stream) sessions(ctx context.Context, r *run, lease *leaseKeeper) error {
	for {
		err := s.guarded(ctx, r, lease)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, errReopen) {
			continue
		}
		if errors.Is(err, errFinished) {
			if err = s.m.persistFinished(ctx, s); err == nil {
				return errFinished
			}
		}
		if isPermanent(err) {
			s.m.cfg.Events.BatchFailed(BatchFailed{Stream: s.name(), Err: err})
			return err
		}
		if !s.backoff(ctx, err) {
			return nil
		}
	}
}

// guarded runs one session and turns a panic into the stream's error.
func (s *stream) guarded(ctx context.Context, r *run, lease *leaseKeeper) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.m.log.Error("a stream's goroutine panicked", "stream", s.name(), "panic", p, "stack", string(debug.Stack()))
			err = &Error{Kind: KindPanic, Stream: s.name(),
				Message: fmt.Sprintf("internal fault in the stream: %v; the server's log has the stack, START STREAM tries again", p)}
		}
	}()
	runID := uuid.NewString()
	s.update(func(st *Status) {
		if st.RunID != "" {
			st.Restarts++
		}
		st.RunID = runID
	})
	return runSession(ctx, s, r, runID, lease)
}

// backoff waits before the next attempt. It returns false when ctx ended.
func (s *stream) backoff(ctx context.Context, err error) bool {
	s.mu.Lock()
	s.status.Attempts++
	wait := backoffOf(s.m.firstBackoff, s.status.Attempts)
	if isHeld(err) {
		wait, s.backlogSince = checkpoint.LeaseHeartbeat, time.Time{} // the other one works on it
	}
	now := s.m.now()
	s.status.LastError, s.status.LastErrorTime, s.status.NextAttempt = err.Error(), now, now.Add(wait)
	hint := ""
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		hint = ". Make room there: the stream goes on by itself, and nothing is lost or doubled"
	}
	s.setLocked(Retrying, fmt.Sprintf("%v%s (attempt %d; the next one at %s)", err, hint, s.status.Attempts, s.status.NextAttempt.UTC().Format(time.RFC3339)))
	name := s.def.FullName()
	s.mu.Unlock()
	s.m.cfg.Events.BatchFailed(BatchFailed{Stream: name, Err: err, Retry: true, Backoff: wait})

	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func backoffOf(first time.Duration, attempt int) time.Duration {
	wait := first
	for i := 1; i < attempt && wait < maxBackoff; i++ {
		wait *= 2
	}
	return min(wait, maxBackoff)
}

// leaseKeeper holds the checkpoint's lease over the sessions of one run, so that a dead holder is found out. It belongs to
// one goroutine at a time: the stream's, or the heartbeat's while that runs.
type leaseKeeper struct {
	owner string
	id    string
	lease *checkpoint.Lease
}

func (k *leaseKeeper) acquire(ctx context.Context, cp *checkpoint.Checkpoint) error {
	if k.lease == nil || k.id != cp.ID() {
		k.lease, k.id = cp.Lease(k.owner), cp.ID()
	}
	return k.lease.Acquire(ctx)
}

// release gives the lease back. A failure only makes the next owner wait until the heartbeat has been silent long enough.
func (k *leaseKeeper) release(log *slog.Logger) {
	if k.lease == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkpoint.LeaseHeartbeat)
	defer cancel()
	if err := k.lease.Release(ctx); err != nil {
		log.Warn("a stream's lease could not be given back", "error", err)
	}
}
