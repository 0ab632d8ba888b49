package stream

import (
	"log/slog"
	"time"
)

// Events is the one seam through which logs, metrics and tests hear of what streams do. A function that is nil is not
// called. They are called on the streams' goroutines, some under a stream's lock: they must neither block nor call the manager.
type Events struct {
	StateChanged func(StateChanged)
	BatchStarted func(BatchStarted)
	BatchDone    func(BatchDone)
	BatchFailed  func(BatchFailed)
}

// StateChanged says that a stream's state or reason is another one.
type StateChanged struct {
	Stream string // database.name
	State  State
	Reason string
}

// BatchStarted says that a batch's range is durable and is going to be read.
type BatchStarted struct {
	Stream string
	Batch  int64
	Replay bool // the range was recorded by an earlier run
}

// BatchDone says that a batch is committed to the table and recorded in the checkpoint.
type BatchDone struct {
	Stream   string
	Progress Progress
}

// BatchFailed says that an attempt ended with an error.
type BatchFailed struct {
	Stream  string
	Err     error
	Retry   bool
	Backoff time.Duration // until the next attempt, when Retry
}

// withLog fills every event, so that nobody tests for nil, and writes one log line for each batch and each fault. docs/streams.md promises their
// messages and keys.
func withLog(e Events, log *slog.Logger) Events {
	return Events{
		StateChanged: func(ev StateChanged) {
			log.Debug("stream state", "stream", ev.Stream, "state", ev.State, "reason", ev.Reason)
			call(e.StateChanged, ev)
		},
		BatchStarted: func(ev BatchStarted) { call(e.BatchStarted, ev) },
		BatchDone: func(ev BatchDone) {
			p := ev.Progress
			log.Info("stream batch", "stream", ev.Stream, "batch", p.BatchID, "version", p.CommitVersion, "files", p.NumInputFiles,
				"rows", p.NumInputRows, "written", p.Sink.NumOutputRows, "errors", p.NumErrorRows, "ms", p.BatchDuration,
				"backlog_files", p.BacklogFiles, "backlog_bytes", p.BacklogBytes, "backlog_rows", p.BacklogRows)
			call(e.BatchDone, ev)
		},
		BatchFailed: func(ev BatchFailed) {
			log.Warn("stream fault", "stream", ev.Stream, "error", ev.Err, "retry", ev.Retry, "retry_ms", ev.Backoff.Milliseconds())
			call(e.BatchFailed, ev)
		},
	}
}

func call[E any](f func(E), ev E) {
	if f != nil {
		f(ev)
	}
}
