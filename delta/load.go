package delta

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lakesql/store"
)

// maxListings bounds how often a log is listed because a commit seemed to be missing. A listing of a local folder that
// is being written to may show a version and not the one before it, and a clean-up deletes what a listing has shown; a log
// that still lacks a commit at the third time is damaged.
const maxListings = 3

// loadNewest replays the newest version, starting where _last_checkpoint points to when that is right.
func loadNewest(ctx context.Context, st store.Store) (*Snapshot, *fileLog, error) {
	if from, ok := readLastCheckpoint(ctx, st); ok {
		listing, err := listVersions(ctx, st, from)
		if err == nil && len(listing.checkpoints) > 0 {
			s, log, err := replay(ctx, st, listing, listing.version())
			if err == nil || ctx.Err() != nil {
				return s, log, err
			}
		}
	}
	return loadListing(ctx, st, func(l *logListing) int64 { return l.version() })
}

// loadVersion replays one version, which must not be above the newest.
func loadVersion(ctx context.Context, st store.Store, version int64) (*Snapshot, *fileLog, error) {
	s, log, err := loadListing(ctx, st, func(*logListing) int64 { return version })
	var gap *gapError
	if errors.As(err, &gap) && gap.missing <= version {
		err = fmt.Errorf("%w: version %d of %s cannot be rebuilt any more: %w", ErrNoVersion, version, st.URI(), gap)
	}
	return s, log, err
}

func loadListing(ctx context.Context, st store.Store, target func(*logListing) int64) (*Snapshot, *fileLog, error) {
	for attempt := 1; ; attempt++ {
		listing, err := listVersions(ctx, st, 0)
		if err != nil {
			return nil, nil, err
		}
		if listing.version() < 0 {
			return nil, nil, fmt.Errorf("%w: %s has no commits in %s", ErrNoTable, st.URI(), logFolder)
		}
		s, log, err := replay(ctx, st, listing, target(listing))
		var gap *gapError
		if (errors.As(err, &gap) || errors.Is(err, store.ErrNotFound)) && attempt < maxListings {
			continue
		}
		return s, log, err
	}
}

// replay builds a version from the newest checkpoint at or below it and the commits behind that. A checkpoint that
// cannot be read is passed over for an older one, as long as the commits in between are there.
func replay(ctx context.Context, st store.Store, listing *logListing, version int64) (*Snapshot, *fileLog, error) {
	var damaged error
	for i := len(listing.checkpoints) - 1; i >= -1; i-- {
		start := checkpointFiles{version: -1}
		if i >= 0 {
			start = listing.checkpoints[i]
		}
		if start.version > version {
			continue
		}
		s, log, err := replayFrom(ctx, st, listing, start, version)
		var unreadable *checkpointError
		var gap *gapError
		switch {
		case errors.As(err, &unreadable):
			damaged = errors.Join(damaged, err)
			continue
		case errors.As(err, &gap) && damaged != nil:
			return nil, nil, damaged
		}
		return s, log, err
	}
	return nil, nil, damaged
}

// replayFrom reads one checkpoint (version -1: none) and the commits behind it.
func replayFrom(ctx context.Context, st store.Store, listing *logListing, start checkpointFiles, version int64) (*Snapshot, *fileLog, error) {
	if err := listing.check(start.version, version); err != nil {
		return nil, nil, fmt.Errorf("log of %s: %w", st.URI(), err)
	}
	s, log := newSnapshot(st.URI()), newFileLog(st.URI())
	log.stats.unread = true
	var err error
	if s.newest, err = makerOf(ctx, st, version, start); err != nil { // before it is read: what replaces it then is noticed
		return nil, nil, err
	}
	if start.version >= 0 {
		if err := readCheckpoint(ctx, st, start, s, log); err != nil {
			return nil, nil, err
		}
		s.checkpoint = start.version
	}
	err = readSteps(ctx, st, listing.steps(start.version, version), func(c *commit) error {
		s.apply(log, c)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if err := s.complete(); err != nil {
		return nil, nil, err
	}
	if log.wasteful() {
		log, s.files = log.compact(s.files, s.tombstonesSince(time.Now()))
	}
	log.stats.share()
	return s, log, nil
}

// makerOf is the file that stands for a version: its commit, or without it the checkpoint of that version.
func makerOf(ctx context.Context, st store.Store, version int64, c checkpointFiles) (store.Info, error) {
	info, err := st.Stat(ctx, commitKey(version))
	if errors.Is(err, store.ErrNotFound) && c.version == version {
		info, err = st.Stat(ctx, c.files[0].Key)
	}
	if err != nil {
		return store.Info{}, fmt.Errorf("stat the log of %s: %w", st.URI(), err)
	}
	return info, nil
}
