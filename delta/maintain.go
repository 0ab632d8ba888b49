package delta

import (
	"context"
	"fmt"
	"time"

	"lakesql/store"
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

// writeCheckpoint writes a classic checkpoint of a snapshot, then the hint that names it. A process that dies in between
// leaves a checkpoint that listings find.
func writeCheckpoint(ctx context.Context, st store.Store, s *Snapshot, now time.Time) error {
	key := checkpointKey(s.Version())
	w, err := st.Create(ctx, key)
	if err != nil {
		return fmt.Errorf("create checkpoint %d of %s: %w", s.Version(), st.URI(), err)
	}
	counter := &countingWriter{w: w}
	actions, err := encodeCheckpoint(ctx, counter, s, now)
	if err != nil {
		w.Abort()
		return fmt.Errorf("write checkpoint %d of %s: %w", s.Version(), st.URI(), err)
	}
	if err := w.Commit(ctx, false); err != nil {
		return fmt.Errorf("write checkpoint %d of %s: %w", s.Version(), st.URI(), err)
	}
	return writeLastCheckpoint(ctx, st, lastCheckpointJSON{Version: s.Version(), Size: actions, SizeInBytes: counter.n, NumOfAddFiles: int64(s.NumFiles())})
}

// countingWriter counts what passes.
type countingWriter struct {
	w store.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
