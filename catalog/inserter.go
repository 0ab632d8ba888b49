package catalog

import (
	"errors"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/vector"
)

// inserter writes the rows of one INSERT, INSERT SELECT or LOAD DATA into Parquet files as they come, and commits them in Close: one
// Delta commit a statement, or one a transaction at COMMIT. A statement that fails leaves nothing.
//
// GMS calls StatementBegin and StatementComplete once a statement, but once a row for INSERT IGNORE; so they mean nothing here.
type inserter struct {
	t       *table
	rows    *batch.Builder
	writer  *tableWriter // nil until the first batch is full
	failed  bool
	written bool       // Insert was called
	over    *overwrite // INSERT OVERWRITE; nil: a plain INSERT
	ignore  bool       // a row that a CHECK refuses is left out
}

var _ sql.RowInserter = (*inserter)(nil)

func newInserter(ctx *sql.Context, t *table) *inserter {
	over, _ := ctx.Value(overwriteKey{}).(*overwrite)
	return &inserter{t: t, rows: batch.NewBuilder(t.snap.Schema()), over: over, ignore: compile.Ignores(ctx)}
}

// StatementBegin does nothing.
func (i *inserter) StatementBegin(*sql.Context) {}

// StatementComplete does nothing: Close commits.
func (i *inserter) StatementComplete(*sql.Context) error { return nil }

// DiscardChanges drops what the statement has written. An error that INSERT IGNORE passes over discards nothing: its row was not added.
func (i *inserter) DiscardChanges(_ *sql.Context, cause error) error {
	if _, ignorable := cause.(sql.IgnorableError); !ignorable {
		i.abort()
	}
	return nil
}

func (i *inserter) abort() {
	i.failed = true
	if i.writer != nil {
		i.writer.Abort()
		i.writer = nil
	}
}

// Insert adds a row with the table's columns in order.
func (i *inserter) Insert(ctx *sql.Context, row sql.Row) error {
	if !i.written {
		if err := i.t.checkWrite(ctx); err != nil {
			return err
		}
		i.written = true
	}
	if err := mysqltype.AppendRow(ctx, i.rows, row); err != nil {
		return err
	}
	if i.ignore {
		return i.flushChecked(ctx, row)
	}
	if i.rows.Len() < batch.MaxRows {
		return nil
	}
	return i.flush(ctx)
}

// flushChecked writes a row by itself where the table has conditions for it. GMS does not count a row that is refused.
func (i *inserter) flushChecked(ctx *sql.Context, row sql.Row) error {
	w, err := i.open()
	if err != nil || !w.Checks() && i.rows.Len() < batch.MaxRows {
		return err
	}
	err = i.flush(ctx)
	if errors.Is(err, delta.ErrCheck) {
		ctx.Warn(checkViolated, "%s", err.Error())
		return sql.NewIgnorableError(row)
	}
	return err
}

// checkViolated is the number of MySQL's warning.
const checkViolated = 3819

func (i *inserter) flush(ctx *sql.Context) error {
	if i.rows.Len() == 0 {
		return nil
	}
	return i.write(ctx, i.rows.Finish())
}

// open returns the writer of the statement's files.
func (i *inserter) open() (*tableWriter, error) {
	if i.writer == nil {
		w, err := i.t.newWriter()
		if err != nil {
			return nil, err
		}
		i.writer = w
	}
	return i.writer, nil
}

func (i *inserter) write(ctx *sql.Context, b *batch.Batch) error {
	w, err := i.open()
	if err != nil {
		return err
	}
	if i.over != nil {
		b = i.over.fix(b)
	}
	return w.Write(ctx, b)
}

// insertAll writes the rows of an operator, whose columns are the table's.
func (i *inserter) insertAll(ctx *sql.Context, rows vector.Operator) (int64, error) {
	if err := i.t.checkWrite(ctx); err != nil {
		return 0, err
	}
	i.written = true
	return eachBatch(ctx, rows, func(b *batch.Batch) error {
		named := &batch.Batch{Schema: i.t.snap.Schema(), Cols: make([]*batch.Vector, len(b.Cols)), Len: b.Len, Sel: b.Sel}
		for c, f := range named.Schema.Fields {
			named.Cols[c] = b.Cols[c].As(f.Type)
		}
		return i.write(ctx, named)
	})
}

// Close makes the rows durable, and commits them unless they wait for COMMIT.
func (i *inserter) Close(ctx *sql.Context) error {
	if ctx.Err() != nil && !i.failed {
		i.abort() // GMS ends a cancelled statement as it ends one that is complete
		return ctx.Err()
	}
	if i.failed || !i.written && (i.over == nil || i.over.done) {
		return nil
	}
	if err := i.finish(ctx); err != nil {
		i.abort()
		if errors.Is(err, delta.ErrConstraint) {
			return err
		}
		return fmt.Errorf("insert into %s.%s: %w", i.t.database, i.t.name, err)
	}
	return nil
}

func (i *inserter) finish(ctx *sql.Context) (err error) {
	if err := i.flush(ctx); err != nil {
		return err
	}
	if i.writer == nil && i.over == nil {
		return nil
	}
	w, err := i.t.c.beginWrite(ctx, i.t)
	if err != nil {
		return err
	}
	if i.writer != nil {
		if first, ok := i.writer.FirstIdentity(); ok {
			defer func() {
				if err == nil {
					made(ctx, first)
				}
			}()
		}
		if w.adds, err = i.writer.Close(ctx); err != nil {
			return err
		}
	}
	over := i.over
	i.writer, i.written, i.over = nil, false, nil
	w.untold.adds = w.adds
	w.reads.whole = currentTransaction(ctx).hasScanned(ctx, i.t.handle) // INSERT ... SELECT from the table itself
	mode := "Append"
	if over != nil {
		over.done = true
		mode = "Overwrite"
		if err := i.t.checkWrite(ctx); err != nil {
			return lost(ctx, err, w)
		}
		if w.removes, err = over.replaced(i.t, w.adds); err != nil {
			return lost(ctx, err, w)
		}
		w.untold.removes, w.reads.whole = w.removes, true
	}
	err = w.finish(ctx, delta.Operation{Name: "WRITE", Parameters: map[string]string{"mode": mode, "partitionBy": "[]"}})
	if isConflict(err) && over == nil {
		return &lostInsert{err}
	}
	return err
}
