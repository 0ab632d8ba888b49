package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/delta"
	"lakesql/delta/dv"
)

// tableWrite is what one statement does to a table. Files that it adds are durable, and in no version before finish; a statement that
// fails leaves the table and its transaction as they were.
type tableWrite struct {
	t       *table // at the version that the statement sees
	waits   bool   // for COMMIT
	adds    []delta.AddFile
	changes []delta.AddFile // files of the change data feed
	removes []delta.File
	rows    []deletedRows
	reads   reads
}

// deletedRows are rows of a file that stays.
type deletedRows struct {
	file delta.File
	rows *dv.Bitmap
}

// reads are what a statement depends on, for the conflicts of its commit.
type reads struct {
	whole bool
}

// beginWrite begins a statement's write to a table.
func (c *Catalog) beginWrite(ctx *sql.Context, t *table) (*tableWrite, error) {
	waits, err := manualCommit(ctx)
	if err != nil {
		return nil, err
	}
	if waits {
		if err := currentTransaction(ctx).mayWrite(t.handle, t.name); err != nil {
			return nil, err
		}
	}
	return &tableWrite{t: t, waits: waits}, nil
}

// finish commits the statement, or in a transaction keeps it for COMMIT.
func (w *tableWrite) finish(ctx *sql.Context, op delta.Operation) error {
	if w.waits {
		currentTransaction(ctx).add(w, op)
		return nil
	}
	tx := w.t.handle.Begin(w.t.snap)
	w.apply(tx)
	if _, err := tx.Commit(ctx, op); err != nil {
		if errors.Is(err, delta.ErrConflict) {
			return w.fail(ctx, err)
		}
		return fmt.Errorf("write %s.%s: %w", w.t.database, w.t.name, err)
	}
	w.t.c.maintainSoon(w.t.handle)
	return nil
}

// apply puts the statement's actions into a transaction.
func (w *tableWrite) apply(tx *delta.Transaction) {
	tx.Add(w.adds...)
	tx.Remove(w.removes...)
	if w.reads.whole {
		tx.ReadWholeTable()
	}
}

// fail drops the files of a statement that did not become part of the table, and returns why it did not.
func (w *tableWrite) fail(ctx context.Context, cause error) error {
	return errors.Join(cause, w.drop(context.WithoutCancel(ctx)))
}

// drop deletes the files that the statement has written. One that cannot be deleted is left to VACUUM.
func (w *tableWrite) drop(ctx context.Context) error {
	var all []error
	for _, files := range [][]delta.AddFile{w.adds, w.changes} {
		for _, f := range files {
			if err := w.t.handle.Store().Delete(ctx, f.Path); err != nil {
				all = append(all, fmt.Errorf("drop %s: %w", f.Path, err))
			}
		}
	}
	return errors.Join(all...)
}
