package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
	"lakesql/store"
)

// ledgerFolder is the catalog table's folder below the warehouse.
const ledgerFolder = "_lakesql/catalog"

// maxLedgerRetries bounds how often a DDL statement is validated again after concurrent ones.
const maxLedgerRetries = 20

// ledger reads and writes the catalog table.
//
// Every update is one Delta commit that has read the whole table: a commit by another server in between makes it lose, and
// it is validated again on what that server wrote. So two servers never both believe that they made the same name.
type ledger struct {
	st    store.Store // rooted at the table's folder
	table *delta.Table

	committed func(*delta.Table) // told after each commit

	updating sync.Mutex // one update of this process at a time

	mu    sync.Mutex         // guards what follows
	files map[string][]entry // by path; those of the newest state
	last  *state
}

func newLedger(root store.Store, committed func(*delta.Table)) *ledger {
	st := store.Sub(root, ledgerFolder)
	return &ledger{st: st, table: delta.NewTable(st), committed: committed, files: make(map[string][]entry)}
}

// read returns the newest state. It looks for new commits at each call and reads only the files that it has not seen.
func (l *ledger) read(ctx context.Context) (*state, error) {
	snap, err := l.table.Snapshot(ctx)
	if errors.Is(err, delta.ErrNoTable) {
		return newState(-1, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("read the catalog table: %w", err)
	}
	return l.stateOf(ctx, snap)
}

func (l *ledger) stateOf(ctx context.Context, snap *delta.Snapshot) (*state, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil && l.last.version == snap.Version() {
		return l.last, nil
	}
	var rows []entry
	files := make(map[string][]entry, len(l.files)+1)
	for f := range snap.Files() {
		have, ok := l.files[f.Path]
		if !ok {
			var err error
			if have, err = readEntries(ctx, l.st, f); err != nil {
				return nil, fmt.Errorf("read the catalog table: %s: %w", f.Path, err)
			}
		}
		files[f.Path] = have
		rows = append(rows, have...)
	}
	s, err := newState(snap.Version(), rows)
	if err != nil {
		return nil, err
	}
	if l.last == nil || l.last.version < s.version {
		l.last, l.files = s, files
	}
	return s, nil
}

// update appends the entries that change returns for the newest state, as one commit. change is called again when another
// server's commit came in between; an error of it is returned as it is. No entries: no commit.
func (l *ledger) update(ctx context.Context, operation string, change func(*state) ([]entry, error)) error {
	l.updating.Lock()
	defer l.updating.Unlock()
	var err error
	for range maxLedgerRetries {
		if err = l.tryUpdate(ctx, operation, change); !errors.Is(err, delta.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("%s: the catalog table is being changed by others, %d attempts lost: %w", operation, maxLedgerRetries, err)
}

func (l *ledger) tryUpdate(ctx context.Context, operation string, change func(*state) ([]entry, error)) error {
	snap, err := l.snapshotOrCreate(ctx)
	if err != nil {
		return err
	}
	s, err := l.stateOf(ctx, snap)
	if err != nil {
		return err
	}
	entries, err := change(s)
	if err != nil || len(entries) == 0 {
		return err
	}
	for i := range entries {
		entries[i].Seq = s.seq + 1 + int64(i)
	}
	files, err := l.write(ctx, snap, entries)
	if err != nil {
		return fmt.Errorf("write the catalog table: %w", err)
	}
	tx := l.table.Begin(snap)
	tx.ReadWholeTable()
	tx.Add(files...)
	if _, err = tx.Commit(ctx, delta.Operation{Name: "WRITE", Parameters: map[string]string{"statement": operation}}); err != nil {
		return fmt.Errorf("write the catalog table: %w", err)
	}
	l.committed(l.table)
	return nil
}

// snapshotOrCreate returns the newest version, making the table when there is none.
func (l *ledger) snapshotOrCreate(ctx context.Context) (*delta.Snapshot, error) {
	snap, err := l.table.Snapshot(ctx)
	if !errors.Is(err, delta.ErrNoTable) {
		return snap, err
	}
	if err := makeRoot(ctx, l.st); err != nil {
		return nil, err
	}
	meta, err := delta.NewMetadata(entrySchema, nil, nil)
	if err != nil {
		return nil, err
	}
	meta.Description = "lakesql's catalog: the newest row of a kind and name is in force"
	tx := l.table.Begin(nil)
	tx.SetMetadata(meta)
	done, err := tx.Commit(ctx, delta.Operation{Name: "CREATE TABLE"})
	if errors.Is(err, delta.ErrConflict) {
		return l.table.Snapshot(ctx)
	}
	return done.Snapshot, err
}

func (l *ledger) write(ctx context.Context, snap *delta.Snapshot, entries []entry) ([]delta.AddFile, error) {
	b, err := entriesBatch(entries)
	if err != nil {
		return nil, err
	}
	w, err := delta.NewFileWriter(l.st, snap, snap.Metadata(), delta.FileWriterOptions{})
	if err != nil {
		return nil, err
	}
	if err := w.Write(ctx, b); err != nil {
		w.Abort()
		return nil, err
	}
	return w.Close(ctx)
}

func readEntries(ctx context.Context, st store.Store, f delta.File) ([]entry, error) {
	file, err := parquet.Open(ctx, st, f.Path, f.Size)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	scan := file.Scan(ctx, parquet.ScanOptions{Columns: entrySchema.Fields})
	var out []entry
	for {
		b, err := scan.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for row := range b.Len {
			out = append(out, entryAt(b, row))
		}
	}
}

func entryAt(b *batch.Batch, row int) entry {
	text := func(col int) string {
		s, _ := b.Cols[col].Value(row).(string) // null reads as ""
		return s
	}
	seq, _ := b.Cols[0].Value(row).(int64)
	deleted, _ := b.Cols[5].Value(row).(bool)
	return entry{Seq: seq, Kind: entryKind(text(1)), Name: text(2), Definition: text(3), Desired: text(4), Deleted: deleted}
}

func entriesBatch(entries []entry) (*batch.Batch, error) {
	b := batch.NewBuilder(entrySchema)
	for _, e := range entries {
		if err := b.AppendRow(e.Seq, string(e.Kind), e.Name, e.Definition, e.Desired, e.Deleted); err != nil {
			return nil, err
		}
	}
	return b.Finish(), nil
}
