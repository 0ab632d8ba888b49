package deltatable

import (
	"context"
	"errors"
	"fmt"

	"lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/store"
	"lakesql/stream/source"
)

// openStart takes up where an earlier run has begun, or keeps where this one begins: latest means the version of now. A checkpoint of Spark's that has
// batches says nothing of it; what comes of that, begin and unknownStart say.
func (s *Source) openStart(ctx context.Context) error {
	if !s.opts.begins() {
		return nil
	}
	kept, ok, err := s.env.Checkpoint.Start(ctx, s.env.Index)
	if err != nil {
		return err
	}
	if ok {
		s.start = &kept
		return nil
	}
	if !s.opts.later() {
		return nil
	}
	if last, err := s.env.Checkpoint.Offsets().Latest(ctx); err != nil || last >= 0 {
		return err
	}
	snap, err := s.look(ctx)
	if err != nil {
		return err
	}
	if snap == nil && !s.opts.latest {
		return nil // a time means a version once there is a table
	}
	return s.keepStart(ctx, snap)
}

// begin is the position of a stream that has read nothing.
func (s *Source) begin(ctx context.Context, snap *delta.Snapshot) (position, error) {
	id := snap.Metadata().ID
	if !s.opts.begins() {
		version := snap.Version()
		if s.stopped {
			version = min(version, s.frozen)
		}
		return position{id: id, version: version, index: beforeFirst, initial: true}, nil
	}
	if s.start == nil {
		if err := s.keepStart(ctx, snap); err != nil {
			return position{}, err
		}
	}
	if s.start.TableID != "" {
		if err := s.checkID(s.start.TableID, id); err != nil {
			return position{}, err
		}
	}
	return before(id, s.start.Version), nil
}

// keepStart finds the version that the options name, and makes it durable. snap is nil without a table.
func (s *Source) keepStart(ctx context.Context, snap *delta.Snapshot) error {
	start := checkpoint.Start{}
	if snap != nil {
		start.TableID = snap.Metadata().ID
		var err error
		if start.Version, err = s.startVersion(ctx, snap); err != nil {
			return err
		}
	}
	if s.env.Checkpoint != nil {
		err := s.env.Checkpoint.SaveStart(ctx, s.env.Index, start)
		if errors.Is(err, store.ErrExists) {
			return fmt.Errorf("keep where source %d begins: another program has done so: %w", s.env.Index, err)
		}
		if err != nil {
			return fmt.Errorf("keep where source %d begins: %w", s.env.Index, err)
		}
	}
	s.start = &start
	return nil
}

// startVersion is the first commit that the options ask for.
func (s *Source) startVersion(ctx context.Context, snap *delta.Snapshot) (int64, error) {
	newest := snap.Version()
	switch {
	case s.opts.latest:
		return newest + 1, nil
	case s.opts.startingTimestamp != nil:
		at := *s.opts.startingTimestamp
		version, err := s.table.VersionFrom(ctx, at)
		if err != nil {
			return 0, s.unreadable(err)
		}
		if version > newest {
			return 0, refuse(source.ErrData, "[DELTA_TIMESTAMP_GREATER_THAN_COMMIT] startingTimestamp => '%s' is behind the newest version %d of source table %s, which is of %s. "+
				"Give an earlier time, or startingVersion => 'latest'", at.Format(timeFormat), newest, s.uri, snap.Timestamp().UTC().Format(timeFormat))
		}
		return version, nil
	}
	oldest, err := s.table.FirstCommit(ctx, s.opts.startingVersion)
	if err != nil && !errors.Is(err, delta.ErrNoVersion) {
		return 0, s.unreadable(err)
	}
	if err != nil || oldest != s.opts.startingVersion {
		first, firstErr := s.table.FirstCommit(ctx, 0)
		if firstErr != nil {
			return 0, s.unreadable(firstErr)
		}
		return 0, refuse(source.ErrData, "[DELTA_VERSION_NOT_FOUND] startingVersion => %d: the log of source table %s has the commits of versions %d to %d",
			s.opts.startingVersion, s.uri, first, newest)
	}
	return oldest, nil
}

const timeFormat = "2006-01-02 15:04:05.000"

// firstOf is where the first range began, whose end is given: the range of a batch that has no offset before it.
func (s *Source) firstOf(ctx context.Context, end position, snap *delta.Snapshot) (position, error) {
	if s.opts.begins() {
		if s.start == nil && s.opts.latest {
			return position{}, refuse(source.ErrChanged, "the checkpoint was begun by Spark with startingVersion => 'latest', and does not say which version that was, "+
				"so that its first batch, which ends with version %d of source table %s, cannot be run again. Let Spark finish it", end.version, s.uri)
		}
		return s.begin(ctx, snap)
	}
	at := position{id: end.id, version: end.version, index: beforeFirst, initial: true}
	if !end.initial {
		at.version--
	}
	if at.version < 0 {
		return at, refuse(source.ErrChanged, "the first range ends before version 0 of source table %s, which none does", s.uri)
	}
	return at, nil
}
