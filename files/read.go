package files

import (
	"context"
	"errors"

	"lakesql/batch"
	"lakesql/store"
)

// Reader is the rows of one or several files.
type Reader interface {
	// Next returns the next rows, or io.EOF. The batch is valid until the following call.
	Next(ctx context.Context) (*batch.Batch, error)
	// Extra names the columns of the files read so far that the schema does not have.
	Extra() []string
	// Rejected is the number of rows left out so far by mode DROPMALFORMED.
	Rejected() int64
	Close() error
}

// OpenFile reads one file as rows of schema. onError hears of malformed rows; it may be nil.
// Errors: *GoneError, *ChangedError, *UnreadableError, each naming the file.
func OpenFile(ctx context.Context, open store.Opener, f File, schema *batch.Schema, opts *Options, onError func(RowError)) (Reader, error) {
	return nil, errors.ErrUnsupported
}

// Read reads several files one after the other. onError is told which file a malformed row is in.
func Read(ctx context.Context, open store.Opener, list []File, schema *batch.Schema, opts *Options, onError func(File, RowError)) (Reader, error) {
	return nil, errors.ErrUnsupported
}

// InferSchema finds the schema of the files. ErrNoData when no file has a column.
func InferSchema(ctx context.Context, open store.Opener, list []File, opts *Options) (*batch.Schema, error) {
	return nil, errors.ErrUnsupported
}

// ErrNoData says that there is nothing to infer a schema from yet.
var ErrNoData = errors.New("no file to infer a schema from")
