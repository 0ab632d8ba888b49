package catalog

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/mysqltype"
	"lakesql/stream"
)

var (
	textType = mysqltype.Text
	number   = types.Int64
	instant6 = types.DatetimeMaxPrecision
	double   = types.Float64
)

// statusColumns are those of STREAMS and of SHOW STREAM STATUS.
var statusColumns = []computedColumn[stream.Status]{
	{"STREAM_SCHEMA", textType, func(s stream.Status) any { return s.Definition.Database }},
	{"STREAM_NAME", textType, func(s stream.Status) any { return s.Definition.Name }},
	{"STREAM_ID", textType, func(s stream.Status) any { return s.Definition.ID }},
	{"STATE", textType, func(s stream.Status) any { return string(s.State) }},
	{"STATE_REASON", textType, func(s stream.Status) any { return orNull(s.Reason) }},
	{"STATE_SINCE", instant6, func(s stream.Status) any { return timeOrNull(s.Since) }},
	{"TARGET_SCHEMA", textType, func(s stream.Status) any { return targetSchema(s.Definition.Target) }},
	{"TARGET_TABLE", textType, func(s stream.Status) any { return targetTable(s.Definition.Target) }},
	{"SOURCE", textType, func(s stream.Status) any { return orNull(strings.Join(s.SourceDescriptions, ", ")) }},
	{"CHECKPOINT_LOCATION", textType, func(s stream.Status) any { return s.Definition.Checkpoint }},
	{"TRIGGER_TYPE", textType, func(s stream.Status) any { return s.Definition.Trigger.String() }},
	{"OUTPUT_MODE", textType, func(stream.Status) any { return "APPEND" }},
	{"LAST_BATCH_ID", number, func(s stream.Status) any { return countOrNull(s.LastBatchID) }},
	{"LAST_COMMIT_VERSION", number, func(s stream.Status) any { return countOrNull(s.LastCommitVersion) }},
	{"LAST_COMMIT_TIME", instant6, func(s stream.Status) any { return timeOrNull(s.LastCommitTime) }},
	{"ROWS_WRITTEN", number, func(s stream.Status) any { return s.RowsWritten }},
	{"ERROR_ROWS", number, func(s stream.Status) any { return s.ErrorRows }},
	{"BACKLOG_FILES", number, func(s stream.Status) any { return s.BacklogFiles }},
	{"BACKLOG_BYTES", number, func(s stream.Status) any { return s.BacklogBytes }},
	{"BACKLOG_ROWS", number, func(s stream.Status) any { return s.BacklogRows }},
	{"WAITING_FILES", number, func(s stream.Status) any { return s.WaitingFiles }},
	{"LAST_ERROR", textType, func(s stream.Status) any { return orNull(s.LastError) }},
	{"LAST_ERROR_TIME", instant6, func(s stream.Status) any { return timeOrNull(s.LastErrorTime) }},
	{"ATTEMPTS", number, func(s stream.Status) any { return int64(s.Attempts) }},
	{"NEXT_ATTEMPT", instant6, func(s stream.Status) any { return timeOrNull(s.NextAttempt) }},
	{"RESTARTS", number, func(s stream.Status) any { return int64(s.Restarts) }},
	{"RUN_ID", textType, func(s stream.Status) any { return orNull(s.RunID) }},
	{"PROCESS_ID", number, func(s stream.Status) any { return int64(s.ProcessID) }},
	{"DEFINER", textType, func(s stream.Status) any { return s.Definition.Definer }},
	{"CREATED", instant6, func(s stream.Status) any { return timeOrNull(s.Definition.Created) }},
	{"STREAM_COMMENT", textType, func(s stream.Status) any { return s.Definition.Comment }},
	{"DEFINITION", textType, func(s stream.Status) any { return createText(s.Definition) }},
}

// progressOf is a batch of a stream.
type progressOf struct {
	status stream.Status
	stream.Progress
}

var progressColumns = []computedColumn[progressOf]{
	{"STREAM_SCHEMA", textType, func(p progressOf) any { return p.status.Definition.Database }},
	{"STREAM_NAME", textType, func(p progressOf) any { return p.status.Definition.Name }},
	{"ID", textType, func(p progressOf) any { return p.ID }},
	{"RUN_ID", textType, func(p progressOf) any { return p.RunID }},
	{"BATCH_ID", number, func(p progressOf) any { return p.BatchID }},
	{"TIMESTAMP", instant6, func(p progressOf) any { return timeOrNull(p.Timestamp) }},
	{"BATCH_DURATION", number, func(p progressOf) any { return p.BatchDuration }},
	{"NUM_INPUT_ROWS", number, func(p progressOf) any { return p.NumInputRows }},
	{"INPUT_ROWS_PER_SECOND", double, func(p progressOf) any { return p.InputRowsPerSecond }},
	{"PROCESSED_ROWS_PER_SECOND", double, func(p progressOf) any { return p.ProcessedRowsPerSecond }},
	{"DURATION_MS", textType, func(p progressOf) any { return jsonText(p.DurationMs) }},
	{"SOURCES", textType, func(p progressOf) any { return jsonText(p.Sources) }},
	{"SINK", textType, func(p progressOf) any { return jsonText(p.Sink) }},
	{"NUM_INPUT_FILES", number, func(p progressOf) any { return p.NumInputFiles }},
	{"NUM_OUTPUT_ROWS", number, func(p progressOf) any { return p.Sink.NumOutputRows }},
	{"NUM_ERROR_ROWS", number, func(p progressOf) any { return p.NumErrorRows }},
	{"COMMIT_VERSION", number, func(p progressOf) any { return countOrNull(p.CommitVersion) }},
	{"BACKLOG_FILES", number, func(p progressOf) any { return p.BacklogFiles }},
	{"BACKLOG_BYTES", number, func(p progressOf) any { return p.BacklogBytes }},
	{"BACKLOG_ROWS", number, func(p progressOf) any { return p.BacklogRows }},
}

// fileOf is a source file of a stream.
type fileOf struct {
	status stream.Status
	stream.FileStatus
}

var fileColumns = []computedColumn[fileOf]{
	{"STREAM_SCHEMA", textType, func(f fileOf) any { return f.status.Definition.Database }},
	{"STREAM_NAME", textType, func(f fileOf) any { return f.status.Definition.Name }},
	{"PATH", textType, func(f fileOf) any { return f.Path }},
	{"SIZE", number, func(f fileOf) any { return countOrNull(f.Size) }},
	{"MTIME", instant6, func(f fileOf) any { return timeOrNull(f.ModTime) }},
	{"STATE", textType, func(f fileOf) any { return string(f.State) }},
	{"BATCH", number, func(f fileOf) any { return countOrNull(f.SourceLog) }},
	{"ROWS", number, func(f fileOf) any { return countOrNull(f.Rows) }},
	{"REJECTED", number, func(f fileOf) any { return f.Rejected }},
	{"ERROR", textType, func(f fileOf) any { return orNull(f.Error) }},
}

// errorOf is a malformed row that a stream met.
type errorOf struct {
	status stream.Status
	stream.RowError
}

// rowErrorNumber is the error number of a row that does not convert: MySQL's ER_TRUNCATED_WRONG_VALUE_FOR_FIELD.
const rowErrorNumber = 1366

var errorColumns = []computedColumn[errorOf]{
	{"STREAM_SCHEMA", textType, func(e errorOf) any { return e.status.Definition.Database }},
	{"STREAM_NAME", textType, func(e errorOf) any { return e.status.Definition.Name }},
	{"TIME", instant6, func(e errorOf) any { return timeOrNull(e.Time) }},
	{"BATCH_ID", number, func(e errorOf) any { return e.BatchID }},
	{"ERRNO", number, func(errorOf) any { return int64(rowErrorNumber) }},
	{"MESSAGE", textType, func(e errorOf) any { return e.Message }},
	{"FILE", textType, func(e errorOf) any { return e.File }},
	{"LINE", number, func(e errorOf) any { return e.Line }},
	{"COLUMN", textType, func(e errorOf) any { return orNull(e.Column) }},
	{"RAW", textType, func(e errorOf) any { return strings.ToValidUTF8(string(e.Raw), "\uFFFD") }},
}

func (c *Catalog) progressRows(ctx context.Context, s stream.Status, limit int) ([]progressOf, error) {
	list, err := c.streams.Progress(ctx, s.Definition.Database, s.Definition.Name, limit)
	out := make([]progressOf, len(list))
	for i, p := range list {
		out[i] = progressOf{s, p}
	}
	return out, err
}

func (c *Catalog) fileRows(ctx context.Context, s stream.Status, limit int) ([]fileOf, error) {
	list, err := c.streams.Files(ctx, s.Definition.Database, s.Definition.Name)
	out := make([]fileOf, len(list))
	for i, f := range list {
		out[i] = fileOf{s, f}
	}
	if limit > 0 && len(out) > limit {
		out = out[len(out)-limit:] // the newest
	}
	return out, err
}

func (c *Catalog) errorRows(ctx context.Context, s stream.Status, limit int) ([]errorOf, error) {
	list, err := c.streams.Errors(ctx, s.Definition.Database, s.Definition.Name)
	out := make([]errorOf, len(list))
	for i, e := range list {
		out[i] = errorOf{s, e}
	}
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, err
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func countOrNull(n int64) any {
	if n < 0 {
		return nil
	}
	return n
}

func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Truncate(time.Microsecond)
}

func jsonText(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return string(b)
}

func targetSchema(r stream.TargetRef) any {
	if r.Path != "" {
		return pathDatabaseName
	}
	return r.Database
}

func targetTable(r stream.TargetRef) any {
	if r.Path != "" {
		return r.Path
	}
	return r.Table
}
