package parquet

import (
	"context"
	"io"

	"lakesql/batch"
)

// maxBatchBytes bounds the values of one batch, by the average size of a row in its row group.
const maxBatchBytes = 32 << 20

// ScanOptions say what a Scanner reads.
type ScanOptions struct {
	// Columns are found in the file by name, ignoring case when none is the same. One that the file lacks is null in every row.
	// The values come in the type wanted here, whatever the file's is, as long as nothing is lost by it. None: the batches
	// have rows but no columns.
	Columns []batch.Field
	// RowGroups are the positions of the row groups to read, in the order to read them; nil: all.
	RowGroups []int
}

// Scanner yields the rows of a file's row groups in batches of at most batch.MaxRows, in order. A batch never spans row groups.
// It is for one goroutine at a time.
type Scanner struct {
	file    *File
	schema  *batch.Schema
	columns []*columnReader
	groups  []int // to come
	reader  io.ReaderAt
	left    int64 // rows of the open row group to come
	rows    int   // of a full batch in the open row group
	out     *batch.Batch
	err     error // what every later Next returns
}

// Scan begins a scan. It reads nothing yet; what is wrong with the options or the columns is Next's error. ctx bounds all reads of
// the scan, besides that of each Next.
func (f *File) Scan(ctx context.Context, opts ScanOptions) *Scanner {
	s := &Scanner{file: f, schema: batch.NewSchema(opts.Columns...), groups: opts.RowGroups, reader: f.source.reader(ctx)}
	count := len(f.file.Metadata().RowGroups)
	if s.groups == nil {
		for g := range count {
			s.groups = append(s.groups, g)
		}
	}
	for _, g := range s.groups {
		if g < 0 || g >= count {
			s.err = &Error{File: f.uri, Err: damaged("row group %d is wanted, it has %d", g, count)}
			return s
		}
	}
	s.out = &batch.Batch{Schema: s.schema, Cols: make([]*batch.Vector, len(opts.Columns))}
	for i, field := range opts.Columns {
		column, err := newColumnReader(f, field)
		if err != nil {
			s.err = err
			return s
		}
		s.columns = append(s.columns, column)
		s.out.Cols[i] = batch.NewVector(field.Type, 0)
	}
	return s
}

// Schema returns the wanted columns.
func (s *Scanner) Schema() *batch.Schema { return s.schema }

// Next returns the next batch, or io.EOF after the last. The batch is valid until the following call of Next or Close.
func (s *Scanner) Next(ctx context.Context) (*batch.Batch, error) {
	if s.err == nil {
		s.err = s.next(ctx)
	}
	if s.err != nil {
		s.release()
		return nil, s.err
	}
	return s.out, nil
}

func (s *Scanner) next(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for s.left == 0 {
		if len(s.groups) == 0 {
			return io.EOF
		}
		if err := s.openGroup(s.groups[0]); err != nil {
			return err
		}
		s.groups = s.groups[1:]
	}
	n := int(min(s.left, int64(s.rows)))
	for i, c := range s.columns {
		s.out.Cols[i].Reset()
		if err := c.read(s.out.Cols[i], n); err != nil {
			return err
		}
	}
	s.out.Len = n
	s.left -= int64(n)
	return nil
}

// openGroup goes to the beginning of a row group.
func (s *Scanner) openGroup(at int) error {
	group, meta := s.file.file.RowGroups()[at], &s.file.file.Metadata().RowGroups[at]
	s.left = meta.NumRows
	bytes := int64(0)
	for _, c := range s.columns {
		if err := c.open(group, meta, s.reader); err != nil {
			return err
		}
		if c.leaf != nil {
			bytes += meta.Columns[c.leaf.index].MetaData.TotalUncompressedSize
		}
	}
	s.rows = batchRows(s.left, bytes)
	return nil
}

// batchRows returns how many rows of a row group make a batch.
func batchRows(rows, bytes int64) int {
	if rows == 0 || bytes <= 0 || bytes/rows <= maxBatchBytes/batch.MaxRows {
		return batch.MaxRows
	}
	return int(max(1, maxBatchBytes/(bytes/rows)))
}

// release lets go of the pages.
func (s *Scanner) release() {
	for _, c := range s.columns {
		c.close()
	}
}

// Close ends the scan early. It may be called twice, and need not be called after Next returned an error.
func (s *Scanner) Close() error {
	s.release()
	if s.err == nil {
		s.err = io.EOF
	}
	return nil
}
