package catalog

import (
	"iter"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/delta"
	"lakesql/vector"
)

var _ compile.Statistics = (*table)(nil)

// cancelInterval is after how many files ExactFiles asks whether the statement was cancelled.
const cancelInterval = 1024

// exactRows is the number of rows when every file's statistics, or ANALYZE TABLE, have it.
func (t *table) exactRows() (int64, bool) {
	if n, known := t.snap.NumRows(); known {
		return n, true
	}
	var n int64
	for f := range t.snap.Files() {
		rows, ok := t.c.counts.live(t.handle, f)
		if !ok {
			return 0, false
		}
		n += rows
	}
	return n, true
}

// RowCount is the number of rows for the planner's cost of joins.
func (t *table) RowCount(*sql.Context) (uint64, bool, error) {
	n, exact := t.exactRows()
	return uint64(n), exact, nil
}

// DataLength is the size of the table's files in bytes.
func (t *table) DataLength(*sql.Context) (uint64, error) { return uint64(t.snap.SizeInBytes()), nil }

// ExactRows implements compile.Statistics. What the statement learns counts as read.
func (t *table) ExactRows(ctx *sql.Context) (int64, bool) {
	if t.target != nil {
		return 0, false
	}
	n, known := t.exactRows()
	if known {
		currentTransaction(ctx).scanned(ctx, t.handle)
	}
	return n, known
}

// ExactFiles implements compile.Statistics. Files are only chosen by their partition values: a condition on other columns rarely keeps every
// file whole, and the scan that it then needs looks at their statistics itself.
func (t *table) ExactFiles(ctx *sql.Context, condition vector.Expr, columns []int) iter.Seq2[compile.ExactFile, error] {
	return func(yield func(compile.ExactFile, error) bool) {
		filter, err := t.fileFilter(condition)
		if err == nil && (t.target != nil || !filter.OnlyPartitions()) {
			err = compile.ErrNotExact
		}
		if err != nil {
			yield(compile.ExactFile{}, err)
			return
		}
		currentTransaction(ctx).scanned(ctx, t.handle)
		fields, seen := t.Columns(), 0
		wanted := make([]batch.Field, len(columns))
		for i, c := range columns {
			wanted[i] = fields[c]
		}
		for f := range t.snap.Files() {
			if seen++; seen%cancelInterval == 0 && ctx.Err() != nil {
				yield(compile.ExactFile{}, ctx.Err())
				return
			}
			exact, has, err := t.exactFile(f, filter, wanted)
			if has || err != nil {
				if !yield(exact, err) || err != nil {
					return
				}
			}
		}
	}
}

// exactFile is what is certain of a file; false when the filter leaves it out. Partition values and statistics that cannot be read are not
// certain: a scan says what is wrong with them.
func (t *table) exactFile(f delta.File, filter *vector.FileFilter, columns []batch.Field) (compile.ExactFile, bool, error) {
	coverage, err := filter.Match(f)
	switch {
	case err != nil || coverage == vector.SomeRows:
		return compile.ExactFile{}, false, compile.ErrNotExact
	case coverage == vector.NoRows:
		return compile.ExactFile{}, false, nil
	}
	live, known := t.c.counts.live(t.handle, f)
	if !known {
		return compile.ExactFile{}, false, compile.ErrNotExact
	}
	exact, err := t.snap.Exact(f, live, columns)
	if err != nil {
		return compile.ExactFile{}, false, compile.ErrNotExact
	}
	return compile.ExactFile{Rows: live, Columns: exact}, true, nil
}

// fileFilter is the filter of a condition over Columns.
func (t *table) fileFilter(condition vector.Expr) (*vector.FileFilter, error) {
	return vector.NewFileFilter(t.snap, t.columnNames(), condition)
}
