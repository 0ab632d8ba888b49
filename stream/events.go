package stream

import "time"

// Events is the one seam through which logs, metrics and tests hear of what streams do. A function that is nil is not
// called; each is called on the stream's goroutine and must not block.
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
