package format

import (
	"time"

	"lakesql/batch"
)

// DefaultCorruptRecordColumn is Spark's.
const DefaultCorruptRecordColumn = "_corrupt_record"

// TextOptions are those that all text formats have.
type TextOptions struct {
	Mode                Mode
	MultiLine           bool           // records may hold line ends
	LineSep             string         // "": any of CR LF, LF, CR
	InferTypes          bool           // false: inference gives strings only
	DateFormat          string         // Java pattern; "": ISO dates
	TimestampFormat     string         // Java pattern; "": ISO timestamps
	TimestampNTZFormat  string         // Java pattern; "": ISO timestamps without a zone
	Location            *time.Location // of timestamps without a zone
	CorruptRecordColumn string         // gets the raw text of a malformed record, where the schema has it as a string
	Rescued             Rescued        // what no column takes
	// SizeHint is the file's size in bytes where it is known: a small file gets small buffers. 0: not known.
	SizeHint int64
	// OnError receives each malformed record or field, in the order of the file. It is called on the goroutine that
	// calls Next; nil: nobody listens. With FailFast it is not called: the error says it.
	OnError func(RowError)
}

// DefaultTextOptions returns Spark's defaults with column types inferred.
func DefaultTextOptions() TextOptions {
	return TextOptions{InferTypes: true, Location: time.UTC, CorruptRecordColumn: DefaultCorruptRecordColumn}
}

// Times are the options' dates and times.
func (o *TextOptions) Times() (*Times, error) {
	return NewTimes(o.DateFormat, o.TimestampFormat, o.TimestampNTZFormat, o.Location)
}

// CorruptColumn is the position in a schema of the column for malformed records, -1 where it has none.
func (o *TextOptions) CorruptColumn(schema *batch.Schema) int {
	at := schema.Index(o.CorruptRecordColumn)
	if at < 0 || schema.Fields[at].Type.Kind != batch.String {
		return -1
	}
	return at
}
