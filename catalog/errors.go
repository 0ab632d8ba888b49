package catalog

import (
	"errors"
	"fmt"

	"lakesql/delta"
)

// ErrorKind tells the errors of this package apart.
type ErrorKind uint8

// The kinds of errors.
const (
	KindUnsupported ErrorKind = iota + 1 // understood, not built yet
	KindInvalid                          // the statement's parts do not fit each other, or a name cannot be one
	KindInUse                            // a stream uses the table or database
	KindTransaction                      // the statement does not fit the transaction that it is in
)

// Error is a statement that the catalog refuses: what was found, and what to type.
type Error struct {
	Kind    ErrorKind
	Message string
}

func (e *Error) Error() string { return e.Message }

func refuse(kind ErrorKind, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// notYet refuses what is understood and not built, naming what to use.
func notYet(what, instead string) error {
	return refuse(KindUnsupported, "%s is not supported yet; %s", what, instead)
}

// invalid says of an error of package delta that the statement asks for what cannot be. Errors that have a kind of their own keep it.
func invalid(err error) error {
	var unsupported *delta.UnsupportedError
	if err == nil || errors.As(err, &unsupported) {
		return err
	}
	return refuse(KindInvalid, "%v", err)
}
