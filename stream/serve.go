package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lakesql/checkpoint"
	"lakesql/stream/source"
)

// serve runs batches: looks when the trigger, a hint or the repeated listing says so, and runs what a look finds.
func (ss *session) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	wait := ss.forwardHints(ctx)
	defer wait()
	defer cancel()
	for {
		if err := ss.takeMarks(ctx); err != nil {
			return err
		}
		found, err := ss.tick(ctx)
		if err != nil {
			return err
		}
		if err := ss.keepNotices(ctx); err != nil {
			return err
		}
		if ss.rests(found) {
			ss.announce(ctx, found, ss.pace.nextLook()) // before a waiter goes on and looks at the state
		}
		if err := ss.settleWaiters(ctx, found == nothingToInfer); err != nil {
			return err
		}
		if ss.finished(found) {
			return errFinished
		}
		if err := ss.rest(ctx, found); err != nil {
			return err
		}
	}
}

// found is what a look found.
type found uint8

const (
	nothing        found = iota // the stream has caught up
	nothingToInfer              // there is no data yet that tells the schema
	someMore                    // a batch was run and more is there
	wasAll                      // a batch was run and nothing more was there when it began
)

// tick looks once and runs one batch, if there is something to run.
func (ss *session) tick(ctx context.Context) (found, error) {
	start := ss.s.m.now()
	b, got, err := ss.nextBatch(ctx, start)
	ss.pace.looked(start, ss.s.m.now())
	if err != nil {
		if !ss.backlog().Empty() {
			ss.s.workIsDue()
		}
		return 0, err
	}
	if b == nil {
		ss.s.succeeded()
		ss.s.setBacklog(ss.backlog())
		return got, nil
	}
	if err := ss.runBatch(ctx, b, start); err != nil {
		return 0, err
	}
	ss.lastTick = start
	if b.more {
		return someMore, nil
	}
	return wasAll, nil
}

// nextBatch returns the batch to run: the one an earlier run recorded, or a new one whose range it makes durable. nil
// when there is none.
func (ss *session) nextBatch(ctx context.Context, now time.Time) (*micro, found, error) {
	if err := ss.verify(ctx); err != nil {
		return nil, 0, err
	}
	if b := ss.replay; b != nil {
		return b, 0, nil
	}
	if ss.def.Trigger.ends() && !ss.frozen {
		for _, src := range ss.sources {
			if err := src.Freeze(ctx); err != nil {
				return nil, 0, err
			}
		}
		ss.frozen = true
	}
	if _, err := ss.schemas(ctx); errors.Is(err, source.ErrNoData) {
		return nil, nothingToInfer, nil
	} else if err != nil {
		return nil, 0, err
	}
	return ss.record(ctx, now)
}

// record asks the sources for the ends of the next range and writes them to the offset log.
func (ss *session) record(ctx context.Context, now time.Time) (*micro, found, error) {
	b := &micro{id: ss.next, time: now.Truncate(time.Millisecond), start: ss.committed, took: durations{}}
	limit := ss.opts.limit
	if ss.def.Trigger.Kind == Once {
		limit = source.Limit{All: true}
	}
	isNew := false
	for i, src := range ss.sources {
		end, more, err := src.Latest(ctx, b.start[i], limit)
		if err != nil {
			return nil, 0, err
		}
		b.end = append(b.end, end)
		b.more = b.more || more
		isNew = isNew || end != b.start[i]
	}
	looked := ss.s.m.now()
	b.took.add("latestOffset", now, looked)
	if !isNew {
		return nil, nothing, nil
	}
	ss.s.workIsDue()
	err := ss.cp.Offsets().Add(ctx, b.id, checkpoint.Offsets{
		WatermarkMs: ss.watermark, TimestampMs: b.time.UnixMilli(), Conf: ss.conf, Sources: offsetTexts(b.end),
	})
	if err != nil {
		return nil, 0, fmt.Errorf("record batch %d: %w", b.id, err)
	}
	b.took.add("walCommit", looked, ss.s.m.now())
	ss.replay = b // until it is committed it is what there is to run
	return b, 0, nil
}

// verify makes sure that the checkpoint is still there, and still this one.
func (ss *session) verify(ctx context.Context) error {
	err := ss.cp.Verify(ctx)
	if checkpoint.IsKind(err, checkpoint.Gone) || checkpoint.IsKind(err, checkpoint.Changed) {
		return checkpointError(&ss.def, err)
	}
	return err
}

// finished reports whether the trigger's work is done. What was still being written when it began is waited for.
func (ss *session) finished(f found) bool {
	return ss.def.Trigger.ends() && (f == nothing || f == nothingToInfer) && ss.backlog().Waiting == 0
}

// rests reports whether there is nothing more to do now. A trigger that ends has none to wait for, but files that are
// still being written.
func (ss *session) rests(f found) bool {
	ran := f == someMore || f == wasAll
	return !(ran && ss.def.Trigger.ends()) && !(f == someMore && ss.def.Trigger.Kind != Every) && !ss.finished(f)
}

// rest waits until the next look is due.
func (ss *session) rest(ctx context.Context, f found) error {
	earliest := ss.pace.nextLook()
	switch {
	case ss.rests(f):
	case ss.def.Trigger.ends():
		return ss.goOn(ctx)
	default:
		return ss.sleep(ctx, earliest, false) // RUNNING goes on
	}
	if ss.def.Trigger.Kind == Every {
		if earliest.Sub(ss.progressAt) >= flushEvery {
			ss.flushRings(ctx)
		}
		return ss.sleep(ctx, earliest, false)
	}
	ss.flushRings(ctx)
	recheck := relistEvery
	for _, src := range ss.sources {
		if after := src.RecheckAfter(); after > 0 {
			recheck = min(recheck, after)
		}
	}
	if err := ss.sleep(ctx, ss.s.m.now().Add(recheck), true); err != nil {
		return err
	}
	return ss.sleep(ctx, earliest, false)
}

// goOn lets other streams work before the next look.
func (ss *session) goOn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return ss.turn.yield(ctx)
}

// sleep waits, without a worker, until a time, or until a hint or a new waiter where those count.
func (ss *session) sleep(ctx context.Context, until time.Time, hints bool) error {
	d := until.Sub(ss.s.m.now())
	if d <= 0 {
		return ss.goOn(ctx)
	}
	wake := ss.wake
	if !hints {
		wake = nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		ss.turn.release()
		sleepOn := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		case <-wake:
		case <-ss.run.poke:
			sleepOn = !hints
		}
		if err := ss.turn.take(ctx); err != nil || !sleepOn {
			return err
		}
		if err := ss.takeMarks(ctx); err != nil {
			return err
		}
		if err := ss.settleWaiters(ctx, false); err != nil {
			return err
		}
	}
}

// announce sets the state in which the stream rests.
func (ss *session) announce(ctx context.Context, f found, next time.Time) {
	b := ss.backlog()
	missing := ""
	if ss.next == 0 && b.Files == 0 { // later the folder has been there, and it may be long to list
		missing = ss.s.m.missingSource(ctx, &ss.def)
	}
	switch {
	case missing != "":
		ss.s.setState(Idle, fmt.Sprintf("waiting for %s, which is not there yet", missing))
	case b.Waiting > 0:
		ss.s.setState(Idle, fmt.Sprintf("waiting for %d files to be complete", b.Waiting))
	case f == nothingToInfer:
		ss.s.setState(Idle, "waiting for the first file")
	case ss.def.Trigger.Kind == Every:
		ss.s.setState(Idle, "waiting for the next trigger at "+next.UTC().Format(time.RFC3339))
	default:
		ss.s.setState(Idle, "caught up")
	}
	ss.s.setBacklog(b) // where it is empty nothing is due any more, and an outage that begins now is no stall
}
