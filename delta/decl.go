package delta

import (
	"context"
	"iter"
	"time"

	"lakesql/batch"
	"lakesql/store"
)

const notYet = "delta: being built"

// Table is a handle on one Delta table. It may be used by several goroutines.
type Table struct{ st store.Store }

// NewTable returns a handle on the table at the root of st. It touches nothing.
func NewTable(st store.Store) *Table { return &Table{st: st} }

// Store is the store that the table lives in, rooted at the table's folder.
func (t *Table) Store() store.Store { return t.st }

// Snapshot returns the newest version. ErrNoTable when there is no log.
func (t *Table) Snapshot(ctx context.Context) (*Snapshot, error) { panic(notYet) }

// SnapshotAt returns one version. ErrNoVersion when it is not there.
func (t *Table) SnapshotAt(ctx context.Context, version int64) (*Snapshot, error) { panic(notYet) }

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

// Snapshot is one version of a table. It is immutable and may be shared by goroutines.
type Snapshot struct{}

// Version is the snapshot's version, from 0.
func (s *Snapshot) Version() int64 { panic(notYet) }

// Timestamp is when the version was committed.
func (s *Snapshot) Timestamp() time.Time { panic(notYet) }

// Protocol is the protocol in force.
func (s *Snapshot) Protocol() *Protocol { panic(notYet) }

// Metadata is the metadata in force.
func (s *Snapshot) Metadata() *Metadata { panic(notYet) }

// Schema is the table's schema, partition columns included, in schema order.
func (s *Snapshot) Schema() *batch.Schema { panic(notYet) }

// NumFiles is the number of live files.
func (s *Snapshot) NumFiles() int { panic(notYet) }

// SizeInBytes is the size of the live files together.
func (s *Snapshot) SizeInBytes() int64 { panic(notYet) }

// Files yields the live files in no promised order.
func (s *Snapshot) Files() iter.Seq[File] { panic(notYet) }

// Txn is the version that the application committed last.
func (s *Snapshot) Txn(appID string) (int64, bool) { panic(notYet) }

// File is a live data file of a snapshot.
type File struct {
	Path            string            // key below the table's root, decoded; an absolute URI is kept as it is
	PartitionValues map[string]string // column -> text as in the log; an absent column is null. Shared: do not change it
	Size            int64             // bytes
	ModTime         time.Time
}

// NumRecords is the number of rows, when the file has it in its statistics.
func (f File) NumRecords() (int64, bool) { panic(notYet) }

// Stats parses the file's statistics; nil when the file has none.
func (f File) Stats() (*Stats, error) { panic(notYet) }

// Stats are the statistics of one file.
type Stats struct {
	NumRecords  int64         // -1 unknown
	TightBounds bool          // false: Min and Max are only bounds of what the file holds
	Columns     []ColumnStats // by position in Snapshot.Schema(); partition columns have none
}

// ColumnStats are bounds of one column of one file. Every non-null value v but NaN satisfies Min <= v <= Max.
type ColumnStats struct {
	Min, Max  *batch.Vector // one row each; nil unknown
	Exact     bool          // Min and Max are values in the file, not only bounds; never for strings and floats
	NullCount int64         // -1 unknown
}

// Protocol is the protocol action.
type Protocol struct {
	MinReader, MinWriter           int
	ReaderFeatures, WriterFeatures []string
}

// Metadata is the metaData action.
type Metadata struct {
	ID               string
	Name             string
	Description      string
	SchemaString     string
	PartitionColumns []string
	Configuration    map[string]string
	CreatedTime      time.Time
}

// NewMetadata describes a new table. The schema's flat types only.
func NewMetadata(schema *batch.Schema, partitionBy []string, config map[string]string) (*Metadata, error) {
	panic(notYet)
}

// ParseSchema reads a schema's JSON; *UnsupportedError naming column and type for types that are not built.
func ParseSchema(schemaString string) (*batch.Schema, error) { panic(notYet) }

// FormatSchema writes a schema's JSON.
func FormatSchema(schema *batch.Schema) string { panic(notYet) }

// ParsePartitionValue reads a partition value's text as one row of type t; "" is null.
func ParsePartitionValue(text string, t batch.Type) (*batch.Vector, error) { panic(notYet) }

// CheckReadable returns an *UnsupportedError when the snapshot has features that reading needs and that are not built.
func CheckReadable(s *Snapshot) error { panic(notYet) }

// CheckWritable returns an *UnsupportedError when appending to the table needs features that are not built.
func CheckWritable(s *Snapshot) error { panic(notYet) }

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
