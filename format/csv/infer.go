package csv

import (
	"errors"
	"io"

	"lakesql/batch"
)

// Inference gathers what the files that Infer looked at say of their columns. The zero value is ready to use.
type Inference struct{}

// Infer reads r to its end and merges what it finds into the inference.
func Infer(r io.Reader, opts Options, into *Inference) error { return errors.ErrUnsupported }

// Schema is the merged schema in the order in which columns were first met; all columns are nullable.
func (in *Inference) Schema() *batch.Schema { return nil }
