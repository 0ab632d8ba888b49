package delta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"time"

	"lakesql/store"
)

// HistoryEntry is what one commit says about itself.
type HistoryEntry struct {
	Version        int64
	Timestamp      time.Time
	Operation      string // "" where the commit says nothing
	Parameters     map[string]string
	Metrics        map[string]string
	ReadVersion    int64 // -1 unknown
	IsolationLevel string
	IsBlindAppend  *bool // nil unknown
	EngineInfo     string
	UserMetadata   string
	UserName       string
}

// History returns up to limit commits (all if limit <= 0), newest first, as far back as the log still has them.
func (t *Table) History(ctx context.Context, limit int) ([]HistoryEntry, error) {
	commits, err := t.commitTimes(ctx)
	if err != nil {
		return nil, err
	}
	if limit <= 0 || limit > len(commits) {
		limit = len(commits)
	}
	out := make([]HistoryEntry, 0, limit)
	for i := len(commits) - 1; len(out) < limit; i-- {
		c, err := readCommit(ctx, t.st, commits[i].version)
		if errors.Is(err, store.ErrNotFound) { // cleaned up since the listing
			break
		}
		if err != nil {
			return nil, err
		}
		entry, err := historyEntry(c, commits[i].at)
		if err != nil {
			return nil, fmt.Errorf("commit %d of %s: %w", c.version, t.st.URI(), err)
		}
		out = append(out, entry)
	}
	return out, nil
}

func historyEntry(c *commit, at time.Time) (HistoryEntry, error) {
	var in struct {
		Operation           string         `json:"operation"`
		OperationParameters map[string]any `json:"operationParameters"`
		OperationMetrics    map[string]any `json:"operationMetrics"`
		ReadVersion         *int64         `json:"readVersion"`
		IsolationLevel      string         `json:"isolationLevel"`
		IsBlindAppend       *bool          `json:"isBlindAppend"`
		EngineInfo          string         `json:"engineInfo"`
		UserMetadata        string         `json:"userMetadata"`
		UserName            string         `json:"userName"`
		InCommitTimestamp   *int64         `json:"inCommitTimestamp"`
	}
	if c.info != nil {
		if err := json.Unmarshal(c.info, &in); err != nil {
			return HistoryEntry{}, fmt.Errorf("%w: commitInfo: %w", ErrCorrupt, err)
		}
	}
	out := HistoryEntry{Version: c.version, Timestamp: at, Operation: in.Operation, Parameters: texts(in.OperationParameters),
		Metrics: texts(in.OperationMetrics), ReadVersion: -1, IsolationLevel: in.IsolationLevel, IsBlindAppend: in.IsBlindAppend,
		EngineInfo: in.EngineInfo, UserMetadata: in.UserMetadata, UserName: in.UserName}
	if in.ReadVersion != nil {
		out.ReadVersion = *in.ReadVersion
	}
	if in.InCommitTimestamp != nil {
		out.Timestamp = time.UnixMilli(*in.InCommitTimestamp).UTC()
	}
	return out, nil
}

// texts turns the values to text; nulls are left out. Writers put numbers, booleans and objects there too.
func texts(in map[string]any) map[string]string {
	out := make(map[string]string, len(in))
	for k, v := range in {
		switch v := v.(type) {
		case nil:
		case string:
			out[k] = v
		case float64:
			out[k] = strconv.FormatFloat(v, 'f', -1, 64)
		default:
			out[k] = string(mustJSON(v))
		}
	}
	return out
}

// commitTime is when a version was committed.
type commitTime struct {
	version int64
	at      time.Time
}

// commitTimes lists the commits with the times of their files, made ascending as Spark does: each is at least a
// millisecond after the one before.
func (t *Table) commitTimes(ctx context.Context) ([]commitTime, error) {
	listing, err := listLog(ctx, t.st, 0)
	if err != nil {
		return nil, err
	}
	if listing.version() < 0 {
		return nil, fmt.Errorf("%w: %s has no commits in %s", ErrNoTable, t.st.URI(), logFolder)
	}
	out := make([]commitTime, len(listing.commits))
	for i, info := range listing.commits {
		out[i] = commitTime{parseLogName(info.Key).version, info.ModTime.Truncate(time.Millisecond).UTC()}
		if i > 0 && !out[i].at.After(out[i-1].at) {
			out[i].at = out[i-1].at.Add(time.Millisecond)
		}
	}
	return out, nil
}

// VersionAt returns the newest version that was committed at or before the given time; ErrNoVersion when the oldest one
// that is there was committed later. A time after the newest version gives the newest. Where the table has in-commit
// timestamps they count, from the version on that enabled them; before it the times of the files.
func (t *Table) VersionAt(ctx context.Context, at time.Time) (int64, error) {
	s, err := t.newest(ctx)
	if err != nil {
		return 0, err
	}
	commits, err := t.commitTimes(ctx)
	if err != nil {
		return 0, err
	}
	if len(commits) == 0 {
		return s.Version(), nil // only a checkpoint is left
	}
	times := timeOfCommits{table: t, commits: commits, inCommitFrom: inCommitTimestampsFrom(s)}
	n := sort.Search(len(commits), func(i int) bool { return times.get(ctx, i).After(at) })
	if times.err != nil {
		return 0, times.err
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: [DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION] %s of %s; its oldest version that is there, %d, is of %s",
			ErrNoVersion, at.UTC().Format(time.RFC3339Nano), t.st.URI(), commits[0].version, times.get(ctx, 0).Format(time.RFC3339Nano))
	}
	return commits[n-1].version, nil
}

// inCommitTimestampsFrom is the version from which on commits have their own timestamps; -1 when they have none.
func inCommitTimestampsFrom(s *Snapshot) int64 {
	if !s.metadata.on("delta.enableInCommitTimestamps") {
		return -1
	}
	from, err := strconv.ParseInt(s.metadata.Configuration["delta.inCommitTimestampEnablementVersion"], 10, 64)
	if err != nil {
		return 0 // on since the table was made
	}
	return from
}

// timeOfCommits gives the time of a commit, read from the commit where that is what counts.
type timeOfCommits struct {
	table        *Table
	commits      []commitTime
	inCommitFrom int64
	err          error // the first that get met
}

func (c *timeOfCommits) get(ctx context.Context, i int) time.Time {
	if c.inCommitFrom < 0 || c.commits[i].version < c.inCommitFrom || c.err != nil {
		return c.commits[i].at
	}
	commit, err := readCommit(ctx, c.table.st, c.commits[i].version)
	if err != nil {
		c.err = err
		return c.commits[i].at
	}
	entry, err := historyEntry(commit, c.commits[i].at)
	if err != nil {
		c.err = err
	}
	return entry.Timestamp
}
