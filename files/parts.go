package files

import (
	"context"
	"io"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/store"
)

// Parts is one file that several readers take apart, each a piece at a time: some lines, or a row group. The file is read by whoever cuts off the next piece, one goroutine at
// a time, and what it has is parsed by all of them at once.
//
//  1. OpenParts opens the file, and reads its header or footer.
//  2. Each reader is made by Fork.
//  3. Cut gives the pieces in the order of the file, until io.EOF: the file is then still as it was listed. Any reader takes any piece. Row groups are read from the file when
//     they are taken; it is as it was listed after each of them, too.
//  4. The readers are closed, then Parts.
type Parts struct {
	file *fileReader
	of   contents // those of the file, which nobody reads
}

// Piece is a part of a file's rows.
type Piece struct {
	text  format.Piece
	group int // of Parquet: the row group
}

// PartReader reads pieces of one file. It is for one goroutine at a time.
type PartReader struct {
	*fileReader
	parted partedRows
}

// partedRows is a formatReader that can give pieces of its file away, instead of rows.
type partedRows interface {
	formatReader
	// cut gives the next piece; io.EOF after the last.
	cut(spare Piece) (Piece, error)
	// fork returns a reader of pieces, with contents of its own, and what frees it.
	fork(c *contents, onError func(RowError)) (fork partedRows, release func(), err error)
	// take makes a piece the rows that Next gives.
	take(p Piece)
}

// minParts is how many pieces of text a file has at least that is taken apart.
const minParts = 2

// OpenParts opens a file as OpenFile does. nil: it is small, or its rows come one after the other only, and OpenFile is for it.
func OpenParts(ctx context.Context, open store.Opener, f File, schema *batch.Schema, opts *Options) (*Parts, error) {
	if f.Size < minParts*format.PieceBytes || !opts.haveParts() {
		return nil, nil
	}
	r, err := OpenFile(ctx, open, f, schema, opts, nil)
	if err != nil {
		return nil, err
	}
	p := &Parts{file: r.(*fileReader)}
	p.of = contents{ctx: ctx, st: p.file.contents.st, key: p.file.contents.key, file: f}
	return p, nil
}

// haveParts tells whether files of the options can be taken apart.
func (o *Options) haveParts() bool {
	switch o.Format {
	case "csv":
		return !o.CSV.MultiLine && format.CutsAt(o.CSV.LineSep)
	case "json":
		return !o.JSON.MultiLine && format.CutsAt(o.JSON.LineSep)
	case "text":
		return !o.wholeText && format.CutsAt(o.CSV.LineSep)
	case "parquet":
		return true
	}
	return false
}

// Cut gives the next piece; io.EOF after the last. spare is a piece that was read to its end, whose memory is used again. Errors as of Reader's Next.
func (p *Parts) Cut(ctx context.Context, spare Piece) (Piece, error) {
	r := p.file
	if r.done != nil {
		return Piece{}, r.done
	}
	r.contents.ctx = ctx
	piece, err := r.rows.(partedRows).cut(spare)
	if err == io.EOF {
		if changed := r.contents.verify(ctx); changed != nil {
			err = changed
		}
	}
	if err != nil {
		r.done = r.failed(err)
	}
	return piece, r.done
}

// Fork returns another reader of pieces, which has none yet.
func (p *Parts) Fork(onError func(RowError)) (*PartReader, error) {
	of, c := p.file, p.of
	rows, release, err := of.rows.(partedRows).fork(&c, onError)
	if err != nil {
		return nil, of.failed(err)
	}
	_, read := rows.(lines) // a row group is read by who takes it
	return &PartReader{parted: rows, fileReader: &fileReader{
		contents: &c, release: release, rows: rows, schema: of.schema, source: of.source, fixed: of.fixed, facts: of.facts, path: of.path, read: read, done: io.EOF,
	}}, nil
}

// Close lets the file go. It may be called twice.
func (p *Parts) Close() error { return p.file.Close() }

// Take makes a piece the rows that Next gives, until io.EOF.
func (r *PartReader) Take(p Piece) {
	r.parted.take(p)
	r.done = nil
}

// lines is a text file as partedRows.
type lines struct{ format.LineReader }

func (l lines) cut(spare Piece) (Piece, error) {
	piece, err := l.Cut(spare.text.Buf)
	return Piece{text: piece}, err
}

func (l lines) fork(_ *contents, onError func(RowError)) (partedRows, func(), error) {
	fork, err := l.Fork(onError)
	return lines{fork}, func() {}, err
}

func (l lines) take(p Piece) { l.Take(p.text) }
