package format

import "fmt"

// RowError is one malformed record, or one field of a record that did not convert.
type RowError struct {
	Line    int64  // of the record's first byte; the file's first line is 1
	Column  string // "" where the whole record is wrong
	Raw     []byte // the record's text; the receiver may keep it
	Message string // what was found and what was wanted
}

// RecordError stops a reader in mode FAILFAST at the first malformed record.
type RecordError struct{ Row RowError }

func (e *RecordError) Error() string {
	return e.Found() + "; mode => 'PERMISSIVE' keeps such rows with NULL and records the error, mode => 'DROPMALFORMED' leaves them out"
}

// Found is what is wrong, without what to do about it: a stream has other words for that.
func (e *RecordError) Found() string {
	if e.Row.Column == "" {
		return fmt.Sprintf("[MALFORMED_RECORD_IN_PARSING] line %d: %s", e.Row.Line, e.Row.Message)
	}
	return fmt.Sprintf("[MALFORMED_RECORD_IN_PARSING] line %d, column %q: %s", e.Row.Line, e.Row.Column, e.Row.Message)
}

// Error says that the bytes or the options are not what the package can read: no mode helps.
type Error struct {
	Line    int64 // 0 where no line is at fault
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}
