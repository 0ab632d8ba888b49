package parquet

import (
	"context"
	"fmt"
	"io"

	"lakesql/batch"
)

// maxBatchBytes bounds the values of one batch, by the average size of a row in its row group.
const maxBatchBytes = 32 << 20

// maxBatchValues bounds the elements of lists in one batch, likewise.
const maxBatchValues = 1 << 18

// ScanOptions say what a Scanner reads.
type ScanOptions struct {
	// Columns are found in the file by name, ignoring case when none is the same. One that the file lacks is null in every row.
	// The values come in the type wanted here, whatever the file's is, as long as nothing is lost by it. None: the batches
	// have rows but no columns.
	Columns []batch.Field
	// Naming tells how the columns are called in the file; nil: by their own names. With ByID those that have an
	// id are found by it alone.
	Naming Naming
	ByID   bool
	// RowGroups are the positions of the row groups to read, in the order to read them; nil: all.
	RowGroups []int
	// Rows are the rows to read, by their positions in the file, in ascending order and apart from each other; nil: all rows of the row groups.
	Rows []RowRange
}

// RowRange is the rows [Start, End) of a file. The first row of the first row group has position 0.
type RowRange struct{ Start, End int64 }

// span is rows of one row group that are read without a gap.
type span struct {
	group int
	rows  RowRange
}

// Scanner yields the rows of a file's row groups in batches of at most batch.MaxRows, in order. A batch spans neither row groups nor rows that
// were left out. It is for one goroutine at a time.
type Scanner struct {
	file     *File
	schema   *batch.Schema
	columns  []*columnReader
	spans    []span // the rows to come
	group    int    // the open row group; -1: none
	reader   io.ReaderAt
	ends     ending
	rows     int             // of a full batch in the open row group
	position int64           // of the last batch
	memory   []*batch.Vector // by column: what its values are put in where they are not looked at in the page
	out      *batch.Batch
	err      error // what every later Next returns
}

// Scan begins a scan. It reads nothing yet; what is wrong with the options or the columns is Next's error. ctx bounds all reads of
// the scan, besides that of each Next.
func (f *File) Scan(ctx context.Context, opts ScanOptions) *Scanner {
	s := &Scanner{file: f, schema: batch.NewSchema(opts.Columns...), group: -1, reader: f.source.reader(ctx)}
	if s.spans, s.err = f.spansOf(opts); s.err != nil {
		return s
	}
	s.out = &batch.Batch{Schema: s.schema, Cols: make([]*batch.Vector, len(opts.Columns))}
	find := &resolver{file: f, naming: opts.Naming, byID: opts.ByID}
	for _, field := range opts.Columns {
		column, err := find.column(field)
		if err != nil {
			s.err = err
			return s
		}
		s.columns = append(s.columns, column)
		s.memory = append(s.memory, batch.NewVector(field.Type, 0))
	}
	return s
}

// Reads tells whether a column of the file can be read as the field says, or is not there: an *Error says why not. Of the values it knows nothing.
func (f *File) Reads(field batch.Field) error {
	_, err := (&resolver{file: f}).column(field)
	return err
}

// spansOf returns the wanted rows of the wanted row groups.
func (f *File) spansOf(opts ScanOptions) ([]span, error) {
	for i, r := range opts.Rows {
		if r.Start < 0 || r.End < r.Start || i > 0 && r.Start < opts.Rows[i-1].End {
			return nil, fmt.Errorf("read %s: the rows %d to %d are wanted out of order", f.uri, r.Start, r.End)
		}
	}
	groups := f.meta.RowGroups
	wanted := opts.RowGroups
	if wanted == nil {
		for g := range groups {
			wanted = append(wanted, g)
		}
	}
	var spans []span
	for _, g := range wanted {
		if g < 0 || g >= len(groups) {
			return nil, &Error{File: f.uri, Err: damaged("row group %d is wanted, it has %d", g, len(groups))}
		}
		all := RowRange{f.starts[g], f.starts[g] + groups[g].NumRows}
		for _, rows := range all.Meet(opts.Rows) {
			spans = append(spans, span{g, rows})
		}
	}
	return spans, nil
}

// Meet returns what the ranges have in common with r; nil stands for all rows.
func (r RowRange) Meet(ranges []RowRange) []RowRange {
	if ranges == nil {
		ranges = []RowRange{r}
	}
	var out []RowRange
	for _, o := range ranges {
		if both := (RowRange{max(r.Start, o.Start), min(r.End, o.End)}); both.Start < both.End {
			out = append(out, both)
		}
	}
	return out
}

// Schema returns the wanted columns.
func (s *Scanner) Schema() *batch.Schema { return s.schema }

// Next returns the next batch, or io.EOF after the last. The batch is valid until the following call of Next, Advance or Close.
func (s *Scanner) Next(ctx context.Context) (*batch.Batch, error) {
	if _, err := s.Advance(ctx); err != nil {
		return nil, err
	}
	for i := range s.columns {
		if _, err := s.Column(i, nil); err != nil {
			return nil, err
		}
	}
	return s.out, nil
}

// Advance goes to the next rows without reading a column of them, and returns how many they are; io.EOF after the last. Next, but for those who do not want
// all columns of all rows. When ctx ends, so does the reading of these columns.
func (s *Scanner) Advance(ctx context.Context) (rows int, err error) {
	if s.ends.ctx = ctx; s.err == nil {
		s.err = s.advance(ctx)
	}
	if s.err != nil {
		s.release()
		return 0, s.err
	}
	return s.out.Len, nil
}

// Column reads column i of the rows that Advance has gone to: of all of them, or of those at the positions in rows, which ascend from 0. Pages that have none of the
// rows are not decompressed. It is called once a column at most; the vector is valid until the following call of Next, Advance or Close.
func (s *Scanner) Column(i int, rows []int32) (*batch.Vector, error) {
	if s.err != nil {
		return nil, s.err
	}
	v, err := s.readColumn(i, rows)
	if err != nil {
		s.err = err
		s.release()
		return nil, err
	}
	s.out.Cols[i] = v
	return v, nil
}

func (s *Scanner) readColumn(i int, rows []int32) (*batch.Vector, error) {
	c, from := s.columns[i], s.position-s.file.starts[s.group]
	if rows == nil {
		if v, err := c.viewed(from, s.out.Len); v != nil || err != nil {
			return v, err
		}
	}
	v := s.memory[i]
	v.Reset()
	return v, c.read(v, from, s.out.Len, rows)
}

func (s *Scanner) advance(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(s.spans) == 0 {
		return io.EOF
	}
	next := &s.spans[0]
	if next.group != s.group || next.rows.Start < s.position+int64(s.out.Len) { // the same row group may be wanted twice
		if err := s.openGroup(next.group); err != nil {
			return err
		}
	}
	n := int(min(next.rows.End-next.rows.Start, int64(s.rows)))
	s.out.Len, s.position = n, next.rows.Start
	if next.rows.Start += int64(n); next.rows.Start == next.rows.End {
		s.spans = s.spans[1:]
	}
	return nil
}

// Position is the position in the file of row 0 of the last batch. The batch's rows follow one another there.
func (s *Scanner) Position() int64 { return s.position }

// Len is how many rows Advance has gone to.
func (s *Scanner) Len() int { return s.out.Len }

// openGroup goes to the beginning of a row group.
func (s *Scanner) openGroup(at int) error {
	meta := &s.file.meta.RowGroups[at]
	s.group = at
	bytes, values := int64(0), int64(0)
	for _, c := range s.columns {
		if err := c.open(meta, s.reader, &s.ends); err != nil {
			return err
		}
		for _, l := range c.leaves {
			m := &meta.Columns[l.leaf.index].MetaData
			bytes += m.TotalUncompressedSize
			values = max(values, m.NumValues)
		}
	}
	s.rows = min(batchRows(meta.NumRows, bytes, maxBatchBytes), batchRows(meta.NumRows, values, maxBatchValues))
	return nil
}

// batchRows returns how many rows of a row group make a batch, if all of them have total of something and a batch may have at most so many.
func batchRows(rows, total, most int64) int {
	if rows == 0 || total <= 0 || total/rows <= most/batch.MaxRows {
		return batch.MaxRows
	}
	return int(max(1, most/(total/rows)))
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
