package files

import (
	"errors"
	"fmt"

	"lakesql/format"
)

// ArgumentError says that the path or an option of read_files, or of another source, cannot be what it is.
type ArgumentError struct {
	Err   error
	Later bool // known, and not built yet
}

func (e *ArgumentError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *ArgumentError) Unwrap() error { return e.Err }

// notBuilt is the error for what is known and not built yet.
func notBuilt(format string, args ...any) error {
	return &ArgumentError{Err: fmt.Errorf(format, args...), Later: true}
}

// argumentError gives an error of the path or an option its type.
func argumentError(err error) error {
	var inner *ArgumentError
	return &ArgumentError{Err: err, Later: errors.As(err, &inner) && inner.Later}
}

// GoneError says that a listed file is not there any more.
type GoneError struct {
	File File
	Err  error
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("file %s was listed (%d bytes) and is not there any more: put it back", e.File.URI, e.File.Size)
}

// Unwrap returns the store's error.
func (e *GoneError) Unwrap() error { return e.Err }

// ChangedError says that a file is not what it was when it was listed.
type ChangedError struct {
	File File // as listed
	Now  File // as found
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("file %s changed after it was listed: it had %d bytes of %s, and has %d of %s; put the old one back, and new data under a new name",
		e.File.URI, e.File.Size, stamp(e.File), e.Now.Size, stamp(e.Now))
}

func stamp(f File) string { return f.ModTime.UTC().Format("2006-01-02T15:04:05.000000000Z") }

// UnreadableError says that a file is there but cannot be read as what its name and the options say it is.
type UnreadableError struct {
	File File
	Err  error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("file %s cannot be read: %v", e.File.URI, e.Err)
}

// Unwrap returns what is wrong.
func (e *UnreadableError) Unwrap() error { return e.Err }

// RowsError stops the reading of a file at its first malformed row, with mode FAILFAST.
type RowsError struct {
	File File
	Err  *format.RecordError
}

func (e *RowsError) Error() string { return fmt.Sprintf("file %s: %v", e.File.URI, e.Err) }

// Unwrap returns the row's error.
func (e *RowsError) Unwrap() error { return e.Err }

// LeavesOut tells whether ignoreMissingFiles or ignoreCorruptFiles say that the file is left out which an error is about.
func (o *Options) LeavesOut(err error) bool {
	var gone *GoneError
	var broken *UnreadableError
	return o.IgnoreMissing && errors.As(err, &gone) || o.IgnoreCorrupt && errors.As(err, &broken)
}
