package checkpoint

import (
	"errors"
	"fmt"
	"strings"

	"lakesql/store"
)

// Kind says what is wrong with a checkpoint. Callers switch on it.
type Kind int

// The kinds of Error.
const (
	Missing            Kind = iota + 1 // nothing is there: no folder, or one without any part of a checkpoint. Create may be called
	NoMetadata                         // other parts are there, the file metadata is not
	Damaged                            // an empty or torn file, a hole in a log, commits ahead of offsets
	UnsupportedVersion                 // a log file of another version than v1
	HasState                           // state/ is not empty: a stateful query of Spark
	ResetUnfinished                    // a reset was cut short and its marker cannot be read
	Exists                             // Create found a checkpoint
	Gone                               // the checkpoint that was open has been deleted
	Changed                            // the checkpoint that was open has another id now (a reset, another checkpoint)
	Concurrent                         // a log file appeared meanwhile: another process works on this checkpoint
	Held                               // the lease is held by another owner that may be alive
	LeaseLost                          // another owner has taken the lease over
	Bound                              // the checkpoint belongs to another stream or table
)

// Error is what this package returns where the caller must tell cases apart.
type Error struct {
	Kind  Kind
	URI   string // the file or folder that it is about
	Found string // what was found there
	Hint  string // what to type to go on; may be empty
	Err   error  // the cause; may be nil
}

// sparkClass are the error classes that Spark's users know.
var sparkClass = map[Kind]string{
	NoMetadata: "[STREAMING_CHECKPOINT_MISSING_METADATA_FILE] ",
	Concurrent: "[CONCURRENT_STREAM_LOG_UPDATE] ",
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(sparkClass[e.Kind])
	fmt.Fprintf(&b, "checkpoint %s: %s", e.URI, e.Found)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "; %s", e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsKind tells whether err is an Error of that kind.
func IsKind(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// gone turns the loss of the root into an Error, and leaves other errors of the store as they are.
func gone(st store.Store, err error) error {
	if errors.Is(err, store.ErrRootMissing) {
		return &Error{Kind: Gone, URI: st.URI(), Found: "the folder has been deleted", Hint: hintCopy, Err: err}
	}
	return err
}

// hintCopy is the only way to keep the checkpoint. That it may be reset is for the stream to say.
const hintCopy = "put it back from a copy"

// damaged reports one file of the checkpoint.
func damaged(st store.Store, key, hint, found string, args ...any) error {
	return &Error{Kind: Damaged, URI: store.ObjectURI(st, key), Found: fmt.Sprintf(found, args...), Hint: hint}
}

// shellPath is an object's name as one types it in a shell.
func shellPath(st store.Store, key string) string {
	uri := store.ObjectURI(st, key)
	if path, err := store.ParseFileURI(uri); err == nil {
		uri = path
	}
	return "'" + strings.ReplaceAll(uri, "'", `'\''`) + "'"
}
