package delta

import (
	"context"
	"errors"
	"fmt"
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
}

// listLog lists the log from a version on: ErrNoTable when the table's folder is missing. A listing may be empty.
func listLog(ctx context.Context, st store.Store, from int64) (*logListing, error) {
	startAfter := ""
	if from > 0 {
		startAfter = fmt.Sprintf("%s%020d", logFolder, from) // sorts before every file of that version
	}
	var out logListing
	parts := make(map[[2]int64][]store.Info) // by version and number of parts
	for info, err := range st.List(ctx, logFolder, startAfter, "/") {
		if errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("%w: %s: %w", ErrNoTable, st.URI(), err)
		}
		if err != nil {
			return nil, fmt.Errorf("list the log of %s: %w", st.URI(), err)
		}
		switch name := parseLogName(info.Key); name.kind {
		case commitFile:
			out.commits = append(out.commits, info)
		case classicCheckpoint, uuidCheckpoint:
			out.checkpoints = append(out.checkpoints, checkpointFiles{name.version, []store.Info{info}})
		case multiPartCheckpoint:
			key := [2]int64{name.version, int64(name.parts)}
			parts[key] = append(parts[key], info)
			if len(parts[key]) == name.parts {
				out.checkpoints = append(out.checkpoints, checkpointFiles{name.version, parts[key]})
			}
		}
	}
	slices.SortStableFunc(out.checkpoints, func(a, b checkpointFiles) int { return int(a.version - b.version) })
	return &out, nil
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

// between returns the commits of versions (after, upTo], which must be all there.
func (l *logListing) between(after, upTo int64) ([]store.Info, error) {
	var out []store.Info
	next := after + 1
	for _, info := range l.commits {
		switch v := parseLogName(info.Key).version; {
		case v < next:
		case v == next && v <= upTo:
			out = append(out, info)
			next++
		case next <= upTo:
			return nil, &gapError{missing: next, present: v}
		default:
			return out, nil
		}
	}
	if next <= upTo {
		return nil, &gapError{missing: next, present: upTo}
	}
	return out, nil
}

// gapError says that a commit is missing below another. A listing that was made while a commit landed can look like that.
type gapError struct{ missing, present int64 }

func (e *gapError) Error() string {
	return fmt.Sprintf("commit %d is missing from the log although version %d is there", e.missing, e.present)
}

func (e *gapError) Is(target error) bool { return target == ErrCorrupt }
