package delta

import (
	"context"
	"time"

	"lakesql/store"
)

const (
	// defaultCheckpointInterval is Delta's default of delta.checkpointInterval.
	defaultCheckpointInterval = 10 // versions
	// filesPerVersion makes a large table's interval longer, where it has none of its own: to write so many files or tombstones into a checkpoint costs
	// more than to read a commit does.
	filesPerVersion = 1_000
	// checksumPause keeps a busy table's disk free for commits: a checksum of each version would be a third of its writes.
	checksumPause = time.Second
)

// Maintain keeps the log short and quick to open, and tells whether it wrote a checkpoint. When delta.checkpointInterval versions (10, and one
// more for each 1,000 files and tombstones) have passed since the last one, it writes a checkpoint of the newest version and deletes what the table's retention no longer keeps of the
// log. Otherwise it writes the newest version's checksum, at most one a second.
//
// The owner calls it after commits, off their path. While another call is at work on the same handle it does nothing. Several processes
// may maintain a table at once. One that this build may not write to is left alone; so is one whose checksum contradicts its log, which is ErrCorrupt.
func (t *Table) Maintain(ctx context.Context) (bool, error) {
	if !t.maintenance.TryLock() {
		return false, nil
	}
	defer t.maintenance.Unlock()
	s, err := t.Snapshot(ctx)
	if err != nil || CheckWritable(s) != nil {
		return false, err
	}
	now := time.Now()
	due, err := t.checkpointDue(ctx, s)
	if err != nil {
		return false, err
	}
	if !due && now.Sub(t.checksummed) < checksumPause {
		return false, nil
	}
	if due {
		if err := t.checkpoint(ctx, s, now); err != nil {
			return false, err
		}
	}
	t.checksummed = now
	if err := writeChecksum(ctx, t.st, s); err != nil || !due {
		return due, err
	}
	return true, t.cleanUp(ctx, s, now)
}

// checkpointDue tells whether a checkpoint of the newest version is to be written.
func (t *Table) checkpointDue(ctx context.Context, s *Snapshot) (bool, error) {
	interval := int64(max(1, s.metadata.count("delta.checkpointInterval", defaultCheckpointInterval+(s.NumFiles()+len(s.files.tombstones))/filesPerVersion)))
	if s.Version() < max(s.checkpoint, 0)+interval {
		return false, nil
	}
	newest, err := newestCheckpoint(ctx, t.st, s)
	if err != nil {
		return false, err
	}
	if newest > s.checkpoint { // another process was faster
		t.sawCheckpoint(ctx, newest)
	}
	return s.Version() >= max(newest, 0)+interval, nil
}

// newestCheckpoint is that of the log, which may be newer than the one that a snapshot was made from. It lists the log, of which many thousand versions may be there,
// only where _last_checkpoint is of no use.
func newestCheckpoint(ctx context.Context, st store.Store, s *Snapshot) (int64, error) {
	if hint, ok := readLastCheckpoint(ctx, st); ok && hint >= s.checkpoint && hint <= s.Version() {
		return hint, nil
	}
	listing, err := listVersions(ctx, st, s.checkpoint+1)
	if err != nil || len(listing.checkpoints) == 0 {
		return s.checkpoint, err
	}
	return listing.checkpoints[len(listing.checkpoints)-1].version, nil
}

// checkpoint writes one, unless what it would hold is in doubt.
func (t *Table) checkpoint(ctx context.Context, s *Snapshot, now time.Time) error {
	sum, err := readChecksum(ctx, t.st, s.Version())
	if err == nil && sum != nil {
		err = sum.contradicts(s)
	}
	if err != nil {
		return err
	}
	if err := writeCheckpoint(ctx, t.st, s, now); err != nil {
		return err
	}
	t.sawCheckpoint(ctx, s.Version())
	return nil
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
