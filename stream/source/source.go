package source

import (
	"context"
	"errors"
	"time"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/files"
	"lakesql/store"
	"lakesql/vector"
)

// Spec names one source of a stream's SELECT.
type Spec struct {
	Kind    string            // "files", "rate", "kafka", "delta"
	Path    string            // absolute URI of a folder or file, or a glob; "" where the rows do not come out of a store
	Table   bool              // Path is the folder of a Delta table, and no pattern
	Options map[string]string // the named arguments as written, option names in any case
	// Metadata says that the SELECT looks at the hidden columns of a source of files: Schema and Read have them, files.WithMetadata says which.
	Metadata bool
	// Columns are the columns that the SELECT names, in lower case, of whatever source or table; nil where it has a * too.
	Columns []string
}

// Offset is a position in a source: the text of its line in the checkpoint's offset log. None is the position before the
// first row. Offsets are compared as text.
type Offset string

// None is the offset of a source that has given nothing yet; the offset log has "-" for it.
const None Offset = ""

// Limit bounds one range. A range has one file or row at the least, whatever the limit says.
type Limit struct {
	Files int   // 0: what the source's own options say, else DefaultMaxFiles
	Bytes int64 // 0: what the source's own options say, else no limit
	Rows  int64 // of sources that count rows; 0: what the source's own options say
	All   bool  // no limit at all
}

// DefaultMaxFiles is Auto Loader's and the Delta source's default: it bounds what one batch holds, and what a crash
// makes a stream read again.
const DefaultMaxFiles = 1000

// Errors that callers test for with errors.Is.
var (
	// ErrNoData says that there is nothing yet from which a schema could be inferred.
	ErrNoData = errors.New("no data to infer a schema from")
	// ErrSchemaEvolved says that the source found columns that its schema lacks, and has kept a schema that has them: the
	// stream opens the source again and runs the batch once more.
	ErrSchemaEvolved = errors.New("the source's schema has new columns")
	// ErrAgain says that the range has to be read again from its start: the source will leave out a file that turned out to
	// be unreadable after rows of it may have been given.
	ErrAgain = errors.New("the range has to be read again")
	// ErrChanged says that a range cannot be read again as it was: a file changed, or is gone. A retry does not mend it.
	ErrChanged = errors.New("the source is not what it was when the range was recorded")
	// ErrData says that the data is not what the options say. A retry does not mend it.
	ErrData = errors.New("the source holds data that cannot be read")
)

// FileError is what is wrong with one file of a range.
type FileError struct {
	URI   string
	Class error // ErrChanged or ErrData
	Err   error // names the file
}

func (e *FileError) Error() string { return e.Err.Error() }

// Unwrap returns the class and the cause.
func (e *FileError) Unwrap() []error { return []error{e.Class, e.Err} }

// LossError says that rows which no batch has read are gone from the source. It is an ErrChanged that a person may choose to bear.
type LossError struct{ Err error }

func (e *LossError) Error() string { return e.Err.Error() }

// Unwrap returns the class and the cause.
func (e *LossError) Unwrap() []error { return []error{ErrChanged, e.Err} }

// Source is one input of a stream. Only the stream's own goroutine calls it.
type Source interface {
	// Schema returns the columns that Read gives. It stays the same for the life of the source, and is durable, before
	// it is returned, when it was inferred. ErrNoData when nothing is there to infer from.
	Schema(ctx context.Context) (*batch.Schema, error)
	// Inferred reports whether the schema is inferred from the data, not given.
	Inferred() bool
	// Latest returns the end of the next range behind start: start itself when there is nothing new. The range is durable.
	// more says that a further range is there already.
	Latest(ctx context.Context, start Offset, limit Limit) (end Offset, more bool, err error)
	// Read returns the rows behind start, up to and with end. It may be called again with the same offsets.
	// ErrSchemaEvolved, from here or from the operator, says that the source has made a wider schema durable.
	Read(ctx context.Context, start, end Offset, obs Observer) (vector.Operator, error)
	// Committed tells that batch, which read the range behind start up to end, is in the target and in the checkpoint.
	Committed(ctx context.Context, batch int64, start, end Offset) error
	// Backlog says what is there behind the last range, as of the last look.
	Backlog() Backlog
	// Mark looks now, and returns what has to be committed until a client may say that it has caught up with this moment.
	Mark(ctx context.Context) (Mark, error)
	// Reached reports whether everything of the mark, which an earlier source of the same stream may have taken, lies at
	// or before committed, or is gone. It may strike off the mark what it finds done.
	Reached(ctx context.Context, m Mark, committed Offset) (bool, error)
	// Freeze looks now. From then on Latest gives ranges only of what was there, also of what was still being written,
	// which Backlog counts as waiting.
	Freeze(ctx context.Context) error
	// Wake returns a channel of hints that something may be new; it may be nil.
	Wake() <-chan struct{}
	// RecheckAfter is how long after the last look it is worth while to look again without a hint.
	RecheckAfter() time.Duration
	// Description names the source as Spark does: FileStreamSource[file:/data/in].
	Description() string
	// Close stops what the source started and waits. It may be called twice.
	Close() error
}

// Upkeeper is an optional power of a source: work that no batch waits for. It runs beside the source's other methods, one
// call at a time.
type Upkeeper interface {
	Upkeep(ctx context.Context) error
}

// Preparer is an optional power of a source: what has to be durable before a batch that it has read is committed.
type Preparer interface {
	// Prepare is called once the range behind start up to end is read whole, before the target's commit of batch.
	Prepare(ctx context.Context, batch int64, start, end Offset) error
}

// FileSkipper is an optional power of a source of files.
type FileSkipper interface {
	// CanSkip returns nil when the file is one that is still to be read behind committed, else why it is not.
	CanSkip(ctx context.Context, uri string, committed Offset) error
}

// FileLister is an optional power of a source of files.
type FileLister interface {
	// Newest returns the files of the range that the last Latest recorded.
	Newest() []checkpoint.SourceEntry
}

// Rescuer is an optional power of a source that may give a column of rescued data.
type Rescuer interface {
	// RescuedColumn names the column that has what the others do not take; "" where there is none.
	RescuedColumn() string
}

// Noticer is an optional power of a source: what it has noticed, and no range shows, such as a file that was written to after
// it was read. Each is given once.
type Noticer interface {
	Notices() []RowError
}

// Mark is a moment in a source. It outlives the source.
type Mark any

// Backlog is what a source has not given out yet.
type Backlog struct {
	Files   int64
	Bytes   int64
	Rows    int64 // of sources that count rows and not files
	Waiting int64 // of Files, those that are still being written
}

// Empty says that nothing is left.
func (b Backlog) Empty() bool { return b.Files == 0 && b.Rows == 0 }

// Observer hears of what Read meets. Both functions are called by whoever reads, one at a time; either may be nil.
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

// Malformed says what a source does with a row that does not fit its schema.
type Malformed uint8

// What becomes of malformed rows.
const (
	KeepRow  Malformed = iota // the bad fields are NULL; the row is reported
	DropRow                   // the row is left out, and reported
	FailRead                  // reading ends with ErrData
)

// NewColumns says what a source does with columns that its schema lacks.
type NewColumns uint8

// What becomes of new columns.
const (
	AddWhereInferred NewColumns = iota // AddColumns where the schema is inferred, else IgnoreColumns
	AddColumns                         // keep a wider schema and return ErrSchemaEvolved
	IgnoreColumns
	RefuseColumns // reading ends with ErrData
	RescueColumns // they, and values that do not fit, go into a column of rescued data; of sources whose data is text or has a schema of its own
)

// Env is what a source is opened with.
type Env struct {
	Open  store.Opener
	Fence Fence // the paths that may be reached; nil: all
	// Checkpoint has the source's log at Index. A source without one writes nothing: it is opened to be looked at, or to be
	// read once, by one Latest and Reads of that range.
	Checkpoint *checkpoint.Checkpoint
	Index      int
	// Known says which files count as read, besides those of the log; nil: none.
	Known      func(uri string) bool
	Malformed  Malformed
	NewColumns NewColumns
	// Retype gives the columns of an inferred schema other types, to read them by; nil: they stay.
	Retype func(schema *batch.Schema) *batch.Schema
	// RowHint is what can be done about a malformed row, behind the error of FailRead.
	RowHint string
	// Fits says why the stream cannot work with a schema, before that is kept; problem is "" where it can. nil: it can with any.
	Fits func(ctx context.Context, schema *batch.Schema) (problem string, err error)
	// FailOnDataLoss says whether rows that are gone are a LossError, or are noticed and passed over; nil: what the source's own
	// options say.
	FailOnDataLoss *bool
	// Secret reads what an option names as env:NAME or file:NAME; nil: there are no secrets.
	Secret func(reference string) (string, error)
	// SkipUnreadable leaves out files that cannot be read, instead of ending with ErrData.
	SkipUnreadable bool
	// Skipped says which files to leave out because a person said so; nil: none.
	Skipped func(uri string) bool
	Now     func() time.Time
	// Notifier tells of new files in folders; nil: each source has one of its own.
	Notifier *files.Notifier
}

// Fence says which URIs may be reached.
type Fence interface {
	Check(uri string) error
	Kept(folder string) (names []string, err error) // what a listing of the folder passes over
}

// OpenFunc opens a source of one kind. It starts nothing that Close does not stop.
type OpenFunc func(ctx context.Context, spec Spec, env Env) (Source, error)
