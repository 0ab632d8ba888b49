package delta

import (
	"context"
	"time"

	"lakesql/batch"
	"lakesql/store"
)

const notYet = "delta: being built"

// VersionAt returns the newest version that was committed at or before the given time.
func (t *Table) VersionAt(ctx context.Context, at time.Time) (int64, error) { panic(notYet) }

// History returns up to limit commits (all if limit <= 0), newest first.
func (t *Table) History(ctx context.Context, limit int) ([]HistoryEntry, error) { panic(notYet) }

// Maintain writes a checkpoint when one is due. It returns true when it wrote one.
func (t *Table) Maintain(ctx context.Context) (bool, error) { panic(notYet) }

// Begin starts a transaction on top of read; nil creates the table as version 0.
func (t *Table) Begin(read *Snapshot) *Transaction { panic(notYet) }

// HistoryEntry is what one commit says about itself.
type HistoryEntry struct {
	Version        int64
	Timestamp      time.Time
	Operation      string
	Parameters     map[string]string
	Metrics        map[string]string
	ReadVersion    int64 // -1 unknown
	IsolationLevel string
	IsBlindAppend  *bool // nil unknown
	EngineInfo     string
	UserMetadata   string
	UserName       string
}

// NewMetadata describes a new table. The schema's flat types only.
func NewMetadata(schema *batch.Schema, partitionBy []string, config map[string]string) (*Metadata, error) {
	panic(notYet)
}

// AddFile is a data file that a transaction adds.
type AddFile struct {
	Path            string            // key below the table's root, decoded
	PartitionValues map[string]string // column -> text; an absent column is null
	Size            int64             // bytes
	ModTime         time.Time
	NumRecords      int64
	Stats           string // JSON; "" none
}

// Operation is what commitInfo says about a commit.
type Operation struct {
	Name       string // such as "STREAMING UPDATE"
	Parameters map[string]string
	Metrics    map[string]string
}

// Committed is the result of a commit.
type Committed struct {
	Version  int64
	Snapshot *Snapshot
}

// Transaction collects the actions of one commit. It belongs to one goroutine.
type Transaction struct{}

// SetMetadata sets the table's metadata.
func (x *Transaction) SetMetadata(m *Metadata) { panic(notYet) }

// Add adds data files.
func (x *Transaction) Add(files ...AddFile) { panic(notYet) }

// Remove removes files of the snapshot that the transaction began with.
func (x *Transaction) Remove(files ...File) { panic(notYet) }

// SetTxn records that the application has committed its version. It is also a read of that application's version.
func (x *Transaction) SetTxn(appID string, version int64) { panic(notYet) }

// ReadWholeTable says that the transaction depends on every row of its snapshot.
func (x *Transaction) ReadWholeTable() { panic(notYet) }

// Commit writes the next version.
func (x *Transaction) Commit(ctx context.Context, op Operation) (Committed, error) { panic(notYet) }

// FileWriter writes the Parquet files of one transaction.
type FileWriter struct{}

// FileWriterOptions are knobs of a FileWriter; the zero value is good.
type FileWriterOptions struct {
	TargetFileBytes int64 // a partition's file is closed and a new one begun beyond it; 0: DefaultTargetFileBytes
}

// NewFileWriter returns a writer of files for the table that meta describes.
func NewFileWriter(st store.Store, meta *Metadata, opts FileWriterOptions) (*FileWriter, error) {
	panic(notYet)
}

// Write adds rows; the batch has the table's columns in schema order.
func (w *FileWriter) Write(ctx context.Context, b *batch.Batch) error { panic(notYet) }

// Close makes the files durable.
func (w *FileWriter) Close(ctx context.Context) ([]AddFile, error) { panic(notYet) }

// Abort drops what was written.
func (w *FileWriter) Abort() { panic(notYet) }
