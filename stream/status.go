package stream

import "time"

// State is what a stream is doing.
type State string

// The states. RETRYING, STALLED and FAILED always come with a reason.
const (
	Starting State = "STARTING" // opening its checkpoint, sources and target
	Running  State = "RUNNING"  // in a batch, or about to start one
	Idle     State = "IDLE"     // caught up, or waiting for the first file
	Paused   State = "PAUSED"   // stopped by a person; stays so after a restart
	Retrying State = "RETRYING" // a transient fault; the next attempt has a time
	Stalled  State = "STALLED"  // a backlog, and no commit for three triggers and at least 30 s
	Failed   State = "FAILED"   // a fault that a retry cannot mend
	Finished State = "FINISHED" // AVAILABLE NOW or ONCE has read what was there
)

// Status is what is known about one stream at one moment. It is a copy.
type Status struct {
	Definition Definition
	ProcessID  uint32 // in SHOW PROCESSLIST; KILL takes it
	RunID      string // new at each start, "" before the first
	State      State
	Reason     string
	Since      time.Time // when State began

	SourceDescriptions []string // as Spark names them; empty before the first start

	LastError     string // stays after the stream has recovered
	LastErrorTime time.Time
	Attempts      int       // failed attempts since the last success
	NextAttempt   time.Time // RETRYING only
	Restarts      int       // starts and retries since the server started

	LastBatchID       int64 // -1: none
	LastCommitVersion int64 // the table's version of the last batch; -1: none by this server
	LastCommitTime    time.Time
	Batches           Durations // since the server started
	RowsWritten       int64     // since the server started
	ErrorRows         int64     // since the server started
	BacklogFiles      int64
	BacklogBytes      int64
	BacklogRows       int64 // of sources that count rows and not files
	WaitingFiles      int64 // of BacklogFiles, those that are still being written
}

// FileState is where a source file is on its way into the table.
type FileState string

// The states of a file.
const (
	FileCommitted FileState = "COMMITTED"
	FileSkipped   FileState = "SKIPPED" // left out by ON ERROR SKIP FILE or ALTER STREAM ... SKIP FILE
	FilePending   FileState = "PENDING" // in a range that is not committed yet
)

// FileStatus is one source file of a stream.
type FileStatus struct {
	Path      string // URI
	Size      int64  // bytes; -1 where another engine recorded the file without it
	ModTime   time.Time
	State     FileState
	SourceID  int
	SourceLog int64 // the id of the source log entry that names the file
	BatchID   int64 // -1: not committed, or unknown
	Rows      int64 // -1: unknown
	Rejected  int64
	Error     string

	committed bool // the range that it is in
}

// RowError is one malformed row that a stream met.
type RowError struct {
	Time    time.Time
	BatchID int64
	File    string
	Line    int64
	Column  string
	Raw     []byte // at the most 4 KB
	Message string
}

// Until says what WaitFor waits for: that the stream has caught up, or that a batch is committed.
type Until struct {
	Batch *int64 // nil: caught up
}

// ResetReport says what a RESET means for the stream's next start.
type ResetReport struct {
	OldID, NewID string
	Files        int64 // source files that will be read again
	Bytes        int64
	Rows         int64 // of sources that count rows and not files
}

// Explanation is what a stream would do, found out without writing anything.
type Explanation struct {
	Plan         string
	Sources      []string
	Schema       []ColumnPlan // empty when there is no data yet to infer it from
	TargetExists bool
	TargetAction string // what the first batch does to the table
	Checkpoint   string // what CREATE STREAM would do with the checkpoint
	BacklogFiles int64
	BacklogBytes int64
	BacklogRows  int64
}

// ColumnPlan is one column that a stream writes.
type ColumnPlan struct {
	Name   string
	Type   string // Delta's name
	Action string // "create", "write", "cast from integer", "add to the table", "ignored"
}
