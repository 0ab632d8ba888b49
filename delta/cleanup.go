package delta

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"lakesql/store"
)

// Delta's defaults of how long a log is kept.
const (
	defaultLogRetention        = 30 * 24 * time.Hour
	defaultCheckpointRetention = 2 * 24 * time.Hour
	sidecarRetention           = 24 * time.Hour // of those that no checkpoint names: one that does may be about to come
)

const stagedFolder = logFolder + "_staged_commits/"

// cleanUp deletes what is before the boundary of the log: the newest checkpoint that is not newer than the newest commit at the cutoff. So
// every version from the cutoff on can still be read. The cutoff is a midnight (UTC), which spares all calls of a day but one the work.
//
// s is the newest version, whose checkpoint has just been written.
func (t *Table) cleanUp(ctx context.Context, s *Snapshot, now time.Time) error {
	retention := max(s.metadata.interval("delta.logRetentionDuration", defaultLogRetention),
		s.metadata.interval("delta.checkpointRetentionDuration", defaultCheckpointRetention))
	cutoff := midnight(now.Add(-retention))
	if s.metadata.off("delta.enableExpiredLogCleanup") || !cutoff.After(t.cleaned) {
		return nil
	}
	c := logCleaner{table: t, st: t.st, s: s, now: now}
	if err := c.run(ctx, cutoff); err != nil {
		return fmt.Errorf("clean up the log of %s: %w", s.uri, err)
	}
	t.cleaned = cutoff
	return nil
}

// midnight is the beginning of a time's day in UTC.
func midnight(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// logCleaner is one clean-up. It deletes commits before checkpoints and waits in between, so that a crash leaves no version that looks as
// if it could be read but for its checkpoint, and sidecars after the checkpoints that name them.
type logCleaner struct {
	table *Table
	st    store.Store
	s     *Snapshot
	now   time.Time
	files []store.Info // of the log
}

func (c *logCleaner) run(ctx context.Context, cutoff time.Time) error {
	listing, err := c.list(ctx)
	if err != nil {
		return err
	}
	boundary, ok, err := c.boundary(ctx, listing, cutoff)
	if err != nil {
		return err
	}
	if ok {
		if err := c.cut(ctx, listing, boundary); err != nil {
			return err
		}
	}
	return c.sidecars(ctx)
}

// cut deletes what is before the boundary.
func (c *logCleaner) cut(ctx context.Context, listing *logListing, boundary checkpointFiles) error {
	commits, checkpoints := c.before(boundary.version)
	staged, err := c.staged(ctx, boundary.version)
	if err != nil || len(commits)+len(checkpoints)+len(staged) == 0 {
		return err
	}
	if err := c.checkBoundary(ctx, listing, boundary); err != nil {
		return err
	}
	if err := c.nameClassic(ctx, listing, boundary.version); err != nil {
		return err
	}
	if err := store.DeleteKeys(ctx, c.st, append(commits, staged...)); err != nil {
		return err
	}
	return store.DeleteKeys(ctx, c.st, checkpoints)
}

func (c *logCleaner) list(ctx context.Context) (*logListing, error) {
	return collectLog(c.st, func(yield func(store.Info, error) bool) {
		for info, err := range c.st.List(ctx, logFolder, "", "/") {
			c.files = append(c.files, info)
			if !yield(info, err) {
				return
			}
		}
	})
}

// boundary is the checkpoint before which everything may go; false when there is none. A commit counts as new when either its file or its
// own timestamp is: files may have been copied, and clocks may differ. A file that is not younger than the one before it gets its time from
// that one, so it cannot be the first that is left.
func (c *logCleaner) boundary(ctx context.Context, listing *logListing, cutoff time.Time) (checkpointFiles, bool, error) {
	files := listing.times()
	since, _, on := c.s.inCommitSince()
	var err error
	isNew := func(i int) bool {
		at := files[i].at
		if err == nil && on && files[i].version >= since && !at.After(cutoff) {
			at, err = c.table.timeInCommit(ctx, files[i])
		}
		return err != nil || at.After(cutoff)
	}
	n := sort.Search(len(files), isNew)
	if n == 0 || err != nil {
		return checkpointFiles{}, false, err
	}
	for _, k := range slices.Backward(listing.checkpoints) {
		if k.version > files[n-1].version {
			continue
		}
		first, _ := slices.BinarySearchFunc(files, k.version, func(f commitTime, v int64) int { return cmp.Compare(f.version, v) })
		if on && files[first].version >= since || files[first].at.Equal(fileTime(listing.commits[first])) {
			return k, k.version >= c.protectedBefore(), nil
		}
	}
	return checkpointFiles{}, false, nil
}

// protectedBefore is the version before which checkpoints may only go all at once, with the whole history up to it. Its checkpoints hide
// commits that older readers would misread.
func (c *logCleaner) protectedBefore() int64 {
	if !c.s.protocol.Supports("checkpointProtection") {
		return 0
	}
	version, err := strconv.ParseInt(c.s.metadata.Configuration["delta.requireCheckpointProtectionBeforeVersion"], 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// before are the files of versions before the boundary, ascending: commits, their checksums and what has been compacted of them, and the
// checkpoints. The boundary's own commit stays: only that says when its version was made.
func (c *logCleaner) before(boundary int64) (commits, checkpoints []string) {
	for _, info := range c.files {
		switch name := parseLogName(info.Key); name.kind {
		case commitFile, checksumFile:
			if name.version < boundary {
				commits = append(commits, info.Key)
			}
		case compactionFile:
			if name.version <= boundary {
				commits = append(commits, info.Key)
			}
		case classicCheckpoint, multiPartCheckpoint, uuidCheckpoint:
			if name.version < boundary {
				checkpoints = append(checkpoints, info.Key)
			}
		}
	}
	return commits, checkpoints
}

// staged are the commits that a catalog has had and that are published since.
func (c *logCleaner) staged(ctx context.Context, boundary int64) ([]string, error) {
	var out []string
	for key, err := range store.ListNames(ctx, c.st, stagedFolder, "") {
		if err != nil {
			return nil, err
		}
		digits, _, _ := strings.Cut(strings.TrimPrefix(key, stagedFolder), ".")
		if version, ok := parseVersion(digits); ok && version <= boundary {
			out = append(out, key)
		}
	}
	return out, nil
}

// checkBoundary makes sure that the versions from the boundary on do not need what goes: its checkpoint is whole, and no commit
// is missing.
func (c *logCleaner) checkBoundary(ctx context.Context, listing *logListing, boundary checkpointFiles) error {
	if err := listing.check(boundary.version, listing.version()); err != nil {
		return err
	}
	sidecars, err := checkpointSidecars(ctx, c.st, boundary)
	if err != nil {
		return err
	}
	for _, key := range sidecars {
		if _, err := c.st.Stat(ctx, key); err != nil {
			return fmt.Errorf("sidecar of checkpoint %d: %w", boundary.version, err)
		}
	}
	return nil
}

// nameClassic gives the newest checkpoint a classic name too, when no other has one: readers that do not know V2 checkpoints find there
// that they cannot read the table, which commit 0 told them until now.
func (c *logCleaner) nameClassic(ctx context.Context, listing *logListing, boundary int64) error {
	var newest string
	for _, k := range listing.checkpoints {
		if name := parseLogName(k.files[0].Key); name.kind != uuidCheckpoint && k.version >= boundary {
			return nil
		}
		newest = k.files[0].Key
	}
	if !strings.HasSuffix(newest, ".parquet") {
		return nil
	}
	data, err := c.st.Get(ctx, newest)
	if err != nil {
		return err
	}
	w, err := c.st.Create(ctx, checkpointKey(parseLogName(newest).version))
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit(ctx, false)
}

// sidecars deletes those that no checkpoint names, also those of checkpoints that were never finished.
func (c *logCleaner) sidecars(ctx context.Context) error {
	limit := midnight(c.now.Add(-sidecarRetention))
	var old []string
	for info, err := range c.st.List(ctx, sidecarFolder, "", "/") {
		if err != nil {
			return err
		}
		if !info.Prefix && info.ModTime.Before(limit) {
			old = append(old, info.Key)
		}
	}
	if len(old) == 0 {
		return nil
	}
	listing, err := listVersions(ctx, c.st, 0)
	if err != nil {
		return err
	}
	named := make(map[string]bool)
	for _, k := range listing.checkpoints {
		keys, err := checkpointSidecars(ctx, c.st, k)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		for _, key := range keys {
			named[key] = true
		}
	}
	return store.DeleteKeys(ctx, c.st, slices.DeleteFunc(old, func(key string) bool { return named[key] }))
}
