package maintain

import (
	"context"
	"errors"
	"io"
	"slices"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
)

// rewriter writes live rows of files of a snapshot into new files. What the rows are stays: their values, their row ids where the table
// tracks rows, and their partition.
type rewriter struct {
	table *delta.Table
	snap  *delta.Snapshot
	cache *parquet.Cache // nil: files are opened anew
}

// read hands all that a file has to visit: the table's columns, and the row ids where it tracks rows.
func (r rewriter) read(ctx context.Context, f delta.File, visit func(*batch.Batch) error) error {
	return r.readColumns(ctx, f, r.snap.Schema().Fields, r.snap.KeepsRowIDs(), visit)
}

// readColumns hands the batches of a file's live rows to visit.
func (r rewriter) readColumns(ctx context.Context, f delta.File, columns []batch.Field, rowIDs bool, visit func(*batch.Batch) error) (err error) {
	reader, err := r.table.OpenFile(ctx, r.snap, f, delta.FileReaderOptions{Columns: columns, Cache: r.cache, RowIDs: rowIDs})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for {
		b, err := reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := visit(b); err != nil {
			return err
		}
	}
}

// writer begins new files of about target bytes.
func (r rewriter) writer(target int64) (*delta.FileWriter, error) {
	return delta.NewFileWriter(r.table.Store(), r.snap, r.snap.Metadata(), delta.FileWriterOptions{
		TargetFileBytes: target, RowIDs: r.snap.KeepsRowIDs(), Rows: delta.MovedRows,
	})
}

// join writes the rows of a bin into one file; none when all of them are deleted.
func (r rewriter) join(ctx context.Context, b bin) (adds []delta.AddFile, err error) {
	w, err := r.writer(2*b.bytes + delta.DefaultTargetFileBytes) // one file: packing has bounded it
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	for _, f := range inOrder(b.files) {
		if err := r.read(ctx, f, func(rows *batch.Batch) error { return w.Write(ctx, rows) }); err != nil {
			return nil, err
		}
	}
	return w.Close(ctx)
}

// inOrder sorts files by the time of their writing, so that rows stay near those that came with them.
func inOrder(files []delta.File) []delta.File {
	return slices.SortedStableFunc(slices.Values(files), func(a, b delta.File) int { return a.ModTime.Compare(b.ModTime) })
}
