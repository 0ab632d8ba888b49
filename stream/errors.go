package stream

import "errors"

// ErrorKind tells the errors of this package apart.
type ErrorKind uint8

// The kinds of errors.
const (
	KindNotFound         ErrorKind = iota + 1 // no stream of that name
	KindExists                                // a stream of that name exists
	KindInvalid                               // the definition contradicts itself or its checkpoint
	KindUnsupported                           // understood, not built yet
	KindWrongState                            // the statement does not fit the stream's state
	KindCheckpointHeld                        // another stream has the checkpoint
	KindCheckpoint                            // the checkpoint is missing, damaged, foreign, or has state
	KindCheckpointStale                       // the table is ahead of the checkpoint
	KindBatchesLost                           // the table lacks batches that the checkpoint says were committed
	KindTableReplaced                         // the target is another table than the checkpoint's
	KindSchema                                // the query's columns do not fit the target
	KindData                                  // the data cannot be read as told
	KindSourceChanged                         // a file of a recorded range changed or is gone
	KindTooManyErrors                         // more malformed rows than MAX n ROWS
	KindConcurrentStream                      // another process wrote this stream's batch
	KindTimeout                               // WAIT FOR STREAM ran out of time
	KindStreamFailed                          // WAIT FOR STREAM met a stream that failed
	KindNoSource                              // COPY INTO names files that are not there
	KindPanic                                 // a fault in the program
)

// Error is an error of a stream: what was found, where, and what to type.
type Error struct {
	Kind    ErrorKind
	Stream  string // database.name; "" where no stream is concerned
	Message string
	Err     error // the cause; may be nil
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the first *Error in err's chain, or 0.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}
