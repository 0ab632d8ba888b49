package stream

import (
	"encoding/json"
	"time"
)

// Progress is one batch, in the fields and the JSON order of Spark's StreamingQueryProgress, and our own after them.
// Rates are rows per second; durations are milliseconds.
type Progress struct {
	ID                     string           `json:"id"`
	RunID                  string           `json:"runId"`
	Name                   string           `json:"name"`
	Timestamp              time.Time        `json:"timestamp"` // of the trigger, UTC
	BatchID                int64            `json:"batchId"`
	BatchDuration          int64            `json:"batchDuration"`
	NumInputRows           int64            `json:"numInputRows"`
	InputRowsPerSecond     float64          `json:"inputRowsPerSecond"`
	ProcessedRowsPerSecond float64          `json:"processedRowsPerSecond"`
	DurationMs             map[string]int64 `json:"durationMs"`
	Sources                []SourceProgress `json:"sources"`
	Sink                   SinkProgress     `json:"sink"`

	NumInputFiles int64 `json:"numInputFiles"`
	NumErrorRows  int64 `json:"numErrorRows"`
	CommitVersion int64 `json:"commitVersion"`
	BacklogFiles  int64 `json:"backlogFiles"`
	BacklogBytes  int64 `json:"backlogBytes"`
	BacklogRows   int64 `json:"backlogRows"`
}

// SourceProgress is one source's part of a batch.
type SourceProgress struct {
	Description            string          `json:"description"`
	StartOffset            json.RawMessage `json:"startOffset"`
	EndOffset              json.RawMessage `json:"endOffset"`
	LatestOffset           json.RawMessage `json:"latestOffset"`
	NumInputRows           int64           `json:"numInputRows"`
	InputRowsPerSecond     float64         `json:"inputRowsPerSecond"`
	ProcessedRowsPerSecond float64         `json:"processedRowsPerSecond"`
}

// SinkProgress is the target's part of a batch.
type SinkProgress struct {
	Description   string `json:"description"`
	NumOutputRows int64  `json:"numOutputRows"`
}
