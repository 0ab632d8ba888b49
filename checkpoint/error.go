package checkpoint

import "strings"

// Kind says what is wrong with a checkpoint. Callers switch on it.
type Kind int

// The kinds of Error.
const (
	Missing            Kind = iota + 1 // nothing is there: no folder, or one without metadata and logs. Create may be called
	NoMetadata                         // the logs are there, the file metadata is not
	Damaged                            // an empty or torn file, a hole in a log, commits ahead of offsets
	UnsupportedVersion                 // a log file of another version than v1
	HasState                           // state/ is not empty: a stateful query of Spark
	ResetUnfinished                    // a reset was cut short and its marker cannot be read
	Exists                             // Create found a checkpoint
	Gone                               // Verify: the checkpoint that was open has been deleted
	Changed                            // Verify: metadata has another id now (a reset, another checkpoint)
	Concurrent                         // a log file appeared meanwhile: another process works on this checkpoint
	Held                               // the lease is held by another owner that is alive
	LeaseLost                          // another owner has taken the lease over
	Bound                              // the checkpoint belongs to another stream or table
)

// Error is what this package returns where the caller must tell cases apart.
type Error struct {
	Kind  Kind
	URI   string // the file or folder that it is about
	Found string // what was found there
	Hint  string // what to type to go on
	Err   error  // the cause, may be nil
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("checkpoint ")
	b.WriteString(e.URI)
	b.WriteString(": ")
	b.WriteString(e.Found)
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
