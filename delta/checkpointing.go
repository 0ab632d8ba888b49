package delta

import (
	"context"
	"time"
)

// defaultCheckpointInterval is Delta's default of delta.checkpointInterval.
const defaultCheckpointInterval = 10 // versions

// Maintain writes a checkpoint of the newest version when delta.checkpointInterval versions have passed since the last
// one, and tells whether it did. The owner calls it off the commit path, one call at a time for a table; several
// processes may do so at once: they write the same content.
//
// A table that this build may not write to gets no checkpoint.
func (t *Table) Maintain(ctx context.Context) (bool, error) {
	s, err := t.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	due := max(s.checkpoint, 0) + checkpointInterval(s)
	if s.Version() < due || CheckWritable(s) != nil {
		return false, nil
	}
	// Another process may have been faster.
	if listing, err := listLog(ctx, t.st, s.checkpoint+1); err != nil {
		return false, err
	} else if n := len(listing.checkpoints); n > 0 {
		newest := listing.checkpoints[n-1].version
		t.sawCheckpoint(ctx, newest)
		if s.Version()-newest < checkpointInterval(s) {
			return false, nil
		}
	}
	if err := writeCheckpoint(ctx, t.st, s, time.Now()); err != nil {
		return false, err
	}
	t.sawCheckpoint(ctx, s.Version())
	return true, nil
}

func checkpointInterval(s *Snapshot) int64 {
	return int64(max(1, s.metadata.count("delta.checkpointInterval", defaultCheckpointInterval)))
}

// sawCheckpoint remembers a checkpoint. A cache that is not reached in time only makes Maintain look again.
func (t *Table) sawCheckpoint(ctx context.Context, version int64) {
	if t.acquire(ctx) != nil {
		return
	}
	defer t.release()
	if t.latest != nil && t.latest.Version() >= version && t.latest.checkpoint < version {
		next := *t.latest
		next.checkpoint = version
		t.latest = &next
	}
}
