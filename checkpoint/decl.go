package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"lakesql/store"
)

var errNotBuilt = errors.New("checkpoint: not built yet")

// Checkpoint is one open checkpoint.
type Checkpoint struct{}

func Create(ctx context.Context, st store.Store) (*Checkpoint, error) { return nil, errNotBuilt }
func Open(ctx context.Context, st store.Store) (*Checkpoint, error)   { return nil, errNotBuilt }
func (c *Checkpoint) ID() string                                      { return "" }
func (c *Checkpoint) URI() string                                     { return "" }
func (c *Checkpoint) Verify(ctx context.Context) error                { return errNotBuilt }
func (c *Checkpoint) Offsets() *OffsetLog                             { return nil }
func (c *Checkpoint) Commits() *CommitLog                             { return nil }
func (c *Checkpoint) Source(i int) *SourceLog                         { return nil }
func (c *Checkpoint) Files(i int) *FileLog                            { return nil }

// Reset takes a new id. The caller holds the lease.
func (c *Checkpoint) Reset(ctx context.Context) (newID string, err error) { return "", errNotBuilt }

// Offsets of one batch.
type Offsets struct {
	WatermarkMs int64           // epoch ms, 0 when there is none
	TimestampMs int64           // epoch ms, the batch's current_timestamp
	Conf        json.RawMessage // an object, kept verbatim; nil where the file has none
	Sources     []string        // one offset JSON a source; NoOffset where a source has none
}

// NoOffset stands for a source without an offset.
const NoOffset = "-"

func NewConf() json.RawMessage { return nil }

type OffsetLog struct{}

func (l *OffsetLog) Latest(ctx context.Context) (int64, error) { return 0, errNotBuilt } // -1: none
func (l *OffsetLog) Read(ctx context.Context, id int64) (Offsets, error) {
	return Offsets{}, errNotBuilt
}
func (l *OffsetLog) Add(ctx context.Context, id int64, o Offsets) error { return errNotBuilt }
func (l *OffsetLog) Purge(ctx context.Context, below int64) error       { return errNotBuilt }

type CommitLog struct{}

func (l *CommitLog) Latest(ctx context.Context) (int64, error) { return 0, errNotBuilt }
func (l *CommitLog) Read(ctx context.Context, id int64) (watermarkMs int64, err error) {
	return 0, errNotBuilt
}
func (l *CommitLog) Add(ctx context.Context, id int64, watermarkMs int64) error { return errNotBuilt }
func (l *CommitLog) Purge(ctx context.Context, below int64) error               { return errNotBuilt }

// SourceEntry is one file that the file source has seen.
type SourceEntry struct {
	Path        string // URI text, file:///data/a%20b.csv: the key that tells files apart
	TimestampMs int64  // modification time, epoch ms
	BatchID     int64  // id of the source log's batch in which it was first seen
}

type SourceLog struct{}

func (l *SourceLog) Latest(ctx context.Context) (int64, error) { return 0, errNotBuilt } // -1: none
// Add writes batch id, which must be the latest + 1. BatchID of the entries is set to id.
func (l *SourceLog) Add(ctx context.Context, id int64, entries []SourceEntry) error {
	return errNotBuilt
}

// Entries returns what the batches from..to (both included) first saw.
func (l *SourceLog) Entries(ctx context.Context, from, to int64) ([]SourceEntry, error) {
	return nil, errNotBuilt
}
func (l *SourceLog) All(ctx context.Context) iter.Seq2[SourceEntry, error] { return nil }

// Prepare copies what the next compact file will hold, ahead of its Add, so that the Add is short. Optional, off the commit path.
func (l *SourceLog) Prepare(ctx context.Context) error { return errNotBuilt }

// Close drops what Prepare has begun.
func (l *SourceLog) Close() error { return nil }

// FilePin is what a file looked like when it was put into the source log: a replay refuses a file that looks otherwise.
type FilePin struct {
	Path      string // as SourceEntry.Path
	Size      int64  // bytes
	ModTimeNs int64  // epoch ns
	ETag      string
}

// FileResult is what became of a file once its batch was done.
type FileResult struct {
	Path     string
	Rows     int64
	Rejected int64
	Error    string // empty: read whole
}

// FileFact is all that is known of one file.
type FileFact struct {
	LogID int64 // the source log's batch
	Batch int64 // the query's batch, -1 while not done
	FilePin
	Done     bool
	Rows     int64
	Rejected int64
	Error    string
}

// FileLog keeps facts about the files of one source under _lakesql/files/<i>/.
type FileLog struct{}

// Pin is called after SourceLog.Add(id) and before the offsets that cover id are written.
func (l *FileLog) Pin(ctx context.Context, id int64, pins []FilePin) error { return errNotBuilt }

// Pins returns the pins of source batches from..to (both included); what another engine wrote has none.
func (l *FileLog) Pins(ctx context.Context, from, to int64) ([]FilePin, error) {
	return nil, errNotBuilt
}

// Finish records the results of query batch `batch`, which read source batches from..to.
func (l *FileLog) Finish(ctx context.Context, batch, from, to int64, results []FileResult) error {
	return errNotBuilt
}
func (l *FileLog) All(ctx context.Context) iter.Seq2[FileFact, error] { return nil }

// Compact merges small objects, off the commit path.
func (l *FileLog) Compact(ctx context.Context) error { return errNotBuilt }

// Binding ties a checkpoint to its stream and its target.
type Binding struct {
	StreamName string `json:"streamName"` // db.name
	TableID    string `json:"tableId"`    // metaData.id of the target
	TableURI   string `json:"tableUri"`
}

func (c *Checkpoint) Binding(ctx context.Context) (b Binding, ok bool, err error) {
	return Binding{}, false, errNotBuilt
}

// Bind writes the binding once; the same again is fine, another one is Kind Bound.
func (c *Checkpoint) Bind(ctx context.Context, b Binding) error { return errNotBuilt }

// Rebind replaces the binding (ALTER STREAM RENAME, a dropped stream's checkpoint taken by a new one).
func (c *Checkpoint) Rebind(ctx context.Context, b Binding) error { return errNotBuilt }

// SaveSchema keeps the schema of source i, JSON text.
func (c *Checkpoint) SaveSchema(ctx context.Context, source int, schema []byte) error {
	return errNotBuilt
}
func (c *Checkpoint) Schema(ctx context.Context, source int) (schema []byte, ok bool, err error) {
	return nil, false, errNotBuilt
}

// Ring keeps the newest items in memory and, after Flush, in one file.
type Ring struct{}

// Item is one item of a ring.
type Item struct {
	Batch int64           `json:"batch"`
	Data  json.RawMessage `json:"data"`
}

// Put replaces the items of a batch (a replayed batch replaces its own).
func (r *Ring) Put(batch int64, items ...json.RawMessage) {}

// Items returns the items, oldest first.
func (r *Ring) Items(ctx context.Context) ([]Item, error) { return nil, errNotBuilt }

// Flush writes them when something is new.
func (r *Ring) Flush(ctx context.Context) error { return errNotBuilt }

// Progress holds the last 100 batches.
func (c *Checkpoint) Progress() *Ring { return nil }

// Errors holds the newest row errors.
func (c *Checkpoint) Errors() *Ring { return nil }

// Lease says which process works on a checkpoint. It only saves work: correctness is the table's txn.
type Lease struct{}

// LeaseTTL is how long a holder may be silent.
const LeaseTTL = 10 * time.Second

// LeaseHeartbeat is how often Renew should be called.
const LeaseHeartbeat = 3 * time.Second

// Lease returns the checkpoint's lease for an owner (shown to people: host, pid, address).
func (c *Checkpoint) Lease(owner string) *Lease { return nil }

// Acquire takes the lease or returns Kind Held naming the holder. Call it again later: a holder whose heartbeat has not
// changed for LeaseTTL since this Lease first saw it is dead, as is one whose process on this machine has ended.
func (l *Lease) Acquire(ctx context.Context) error { return errNotBuilt }

// Renew writes a heartbeat; Kind LeaseLost when another owner took over, Gone when the checkpoint was deleted.
func (l *Lease) Renew(ctx context.Context) error   { return errNotBuilt }
func (l *Lease) Release(ctx context.Context) error { return errNotBuilt }
func (l *Lease) Epoch() int64                      { return 0 }
