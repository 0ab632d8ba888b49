package csv

import (
	"time"
)

// Mode decides what happens to a record that is malformed: a wrong number of fields, or a field that does not convert.
type Mode uint8

// The modes, with Spark's names.
const (
	Permissive    Mode = iota // keep the row, the bad fields are NULL
	DropMalformed             // leave the row out
	FailFast                  // stop with a *RecordError
)

// Defaults, all Spark's.
const (
	DefaultMaxColumns          = 20480
	DefaultCorruptRecordColumn = "_corrupt_record"
)

// Options are the rules of one CSV dialect. Start from DefaultOptions: the zero value is not usable.
type Options struct {
	Sep                       string // between fields; may have several bytes
	Quote                     byte   // opens and closes a field; 0: no quoting
	Escape                    byte   // before a quote in a quoted field; may be the quote itself; 0: none
	CharToEscapeQuoteEscaping byte   // before an escape in a quoted field; 0: the escape, where it is not the quote
	Comment                   byte   // first byte of lines to leave out; 0: none
	Header                    bool   // the first line of each file that is not blank names the columns
	EnforceSchema             bool   // bind columns by position and ignore what the header says; false: bind by name
	NullValue                 string // text of a NULL, beside the unquoted empty field
	EmptyValue                string // what a quoted empty field stands for
	NaNValue                  string
	PositiveInf               string
	NegativeInf               string
	Mode                      Mode
	MultiLine                 bool   // quoted fields may hold line ends
	LineSep                   string // "": any of CR LF, LF, CR
	MaxColumns                int
	MaxCharsPerColumn         int // characters; -1: only MaxRecordBytes limits
	IgnoreLeadingWhiteSpace   bool
	IgnoreTrailingWhiteSpace  bool
	PreferDate                bool           // inference tries dates before timestamps
	InferTypes                bool           // false: Infer gives strings only
	DateFormat                string         // Java pattern; "": ISO dates
	TimestampFormat           string         // Java pattern; "": ISO timestamps
	TimestampNTZFormat        string         // Java pattern; "": ISO timestamps without a zone
	Location                  *time.Location // of timestamps without a zone
	CorruptRecordColumn       string         // gets the raw text of a malformed record, where the schema has it as a string
	// SizeHint is the file's size in bytes where it is known: a small file gets small buffers. 0: not known.
	SizeHint int64
	// OnError receives each malformed record or field, in the order of the file. It is called on the goroutine that
	// calls Next; nil: nobody listens. With FailFast it is not called: the error says it.
	OnError func(RowError)
}

// DefaultOptions returns Spark's defaults with column types inferred and columns bound by name.
func DefaultOptions() Options {
	return Options{
		Sep: ",", Quote: '"', Escape: '\\',
		NaNValue: "NaN", PositiveInf: "Inf", NegativeInf: "-Inf",
		MaxColumns: DefaultMaxColumns, MaxCharsPerColumn: -1,
		PreferDate: true, InferTypes: true, Location: time.UTC,
		CorruptRecordColumn: DefaultCorruptRecordColumn,
	}
}
