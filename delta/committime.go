package delta

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/buger/jsonparser"

	"lakesql/store"
)

// The properties of in-commit timestamps: with them a version's time is what its commit says, else the time of its file. The last
// two say where they begin, in a table that was made without.
const (
	inCommitProperty  = "delta.enableInCommitTimestamps"
	inCommitVersion   = "delta.inCommitTimestampEnablementVersion"
	inCommitTimestamp = "delta.inCommitTimestampEnablementTimestamp"
)

// hasInCommitTimestamps tells whether the next commit must have a timestamp of its own.
func (s *Snapshot) hasInCommitTimestamps() bool {
	return s.metadata != nil && s.metadata.on(inCommitProperty)
}

// commitTimestamp is the in-commit timestamp of a commit, in milliseconds since the epoch; 0 without one.
func commitTimestamp(info []byte) int64 {
	if !bytes.Contains(info, []byte("inCommitTimestamp")) { // most have none, and a replay asks thousands
		return 0
	}
	ms, err := jsonparser.GetInt(info, "inCommitTimestamp")
	if err != nil {
		return 0
	}
	return ms
}

// fillTimestamp reads the snapshot's in-commit timestamp from its commit, when a checkpoint has made the snapshot. A commit
// that is gone leaves the time of the checkpoint.
func (s *Snapshot) fillTimestamp(ctx context.Context, st store.Store) error {
	if s.inCommit != 0 || !s.hasInCommitTimestamps() {
		return nil
	}
	c, err := readCommit(ctx, st, s.Version())
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		s.inCommit = commitTimestamp(c.info)
	}
	return err
}

// inCommitTime is the in-commit timestamp, in milliseconds since the epoch, of a commit that follows on base: later than that
// of its predecessor, whatever the clock says. 0: the commit has none.
func (x *Transaction) inCommitTime(ctx context.Context, now time.Time) (int64, error) {
	if !x.after().hasInCommitTimestamps() {
		return 0, nil
	}
	ms := now.UnixMilli()
	if x.base.Version() < 0 {
		return ms, nil
	}
	before := x.base.inCommit
	if before == 0 { // the predecessor has the time of its file
		info, err := x.table.st.Stat(ctx, commitKey(x.base.Version()))
		if errors.Is(err, store.ErrNotFound) && x.base.Version() == x.read.Version() {
			info, err = x.read.newest, nil
		}
		if err != nil {
			return 0, fmt.Errorf("time of version %d of %s: %w", x.base.Version(), x.base.uri, err)
		}
		before = info.ModTime.UnixMilli()
	}
	return max(ms, before+1), nil
}

// withEnablement returns the metadata with the version and time from which on commits have timestamps: where this commit turns them
// on for a table that exists, or where the metadata before say so.
func (m *Metadata) withEnablement(before *Snapshot, version, inCommit int64) *Metadata {
	if inCommit == 0 || before.metadata == nil {
		return m
	}
	if before.hasInCommitTimestamps() {
		out := *m
		out.Configuration = withProperties(m.Configuration, before.metadata.Configuration, inCommitVersion, inCommitTimestamp)
		return &out
	}
	out := *m
	out.Configuration = withProperties(m.Configuration, map[string]string{
		inCommitVersion: strconv.FormatInt(version, 10), inCommitTimestamp: strconv.FormatInt(inCommit, 10)}, inCommitVersion, inCommitTimestamp)
	return &out
}

// withProperties returns a copy of config in which keys have the values that they have in from.
func withProperties(config, from map[string]string, keys ...string) map[string]string {
	out := make(map[string]string, len(config)+len(keys))
	for k, v := range config {
		out[k] = v
	}
	for _, k := range keys {
		if v, ok := from[k]; ok {
			out[k] = v
		}
	}
	return out
}
