package delta

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"lakesql/batch"
	"lakesql/delta/dv"
	"lakesql/format/parquet"
	"lakesql/store"
)

// FileReaderOptions say what a FileReader reads.
type FileReaderOptions struct {
	// Columns are columns of the snapshot's schema, or parts of its nested ones. One that is not in the schema is read by
	// its own name, which is how the columns of change files are had.
	Columns []batch.Field
	Cache   *parquet.Cache // nil: the file is opened anew
	Deleted bool           // hand out the rows too that the file's deletion vector deletes
}

// FileReader reads the rows of one data file as the table has them: without those that its deletion vector deletes, with its partition
// values, and null for columns that are younger than the file. It belongs to one goroutine.
type FileReader struct {
	ctx     context.Context // of the reads
	file    *parquet.File
	scanner *parquet.Scanner // nil until the first Next
	columns []readColumn
	stored  []batch.Field // what is read from the file
	deleted *dv.Bitmap    // the rows that are not handed out; nil: none
	rows    []parquet.RowRange
	schema  *batch.Schema
	live    []int32
	out     batch.Batch
}

// readColumn is where a column of the output comes from.
type readColumn struct {
	stored   int           // in FileReader.stored; -1: it is a constant
	constant *batch.Vector // one row
	spread   *batch.Vector // the constant as often as the longest batch so far has rows
}

// OpenFile opens a live file of a snapshot of the table. ctx bounds all reads of the file.
func (t *Table) OpenFile(ctx context.Context, snap *Snapshot, f File, opts FileReaderOptions) (*FileReader, error) {
	r := &FileReader{ctx: ctx, schema: batch.NewSchema(opts.Columns...)}
	for _, c := range opts.Columns {
		if name, ok := snap.partitionColumn(c.Name); ok {
			value, err := ParsePartitionValue(f.PartitionValues[name], c.Type)
			if err != nil {
				return nil, fmt.Errorf("column %s of %s: %w", name, f.Path, err)
			}
			r.columns = append(r.columns, readColumn{stored: -1, constant: value})
			continue
		}
		r.columns = append(r.columns, readColumn{stored: len(r.stored)})
		r.stored = append(r.stored, c)
	}
	st, key, err := t.Locate(f.Path)
	if err != nil {
		return nil, err
	}
	if !opts.Deleted {
		if r.deleted, err = t.DeletedRows(ctx, f); err != nil {
			return nil, err
		}
	}
	if r.file, err = opts.Cache.Open(ctx, st, key, f.Size); err != nil {
		return nil, err
	}
	return r, nil
}

// partitionColumn finds a partition column by name, ignoring case as for every column.
func (s *Snapshot) partitionColumn(name string) (string, bool) {
	for _, p := range s.metadata.PartitionColumns {
		if strings.EqualFold(p, name) {
			return p, true
		}
	}
	return "", false
}

// Locate finds the store that a file of the table lies in, and its key there. path is as File.Path has it.
func (t *Table) Locate(path string) (st store.Store, key string, err error) {
	if !isAbsolute(path) {
		return t.st, path, nil
	}
	if t.outside == nil {
		return nil, "", fmt.Errorf("file %s lies outside of its table %s, which is not allowed here", path, t.st.URI())
	}
	if st, key, err = t.outside(path); err != nil {
		return nil, "", fmt.Errorf("file %s, outside of its table %s: %w", path, t.st.URI(), err)
	}
	return st, key, nil
}

// Schema returns the columns of the batches.
func (r *FileReader) Schema() *batch.Schema { return r.schema }

// Parquet is the open file, for its statistics. It is closed with the reader.
func (r *FileReader) Parquet() *parquet.File { return r.file }

// Restrict leaves out all rows but those in the ranges, which are positions in the file in ascending order. It is called before Next; nil
// restricts nothing.
func (r *FileReader) Restrict(rows []parquet.RowRange) { r.rows = rows }

// Next returns the next rows, or io.EOF after the last. They lie side by side in the file; deleted ones among them are not selected. The
// batch is valid until the next call of Next or Close.
func (r *FileReader) Next(ctx context.Context) (*batch.Batch, error) {
	if r.scanner == nil {
		r.scanner = r.file.Scan(r.ctx, parquet.ScanOptions{Columns: r.stored, Rows: r.rows})
	}
	for {
		b, err := r.scanner.Next(ctx)
		if err != nil {
			return nil, err
		}
		out := r.assemble(b)
		if r.deleted == nil {
			return out, nil
		}
		live, all := r.deleted.Live(r.live[:0], r.scanner.Position(), b.Len)
		if r.live = live; all {
			return out, nil
		}
		if len(live) > 0 {
			out.Sel = live
			return out, nil
		}
	}
}

// Position is the position in the file of the first row of the last batch, selected or not.
func (r *FileReader) Position() int64 { return r.scanner.Position() }

// assemble puts the constants between the columns that the file stores.
func (r *FileReader) assemble(b *batch.Batch) *batch.Batch {
	r.out.Schema, r.out.Len, r.out.Sel = r.schema, b.Len, b.Sel
	r.out.Cols = r.out.Cols[:0]
	for i := range r.columns {
		if c := &r.columns[i]; c.stored >= 0 {
			r.out.Cols = append(r.out.Cols, b.Cols[c.stored])
		} else {
			r.out.Cols = append(r.out.Cols, c.repeat(b.Len))
		}
	}
	return &r.out
}

// repeat is the constant n times.
func (c *readColumn) repeat(n int) *batch.Vector {
	if c.spread == nil || c.spread.Len < n {
		size := max(n, batch.MaxRows)
		if c.constant.IsNull(0) {
			c.spread = batch.NewNulls(c.constant.Type, size)
		} else {
			c.spread = &batch.Vector{Type: c.constant.Type, Len: size, Dict: c.constant, Codes: make([]uint32, size)}
		}
	}
	return c.spread.Slice(0, n)
}

// Close closes the file. It may be called twice.
func (r *FileReader) Close() error {
	var err error
	if r.scanner != nil {
		err = r.scanner.Close()
	}
	return errors.Join(err, r.file.Close())
}

var _ io.Closer = (*FileReader)(nil)
