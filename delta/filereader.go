package delta

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

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
	// RowIDs adds RowIDField and RowCommitVersionField behind the columns.
	RowIDs  bool
	Deleted bool // hand out the rows too that the file's deletion vector deletes
}

// The columns of row tracking: the id that a row keeps while it lives, and the version that changed it last. They are null where the
// table does not track its rows.
var (
	RowIDField            = batch.Field{Name: "_row_id", Type: batch.Type{Kind: batch.Int64}, Nullable: true}
	RowCommitVersionField = batch.Field{Name: "_row_commit_version", Type: batch.Type{Kind: batch.Int64}, Nullable: true}
)

// FileReader reads the rows of one data file as the table has them: without those that its deletion vector deletes, with its partition
// values, and null for columns that are younger than the file. It belongs to one goroutine.
type FileReader struct {
	ctx     context.Context // of the reads
	file    *sharedFile
	closed  bool
	scan    parquet.ScanOptions
	scanner *parquet.Scanner // nil until the first Next
	columns []readColumn
	rowIDs  *rowIDColumns // nil: they are not asked for
	deleted *dv.Bitmap    // the rows that are not handed out; nil: none
	schema  *batch.Schema
	live    []int32 // scratch
	out     batch.Batch
}

// sharedFile is an open file with the readers that share it. The last one closes it.
type sharedFile struct {
	*parquet.File
	readers atomic.Int32
}

func (f *sharedFile) release() error {
	if f.readers.Add(-1) > 0 {
		return nil
	}
	return f.Close()
}

// readColumn is where a column of the output comes from.
type readColumn struct {
	stored   int           // among the columns that are read from the file; -1: it is a constant
	constant *batch.Vector // one row
	spread   *batch.Vector // the constant as often as the longest batch so far has rows
}

// OpenFile opens a live file of a snapshot of the table. ctx bounds all reads of the file.
func (t *Table) OpenFile(ctx context.Context, snap *Snapshot, f File, opts FileReaderOptions) (*FileReader, error) {
	r := &FileReader{ctx: ctx, schema: batch.NewSchema(opts.Columns...)}
	r.scan.Naming, r.scan.ByID = snap.Naming()
	for _, c := range opts.Columns {
		name, ok := snap.partitionColumn(c.Name)
		if c.Type.Kind == batch.Void {
			r.columns = append(r.columns, readColumn{stored: -1, constant: batch.NewNulls(c.Type, 1)})
			continue
		}
		if !ok {
			r.columns = append(r.columns, r.store(c))
			continue
		}
		value, err := ParsePartitionValue(f.PartitionValues[name], c.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s of %s: %w", name, f.Path, err)
		}
		r.columns = append(r.columns, readColumn{stored: -1, constant: value})
	}
	if opts.RowIDs {
		r.addRowIDs(snap, f)
	}
	var err error
	if !opts.Deleted {
		if r.deleted, err = t.DeletedRows(ctx, f); err != nil {
			return nil, err
		}
	}
	st, key, err := t.Locate(f.Path)
	if err != nil {
		return nil, err
	}
	file, err := opts.Cache.Open(ctx, st, key, f.Size)
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("version %d of the table needs a file that is gone; VACUUM deletes those that only versions older than its retention need, and DESCRIBE HISTORY tells when it ran: %w",
			snap.Version(), err)
	}
	if err != nil {
		return nil, err
	}
	r.file = &sharedFile{File: file}
	r.file.readers.Add(1)
	return r, nil
}

// Share returns another reader of the same rows and columns, for another goroutine. The file is open until both are closed. It is called before Next and Advance.
func (r *FileReader) Share() *FileReader {
	r.file.readers.Add(1)
	other := &FileReader{ctx: r.ctx, file: r.file, scan: r.scan, columns: slices.Clone(r.columns), deleted: r.deleted, schema: r.schema}
	if r.rowIDs != nil {
		ids := *r.rowIDs
		other.rowIDs = &ids
	}
	return other
}

// store asks for a column of the file.
func (r *FileReader) store(c batch.Field) readColumn {
	r.scan.Columns = append(r.scan.Columns, c)
	return readColumn{stored: len(r.scan.Columns) - 1}
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
		return t.st, strings.TrimPrefix(path, here), nil
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
func (r *FileReader) Parquet() *parquet.File { return r.file.File }

// Restrict leaves out all rows but those in the ranges, which are positions in the file in ascending order. It is called before Next; nil
// restricts nothing.
func (r *FileReader) Restrict(rows []parquet.RowRange) { r.scan.Rows = rows }

// Cuts are the positions in the file at which a row group can be cut into parts that are read side by side; see parquet.File.Cuts.
func (r *FileReader) Cuts(group int) ([]int64, error) { return r.file.Cuts(r.ctx, group, r.scan) }

// Next returns the next rows, or io.EOF after the last. They lie side by side in the file; deleted ones among them are not selected. The
// batch is valid until the next call of Next, Advance or Close.
func (r *FileReader) Next(ctx context.Context) (*batch.Batch, error) {
	n, live, err := r.Advance(ctx)
	if err != nil {
		return nil, err
	}
	r.out.Schema, r.out.Len, r.out.Sel = r.schema, n, live
	r.out.Cols = r.out.Cols[:0]
	for i := range r.columns {
		c, err := r.Column(i, nil)
		if err != nil {
			return nil, err
		}
		r.out.Cols = append(r.out.Cols, c)
	}
	if r.rowIDs != nil {
		ids, err := r.rowIDs.columns(r.scanner, n)
		if err != nil {
			return nil, err
		}
		r.out.Cols = append(r.out.Cols, ids...)
	}
	return &r.out, nil
}

// Advance goes to the next rows without reading a column of them, at least one of which is not deleted; io.EOF after the last. It returns how many rows lie there and
// the positions of those that are not deleted, nil: all. Next, but for those who do not want all columns of all rows.
func (r *FileReader) Advance(ctx context.Context) (rows int, live []int32, err error) {
	if r.scanner == nil {
		r.scanner = r.file.Scan(r.ctx, r.scan)
	}
	for {
		rows, err = r.scanner.Advance(ctx)
		if err != nil {
			return 0, nil, err
		}
		live, all := r.deleted.Live(r.live[:0], r.scanner.Position(), rows)
		r.live = live
		if all {
			return rows, nil, nil
		}
		if len(live) > 0 {
			return rows, live, nil
		}
	}
}

// Column reads the ith of the columns of the rows that Advance has gone to: of all of them, or of those at the positions in rows, which ascend from 0. It is called once a
// column at most; the vector is valid until the next call of Next, Advance or Close.
func (r *FileReader) Column(i int, rows []int32) (*batch.Vector, error) {
	c := &r.columns[i]
	if c.stored >= 0 {
		return r.scanner.Column(c.stored, rows)
	}
	if rows != nil {
		return c.repeat(len(rows)), nil
	}
	return c.repeat(r.scanner.Len()), nil
}

// Position is the position in the file of the first row of the last batch, selected or not.
func (r *FileReader) Position() int64 { return r.scanner.Position() }

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

// rowIDColumns works out the columns of row tracking: what the file says row by row, else what the log says of the file.
type rowIDColumns struct {
	id, version          int // among the columns that are read from the file; -1: the file cannot have it
	base, defaultVersion int64
	hasBase, hasDefault  bool
	outID, outVersion    batch.Vector
}

// The properties that name the columns of files in which rows that were moved keep their tracking.
const (
	rowIDColumnProperty            = "delta.rowTracking.materializedRowIdColumnName"
	rowCommitVersionColumnProperty = "delta.rowTracking.materializedRowCommitVersionColumnName"
)

func (r *FileReader) addRowIDs(snap *Snapshot, f File) {
	ids := &rowIDColumns{id: -1, version: -1}
	ids.base, ids.hasBase = f.BaseRowID()
	ids.defaultVersion, ids.hasDefault = f.DefaultRowCommitVersion()
	if name := snap.metadata.Configuration[rowIDColumnProperty]; name != "" {
		ids.id = r.store(batch.Field{Name: name, Type: RowIDField.Type, Nullable: true}).stored
	}
	if name := snap.metadata.Configuration[rowCommitVersionColumnProperty]; name != "" {
		ids.version = r.store(batch.Field{Name: name, Type: RowCommitVersionField.Type, Nullable: true}).stored
	}
	r.rowIDs = ids
	r.schema = batch.NewSchema(append(slices.Clip(r.schema.Fields), RowIDField, RowCommitVersionField)...)
}

// columns are those of the n rows that the scanner has gone to.
func (ids *rowIDColumns) columns(s *parquet.Scanner, n int) ([]*batch.Vector, error) {
	id, err := readStored(s, ids.id)
	if err != nil {
		return nil, err
	}
	version, err := readStored(s, ids.version)
	if err != nil {
		return nil, err
	}
	overlay(&ids.outID, id, n, ids.hasBase, func(row int) int64 { return ids.base + s.Position() + int64(row) })
	overlay(&ids.outVersion, version, n, ids.hasDefault, func(int) int64 { return ids.defaultVersion })
	return []*batch.Vector{&ids.outID, &ids.outVersion}, nil
}

// readStored reads a column plain; nil when the file cannot have it.
func readStored(s *parquet.Scanner, i int) (*batch.Vector, error) {
	if i < 0 {
		return nil, nil
	}
	v, err := s.Column(i, nil)
	if err != nil {
		return nil, err
	}
	return v.Decode(), nil
}

// overlay fills out with the stored values (nil: all null), and where they are null with the others, if there are any.
func overlay(out, stored *batch.Vector, n int, hasDefault bool, value func(row int) int64) {
	out.Type = RowIDField.Type
	out.Reset()
	for row := range n {
		switch {
		case stored != nil && !stored.IsNull(row):
			out.AppendInt64(stored.I64[row])
		case hasDefault:
			out.AppendInt64(value(row))
		default:
			out.AppendNull()
		}
	}
}

// Close closes the file. It may be called twice.
func (r *FileReader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	var err error
	if r.scanner != nil {
		err = r.scanner.Close()
	}
	return errors.Join(err, r.file.release())
}
