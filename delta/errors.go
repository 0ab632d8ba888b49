package delta

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers test for with errors.Is.
var (
	// ErrNoTable says that the folder has no Delta log.
	ErrNoTable = errors.New("not a Delta table")
	// ErrNoVersion says that the table has no such version, or cannot reconstruct it any more.
	ErrNoVersion = errors.New("version is not available")
	// ErrCorrupt says that the log breaks the protocol: a damaged line, a gap, no protocol or metaData action.
	ErrCorrupt = errors.New("damaged Delta log")
	// ErrConflict says that a concurrent commit won. Running the statement again on a new snapshot may succeed.
	ErrConflict = errors.New("concurrent commit")
	// ErrConcurrentTxn says that a concurrent commit carried a txn action of the same appId. It is not an ErrConflict:
	// the work is done already, or done by somebody else, and must not be repeated.
	ErrConcurrentTxn = errors.New("concurrent commit of the same application")
	// ErrConstraint says that a row breaks a rule of the table, such as NOT NULL.
	ErrConstraint = errors.New("constraint violated")
	// ErrRefused says that what is asked does not fit the table as it is. Refuse makes such errors.
	ErrRefused = errors.New("refused")
	// ErrNull, ErrCheck, ErrLength and ErrGenerated are ErrConstraint, and tell which rule it was: NOT NULL; a CHECK or an invariant; the length
	// of a CHAR or VARCHAR; a value that is given for a column whose values the table makes.
	ErrNull      = error(&ruleError{"constraint violated"})
	ErrCheck     = error(&ruleError{"constraint violated"})
	ErrLength    = error(&ruleError{"constraint violated"})
	ErrGenerated = error(&ruleError{"constraint violated"})
)

// ruleError is one kind of ErrConstraint.
type ruleError struct{ text string }

func (e *ruleError) Error() string { return e.text }

// Is tells errors.Is that every kind is ErrConstraint.
func (e *ruleError) Is(target error) bool { return target == ErrConstraint }

// UnsupportedError says which of a table's features keep this build from reading or writing it.
type UnsupportedError struct {
	Op       string   // "read" or "write"
	URI      string   // the table's root; empty where only a schema is at hand
	Features []string // names of table features, or "column c: type" for a type that is not built
	Detail   string   // what to do, or more about the reason; may be empty
}

func (e *UnsupportedError) Error() string {
	var b strings.Builder
	b.WriteString("[DELTA_UNSUPPORTED_FEATURES_FOR_" + strings.ToUpper(e.Op) + "] cannot " + e.Op + " ")
	if e.URI == "" {
		b.WriteString("this table")
	} else {
		b.WriteString("table " + e.URI)
	}
	b.WriteString(": not supported: " + strings.Join(e.Features, ", "))
	if e.Detail != "" {
		b.WriteString(" (" + e.Detail + ")")
	}
	return b.String()
}

// ConflictError says that a commit lost against a concurrent one. It is ErrConflict, or ErrConcurrentTxn when both commits are
// of one application.
type ConflictError struct {
	Class   string // Delta's error class, such as DELTA_CONCURRENT_APPEND
	Version int64  // the version that won
	Detail  string

	sameApp bool // both carry a txn action of one application
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("[%s] %s (version %d won)", e.Class, e.Detail, e.Version)
}

// Is tells errors.Is which sentinel the conflict is.
func (e *ConflictError) Is(target error) bool {
	if e.sameApp {
		return target == ErrConcurrentTxn
	}
	return target == ErrConflict
}

// refusal is an ErrRefused whose text is all that it says.
type refusal struct{ text string }

func (r *refusal) Error() string        { return r.text }
func (r *refusal) Is(target error) bool { return target == ErrRefused }

// Refuse makes an ErrRefused: what was found, and what to type.
func Refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }
