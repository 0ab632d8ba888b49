package stream

import (
	"context"
	"fmt"

	"lakesql/checkpoint"
	"lakesql/stream/source"
)

// position is where a stream stands, as its three records say. Each is -1 where there is none.
type position struct {
	offsets int64 // N: the last id in offsets/
	commits int64 // C: the last id in commits/
	txn     int64 // t: the version of the table's txn action of this checkpoint
}

// step is what to do first.
type step uint8

const (
	goOn         step = iota // batch N is done: the next one is N+1
	recordCommit             // batch N is in the table: write commits/N, then as goOn
	runAgain                 // batch N is recorded and not in the table: run it over the same range
)

// decide is the restart rule of doc.go. kind is 0 where the stream may go on.
func (p position) decide() (do step, kind ErrorKind) {
	switch {
	case p.commits > p.offsets:
		return 0, KindCheckpoint
	case p.txn > p.offsets:
		return 0, KindCheckpointStale
	case p.txn == p.offsets && p.commits == p.offsets:
		return goOn, 0
	case p.txn == p.offsets:
		return recordCommit, 0
	case p.txn == p.offsets-1 && p.commits < p.offsets:
		return runAgain, 0
	default:
		return 0, KindBatchesLost
	}
}

// recover opens the target and finds out where the stream stands.
func (ss *session) recover(ctx context.Context) error {
	var err error
	if ss.target, err = ss.s.m.cfg.Targets.Open(ctx, ss.def.Target); err != nil {
		return fmt.Errorf("open target %s: %w", ss.def.Target, err)
	}
	pos, snap, err := ss.look(ctx)
	if err != nil {
		return err
	}
	if pos.txn >= 0 { // the table knows this checkpoint: tie them together where a crash, or Spark, has not
		if err := ss.bind(ctx, snap); err != nil {
			return err
		}
	}
	do, _ := pos.decide() // look has refused what may not go on
	if err := ss.resume(ctx, pos.offsets, do); err != nil {
		return err
	}
	if do == recordCommit {
		if err := ss.cp.Commits().Add(ctx, pos.offsets, ss.watermark); err != nil {
			return fmt.Errorf("record that batch %d is committed: %w", pos.offsets, err)
		}
	}
	return nil
}

// resume sets the session to the batch behind last, or to last itself when it has to be run again.
func (ss *session) resume(ctx context.Context, last int64, do step) error {
	ss.committed = make([]source.Offset, len(ss.sources))
	ss.conf = checkpoint.NewConf()
	ss.next = last + 1
	if last < 0 {
		return nil
	}
	newest, err := ss.readOffsets(ctx, last, len(ss.sources))
	if err != nil {
		return err
	}
	ss.watermark = newest.WatermarkMs
	if newest.Conf != nil {
		ss.conf = newest.Conf
	}
	switch do {
	case goOn:
		reached, err := ss.cp.Commits().Read(ctx, last)
		if err != nil {
			return fmt.Errorf("read the commit of batch %d: %w", last, err)
		}
		ss.watermark = max(ss.watermark, reached)
		fallthrough
	case recordCommit:
		ss.committed = offsetsOf(newest.Sources)
		return nil
	}
	ss.next = last
	if last > 0 {
		before, err := ss.readOffsets(ctx, last-1, len(ss.sources))
		if err != nil {
			return err
		}
		ss.committed = offsetsOf(before.Sources)
	}
	ss.replay = &micro{
		id: last, time: timeOfMillis(newest.TimestampMs), start: ss.committed, end: offsetsOf(newest.Sources),
		more: true, replay: true, took: durations{},
	}
	return nil
}
