package source

import (
	"context"
	"errors"
	"time"

	"lakesql/batch"
	"lakesql/store"
	"lakesql/vector"
)

// Spec names one source of a stream's SELECT.
type Spec struct {
	Kind    string            // "files"
	Path    string            // absolute URI of a folder or file, or a glob
	Options map[string]string // the named arguments as written, option names in any case
}

// Offset is a position in a source: the text of its line in the checkpoint's offset log. None is the position before the
// first row. Offsets are compared as text.
type Offset string

// None is the offset of a source that has given nothing yet; the offset log has "-" for it.
const None Offset = ""

// Limit bounds one range. A range has one file at the least, whatever the limit says.
type Limit struct {
	Files int   // 0: no limit
	Bytes int64 // 0: no limit
}

// Errors that callers test for with errors.Is.
var (
	// ErrNoData says that there is nothing yet from which a schema could be inferred.
	ErrNoData = errors.New("no data to infer a schema from")
	// ErrChanged says that a range cannot be read again as it was: a file changed, or is gone. A retry does not mend it.
	ErrChanged = errors.New("the source is not what it was when the range was recorded")
	// ErrData says that the data is not what the options say. A retry does not mend it.
	ErrData = errors.New("the source holds data that cannot be read")
)

// FileError is what is wrong with one file of a range. It wraps ErrChanged or ErrData.
type FileError struct {
	URI string
	Err error
}

func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FileError) Unwrap() error { return e.Err }

// Source is one input of a stream. Only the stream's own goroutine calls it, except for Wake's channel.
type Source interface {
	// Schema returns the columns that Read gives. It stays the same for the life of the source, and is durable, before
	// it is returned, when it was inferred. ErrNoData when nothing is there to infer from.
	Schema(ctx context.Context) (*batch.Schema, error)
	// Latest returns the end of the next range after start: start itself when there is nothing new. The range is durable.
	// more says that a further range is there already.
	Latest(ctx context.Context, start Offset, limit Limit) (end Offset, more bool, err error)
	// Read returns the rows behind start, up to and with end. It may be called again with the same offsets.
	Read(ctx context.Context, start, end Offset, obs Observer) (vector.Operator, error)
	// Committed tells that everything up to end is in the target for good.
	Committed(ctx context.Context, end Offset) error
	// Backlog says what is there behind the last range, as of the last look.
	Backlog() Backlog
	// Mark looks now, and returns what has to be committed until a client may say that it has caught up with this moment.
	Mark(ctx context.Context) (Mark, error)
	// Freeze looks now; from then on Latest gives ranges only of what was there. It returns false from Exhausted until
	// all of it, also what was still being written, has been given.
	Freeze(ctx context.Context) error
	// Wake returns a channel of hints that something may be new.
	Wake() <-chan struct{}
	// RecheckAfter is how long after the last look it is worth while to look again without a hint.
	RecheckAfter() time.Duration
	// Description names the source as Spark does: FileStreamSource[file:/data/in].
	Description() string
	// Close stops what the source started and waits. It may be called twice.
	Close() error
}

// Mark is a moment in a source.
type Mark interface {
	// Reached reports whether everything that was there at the moment of the mark lies at or before committed.
	Reached(ctx context.Context, committed Offset) (bool, error)
}

// Backlog is what a source has not given out yet.
type Backlog struct {
	Files   int64
	Bytes   int64
	Waiting int64 // of Files, those that are still being written
}

// Observer hears of what Read meets. Both functions are called on the goroutine that reads; either may be nil.
type Observer struct {
	// Row is called for each malformed row or field.
	Row func(RowError)
	// File is called after the last row of each file, and for each file that was left out.
	File func(FileResult)
}

// RowError is a malformed row of a source.
type RowError struct {
	File    string // URI
	Line    int64
	Column  string
	Raw     []byte
	Message string
}

// FileResult is what reading one file gave.
type FileResult struct {
	URI      string
	Size     int64
	ModTime  time.Time
	Rows     int64
	Rejected int64  // malformed rows that were left out
	Skipped  string // why the whole file was left out; "" when it was read
}

// ErrorMode says what a source does with malformed rows and unreadable files.
type ErrorMode string

// The modes of ON ERROR.
const (
	Permissive ErrorMode = "PERMISSIVE"
	Fail       ErrorMode = "FAIL"
	SkipRow    ErrorMode = "SKIP ROW"
	SkipFile   ErrorMode = "SKIP FILE"
)

// Env is what a source is opened with.
type Env struct {
	Open    store.Opener
	Fence   Fence // the paths that may be reached
	Index   int   // the source's number in the plan
	OnError ErrorMode
	// Evolve makes columns that the inferred schema does not have yet part of it, instead of ignoring them.
	Evolve bool
	// FailOnNewColumns refuses a file with columns that the schema does not have.
	FailOnNewColumns bool
	Now              func() time.Time
}

// Fence says which URIs may be reached.
type Fence interface{ Check(uri string) error }

// OpenFunc opens a source of one kind. It starts nothing that Close does not stop.
type OpenFunc func(ctx context.Context, spec Spec, env Env) (Source, error)
