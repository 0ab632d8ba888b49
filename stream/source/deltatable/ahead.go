package deltatable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/stream/source"
)

// lookAheadFiles is how many files of commits are known before they are read: enough for several ranges, and no more memory than that.
const lookAheadFiles = 100_000

// initialFiles are the files of the snapshot that a stream begins with, in the order in which they are read.
type initialFiles struct {
	version int64
	list    []delta.File
	sums    []int64 // bytes of the files up to each of them
	schema  *batch.Schema
	meta    *delta.Metadata
	set     delta.ChangeSet // what a change feed says of each of them
}

// behind counts the files behind an index.
func (f *initialFiles) behind(index int64) (files, bytes int64) {
	if len(f.list) == 0 {
		return 0, 0
	}
	bytes = f.sums[len(f.sums)-1]
	if index >= 0 {
		bytes -= f.sums[index]
	}
	return int64(len(f.list)) - index - 1, bytes
}

// initial lists the files of a version as Delta does: by modification time, then path.
func (s *Source) initial(ctx context.Context, version int64) (*initialFiles, error) {
	if s.snapshot != nil && s.snapshot.version == version {
		return s.snapshot, nil
	}
	snap, err := s.table.SnapshotAt(ctx, version)
	if errors.Is(err, delta.ErrNoVersion) {
		return nil, refuse(source.ErrChanged, "[DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE] the stream has read only a part of version %d of source table %s, with which it began, "+
			"and that version cannot be had any more: %w. Let the stream begin again by RESET", version, s.uri, err)
	}
	if err != nil {
		return nil, s.unreadable(err)
	}
	f := &initialFiles{version: version, list: slices.Collect(snap.Files()), schema: snap.Schema(), meta: snap.Metadata(),
		set: delta.ChangeSet{Version: version, Timestamp: snap.Timestamp().UTC(), Type: delta.ChangeInsert}}
	slices.SortFunc(f.list, func(a, b delta.File) int {
		if c := cmp.Compare(a.ModTime.UnixMilli(), b.ModTime.UnixMilli()); c != 0 {
			return c
		}
		return strings.Compare(a.LogPath(), b.LogPath())
	})
	f.sums = make([]int64, len(f.list))
	sum := int64(0)
	for i, file := range f.list {
		sum += file.Size
		f.sums[i] = sum
	}
	s.snapshot = f
	return f, nil
}

// aheadCommit is a commit that is known before it is read.
type aheadCommit struct {
	*delta.Commit
	skipped bool // it changes rows, and skipChangeCommits leaves it out
	whole   bool // it goes into one range
}

// files are those that the commit brings.
func (c *aheadCommit) files() []delta.File {
	if c.skipped {
		return nil
	}
	return c.Adds
}

// first is the index of the first file behind a position.
func (c *aheadCommit) first(from position) int64 {
	switch {
	case from.initial && c.Version <= from.version || c.Version < from.version:
		return int64(len(c.files()))
	case !from.initial && c.Version == from.version:
		return min(from.index+1, int64(len(c.files())))
	}
	return 0
}

// last is the index of the n-th of the files behind a position.
func (c *aheadCommit) last(from position, n int) int64 { return c.first(from) + int64(n) }

// sizes are those of the files behind a position.
func (c *aheadCommit) sizes(from position) []int64 {
	files := c.files()[c.first(from):]
	out := make([]int64, len(files))
	for i, f := range files {
		out[i] = f.Size
	}
	return out
}

// lookAhead reads commits up to a version, until there are so many files ahead; 0: all. Those before from are forgotten.
func (s *Source) lookAhead(ctx context.Context, snap *delta.Snapshot, from position, upTo int64, bound int) error {
	s.snapshot = nil // it has been read
	if from.version >= s.lostFrom && from.version < s.lostTo {
		from.version = s.lostTo
	}
	if from.version < s.aheadFrom || from.version > s.nextVersion || s.state == nil {
		s.ahead, s.aheadFrom, s.nextVersion, s.state = nil, from.version, from.version, nil
	}
	n := 0
	for n < len(s.ahead) && s.ahead[n].Version < from.version {
		n++
	}
	s.ahead, s.aheadFrom = slices.Delete(s.ahead, 0, n), from.version
	files := 0
	for i := range s.ahead {
		files += len(s.ahead[i].files())
	}
	if s.nextVersion > upTo || bound > 0 && files >= bound {
		return nil
	}
	base, err := s.base(ctx, snap)
	if err == nil {
		for c, err := range s.table.Commits(ctx, base, s.nextVersion, upTo) {
			if errors.Is(err, delta.ErrNoVersion) {
				return s.lost(ctx, snap, from, upTo, bound, err)
			}
			if err != nil {
				return s.unreadable(err)
			}
			a := s.added(c)
			s.ahead = append(s.ahead, a)
			s.nextVersion, s.state = c.Version+1, c.After()
			if files += len(a.files()); bound > 0 && files >= bound {
				return nil
			}
		}
	}
	if errors.Is(err, delta.ErrNoVersion) {
		return s.lost(ctx, snap, from, upTo, bound, err)
	}
	return err
}

// base is a snapshot from which the schema of the next version follows.
func (s *Source) base(ctx context.Context, snap *delta.Snapshot) (*delta.Snapshot, error) {
	switch {
	case s.state != nil:
		return s.state, nil
	case s.nextVersion == snap.Version(): // it is at hand
		return snap, nil
	}
	before, err := s.table.SnapshotAt(ctx, max(0, s.nextVersion-1))
	if errors.Is(err, delta.ErrNoVersion) {
		first, firstErr := s.table.FirstCommit(ctx, s.nextVersion)
		if firstErr == nil && first == s.nextVersion {
			return snap, nil // the commit is there, and what it began from is not: commits that change columns say so
		}
		return nil, errors.Join(err, firstErr)
	}
	if err != nil {
		return nil, s.unreadable(err)
	}
	return before, nil
}

// lost is what becomes of a stream whose next version has been cleaned up.
func (s *Source) lost(ctx context.Context, snap *delta.Snapshot, from position, upTo int64, bound int, cause error) error {
	missing := s.nextVersion
	first, err := s.table.FirstCommit(ctx, missing)
	if errors.Is(err, delta.ErrNoVersion) {
		first = snap.Version() + 1
	} else if err != nil {
		return s.unreadable(err)
	}
	if !s.opts.dataLoss {
		return &source.LossError{Err: fmt.Errorf("[DELTA_MISSING_FILES_UNEXPECTED_VERSION] the stream goes on with version %d of source table %s (id %s), and the oldest that its log still has is %d: "+
			"the log was cleaned up before the stream had read it. RESET reads the table again: %w", missing, s.uri, from.id, first, cause)}
	}
	s.noticeLoss("", fmt.Sprintf("versions %d to %d of source table %s were cleaned up before the stream had read them: their rows are not in the target (failOnDataLoss is false)",
		missing, first-1, s.uri))
	s.lostFrom, s.lostTo, s.state = missing, first, nil
	return s.lookAhead(ctx, snap, from, upTo, bound)
}

func (s *Source) noticeLoss(file, what string) {
	s.notices = append(s.notices, source.RowError{File: file, Message: what})
}

func (s *Source) added(c *delta.Commit) aheadCommit {
	changes := len(c.Removed) > 0
	return aheadCommit{
		Commit: c, skipped: changes && s.opts.skipChangeCommits,
		whole: s.opts.changeFeed && (changes || c.RowsDeleted()),
	}
}

// judge says why a commit cannot be read.
func (s *Source) judge(c *delta.Commit, id string) error {
	if err := s.checkID(id, c.Metadata.ID); err != nil {
		return fmt.Errorf("version %d: %w", c.Version, err)
	}
	if err := s.checkSchema(c.Version, c.Schema, c.Metadata); err != nil {
		return err
	}
	if len(c.Removed) == 0 || s.opts.changeFeed || s.opts.skipChangeCommits || s.opts.ignoreChanges {
		return nil
	}
	if len(c.Adds) == 0 {
		if s.opts.ignoreDeletes {
			return nil
		}
		return refuse(source.ErrData, "[DELTA_SOURCE_IGNORE_DELETE] version %d (%s) of source table %s deleted rows, all of file %s, which are in the target already if they were read. "+
			"CREATE OR REPLACE STREAM with STREAM(..., ignoreDeletes => true), which keeps the checkpoint, reads on behind such versions; RESET reads the table again",
			c.Version, c.Operation(), s.uri, c.Removed[0])
	}
	return refuse(source.ErrData, "[DELTA_SOURCE_TABLE_IGNORE_CHANGES] version %d (%s) of source table %s changed rows: it wrote file %s anew, whose rows are in the target already if they were read. "+
		"CREATE OR REPLACE STREAM with STREAM(..., skipChangeCommits => true), which keeps the checkpoint, leaves such versions out whole; with ignoreChanges => true it reads the new files whole, "+
		"with rows that did not change; RESET reads the table again", c.Version, c.Operation(), s.uri, c.Removed[0])
}
