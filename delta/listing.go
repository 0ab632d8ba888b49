package delta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"lakesql/store"
)

// checkpointFiles are the files of one complete checkpoint.
type checkpointFiles struct {
	version int64
	files   []store.Info // the parts in order; one file but for multi-part checkpoints
}

// logListing is the part of the log's folder that makes up versions.
type logListing struct {
	commits     []store.Info      // ascending by version
	checkpoints []checkpointFiles // complete ones, ascending by version
	compactions []logName         // ascending by first, then by last version

	parts map[[2]int64][]store.Info // of multi-part checkpoints, by version and number of parts
}

// listLog lists the log from a version on: ErrNoTable when the table's folder is missing. A listing may be empty.
func listLog(ctx context.Context, st store.Store, from int64) (*logListing, error) {
	return collectLog(st, st.List(ctx, logFolder, startAfter(from), "/"))
}

// listVersions is listLog without sizes and times, which cost a call for each file in some stores.
func listVersions(ctx context.Context, st store.Store, from int64) (*logListing, error) {
	names := store.ListNames(ctx, st, logFolder, startAfter(from))
	return collectLog(st, func(yield func(store.Info, error) bool) {
		for key, err := range names {
			if !yield(store.Info{Key: key}, err) {
				return
			}
		}
	})
}

// startAfter sorts before every file of a version, and behind those of the versions before.
func startAfter(from int64) string {
	if from <= 0 {
		return ""
	}
	return fmt.Sprintf("%s%020d", logFolder, from)
}

func collectLog(st store.Store, files iter.Seq2[store.Info, error]) (*logListing, error) {
	out := logListing{parts: make(map[[2]int64][]store.Info)}
	for info, err := range files {
		if errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("%w: %s: %w", ErrNoTable, st.URI(), err)
		}
		if err != nil {
			return nil, fmt.Errorf("list the log of %s: %w", st.URI(), err)
		}
		out.add(info)
	}
	slices.SortStableFunc(out.checkpoints, func(a, b checkpointFiles) int { return cmp.Compare(a.version, b.version) })
	return &out, nil
}

func (l *logListing) add(info store.Info) {
	switch name := parseLogName(info.Key); name.kind {
	case commitFile:
		l.commits = append(l.commits, info)
	case compactionFile:
		l.compactions = append(l.compactions, name)
	case classicCheckpoint, uuidCheckpoint:
		l.checkpoints = append(l.checkpoints, checkpointFiles{name.version, []store.Info{info}})
	case multiPartCheckpoint:
		key := [2]int64{name.version, int64(name.parts)}
		l.parts[key] = append(l.parts[key], info)
		if len(l.parts[key]) == name.parts {
			l.checkpoints = append(l.checkpoints, checkpointFiles{name.version, l.parts[key]})
		}
	}
}

// version is the newest version that the listing has; -1 without any.
func (l *logListing) version() int64 {
	newest := int64(-1)
	if n := len(l.commits); n > 0 {
		newest = parseLogName(l.commits[n-1].Key).version
	}
	if n := len(l.checkpoints); n > 0 {
		newest = max(newest, l.checkpoints[n-1].version)
	}
	return newest
}

// check makes sure that the commits of versions (after, upTo] are all there.
func (l *logListing) check(after, upTo int64) error {
	next := after + 1
	for _, info := range l.commits {
		switch v := parseLogName(info.Key).version; {
		case next > upTo:
			return nil
		case v > next:
			return &gapError{missing: next, present: v}
		case v == next:
			next++
		}
	}
	if next <= upTo {
		return &gapError{missing: next, present: upTo}
	}
	return nil
}

// gapError says that a commit is missing below another. A listing that was made while a commit landed can look like that,
// or one from before a clean-up.
type gapError struct{ missing, present int64 }

func (e *gapError) Error() string {
	return fmt.Sprintf("commit %d is missing from the log although version %d is there", e.missing, e.present)
}

func (e *gapError) Is(target error) bool { return target == ErrCorrupt }
