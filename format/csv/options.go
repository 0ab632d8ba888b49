package csv

import (
	"lakesql/format"
)

// DefaultMaxColumns is Spark's.
const DefaultMaxColumns = 20480

// Options are the rules of one CSV dialect. Start from DefaultOptions: the zero value is not usable.
type Options struct {
	format.TextOptions // MultiLine: quoted fields may hold line ends

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
	MaxColumns                int
	MaxCharsPerColumn         int // characters; -1: only MaxRecordBytes limits
	IgnoreLeadingWhiteSpace   bool
	IgnoreTrailingWhiteSpace  bool
	PreferDate                bool // inference tries dates before timestamps
}

// DefaultOptions returns Spark's defaults with column types inferred and columns bound by name.
func DefaultOptions() Options {
	return Options{
		TextOptions: format.DefaultTextOptions(),
		Sep:         ",", Quote: '"', Escape: '\\',
		NaNValue: "NaN", PositiveInf: "Inf", NegativeInf: "-Inf",
		MaxColumns: DefaultMaxColumns, MaxCharsPerColumn: -1,
		PreferDate: true,
	}
}
