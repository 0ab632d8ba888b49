package text

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"lakesql/batch"
	"lakesql/format"
)

// Column is the name of the column that a text file has.
const Column = "value"

// batchBytes ends a batch early when its lines are long.
const batchBytes = 8 << 20

const tooLong = "is this a text file? Another lineSep looks like this"

// Options are how a text file is read.
type Options struct {
	format.TextOptions      // of these Mode, LineSep, SizeHint and OnError count
	WholeText          bool // the file is one row, line ends and all
}

// Reader reads one file. It holds one batch, and one line of format.MaxRecordBytes at the most. It is for one goroutine.
type Reader struct {
	in      *format.Input
	opts    Options
	schema  *batch.Schema
	line    int64 // of in.Pos
	out     *batch.Vector
	rejects format.Rejects
	done    error
}

var _ format.LineReader = (*Reader)(nil)

// NewReader reads into a schema that is one column of text, of any name; or none, to count the rows. Errors: *format.Error.
func NewReader(r io.Reader, schema *batch.Schema, opts Options) (*Reader, error) {
	if n := len(schema.Fields); n > 1 || n == 1 && schema.Fields[0].Type.Kind != batch.String {
		return nil, &format.Error{Message: fmt.Sprintf("a text file has one column, a STRING, and the schema is (%s): CAST and take the lines apart in the SELECT", schema)}
	}
	return &Reader{
		in: format.NewInput(r, opts.SizeHint, tooLong), opts: opts, schema: schema, line: 1,
		out:     batch.NewVector(batch.Type{Kind: batch.String}, 0),
		rejects: format.Rejects{Mode: opts.Mode, OnError: opts.OnError},
	}, nil
}

// Cut implements format.LineReader: without WholeText.
func (r *Reader) Cut(spare []byte) (format.Piece, error) {
	p, err := r.in.Cut(spare, r.line, func(text []byte) int { return format.LastLineEnd(text, r.opts.LineSep) })
	if err == nil {
		r.line += format.CountLines(p.Buf[p.Pos:p.End], r.opts.LineSep)
	}
	return p, err
}

// Fork implements format.LineReader.
func (r *Reader) Fork(onError func(format.RowError)) (format.LineReader, error) {
	opts := r.opts
	opts.OnError = onError
	out, err := NewReader(nil, r.schema, opts)
	if err != nil {
		return nil, err
	}
	out.in, out.done = &format.Input{}, io.EOF
	return out, nil
}

// Take implements format.LineReader.
func (r *Reader) Take(p format.Piece) {
	r.in.Take(p)
	r.line, r.done = p.Line, nil
}

// Extra is empty.
func (r *Reader) Extra() []string { return nil }

// Rejected is the number of lines left out so far by mode DROPMALFORMED.
func (r *Reader) Rejected() int64 { return r.rejects.Rejected() }

// Next returns the next lines, or io.EOF. The batch is valid until the following call. Errors: *format.RecordError with mode FAILFAST,
// *format.Error, and those of the underlying reader.
func (r *Reader) Next() (*batch.Batch, error) {
	if r.done != nil {
		return nil, r.done
	}
	r.out.Reset()
	r.rejects.NewBatch()
	rows := 0
	for rows < batch.MaxRows && len(r.out.Bytes) < batchBytes {
		text, err := r.record()
		if err == nil {
			err = r.add(rows, text)
		}
		if err != nil {
			r.done = err
			if err == io.EOF && rows > 0 {
				break
			}
			return nil, err
		}
		rows++
	}
	b := &batch.Batch{Schema: r.schema, Len: rows, Sel: r.rejects.Selection(rows)}
	if len(r.schema.Fields) == 1 {
		b.Cols = []*batch.Vector{r.out}
	}
	return b, nil
}

// add puts a line into the batch.
func (r *Reader) add(row int, text []byte) error {
	start := r.line
	r.line++
	if utf8.Valid(text) {
		r.out.AppendBytes(text)
		return nil
	}
	r.out.AppendBytes(format.AppendUTF8(nil, text))
	r.rejects.NewBlock(1)
	r.rejects.Add(0, Column, func() string { return fmt.Sprintf("%s is no UTF-8; such bytes are read as U+FFFD", format.Quote(text)) })
	return r.rejects.Settle(row, func(int) (int64, []byte) { return start, text })
}

// record returns the next line without its end, valid until the following call.
func (r *Reader) record() ([]byte, error) {
	for looked := 0; ; {
		rest := r.in.Buf[r.in.Pos:r.in.End]
		if end, next := r.lineEnd(rest, looked); end >= 0 {
			r.in.Pos += next
			return rest[:end], nil
		}
		if r.in.EOF {
			r.in.Pos = r.in.End
			if len(rest) == 0 {
				return nil, io.EOF
			}
			return rest, nil
		}
		looked = max(0, len(rest)-2) // a line end may be cut in two
		if err := r.in.More(r.line); err != nil {
			return nil, err
		}
	}
}

// lineEnd returns where the first line of text ends, and where the next one begins; -1 where that is not known yet. It is not before from.
func (r *Reader) lineEnd(text []byte, from int) (end, next int) {
	if r.opts.WholeText {
		return -1, 0
	}
	if sep := r.opts.LineSep; sep != "" {
		at := bytes.Index(text[from:], []byte(sep))
		if at < 0 {
			return -1, 0
		}
		return from + at, from + at + len(sep)
	}
	at := bytes.IndexAny(text[from:], "\r\n")
	if at < 0 {
		return -1, 0
	}
	at += from
	switch {
	case text[at] == '\n':
		return at, at + 1
	case at+1 < len(text) && text[at+1] == '\n':
		return at, at + 2
	case at+1 == len(text) && !r.in.EOF: // an LF may follow
		return -1, 0
	}
	return at, at + 1
}
