package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/stream/source"
)

// maxErrorsPerBatch is how many malformed rows of one batch are kept. All of them are counted.
const maxErrorsPerBatch = 200

// errTooMany is the cause when a batch has more malformed rows than MAX n ROWS bears.
var errTooMany = errors.New("too many malformed rows")

// observed collects what the sources tell while a batch is read.
type observed struct {
	max       int64 // MAX n ROWS; 0: any number
	errorRows int64
	kept      []source.RowError
	fileCount int64
	skipped   []source.FileResult
	lastFile  string
	lastLine  int64
	left      func([]source.RowError) // hears of faults of one row that is left out: all that it has, or one after the other; nil: nobody keeps them
}

func (o *observed) observer() source.Observer {
	return source.Observer{Row: o.row, File: o.file}
}

// row counts a malformed row once, also when several of its fields are bad.
func (o *observed) row(e source.RowError) {
	if e.File != o.lastFile || e.Line != o.lastLine {
		o.errorRows++
		o.lastFile, o.lastLine = e.File, e.Line
	}
	o.keep([]source.RowError{e})
}

// keep hands faults of a row on, and keeps the first ones, with the beginning of the row's text.
func (o *observed) keep(bad []source.RowError) {
	if o.left != nil {
		o.left(bad)
	}
	for _, e := range bad[:min(len(bad), maxErrorsPerBatch-len(o.kept))] {
		if len(e.Raw) > maxRawBytes {
			e.Raw = slices.Clone(e.Raw[:maxRawBytes])
		}
		o.kept = append(o.kept, e)
	}
}

// maxRawBytes is how much of a malformed row's text is kept for SHOW STREAM ERRORS.
const maxRawBytes = 4 << 10

// selected counts a row of which the SELECT could not compute a value. Which file it is from is not known there.
func (o *observed) selected(bad []source.RowError) {
	o.errorRows++
	o.keep(bad)
}

func (o *observed) file(f source.FileResult) {
	o.fileCount++
	if f.Skipped != "" {
		o.skipped = append(o.skipped, f)
	}
}

// tooManyErrors applies MAX n ROWS.
func (ss *session) tooManyErrors(ctx context.Context, b *micro, o *observed) error {
	if o.max == 0 || o.errorRows <= o.max {
		return nil
	}
	if err := ss.keepRowErrors(ctx, b, o); err != nil {
		return err
	}
	first := o.kept[0]
	where := fmt.Sprintf("file %s, line %d", first.File, first.Line)
	skip := fmt.Sprintf(". Or leave the file out with ALTER STREAM %s SKIP FILE '%s', and put a mended copy into the folder under a new name", ss.def.FullName(), first.File)
	switch {
	case first.File == "":
		where, skip = fmt.Sprintf("computed from the row %q", first.Raw), ""
	case !strings.Contains(first.File, "://"): // a partition of a topic
		skip = ""
	}
	return ss.fail(KindTooManyErrors, errTooMany, "stream %s: batch %d has %d malformed rows, and MAX %d ROWS was given. The first: %s, column %q: %s. "+
		"SHOW STREAM ERRORS FOR %s lists them. Raise MAX with CREATE OR REPLACE STREAM, which keeps the checkpoint%s",
		ss.def.FullName(), b.id, o.errorRows, o.max, where, first.Column, first.Message, ss.def.FullName(), skip)
}

// keptError is a malformed row as it is kept in the checkpoint.
type keptError struct {
	Time    time.Time `json:"time"`
	File    string    `json:"file"`
	Line    int64     `json:"line"`
	Column  string    `json:"column,omitempty"`
	Raw     []byte    `json:"raw,omitempty"`
	Message string    `json:"message"`
}

// keepRowErrors makes the batch's malformed rows durable before the batch's commit, so that none is lost; a batch that is
// run again replaces its own.
func (ss *session) keepRowErrors(ctx context.Context, b *micro, o *observed) error {
	if len(o.kept) == 0 && len(o.skipped) == 0 && !b.replay {
		return nil
	}
	now := ss.s.m.now().UTC()
	items := make([]json.RawMessage, 0, len(o.kept)+len(o.skipped))
	for _, f := range o.skipped {
		items = append(items, mustJSON(keptError{Time: now, File: f.URI, Message: "the file was left out: " + f.Skipped}))
	}
	for _, e := range o.kept {
		items = append(items, mustJSON(keptError{Time: now, File: e.File, Line: e.Line, Column: e.Column, Raw: e.Raw, Message: e.Message}))
	}
	ss.cp.Errors().Put(b.id, items...)
	if err := ss.cp.Errors().Flush(ctx); err != nil {
		return fmt.Errorf("keep the malformed rows of batch %d: %w", b.id, err)
	}
	return nil
}

// keepNotices makes durable what the stream and its sources have noticed, with the errors of the last batch.
func (ss *session) keepNotices(ctx context.Context) error {
	notices := ss.run.notices
	ss.run.notices = nil
	for _, src := range ss.sources {
		if noticer, ok := src.(source.Noticer); ok {
			notices = append(notices, noticer.Notices()...)
		}
	}
	if len(notices) == 0 {
		return nil
	}
	var items []json.RawMessage
	now := ss.s.m.now().UTC()
	for _, n := range notices {
		ss.s.m.log.Warn("a stream noticed", "stream", ss.def.FullName(), "file", n.File, "what", n.Message)
		items = append(items, mustJSON(keptError{Time: now, File: n.File, Message: n.Message}))
	}
	ss.cp.Errors().Add(ss.next-1, items...)
	if err := ss.cp.Errors().Flush(ctx); err != nil {
		ss.run.notices = notices // of the next session
		return fmt.Errorf("keep what the sources noticed: %w", err)
	}
	return nil
}

// mustJSON encodes a value of our own that always can be.
func mustJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return data
}

// progressOf describes a committed batch.
func (ss *session) progressOf(b *micro, done delta.Committed, res *batchResult, tick, now time.Time) Progress {
	took, since := now.Sub(tick), tick.Sub(ss.lastTick)
	p := Progress{
		ID: ss.cp.ID(), RunID: ss.runID, Name: ss.def.FullName(), Timestamp: tick.UTC(), BatchID: b.id,
		BatchDuration: took.Milliseconds(), DurationMs: b.took,
		NumInputFiles: res.observed.fileCount, NumErrorRows: res.observed.errorRows, CommitVersion: done.Version,
		Sink: SinkProgress{Description: "DeltaSink[" + ss.target.Table.Store().URI() + "]", NumOutputRows: res.rows},
	}
	left := ss.backlog()
	p.BacklogFiles, p.BacklogBytes, p.BacklogRows = left.Files, left.Bytes, left.Rows
	for i, src := range ss.sources {
		n := res.inputRows[i]
		p.NumInputRows += n
		p.Sources = append(p.Sources, SourceProgress{
			Description: src.Description(), StartOffset: rawOffset(b.start[i]), EndOffset: rawOffset(b.end[i]), LatestOffset: rawOffset(b.end[i]),
			NumInputRows: n, InputRowsPerSecond: ss.rate(n, since), ProcessedRowsPerSecond: perSecond(n, took),
		})
	}
	p.InputRowsPerSecond, p.ProcessedRowsPerSecond = ss.rate(p.NumInputRows, since), perSecond(p.NumInputRows, took)
	return p
}

// rate is rows per second since the last batch; 0 for the first one of a run.
func (ss *session) rate(rows int64, since time.Duration) float64 {
	if ss.lastTick.IsZero() {
		return 0
	}
	return perSecond(rows, since)
}

func perSecond(rows int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(rows) / d.Seconds()
}

func rawOffset(o source.Offset) json.RawMessage {
	if o == source.None {
		return json.RawMessage("null")
	}
	return json.RawMessage(o)
}

func (ss *session) keepProgress(batch int64, p Progress) { ss.cp.Progress().Put(batch, mustJSON(p)) }

// flushEvery is how often progress is made durable under load; a stream that rests does it at once.
const flushEvery = time.Second

// flushRings makes progress durable. It is a record for people: a fault is logged, and the stream goes on.
func (ss *session) flushRings(ctx context.Context) {
	for _, ring := range []*checkpoint.Ring{ss.cp.Progress(), ss.cp.Errors()} {
		if err := ring.Flush(ctx); err != nil && ctx.Err() == nil {
			ss.s.m.log.Warn("a stream's progress could not be kept", "stream", ss.def.FullName(), "error", err)
		}
	}
	ss.progressAt = ss.s.m.now()
}
