package json

import (
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
	// leastRecordBytes is about the least that a record takes, to tell how many a small file may have.
	leastRecordBytes = 16
)

// Reader reads one file's records as batches of a schema. It holds one batch, one block of records and at most one
// record of format.MaxRecordBytes. It is for one goroutine.
type Reader struct {
	opts    Options
	times   *format.Times
	parse   *parser
	schema  *batch.Schema
	cols    []*batch.Vector
	corrupt int      // position of the column for malformed records; -1: none
	rescue  *rescuer // nil: nothing is rescued
	rescued int      // position of its column; -1: none
	done    error

	rejects format.Rejects
	valid   bool    // the block is UTF-8
	nulls   []int32 // scratch
	text    []byte  // scratch
	out     batch.Batch
}

var _ format.LineReader = (*Reader)(nil)

// NewReader binds the schema's columns to keys by their names. An empty file has no rows. Errors: *format.Error, and those of r.
func NewReader(r io.Reader, schema *batch.Schema, opts Options) (*Reader, error) {
	times, err := opts.Times()
	if err != nil {
		return nil, err
	}
	rd := &Reader{
		opts: opts, times: times, schema: schema, corrupt: opts.CorruptColumn(schema), rescued: opts.Rescued.Index(schema),
		rejects: format.Rejects{Mode: opts.Mode, OnError: opts.OnError},
	}
	root, b, err := newRoot(schema, opts.CaseSensitive, rd.corrupt, rd.rescued)
	if err != nil {
		return nil, err
	}
	if gather := format.NewRescue(&opts.Rescued, schema); gather != nil {
		rd.rescue = &rescuer{Rescue: gather}
	}
	rd.parse = newParser(r, &opts, root, b)
	capacity := int64(batch.MaxRows)
	if opts.SizeHint > 0 {
		capacity = min(capacity, opts.SizeHint/leastRecordBytes+1)
	}
	for _, f := range schema.Fields {
		rd.cols = append(rd.cols, batch.NewVector(f.Type, int(capacity)))
	}
	return rd, nil
}

// Cut implements format.LineReader: without MultiLine.
func (r *Reader) Cut(spare []byte) (format.Piece, error) {
	p := r.parse
	piece, err := p.in.Cut(spare, p.line, func(text []byte) int {
		if sep := r.opts.LineSep; sep != "" {
			return format.LastLineEnd(text, sep)
		}
		return format.LastLineEnd(text, "\n") // a CR may lie within a record
	})
	if err == nil {
		p.line += p.countLines(piece.Buf[piece.Pos:piece.End])
	}
	return piece, err
}

// Fork implements format.LineReader.
func (r *Reader) Fork(onError func(format.RowError)) (format.LineReader, error) {
	opts := r.opts
	opts.OnError = onError
	out, err := NewReader(nil, r.schema, opts)
	if err != nil {
		return nil, err
	}
	out.parse.in, out.done = &format.Input{}, io.EOF
	return out, nil
}

// Take implements format.LineReader.
func (r *Reader) Take(p format.Piece) {
	r.parse.take(p)
	r.done = nil
}

// Next returns the next rows, or io.EOF. The batch is valid until the following call. Errors: *format.RecordError with mode
// FAILFAST, *format.Error, and those of the underlying reader; after an error the reader is at its end.
func (r *Reader) Next() (*batch.Batch, error) {
	if r.done != nil {
		return nil, r.done
	}
	for _, v := range r.cols {
		v.Reset()
	}
	r.rejects.NewBatch()
	rows, size := 0, 0
	for rows < batch.MaxRows && size < batchBytes {
		err := r.parse.next(min(blockRows, batch.MaxRows-rows))
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
		rows += r.parse.rows
		size += r.blockBytes()
	}
	r.out = batch.Batch{Schema: r.schema, Cols: r.cols, Len: rows, Sel: r.rejects.Selection(rows)}
	return &r.out, nil
}

// Extra names the keys of records met so far, with a value that is not null, that the schema has no column for, in the order in which
// they were met.
func (r *Reader) Extra() []string { return r.parse.root.keys.names }

// Rejected is the number of rows left out so far by mode DROPMALFORMED.
func (r *Reader) Rejected() int64 { return r.rejects.Rejected() }

// blockBytes is how long the block's text is.
func (r *Reader) blockBytes() int {
	recs := r.parse.recs
	return int(recs[len(recs)-1].end - recs[0].start)
}

// block converts the parser's block, whose first row is row before of the batch.
func (r *Reader) block(before int) error {
	p := r.parse
	r.rejects.NewBlock(p.rows)
	for row := range p.recs {
		if p.recs[row].malformed != "" {
			r.rejects.Add(row, "", func() string { return p.fault(row) })
		}
	}
	r.rescue.newBlock(p.recs)
	p.unknown = false
	r.valid = utf8.Valid(p.in.Buf[p.recs[0].start:p.recs[len(p.recs)-1].end])
	for i, v := range r.cols {
		if i != r.corrupt && i != r.rescued {
			r.fill(p.root.fields[i], &p.block, v)
		}
	}
	if r.rescue != nil {
		r.rescueRecords(r.cols[r.rescued])
	}
	if r.corrupt >= 0 {
		r.fillCorrupt(r.cols[r.corrupt])
	}
	if r.rejects.None() {
		return nil
	}
	return r.rejects.Settle(before, func(row int) (int64, []byte) { return p.lineOf(row), p.raw(row) })
}

// fillCorrupt puts the text of malformed records into their column.
func (r *Reader) fillCorrupt(v *batch.Vector) {
	for row := range r.parse.rows {
		if r.rejects.Bad(row) {
			v.AppendBytes(format.AppendUTF8(nil, r.parse.raw(row)))
		} else {
			v.AppendNull()
		}
	}
}
