package files

import "fmt"

// GoneError says that a listed file is not there any more.
type GoneError struct {
	File File
	Err  error
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("file %s was listed and is gone: put it back, or type ALTER STREAM <name> SKIP FILE '%s'", e.File.URI, e.File.URI)
}
func (e *GoneError) Unwrap() error { return e.Err }

// ChangedError says that a file is not what it was when it was listed.
type ChangedError struct {
	File File // as listed
	Now  File // as found
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("file %s changed after it was listed", e.File.URI)
}

// UnreadableError says that a file is there but cannot be read as what the options say it is.
type UnreadableError struct {
	File File
	Err  error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("file %s cannot be read: %v", e.File.URI, e.Err)
}
func (e *UnreadableError) Unwrap() error { return e.Err }
