package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/delta"
	"lakesql/vector"
)

var _ compile.Statistics = (*table)(nil)

// cancelInterval is after how many files a loop asks whether the statement was cancelled.
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

// Exact implements compile.Statistics. What the statement learns counts as read. Files are only chosen by their partition values: a condition on
// other columns rarely keeps every file whole, and the scan that it then needs looks at their statistics itself.
func (t *table) Exact(ctx *sql.Context, condition vector.Expr, columns []int) (rows int64, exact []delta.ExactColumn, err error) {
	if t.target != nil {
		return 0, nil, compile.ErrNotExact
	}
	wanted, all := make([]batch.Field, len(columns)), t.Columns()
	for i, c := range columns {
		wanted[i] = all[c]
	}
	currentTransaction(ctx).scanned(ctx, t.handle)
	if _, known := t.snap.NumRows(); condition != nil || !known && len(columns) > 0 {
		return t.exactOfFiles(ctx, condition, wanted)
	}
	rows, known := t.exactRows()
	if !known {
		return 0, nil, compile.ErrNotExact
	}
	exact, err = t.snap.Exact(ctx, wanted)
	return rows, exact, err
}

// exactOfFiles puts together what is certain of the files for whose rows the condition is true.
func (t *table) exactOfFiles(ctx *sql.Context, condition vector.Expr, columns []batch.Field) (rows int64, exact []delta.ExactColumn, err error) {
	filter, err := t.fileFilter(condition)
	if err != nil {
		return 0, nil, err
	}
	if !filter.OnlyPartitions() {
		return 0, nil, compile.ErrNotExact
	}
	exact = make([]delta.ExactColumn, len(columns))
	for i := range exact {
		exact[i].Bounded = true
	}
	seen := 0
	for f := range t.snap.Files() {
		if seen++; seen%cancelInterval == 0 && ctx.Err() != nil {
			return 0, nil, ctx.Err()
		}
		coverage, err := filter.Match(f)
		if err != nil || coverage == vector.SomeRows {
			return 0, nil, compile.ErrNotExact // a scan says what is wrong
		}
		if coverage == vector.NoRows {
			continue
		}
		live, known := t.c.counts.live(t.handle, f)
		if !known {
			return 0, nil, compile.ErrNotExact
		}
		rows += live
		for i, c := range t.snap.ExactFile(f, live, columns) {
			exact[i].Add(c)
		}
	}
	return rows, exact, nil
}

// fileFilter is the filter of a condition over Columns.
func (t *table) fileFilter(condition vector.Expr) (*vector.FileFilter, error) {
	return vector.NewFileFilter(t.snap, t.columnNames(), condition)
}
