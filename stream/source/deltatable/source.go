package deltatable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/files"
	"lakesql/format/parquet"
	"lakesql/stream/source"
)

// Source reads a table's snapshot, and then its commits.
//
// Invariants:
//   - reader is the snapshot by whose schema everything is read, and schema are the columns of it that are given; both are set by Schema.
//   - ahead are the commits from aheadFrom up to nextVersion, which is excluded, in their order and without a gap.
type Source struct {
	env   source.Env
	opts  options
	uri   string
	table *delta.Table
	cache *parquet.Cache

	watcher *watcher // nil: only to be looked at

	reader *delta.Snapshot
	schema *batch.Schema // without the columns of a change feed
	fits   *batch.Schema // the schema of a version that was last found to be readable; nil: none

	start *checkpoint.Start // where a stream begins that has options for it; nil: not known yet

	snapshot    *initialFiles // nil: not looked at
	ahead       []aheadCommit
	aheadFrom   int64
	nextVersion int64 // behind ahead
	lostFrom    int64 // the versions from here up to lostTo, which is excluded, were gone and are passed over
	lostTo      int64
	state       *delta.Snapshot // of the version before nextVersion; nil: not known

	at      *position // the end of the last range that Latest gave; nil: none
	newest  int64     // version that the last look saw; -1: there was no table
	frozen  int64     // the last version that Latest gives; -1 with isFrozen: there was no table
	stopped bool      // Freeze was called

	notices []source.RowError
}

var (
	_ source.Source  = (*Source)(nil)
	_ source.Noticer = (*Source)(nil)
)

// Opener returns what opens sources. tables gives the handle on the table at a URI, which others share; cache, which may be nil, keeps its data
// files open.
func Opener(tables func(uri string) (*delta.Table, error), cache *parquet.Cache) source.OpenFunc {
	return func(ctx context.Context, spec source.Spec, env source.Env) (source.Source, error) {
		opts, err := parseOptions(spec.Options)
		if err != nil {
			return nil, &files.ArgumentError{Err: fmt.Errorf("source table %s: %w", spec.Path, err)}
		}
		if env.FailOnDataLoss != nil {
			opts.dataLoss = !*env.FailOnDataLoss
		}
		table, err := tables(spec.Path)
		if err != nil {
			return nil, err
		}
		s := &Source{env: env, opts: opts, uri: spec.Path, table: table, cache: cache, newest: -1}
		if env.Checkpoint == nil {
			return s, nil
		}
		if err := s.openStart(ctx); err != nil {
			return nil, err
		}
		s.watcher = watch(spec.Path)
		return s, nil
	}
}

// Description names the source as Spark does.
func (s *Source) Description() string {
	return "DeltaSource[" + strings.Replace(s.uri, "file:///", "file:/", 1) + "]"
}

// look returns the newest version; nil when there is no table.
func (s *Source) look(ctx context.Context) (*delta.Snapshot, error) {
	if s.watcher != nil {
		s.watcher.follow()
	}
	snap, err := s.table.Snapshot(ctx)
	switch {
	case errors.Is(err, delta.ErrNoTable):
		s.newest = -1
		return nil, nil
	case err != nil:
		return nil, s.unreadable(err)
	}
	s.newest = snap.Version()
	return snap, nil
}

// unreadable says of an error that a retry does not mend it, where that is so.
func (s *Source) unreadable(err error) error {
	var unsupported *delta.UnsupportedError
	if errors.As(err, &unsupported) {
		return refuse(source.ErrData, "source table %s cannot be read on: %w", s.uri, err)
	}
	return fmt.Errorf("source table %s: %w", s.uri, err)
}

// gone is the error of a table that was read and is not there. It may come back.
func (s *Source) gone() error {
	return fmt.Errorf("source table %s is not there: %w", s.uri, delta.ErrNoTable)
}

// checkID refuses another table than the one that a position is of.
func (s *Source) checkID(id, found string) error {
	if id == found {
		return nil
	}
	return refuse(source.ErrChanged, "[DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE] the table at %s is another one than the stream has read: its id is %s, and the checkpoint has %s. "+
		"Put the old table back, or let the stream begin again with the new one by RESET", s.uri, found, id)
}

// Latest ends the range where the limit, a schema that is new, or the newest version does.
func (s *Source) Latest(ctx context.Context, start source.Offset, limit source.Limit) (source.Offset, bool, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return "", false, err
	}
	from, ok, err := s.place(ctx, start, snap)
	if err != nil || !ok || s.stopped && s.frozen < 0 {
		return start, false, err
	}
	upTo := s.newest
	if s.stopped {
		upTo = min(upTo, s.frozen)
	}
	var end position
	var more bool
	if from.initial {
		end, more, err = s.nextOfSnapshot(ctx, from, upTo, s.opts.admission(limit))
	} else {
		end, more, err = s.nextOfCommits(ctx, snap, from, upTo, s.opts.admission(limit))
	}
	if err != nil {
		return "", false, err
	}
	s.at = &end
	if end == from {
		return start, false, nil
	}
	text, err := formatOffset(end)
	return text, more, err
}

// place is the position of an offset in the table that is there. false: there is no table, and none was read.
func (s *Source) place(ctx context.Context, o source.Offset, snap *delta.Snapshot) (position, bool, error) {
	if o == source.None {
		if snap == nil {
			return position{}, false, nil
		}
		p, err := s.begin(ctx, snap)
		return p, err == nil, err
	}
	p, err := parseOffset(o)
	if err != nil {
		return p, false, err
	}
	if snap == nil {
		return p, false, s.gone()
	}
	return p, true, s.checkPlace(p, snap)
}

// checkPlace refuses a position that the table has never had.
func (s *Source) checkPlace(p position, snap *delta.Snapshot) error {
	if err := s.checkID(p.id, snap.Metadata().ID); err != nil {
		return err
	}
	if snap.Version() < p.version-1 || p.index > beforeFirst && snap.Version() < p.version {
		return refuse(source.ErrChanged, "the stream has read version %d of source table %s, and its newest is %d: the table is an older copy. "+
			"Put the newer one back, or let the stream begin again by RESET", p.version, s.uri, snap.Version())
	}
	return nil
}

// nextOfSnapshot takes files of the initial snapshot. A range ends with it at the latest.
func (s *Source) nextOfSnapshot(ctx context.Context, from position, upTo int64, a *admission) (end position, more bool, err error) {
	files, err := s.initial(ctx, from.version)
	if err != nil {
		return from, false, err
	}
	end = from
	for i := from.index + 1; i < int64(len(files.list)); i++ {
		if !a.admit(files.list[i].Size) {
			return end, true, nil
		}
		end.index = i
	}
	return before(from.id, from.version+1), upTo > from.version, nil
}

// nextOfCommits takes files of commits.
func (s *Source) nextOfCommits(ctx context.Context, snap *delta.Snapshot, from position, upTo int64, a *admission) (end position, more bool, err error) {
	bound := lookAheadFiles
	if a.all {
		bound = 0
	}
	if err := s.lookAhead(ctx, snap, from, upTo, bound); err != nil {
		return from, false, err
	}
	end = from
	for i := range s.ahead {
		c := &s.ahead[i]
		if c.Version > upTo {
			break
		}
		if err := s.judge(c.Commit, from.id); err != nil {
			if end != from {
				return end, true, nil // what comes before it, first
			}
			return from, false, err
		}
		sizes := c.sizes(from)
		if c.whole {
			if !a.admit(sizes...) {
				return end, true, nil
			}
		} else {
			for n, size := range sizes {
				if !a.admit(size) {
					if n > 0 {
						end = position{id: from.id, version: c.Version, index: c.last(from, n-1)}
					}
					return end, true, nil
				}
			}
		}
		end = before(from.id, c.Version+1)
	}
	return end, end.version <= upTo, nil
}

// Freeze ends the source with the version of now.
func (s *Source) Freeze(ctx context.Context) error {
	s.stopped = false
	if _, err := s.look(ctx); err != nil {
		return err
	}
	s.frozen, s.stopped = s.newest, true
	return nil
}

// Mark is the newest version; -1 without a table.
func (s *Source) Mark(ctx context.Context) (source.Mark, error) {
	snap, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	if s.at == nil && snap != nil && s.env.Checkpoint == nil { // to be looked at: how much is there
		at, err := s.begin(ctx, snap)
		if err != nil {
			return nil, err
		}
		if at.initial {
			_, err = s.initial(ctx, at.version)
		} else {
			err = s.lookAhead(ctx, snap, at, s.newest, lookAheadFiles)
		}
		if err != nil {
			return nil, err
		}
		s.at = &at
	}
	return s.newest, nil
}

// Reached compares versions.
func (s *Source) Reached(ctx context.Context, m source.Mark, committed source.Offset) (bool, error) {
	version, ok := m.(int64)
	if !ok {
		return false, fmt.Errorf("a mark of another source: %T", m)
	}
	if version < 0 {
		return true, nil
	}
	if committed == source.None {
		return s.start != nil && version < s.start.Version, nil
	}
	at, err := parseOffset(committed)
	return at.version > version && !at.initial, err
}

// Backlog counts files behind the last range, as far as commits have been read ahead.
func (s *Source) Backlog() source.Backlog {
	var b source.Backlog
	if s.at == nil {
		return b
	}
	if s.at.initial && s.snapshot != nil {
		b.Files, b.Bytes = s.snapshot.behind(s.at.index)
	}
	for i := range s.ahead {
		for _, size := range s.ahead[i].sizes(*s.at) {
			b.Files, b.Bytes = b.Files+1, b.Bytes+size
		}
	}
	return b
}

// Committed has nothing to record: the offset says it all.
func (s *Source) Committed(context.Context, int64, source.Offset, source.Offset) error { return nil }

// Notices gives out what was noticed since the last call.
func (s *Source) Notices() []source.RowError {
	out := s.notices
	s.notices = nil
	return out
}

// Wake hints at new versions.
func (s *Source) Wake() <-chan struct{} {
	if s.watcher == nil {
		return nil
	}
	return s.watcher.hints
}

// RecheckAfter is a second: the hints are not relied on.
func (s *Source) RecheckAfter() time.Duration { return pollEvery }

// Close stops watching.
func (s *Source) Close() error {
	if s.watcher == nil {
		return nil
	}
	return s.watcher.Close()
}
