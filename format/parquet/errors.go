package parquet

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Reasons that an Error wraps. Errors of the store and of the context are wrapped as they are.
var (
	// ErrDamaged says that the bytes are no whole and valid Parquet file.
	ErrDamaged = errors.New("damaged Parquet file")
	// ErrUnsupported says that the file is valid but holds what this package does not read.
	ErrUnsupported = errors.New("not supported")
	// ErrType says that the values cannot be read as the wanted type.
	ErrType = errors.New("type mismatch")
)

// Error says which file, and which column of it, could not be read.
type Error struct {
	File   string // the object's URI
	Column string // "" when the whole file is meant
	Err    error
}

func (e *Error) Error() string {
	if e.Column == "" {
		return "read " + e.File + ": " + e.Err.Error()
	}
	return "read column " + e.Column + " of " + e.File + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

func damaged(text string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(text, args...))
}

// guard runs a step that trusts the file's bytes and turns what goes wrong into an Error. Panics are bounds that a damaged file broke,
// or the fault of reading mapped memory of a file that somebody cut short.
func guard(file, column string, step func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = damaged("%v", r)
		}
		if err != nil {
			err = &Error{File: file, Column: column, Err: err}
		}
	}()
	return step()
}
