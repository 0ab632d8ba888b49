package stream

import (
	"context"
	"log/slog"
	"time"

	"lakesql/store"
	"lakesql/stream/source"
)

// Config is what a Manager works with. Definitions, Targets, Compiler, Open and Sources must be set.
type Config struct {
	Definitions Definitions
	Targets     Targets
	Compiler    Compiler
	Sources     map[string]source.OpenFunc // by Spec.Kind: {"files": files.Open}
	Open        store.Opener               // opens checkpoints and source files
	Fence       Fence                      // nil: no path is refused
	Owner       string                     // names this server in leases
	Events      Events
	Logger      *slog.Logger     // nil: discards
	Now         func() time.Time // nil: time.Now
	// FirstProcessID is the first of the ids that streams have in SHOW PROCESSLIST; 0: DefaultFirstProcessID.
	FirstProcessID uint32
}

// DefaultFirstProcessID keeps streams' process ids apart from those of connections.
const DefaultFirstProcessID = 1_000_000_000

// Manager owns all streams of one catalog.
type Manager struct{ cfg Config }

// NewManager makes a manager. It starts nothing: Start does.
func NewManager(cfg Config) *Manager { return &Manager{cfg: cfg} }

// Start recovers the streams of the catalog and starts those that are not paused. It does not wait for them.
func (m *Manager) Start(ctx context.Context) error { return nil }

// Close stops all streams and waits: a running batch is finished or dropped whole. It may be called twice.
func (m *Manager) Close() error { return nil }

// CreateOptions are the words around CREATE STREAM.
type CreateOptions struct {
	IfNotExists bool
	OrReplace   bool
}

// Create checks the definition and its checkpoint, keeps the definition and starts the stream. It does not wait for a batch.
// created is false when IF NOT EXISTS found a stream of that name.
func (m *Manager) Create(ctx context.Context, d Definition, opts CreateOptions) (created bool, err error) {
	return false, nil
}

// StopStream pauses a stream and waits until it has stopped: the running batch is finished or dropped whole.
func (m *Manager) StopStream(ctx context.Context, database, name string) error { return nil }

// StartStream starts a stream that is paused, failed or finished. A stream that runs is left alone.
func (m *Manager) StartStream(ctx context.Context, database, name string) error { return nil }

// StopAll pauses all streams.
func (m *Manager) StopAll(ctx context.Context) error { return nil }

// Kill pauses the stream with that process id, and reports whether there is one.
func (m *Manager) Kill(ctx context.Context, processID uint32) (bool, error) { return false, nil }

// Drop stops and forgets a stream. The table stays; purge deletes the checkpoint.
func (m *Manager) Drop(ctx context.Context, database, name string, purge bool) error { return nil }

// Rename gives a stream another name in its database.
func (m *Manager) Rename(ctx context.Context, database, name, newName string) error { return nil }

// Reset makes a stream that is paused, failed or finished forget what it has read. The table keeps its rows.
func (m *Manager) Reset(ctx context.Context, database, name string) (ResetReport, error) {
	return ResetReport{}, nil
}

// SkipFile decides for good that a stream leaves out a file of a range that is not committed yet, and retries a failed stream.
func (m *Manager) SkipFile(ctx context.Context, database, name, fileURI string) error { return nil }

// SetTrigger changes when the stream's batches start.
func (m *Manager) SetTrigger(ctx context.Context, database, name string, t Trigger) error { return nil }

// SetOptions changes options of OPTIONS (...): only those that section 9 of the checkpoint's rules allows.
func (m *Manager) SetOptions(ctx context.Context, database, name string, options map[string]string) error {
	return nil
}

// WaitFor waits until the stream has reached until. timeout 0 waits as long as ctx lives.
func (m *Manager) WaitFor(ctx context.Context, database, name string, until Until, timeout time.Duration) error {
	return nil
}

// Explain says what CREATE STREAM of d would do. It writes nothing.
func (m *Manager) Explain(ctx context.Context, d Definition) (Explanation, error) {
	return Explanation{}, nil
}

// Status returns one stream's status.
func (m *Manager) Status(database, name string) (Status, error) { return Status{}, nil }

// List returns all streams by name.
func (m *Manager) List() []Status { return nil }

// Progress returns the last batches, newest first; limit 0 gives all that are kept.
func (m *Manager) Progress(ctx context.Context, database, name string, limit int) ([]Progress, error) {
	return nil, nil
}

// Files returns the files that the stream has taken in, oldest first.
func (m *Manager) Files(ctx context.Context, database, name string) ([]FileStatus, error) {
	return nil, nil
}

// Errors returns the malformed rows that are kept, newest batch first.
func (m *Manager) Errors(ctx context.Context, database, name string) ([]RowError, error) {
	return nil, nil
}

// Uses returns the names of the streams that write the table.
func (m *Manager) Uses(database, table string) []string { return nil }
