package csv

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"lakesql/batch"
)

const (
	// blockRows is how many records are taken apart before their columns are converted: their bytes are then still in the
	// cache.
	blockRows = 1024
	// batchBytes ends a batch early when its texts are long, so that a batch stays within memory.
	batchBytes = 8 << 20
)

// Reader reads one file's records as batches of a schema. It holds one batch, one block of records and at most one
// record of MaxRecordBytes. It is for one goroutine.
type Reader struct {
	opts    Options
	conv    *converter
	scan    *scanner
	schema  *batch.Schema
	cols    []column
	binding binding
	corrupt int // position of the column for malformed records; -1: none
	done    error

	issues   []issue // of the block
	nulls    []int32 // scratch
	badRow   []bool  // of the block: malformed
	dropped  []int32 // rows of the batch that are left out, ascending
	rejected int64
	out      batch.Batch
	sel      []int32
}

// NewReader reads the header, where the options say that there is one, and binds the schema's columns to the file's.
// Columns that the file does not have are NULL. An empty file has no rows. Errors: *FormatError, and those of r.
func NewReader(r io.Reader, schema *batch.Schema, opts Options) (*Reader, error) {
	d, err := opts.compile()
	if err != nil {
		return nil, err
	}
	conv, err := newConverter(&opts)
	if err != nil {
		return nil, err
	}
	rd := &Reader{
		opts: opts, conv: conv, scan: newScanner(r, d), schema: schema,
		corrupt: corruptColumn(schema, opts.CorruptRecordColumn),
	}
	var names []string
	if opts.Header {
		if names, _, err = readHeader(rd.scan, &opts); err == io.EOF {
			rd.done = io.EOF
		} else if err != nil {
			return nil, err
		}
	}
	rd.binding = bind(schema, names, !opts.Header || opts.EnforceSchema, rd.corrupt)
	rd.scan.width = rd.binding.width
	rd.cols = make([]column, len(schema.Fields))
	capacity := batch.MaxRows
	if opts.SizeHint > 0 { // a record has at least a byte for each of its fields
		capacity = int(min(int64(capacity), opts.SizeHint/int64(max(rd.scan.width, 1))+1))
	}
	for i, f := range schema.Fields {
		if f.Type.Fields() != nil || f.Type.Kind == batch.Void || f.Type.Layout() == batch.LayoutNone {
			return nil, &FormatError{Message: fmt.Sprintf("column %q: a CSV file cannot hold %s", f.Name, f.Type)}
		}
		rd.cols[i] = column{Field: f, source: rd.binding.source[i], vec: batch.NewVector(f.Type, capacity)}
	}
	return rd, nil
}

// Next returns the next rows, or io.EOF. The batch is valid until the following call. Errors: *RecordError with mode
// FAILFAST, *FormatError, and those of the underlying reader; after an error the reader is at its end.
func (r *Reader) Next() (*batch.Batch, error) {
	if r.done != nil {
		return nil, r.done
	}
	for i := range r.cols {
		r.cols[i].vec.Reset()
	}
	r.dropped = r.dropped[:0]
	rows, size := 0, 0
	for rows < batch.MaxRows && size < batchBytes {
		err := r.scan.next(min(blockRows, batch.MaxRows-rows))
		if err == nil {
			err = r.block(rows)
		}
		if err != nil {
			r.done = err
			if err == io.EOF && rows > 0 {
				break
			}
			return nil, err
		}
		rows += len(r.scan.recs)
		for i := range r.cols {
			size = max(size, len(r.cols[i].vec.Bytes))
		}
	}
	return r.finish(rows), nil
}

// Extra names the file's columns that the schema does not have, in the file's order.
func (r *Reader) Extra() []string { return r.binding.extra }

// Rejected is the number of rows left out so far by mode DROPMALFORMED.
func (r *Reader) Rejected() int64 { return r.rejected }

// block converts the scanner's block, whose first row is row before of the batch.
func (r *Reader) block(before int) error {
	s := r.scan
	r.issues = r.issues[:0]
	r.badRow = slices.Grow(r.badRow[:0], len(s.recs))[:len(s.recs)]
	clear(r.badRow)
	r.checkWidths()
	valid := utf8.Valid(s.in.buf[s.recs[0].start:s.recs[len(s.recs)-1].end])
	for i := range r.cols {
		if i != r.corrupt {
			r.fill(i, valid)
		}
	}
	if r.corrupt >= 0 {
		r.fillCorrupt()
	}
	if len(r.issues) == 0 {
		return nil
	}
	return r.report(before)
}

// checkWidths notes the records that have too few or too many fields. A schema without columns counts records only.
func (r *Reader) checkWidths() {
	if r.binding.width == 0 {
		return
	}
	for row := range r.scan.recs {
		rec := &r.scan.recs[row]
		if int(rec.fields) == r.binding.width {
			continue
		}
		r.issue(row, -1, func() string {
			than := "schema"
			if r.opts.Header && !r.opts.EnforceSchema {
				than = "header"
			}
			text := fmt.Sprintf("the record has %d fields and the %s has %d", rec.fields, than, r.binding.width)
			if rec.unclosed && !r.opts.MultiLine {
				text += "; a quote is not closed on its line: multiLine => true reads quoted texts over several lines"
			}
			return text
		})
	}
}

// issue notes something wrong; reason is only asked where somebody will read it.
func (r *Reader) issue(row, col int, reason func() string) {
	r.badRow[row] = true
	is := issue{row: int32(row), column: int32(col)}
	if r.opts.OnError != nil || r.opts.Mode == FailFast {
		is.reason = reason()
	}
	r.issues = append(r.issues, is)
}

// fillCorrupt puts the text of malformed records into their column.
func (r *Reader) fillCorrupt() {
	v := r.cols[r.corrupt].vec
	for row, rec := range r.scan.recs {
		if !r.badRow[row] {
			v.AppendNull()
			continue
		}
		raw := r.scan.raw(rec)
		v.AppendBytes(bytes.ToValidUTF8(raw, replacement))
	}
}

// report does with the block's malformed rows what the mode says.
func (r *Reader) report(before int) error {
	slices.SortStableFunc(r.issues, func(a, b issue) int { return cmp.Compare(a.row, b.row) })
	var raw []byte
	last := int32(-1)
	for _, is := range r.issues {
		if is.row != last {
			last, raw = is.row, nil
			if r.opts.Mode == DropMalformed {
				r.dropped = append(r.dropped, int32(before)+is.row)
				r.rejected++
			}
		}
		if r.opts.OnError == nil && r.opts.Mode != FailFast {
			continue
		}
		rec := r.scan.recs[is.row]
		if raw == nil {
			text := r.scan.raw(rec)
			raw = append([]byte{}, text[:min(len(text), MaxRawBytes)]...)
		}
		e := RowError{Line: r.scan.lineOf(rec), Raw: raw, Message: is.reason}
		if is.column >= 0 {
			e.Column = r.cols[is.column].Name
		}
		if r.opts.Mode == FailFast {
			return &RecordError{Row: e}
		}
		r.opts.OnError(e)
	}
	return nil
}

// finish makes the batch of the rows that were converted.
func (r *Reader) finish(rows int) *batch.Batch {
	cols := make([]*batch.Vector, len(r.cols))
	for i := range r.cols {
		cols[i] = r.cols[i].vec
	}
	r.out = batch.Batch{Schema: r.schema, Cols: cols, Len: rows}
	if len(r.dropped) > 0 {
		r.sel = slices.Grow(r.sel[:0], rows) // not nil, which would be all rows
		next := 0
		for row := range int32(rows) {
			if next < len(r.dropped) && r.dropped[next] == row {
				next++
				continue
			}
			r.sel = append(r.sel, row)
		}
		r.out.Sel = r.sel
	}
	return &r.out
}
