package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/delta"
)

// transaction is what one statement, or all between BEGIN and COMMIT, sees and has written.
//
// Invariants:
//   - a table is read at one version: the newest at its first lookup;
//   - at most one table is written; its files are durable, but no commit names them until COMMIT;
//   - nothing in it has to be released: GMS may forget a transaction after an error. Files that no commit names are
//     then left to VACUUM, as those of a crash are.
type transaction struct {
	readOnly bool

	mu         sync.Mutex
	pins       map[string]*delta.Snapshot // by the table's URI
	target     *delta.Table               // the table that is written; nil: none
	name       string                     // its name, for messages
	files      []delta.AddFile
	savepoints []savepoint
}

// savepoint is how many files had been written at SAVEPOINT.
type savepoint struct {
	name  string
	files int
}

func newTransaction(readOnly bool) *transaction {
	return &transaction{readOnly: readOnly, pins: make(map[string]*delta.Snapshot)}
}

func (t *transaction) String() string { return "transaction" }

// IsReadOnly says that START TRANSACTION READ ONLY was given.
func (t *transaction) IsReadOnly() bool { return t.readOnly }

// currentTransaction is the statement's transaction; a fresh one where GMS has opened none, as in a lookup without a statement.
func currentTransaction(ctx *sql.Context) *transaction {
	if ctx.Session != nil {
		if t, ok := ctx.GetTransaction().(*transaction); ok {
			return t
		}
	}
	return newTransaction(false)
}

// pin returns the version of the table that the transaction sees.
func (t *transaction) pin(ctx context.Context, table *delta.Table) (*delta.Snapshot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	uri := table.Store().URI()
	if snap, ok := t.pins[uri]; ok {
		return snap, nil
	}
	snap, err := table.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	t.pins[uri] = snap
	return snap, nil
}

// forget unpins a table that the statement itself has made or replaced.
func (t *transaction) forget(table *delta.Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pins, table.Store().URI())
}

// written returns the files that the transaction has written to the table and not committed.
func (t *transaction) written(table *delta.Table) []delta.AddFile {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.target == nil || t.target.Store().URI() != table.Store().URI() {
		return nil
	}
	return t.files
}

func (t *transaction) hasWrites() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.target != nil
}

// mayWrite refuses a table that the transaction may not write.
func (t *transaction) mayWrite(table *delta.Table, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.readOnly {
		return sql.ErrReadOnlyTransaction.New()
	}
	if t.target != nil && t.target.Store().URI() != table.Store().URI() {
		return refuse(KindTransaction, "a transaction writes one table, and this one has written %s: COMMIT before you write %s", t.name, name)
	}
	return nil
}

// add keeps what a statement has written for COMMIT.
func (t *transaction) add(w *tableWrite, _ delta.Operation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.target, t.name = w.t.handle, w.t.name
	t.files = append(t.files, w.adds...)
}

// repin forgets the versions: the statement runs again on the newest.
func (t *transaction) repin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pins = make(map[string]*delta.Snapshot)
}

// commit makes one Delta commit of what was written.
func (t *transaction) commit(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.target == nil {
		return nil
	}
	snap := t.pins[t.target.Store().URI()]
	err := commitAppend(ctx, t.target, snap, t.files)
	t.reset()
	return err
}

// rollback drops what was written.
func (t *transaction) rollback(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.dropFrom(ctx, 0)
	t.reset()
	return err
}

func (t *transaction) reset() {
	t.target, t.name, t.files, t.savepoints = nil, "", nil, nil
	t.pins = make(map[string]*delta.Snapshot)
}

func (t *transaction) savepoint(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := t.find(name); at >= 0 {
		t.savepoints = append(t.savepoints[:at], t.savepoints[at+1:]...)
	}
	t.savepoints = append(t.savepoints, savepoint{name: name, files: len(t.files)})
}

func (t *transaction) rollbackTo(ctx context.Context, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.find(name)
	if at < 0 {
		return sql.ErrSavepointDoesNotExist.New(name)
	}
	err := t.dropFrom(ctx, t.savepoints[at].files)
	t.savepoints = t.savepoints[:at+1]
	return err
}

func (t *transaction) release(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.find(name)
	if at < 0 {
		return sql.ErrSavepointDoesNotExist.New(name)
	}
	t.savepoints = t.savepoints[:at]
	return nil
}

func (t *transaction) find(name string) int {
	for i, s := range t.savepoints {
		if strings.EqualFold(s.name, name) {
			return i
		}
	}
	return -1
}

// dropFrom deletes the files from position n on. A file that cannot be deleted is left to VACUUM.
func (t *transaction) dropFrom(ctx context.Context, n int) error {
	var all []error
	for _, f := range t.files[n:] {
		if err := t.target.Store().Delete(ctx, f.Path); err != nil {
			all = append(all, fmt.Errorf("roll back: delete %s: %w", f.Path, err))
		}
	}
	t.files = t.files[:n]
	if n == 0 {
		t.target, t.name = nil, ""
	}
	return errors.Join(all...)
}

// commitAppend commits files of an append, which is blind: concurrent appends do not disturb it.
func commitAppend(ctx context.Context, table *delta.Table, read *delta.Snapshot, files []delta.AddFile) error {
	tx := table.Begin(read)
	tx.Add(files...)
	_, err := tx.Commit(ctx, delta.Operation{Name: "WRITE", Parameters: map[string]string{"mode": "Append", "partitionBy": "[]"}})
	return err
}
