package csv

import (
	"errors"
	"io"

	"lakesql/batch"
)

// Reader reads one file's records as batches of a schema.
type Reader struct{}

// NewReader reads the header, where the options say that there is one, and binds the schema's columns to the file's.
func NewReader(r io.Reader, schema *batch.Schema, opts Options) (*Reader, error) {
	return nil, errors.ErrUnsupported
}

// Next returns the next rows, or io.EOF.
func (r *Reader) Next() (*batch.Batch, error) { return nil, io.EOF }

// Extra names the file's columns that the schema does not have, in the file's order.
func (r *Reader) Extra() []string { return nil }

// Rejected is the number of rows left out so far by mode DROPMALFORMED.
func (r *Reader) Rejected() int64 { return 0 }

// Header returns the column names of the file; io.EOF for a file without any line.
func Header(r io.Reader, opts Options) ([]string, error) { return nil, errors.ErrUnsupported }
