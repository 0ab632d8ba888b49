package delta

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"time"

	"lakesql/store"
)

// commitTime is when a version was committed, by the time of its file.
type commitTime struct {
	version int64
	at      time.Time
}

// commitTimes lists the commits from a version on with the times of their files, made ascending as Spark does: each is at least
// a millisecond after the one before.
func (t *Table) commitTimes(ctx context.Context, from int64) ([]commitTime, error) {
	listing, err := listLog(ctx, t.st, from)
	if err != nil {
		return nil, err
	}
	return listing.times(), nil
}

// times are those of the commits' files, made ascending. The listing is one by listLog.
func (l *logListing) times() []commitTime {
	out := make([]commitTime, len(l.commits))
	for i, info := range l.commits {
		out[i] = commitTime{parseLogName(info.Key).version, fileTime(info)}
		if i > 0 && !out[i].at.After(out[i-1].at) {
			out[i].at = out[i-1].at.Add(time.Millisecond)
		}
	}
	return out
}

// fileTime is the time of a file as Spark sees it.
func fileTime(info store.Info) time.Time { return info.ModTime.Truncate(time.Millisecond).UTC() }

// VersionAt returns the newest version that was committed at or before the given time; ErrNoVersion when the oldest one
// that is there was committed later. A time after the newest version gives the newest.
//
// Where the table has in-commit timestamps they count, for times from that on which they were enabled at; times before it are
// looked for in older versions, by the times of their files.
func (t *Table) VersionAt(ctx context.Context, at time.Time) (int64, error) {
	s, err := t.newest(ctx)
	if err != nil {
		return 0, err
	}
	commits, err := t.commitTimes(ctx, 0)
	if err != nil {
		return 0, err
	}
	timeOf := func(i int) (time.Time, error) { return commits[i].at, nil }
	if version, since, on := s.inCommitSince(); on {
		first := sort.Search(len(commits), func(i int) bool { return commits[i].version >= version })
		if first == 0 || !at.Before(since) {
			commits = commits[first:]
			timeOf = func(i int) (time.Time, error) { return t.timeInCommit(ctx, commits[i]) }
		} else {
			commits = commits[:first]
		}
	}
	if len(commits) == 0 { // only a checkpoint is left of them
		return s.Version(), nil
	}
	n := sort.Search(len(commits), func(i int) bool {
		var when time.Time
		if err == nil {
			when, err = timeOf(i)
		}
		return err != nil || when.After(at)
	})
	if err != nil {
		return 0, err
	}
	if n > 0 {
		return commits[n-1].version, nil
	}
	oldest, err := timeOf(0)
	if err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("%w: [DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION] %s of %s: there are versions %d of %s to %d of %s", ErrNoVersion,
		at.UTC().Format(time.RFC3339Nano), t.st.URI(), commits[0].version, oldest.Format(time.RFC3339Nano), s.Version(), s.Timestamp().UTC().Format(time.RFC3339Nano))
}

// inCommitSince is the version, and its time, from which on commits have their own timestamps.
func (s *Snapshot) inCommitSince() (version int64, at time.Time, on bool) {
	if !s.hasInCommitTimestamps() {
		return 0, time.Time{}, false
	}
	version, errVersion := strconv.ParseInt(s.metadata.Configuration[inCommitVersion], 10, 64)
	ms, errTime := strconv.ParseInt(s.metadata.Configuration[inCommitTimestamp], 10, 64)
	if errVersion != nil || errTime != nil { // on since the table was made
		return 0, time.Time{}, true
	}
	return version, time.UnixMilli(ms).UTC(), true
}

// timeInCommit is the in-commit timestamp of a version; the time of its file where it has none.
func (t *Table) timeInCommit(ctx context.Context, c commitTime) (time.Time, error) {
	commit, err := readCommit(ctx, t.st, c.version)
	if err != nil {
		return time.Time{}, err
	}
	if ms := commitTimestamp(commit.info); ms != 0 {
		return time.UnixMilli(ms).UTC(), nil
	}
	return c.at, nil
}

// noVersion says which versions there are.
func (t *Table) noVersion(ctx context.Context, version, newest int64) error {
	detail := fmt.Sprintf("the newest is %d", newest)
	if oldest, err := t.oldestVersion(ctx); err == nil {
		detail = fmt.Sprintf("there are versions %d to %d", oldest, newest)
	}
	return fmt.Errorf("%w: [DELTA_VERSION_NOT_FOUND] version %d of %s: %s", ErrNoVersion, version, t.st.URI(), detail)
}

// oldestVersion is the oldest version that can be rebuilt.
func (t *Table) oldestVersion(ctx context.Context) (int64, error) {
	listing, err := listVersions(ctx, t.st, 0)
	if err != nil {
		return 0, err
	}
	if len(listing.commits) > 0 && parseLogName(listing.commits[0].Key).version == 0 {
		return 0, nil
	}
	if len(listing.checkpoints) == 0 {
		return 0, fmt.Errorf("%w: log of %s: %w", ErrCorrupt, t.st.URI(), &gapError{missing: 0, present: listing.version()})
	}
	return listing.checkpoints[0].version, nil
}
