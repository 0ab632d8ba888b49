package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/delta/dv"
	"lakesql/store"
)

// tableWrite is what one statement does to a table. Files that it adds are durable, and in no version before finish; a statement that
// fails leaves the table and its transaction as they were.
type tableWrite struct {
	t       *table // at the version that the statement sees
	waits   bool   // for COMMIT
	adds    []delta.AddFile
	changes []delta.AddFile // files of the change data feed
	removes []delta.File
	deleted []fileRows // rows of files that stay
	untold  untold
	reads   reads
}

// untold is what no change file says. Where a commit has none at all, readers see it by themselves; else it must be told too.
type untold struct {
	adds    []delta.AddFile
	removes []delta.File
	deleted []fileRows
}

// fileRows are rows of a file.
type fileRows struct {
	file delta.File
	rows *dv.Bitmap
}

// reads are what a statement depends on, for the conflicts of its commit.
type reads struct {
	whole   bool          // every row of the table
	rows    []fileRows    // rows that it leaves as they are
	recheck delta.Recheck // the rows that satisfy a condition; nil: none
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

// canDeleteRows tells whether rows of a file may be deleted by a deletion vector.
func (w *tableWrite) canDeleteRows(f delta.File) bool {
	return w.t.handle.Begin(w.t.snap).CanDeleteRows(f)
}

// finish commits the statement, or in a transaction keeps it for COMMIT.
func (w *tableWrite) finish(ctx *sql.Context, op delta.Operation) error {
	if w.waits {
		if err := currentTransaction(ctx).add(w, op); err != nil {
			return lost(ctx, err, w)
		}
		return nil
	}
	tx := w.t.handle.Begin(w.t.snap)
	err := w.apply(tx)
	if err == nil {
		err = tellAll(ctx, tx, w)
	}
	if err == nil {
		_, err = tx.Commit(ctx, op)
	}
	if err != nil {
		return fmt.Errorf("write %s.%s: %w", w.t.database, w.t.name, lost(ctx, err, w))
	}
	w.t.c.maintainSoon(w.t.handle)
	return nil
}

// apply puts the statement's actions into a transaction.
func (w *tableWrite) apply(tx *delta.Transaction) error {
	tx.Add(w.adds...)
	tx.Remove(w.removes...)
	tx.AddChange(w.changes...)
	for _, d := range w.deleted {
		if err := tx.DeleteRows(d.file, d.rows); err != nil {
			return err
		}
	}
	if w.reads.whole {
		tx.ReadWholeTable()
	}
	for _, r := range w.reads.rows {
		tx.ReadRows(r.file, r.rows)
	}
	if w.reads.recheck != nil {
		tx.Recheck(w.reads.recheck)
	}
	return nil
}

// tellAll makes the change files of a commit complete, where it has some.
func tellAll(ctx context.Context, tx *delta.Transaction, writes ...*tableWrite) error {
	if !slices.ContainsFunc(writes, func(w *tableWrite) bool { return len(w.changes) > 0 }) {
		return nil
	}
	for _, w := range writes {
		changes, err := w.tell(ctx)
		w.changes = append(w.changes, changes...)
		if err != nil {
			return fmt.Errorf("change data feed of %s.%s: %w", w.t.database, w.t.name, err)
		}
		tx.AddChange(changes...)
	}
	return nil
}

// tell writes change files for what is untold.
func (w *tableWrite) tell(ctx context.Context) ([]delta.AddFile, error) {
	feed := newChangeFeed(w.t)
	err := w.tellInto(ctx, feed)
	if err != nil {
		return nil, errors.Join(err, feed.abort())
	}
	return feed.close(ctx)
}

func (w *tableWrite) tellInto(ctx context.Context, feed *changeFeed) error {
	tell := func(f delta.File, kind string, rows *dv.Bitmap) error {
		in, err := w.t.handle.OpenFile(ctx, w.t.snap, f, delta.FileReaderOptions{Columns: w.t.snap.Schema().Fields, Cache: w.t.c.dataFiles})
		if err != nil {
			return err
		}
		if rows != nil {
			in.Restrict(ranges(rows.All()))
		}
		return each(ctx, in, func(b *batch.Batch) error {
			told := selection(b)
			if rows != nil {
				start := in.Position()
				told = slices.DeleteFunc(slices.Clone(told), func(row int32) bool { return !rows.Contains(start + int64(row)) })
			}
			return feed.add(ctx, b, told, kind)
		})
	}
	for _, a := range w.untold.adds {
		if err := tell(delta.File{Path: a.Path, PartitionValues: a.PartitionValues, Size: a.Size}, delta.ChangeInsert, nil); err != nil {
			return err
		}
	}
	for _, f := range w.untold.removes {
		if err := tell(f, delta.ChangeDelete, nil); err != nil {
			return err
		}
	}
	for _, d := range w.untold.deleted {
		if err := tell(d.file, delta.ChangeDelete, d.rows); err != nil {
			return err
		}
	}
	return nil
}

// lost drops the files of statements that did not become part of their table, and returns why they did not. Where that is not known, the
// files stay.
func lost(ctx context.Context, cause error, writes ...*tableWrite) error {
	if errors.Is(cause, store.ErrAmbiguous) {
		return cause
	}
	var all []error
	for _, w := range writes {
		all = append(all, w.drop(context.WithoutCancel(ctx)))
	}
	if left := errors.Join(all...); left != nil {
		return errors.Join(cause, left)
	}
	return cause
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

// jsonList is a JSON list of texts, as Delta's history has them.
func jsonList(texts []string) string {
	out, _ := json.Marshal(texts) // a list of strings always marshals
	return string(out)
}
