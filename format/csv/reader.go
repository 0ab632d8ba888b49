package csv

import (
	"fmt"
	"io"
	"unicode/utf8"

	"lakesql/batch"
	"lakesql/format"
)

const (
	// blockRows is how many records are taken apart before their columns are converted: their bytes are then still in the
	// cache.
	blockRows = 1024
	// batchBytes ends a batch early when its texts are long, so that a batch stays within memory.
	batchBytes = 8 << 20
)

// Reader reads one file's records as batches of a schema. It holds one batch, one block of records and at most one
// record of format.MaxRecordBytes. It is for one goroutine.
type Reader struct {
	opts    Options
	conv    *converter
	scan    *scanner
	schema  *batch.Schema
	cols    []column
	binding binding
	corrupt int            // position of the column for malformed records; -1: none
	rescue  *format.Rescue // nil: nothing is rescued
	rescued int            // position of its column; -1: none
	done    error

	rejects format.Rejects
	nulls   []int32 // scratch
	out     batch.Batch
}

var _ format.LineReader = (*Reader)(nil)

// NewReader reads the header, where the options say that there is one, and binds the schema's columns to the file's.
// Columns that the file does not have are NULL. An empty file has no rows. Errors: *format.Error, and those of r.
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
		corrupt: opts.CorruptColumn(schema), rescue: format.NewRescue(&opts.Rescued, schema), rescued: opts.Rescued.Index(schema),
		rejects: format.Rejects{Mode: opts.Mode, OnError: opts.OnError},
	}
	for _, f := range schema.Fields {
		if f.Type.Fields() != nil || f.Type.Kind == batch.Void || f.Type.Layout() == batch.LayoutNone {
			return nil, &format.Error{Message: fmt.Sprintf("column %q: a CSV file cannot hold %s", f.Name, f.Type)}
		}
	}
	var names []string
	if opts.Header {
		if names, _, err = readHeader(rd.scan, &opts); err == io.EOF {
			rd.done = io.EOF
		} else if err != nil {
			return nil, err
		}
	}
	rd.bindTo(bind(schema, names, !opts.Header || opts.EnforceSchema, rd.corrupt, rd.rescued))
	return rd, nil
}

// bindTo makes the columns of a batch.
func (r *Reader) bindTo(b binding) {
	r.binding, r.scan.width = b, b.width
	r.cols = make([]column, len(r.schema.Fields))
	capacity := batch.MaxRows
	if r.opts.SizeHint > 0 { // a record has at least a byte for each of its fields
		capacity = int(min(int64(capacity), r.opts.SizeHint/int64(max(b.width, 1))+1))
	}
	for i, f := range r.schema.Fields {
		r.cols[i] = column{Field: f, source: b.source[i], vec: batch.NewVector(f.Type, capacity)}
	}
}

// Cut implements format.LineReader: without MultiLine.
func (r *Reader) Cut(spare []byte) (format.Piece, error) {
	if r.done != nil {
		return format.Piece{}, r.done
	}
	s := r.scan
	p, err := s.in.Cut(spare, s.line, func(text []byte) int { return format.LastLineEnd(text, r.opts.LineSep) })
	if err != nil {
		r.done = err
		return p, err
	}
	s.line += format.CountLines(p.Buf[p.Pos:p.End], r.opts.LineSep)
	return p, nil
}

// Fork implements format.LineReader.
func (r *Reader) Fork(onError func(format.RowError)) (format.LineReader, error) {
	opts := r.opts
	opts.OnError = onError
	conv, err := newConverter(&opts)
	if err != nil {
		return nil, err
	}
	out := &Reader{
		opts: opts, conv: conv, scan: &scanner{dialect: r.scan.dialect, in: &format.Input{}}, schema: r.schema,
		corrupt: r.corrupt, rescue: format.NewRescue(&opts.Rescued, r.schema), rescued: r.rescued,
		rejects: format.Rejects{Mode: opts.Mode, OnError: onError}, done: io.EOF,
	}
	out.bindTo(r.binding)
	return out, nil
}

// Take implements format.LineReader.
func (r *Reader) Take(p format.Piece) {
	r.scan.take(p)
	r.done = nil
}

// Next returns the next rows, or io.EOF. The batch is valid until the following call. Errors: *format.RecordError with mode
// FAILFAST, *format.Error, and those of the underlying reader; after an error the reader is at its end.
func (r *Reader) Next() (*batch.Batch, error) {
	if r.done != nil {
		return nil, r.done
	}
	for i := range r.cols {
		r.cols[i].vec.Reset()
	}
	r.rejects.NewBatch()
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
func (r *Reader) Rejected() int64 { return r.rejects.Rejected() }

// block converts the scanner's block, whose first row is row before of the batch.
func (r *Reader) block(before int) error {
	s := r.scan
	r.rejects.NewBlock(len(s.recs))
	r.checkWidths()
	valid := utf8.Valid(s.in.Buf[s.recs[0].start:s.recs[len(s.recs)-1].end])
	for i := range r.cols {
		if i != r.corrupt && i != r.rescued {
			r.fill(i, valid)
		}
	}
	if r.rescue != nil {
		r.rescueExtra()
		r.rescue.Fill(r.cols[r.rescued].vec, len(s.recs))
		r.rescue.NewBlock()
	}
	if r.corrupt >= 0 {
		r.fillCorrupt()
	}
	if r.rejects.None() {
		return nil
	}
	return r.rejects.Settle(before, func(row int) (int64, []byte) { return s.lineOf(s.recs[row]), s.raw(s.recs[row]) })
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
		r.rejects.Add(row, "", func() string {
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

// rescueExtra rescues what the file has in columns that the schema has not.
func (r *Reader) rescueExtra() {
	s := r.scan
	for i, at := range r.binding.extraAt {
		for row := range s.recs {
			if text, null := r.conv.isNull(s, s.fields[row*s.width+at]); !null {
				r.rescue.Text(row, r.binding.extra[i], text)
			}
		}
	}
}

// fillCorrupt puts the text of malformed records into their column.
func (r *Reader) fillCorrupt() {
	v := r.cols[r.corrupt].vec
	for row, rec := range r.scan.recs {
		if !r.rejects.Bad(row) {
			v.AppendNull()
			continue
		}
		raw := r.scan.raw(rec)
		v.AppendBytes(format.AppendUTF8(nil, raw))
	}
}

// finish makes the batch of the rows that were converted.
func (r *Reader) finish(rows int) *batch.Batch {
	cols := make([]*batch.Vector, len(r.cols))
	for i := range r.cols {
		cols[i] = r.cols[i].vec
	}
	r.out = batch.Batch{Schema: r.schema, Cols: cols, Len: rows, Sel: r.rejects.Selection(rows)}
	return &r.out
}
