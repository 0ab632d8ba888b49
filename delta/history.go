package delta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	UserID         string
	ClusterID      string
	Job, Notebook  string // JSON objects
}

// History returns up to limit commits (all if limit <= 0), newest first, as far back as the log still has them. It reads these
// commits alone.
func (t *Table) History(ctx context.Context, limit int) ([]HistoryEntry, error) {
	s, err := t.newest(ctx)
	if err != nil {
		return nil, err
	}
	from := int64(0) // the times of files depend on those before
	if since, _, on := s.inCommitSince(); on && limit > 0 && s.Version()-int64(limit) >= since {
		from = s.Version() - int64(limit) + 1
	}
	commits, err := t.commitTimes(ctx, from)
	if err != nil {
		return nil, err
	}
	out := make([]HistoryEntry, 0, len(commits))
	for _, at := range slices.Backward(commits) {
		if limit > 0 && len(out) == limit {
			break
		}
		c, err := readCommit(ctx, t.st, at.version)
		if errors.Is(err, store.ErrNotFound) { // cleaned up since the listing
			break
		}
		if err != nil {
			return nil, err
		}
		entry, err := historyEntry(c, at.at)
		if err != nil {
			return nil, fmt.Errorf("commit %d of %s: %w", c.version, t.st.URI(), err)
		}
		out = append(out, entry)
	}
	return out, nil
}

func historyEntry(c *commit, at time.Time) (HistoryEntry, error) {
	var in struct {
		Operation           string          `json:"operation"`
		OperationParameters map[string]any  `json:"operationParameters"`
		OperationMetrics    map[string]any  `json:"operationMetrics"`
		ReadVersion         *int64          `json:"readVersion"`
		IsolationLevel      string          `json:"isolationLevel"`
		IsBlindAppend       *bool           `json:"isBlindAppend"`
		EngineInfo          string          `json:"engineInfo"`
		UserMetadata        string          `json:"userMetadata"`
		UserName            string          `json:"userName"`
		UserID              json.RawMessage `json:"userId"`
		ClusterID           json.RawMessage `json:"clusterId"`
		Job                 json.RawMessage `json:"job"`
		Notebook            json.RawMessage `json:"notebook"`
	}
	if c.info != nil {
		if err := json.Unmarshal(c.info, &in); err != nil {
			return HistoryEntry{}, fmt.Errorf("%w: commitInfo: %w", ErrCorrupt, err)
		}
	}
	out := HistoryEntry{Version: c.version, Timestamp: at, Operation: in.Operation, Parameters: texts(in.OperationParameters),
		Metrics: texts(in.OperationMetrics), ReadVersion: -1, IsolationLevel: in.IsolationLevel, IsBlindAppend: in.IsBlindAppend,
		EngineInfo: in.EngineInfo, UserMetadata: in.UserMetadata, UserName: in.UserName,
		UserID: looseText(in.UserID), ClusterID: looseText(in.ClusterID), Job: looseText(in.Job), Notebook: looseText(in.Notebook)}
	if in.ReadVersion != nil {
		out.ReadVersion = *in.ReadVersion
	}
	if ms := commitTimestamp(c.info); ms != 0 {
		out.Timestamp = time.UnixMilli(ms).UTC()
	}
	return out, nil
}

// looseText is a JSON string's text, and of anything else the JSON; "" for null.
func looseText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
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
