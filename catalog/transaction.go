package catalog

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/delta"
)

// transaction is what one statement, or all between BEGIN and COMMIT, sees and has written.
//
// Invariants:
//   - a table is read at one version: the newest at its first lookup. What the transaction itself has written is on top;
//   - at most one table is written; the files are durable, but no commit names them until COMMIT;
//   - nothing in it has to be released: GMS may forget a transaction after an error. Files that no commit names are
//     then left to VACUUM, as those of a crash are.
type transaction struct {
	readOnly bool

	mu         sync.Mutex
	pins       map[string]*delta.Snapshot // by the table's URI
	work       *work                      // nil: nothing is written
	savepoints []savepoint
	scans      map[string]uint64 // by the table's URI: the last statement that read it
}

// work is what a transaction has written and not committed. It is replaced by that of the next statement, which goes on with its
// delta.Transaction; going back makes that anew.
type work struct {
	handle *delta.Table
	base   *delta.Snapshot // that the transaction has read
	name   string          // of the table, for messages
	tx     *delta.Transaction
	view   *delta.Snapshot // the version with what is written on top
	writes []*tableWrite   // by statement
	ops    []delta.Operation
}

// savepoint is the work at SAVEPOINT.
type savepoint struct {
	name string
	work *work
}

func newTransaction(readOnly bool) *transaction {
	return &transaction{readOnly: readOnly, pins: make(map[string]*delta.Snapshot), scans: make(map[string]uint64)}
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

// pin returns what the transaction sees of the table.
func (t *transaction) pin(ctx context.Context, table *delta.Table) (*delta.Snapshot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.work != nil && t.work.of(table) {
		return t.work.view, nil
	}
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

// of tells whether the work is on a table.
func (w *work) of(table *delta.Table) bool { return w.handle.Store().URI() == table.Store().URI() }

// forget unpins a table that the statement itself has made or replaced.
func (t *transaction) forget(table *delta.Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pins, table.Store().URI())
}

// repin forgets all versions: the statement runs again on the newest.
func (t *transaction) repin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pins = make(map[string]*delta.Snapshot)
}

func (t *transaction) hasWrites() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.work != nil
}

// scanned notes that the statement reads rows of a table.
func (t *transaction) scanned(ctx *sql.Context, table *delta.Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.scans[table.Store().URI()] = ctx.Pid()
}

// hasScanned tells whether the statement has read rows of a table.
func (t *transaction) hasScanned(ctx *sql.Context, table *delta.Table) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	statement, ok := t.scans[table.Store().URI()]
	return ok && statement == ctx.Pid()
}

// mayWrite refuses a table that the transaction may not write.
func (t *transaction) mayWrite(table *delta.Table, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.readOnly {
		return sql.ErrReadOnlyTransaction.New()
	}
	if t.work != nil && !t.work.of(table) {
		return refuse(KindTransaction, "a transaction writes one table, and this one has written %s: COMMIT before you write %s", t.work.name, name)
	}
	return nil
}

// add keeps what a statement has written for COMMIT.
func (t *transaction) add(w *tableWrite, op delta.Operation) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &work{handle: w.t.handle, base: w.t.snap, name: w.t.name}
	if t.work != nil {
		*next = *t.work
	} else {
		next.tx = next.handle.Begin(next.base)
	}
	if err := w.apply(next.tx); err != nil {
		return errors.Join(err, t.redo(t.work))
	}
	next.view = next.tx.View()
	next.writes, next.ops = append(next.writes, w), append(next.ops, op)
	t.work = next
	return nil
}

// redo makes an earlier work, or none, the present one: with a transaction that has done what was written up to there, and no more.
func (t *transaction) redo(to *work) error {
	t.work = nil
	if to == nil {
		return nil
	}
	again := *to
	again.tx = again.handle.Begin(again.base)
	for _, w := range again.writes {
		if err := w.apply(again.tx); err != nil {
			return err
		}
	}
	t.work = &again
	return nil
}

// commit makes one Delta commit of what was written.
func (t *transaction) commit(ctx context.Context) error {
	t.mu.Lock()
	done := t.work
	t.mu.Unlock()
	defer t.reset()
	if done == nil {
		return nil
	}
	err := tellAll(ctx, done.tx, done.writes...)
	if err == nil {
		_, err = done.tx.Commit(ctx, operationOf(done.ops))
	}
	if err != nil {
		return lost(ctx, err, done.writes...)
	}
	for _, w := range done.writes {
		w.t.c.maintainSoon(w.t.handle)
		break
	}
	return nil
}

// operationOf is a transaction in the table's history: the one statement that it is, or all of them.
func operationOf(ops []delta.Operation) delta.Operation {
	if len(ops) == 1 {
		return ops[0]
	}
	names := make([]string, len(ops))
	for i, op := range ops {
		names[i] = op.Name
	}
	return delta.Operation{Name: "TRANSACTION", Parameters: map[string]string{"statements": jsonList(names)}}
}

// rollback drops what was written.
func (t *transaction) rollback(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.backTo(ctx, nil)
	t.savepoints, t.pins = nil, make(map[string]*delta.Snapshot)
	return err
}

func (t *transaction) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.work, t.savepoints, t.pins = nil, nil, make(map[string]*delta.Snapshot)
}

func (t *transaction) savepoint(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := t.find(name); at >= 0 {
		t.savepoints = append(t.savepoints[:at], t.savepoints[at+1:]...)
	}
	t.savepoints = append(t.savepoints, savepoint{name: name, work: t.work})
}

func (t *transaction) rollbackTo(ctx context.Context, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := t.find(name)
	if at < 0 {
		return sql.ErrSavepointDoesNotExist.New(name)
	}
	err := t.backTo(ctx, t.savepoints[at].work)
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

// backTo makes an earlier work, or none, the present one, and drops the files that were written since.
func (t *transaction) backTo(ctx context.Context, to *work) error {
	if t.work == to {
		return nil
	}
	kept := 0
	if to != nil {
		kept = len(to.writes)
	}
	var all []error
	for _, w := range t.work.writes[kept:] {
		all = append(all, w.drop(ctx))
	}
	return errors.Join(append(all, t.redo(to))...)
}
