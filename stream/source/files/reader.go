package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"lakesql/batch"
	"lakesql/files"
	"lakesql/format"
	"lakesql/stream/source"
	"lakesql/vector"
)

// bytesPerReader is how much of a range there is for each of its readers at the least. With less, several would take no time off that anybody notices, and leave more files in the table.
const bytesPerReader = 4 * format.PieceBytes

// reader is one reader of a range.
type reader struct {
	*ranged
	closed bool
	now    *share       // nil: none
	rows   files.Reader // of now
	of     *parted      // what pieces is a reader of
	pieces *files.PartReader
	spare  files.Piece
	ctx    context.Context // of Next
	err    error           // what Next has ended with
}

var _ vector.Forker = (*reader)(nil)

// Schema is the source's.
func (r *reader) Schema() *batch.Schema { return r.schema }

// Morsel implements vector.Fork.
func (r *reader) Morsel() int64 { return r.now.number }

// Fork implements vector.Forker. A small range has one reader.
func (r *reader) Fork(n int) []vector.Fork {
	total := int64(0)
	for _, f := range r.list {
		total += f.Size
	}
	out := []vector.Fork{r}
	for len(out) < n && int64(len(out)+1)*bytesPerReader <= total {
		out = append(out, &reader{ranged: r.ranged})
	}
	r.users, r.several = len(out), len(out) > 1
	return out
}

// Next returns the next rows.
func (r *reader) Next(ctx context.Context) (b *batch.Batch, err error) {
	if r.err == nil {
		r.ctx = ctx
		b, r.err = r.next(ctx)
	}
	return b, r.err
}

func (r *reader) next(ctx context.Context) (*batch.Batch, error) {
	for {
		if r.now == nil {
			if err := r.advance(ctx); err != nil {
				return nil, err
			}
		}
		b, err := r.rows.Next(ctx)
		end := errors.Is(err, io.EOF)
		if extra := r.rows.Extra(); len(extra) > 0 && (end || err == nil) && r.minds() {
			return nil, r.broken(ctx, func() error { return r.newColumns(ctx, extra) })
		}
		if err == nil {
			r.now.rows += int64(b.Rows())
			return b, nil
		}
		if !end {
			return nil, r.fails(ctx, err)
		}
		if err := r.finished(); err != nil {
			return nil, err
		}
	}
}

// advance takes the next share.
func (r *reader) advance(ctx context.Context) error {
	p, err := r.take(ctx, r.spare)
	r.spare = files.Piece{}
	r.now = p
	if p == nil {
		return err
	}
	if err == nil {
		err = r.begin(ctx)
	}
	if err != nil {
		return r.fails(ctx, err)
	}
	return nil
}

// begin opens the share.
func (r *reader) begin(ctx context.Context) (err error) {
	p := r.now
	if p.parted == nil {
		r.rows, err = files.OpenFile(ctx, r.source.env.Open, p.file.File, r.schema, r.source.opts, r.malformedRow)
		return err
	}
	if r.of != p.parted {
		if err := r.closePieces(); err != nil {
			return err
		}
		if r.pieces, err = p.parted.Fork(r.malformedRow); err != nil {
			return err
		}
		r.of = p.parted
	}
	p.rejected = -r.pieces.Rejected()
	r.pieces.Take(p.piece)
	r.rows = r.pieces
	return nil
}

func (r *reader) malformedRow(e files.RowError) {
	r.malformed(r.ctx, r.now, source.RowError{File: r.now.file.URI, Line: e.Line, Column: e.Column, Raw: e.Raw, Message: e.Message})
}

// finished ends the share: all of its rows were given.
func (r *reader) finished() error {
	p := r.now
	p.rejected += r.rows.Rejected()
	if p.parted != nil {
		r.spare = p.piece
	} else if err := r.rows.Close(); err != nil {
		return err
	}
	r.rows, r.now = nil, nil
	return r.ranged.finished(p)
}

// minds tells whether columns that the schema does not have end the reading.
func (r *reader) minds() bool {
	switch r.source.env.NewColumns {
	case source.AddColumns, source.RefuseColumns:
		return true
	case source.AddWhereInferred:
		return r.source.Inferred()
	}
	return false
}

// newColumns decides about columns that the schema does not have.
func (r *reader) newColumns(ctx context.Context, extra []string) error {
	s, f := r.source, r.now.file
	if s.env.NewColumns != source.RefuseColumns {
		return s.evolve(ctx, f.File)
	}
	return &source.FileError{URI: f.URI, Class: source.ErrData, Err: fmt.Errorf(
		"file %s has columns that the schema (%s) does not have: %s; ON SCHEMA CHANGE ADD COLUMNS takes them in, IGNORE leaves them out",
		f.URI, s.schema, strings.Join(extra, ", "))}
}

// fails ends the range with an error of the share's file, where that cannot be left out: then the range has to be read again without it, because rows of it may have been given
// already.
func (r *reader) fails(ctx context.Context, err error) error {
	return r.broken(ctx, func() error { return err })
}

// broken ends the range with a fault of the share, as soon as it is known that none before it has one.
func (r *reader) broken(ctx context.Context, find func() error) error {
	return r.fail(ctx, r.now, func() error {
		err := find()
		var rows *files.RowsError
		if errors.As(err, &rows) {
			err = &source.FileError{URI: rows.File.URI, Class: source.ErrData, Err: fmt.Errorf("file %s: %s. %s", rows.File.URI, rows.Err.Found(), r.source.env.RowHint)}
		}
		err = asFileError(r.source.awayInstead(ctx, err))
		if uri := r.source.skips(err); uri != "" {
			r.source.unreadable[uri] = err.Error()
			return source.ErrAgain
		}
		return err
	})
}

// Close closes what is open. It may be called twice.
func (r *reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed, r.err = true, io.EOF
	var err error
	if r.rows != nil {
		err = r.rows.Close()
	}
	return errors.Join(err, r.closePieces(), r.leave(r.now != nil))
}

func (r *reader) closePieces() error {
	if r.pieces == nil {
		return nil
	}
	pieces := r.pieces
	r.pieces, r.of = nil, nil
	return pieces.Close()
}
