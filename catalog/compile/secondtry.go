package compile

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/vector"
)

// secondTry is the rows of a pipeline with an aggregation. Where a value has no place in a batch, before there was a row, it begins again on
// GMS's rows: their DECIMAL has MySQL's 65 digits, a batch's 38.
type secondTry struct {
	rows    sql.RowIter
	batches BatchRows // rows, while they come from the pipeline
	onRows  func(ctx *sql.Context) (sql.RowIter, error)
	started bool
}

// Next returns the next row.
func (s *secondTry) Next(ctx *sql.Context) (row sql.Row, err error) {
	again, err := s.try(ctx, func() (bool, error) {
		row, err = s.rows.Next(ctx)
		return true, err
	})
	if again && err == nil {
		return s.rows.Next(ctx)
	}
	return row, err
}

// Schema is that of the batches.
func (s *secondTry) Schema() *batch.Schema { return s.batches.Schema() }

// NextBatch returns the next batch.
func (s *secondTry) NextBatch(ctx *sql.Context) (b *batch.Batch, err error) {
	again, err := s.try(ctx, func() (bool, error) {
		b, err = s.batches.NextBatch(ctx)
		return err != nil || b.Rows() > 0, err
	})
	if again && err == nil {
		return nil, ErrNoBatches
	}
	return b, err
}

// try asks for what is next, which tells whether there was something. Where there was no row because of a value, it goes over to GMS's rows, or fails at that: they compute all
// from the start, so that the warnings until then are nobody's.
func (s *secondTry) try(ctx *sql.Context, next func() (bool, error)) (again bool, err error) {
	session, ok := ctx.Session.(WarningCatcher)
	if s.started || !ok {
		_, err := next()
		return false, err
	}
	var caught []*sql.Warning
	func() {
		defer session.CatchWarnings(session.CatchWarnings(&caught))
		s.started, err = next()
		var overflow *vector.OverflowError
		if again = errors.As(err, &overflow); again {
			err = s.rows.Close(ctx)
		}
	}()
	if again {
		return again, s.goOver(ctx, err)
	}
	for _, w := range caught {
		ctx.Session.Warn(w)
	}
	return false, err
}

// goOver opens GMS's rows, unless the pipeline could not be closed.
func (s *secondTry) goOver(ctx *sql.Context, closed error) error {
	rows, err := sql.RowsToRowIter(), closed
	if err == nil {
		rows, err = s.onRows(ctx)
	}
	if err != nil {
		rows = sql.RowsToRowIter()
	}
	s.rows = rows
	return err
}

// Close closes the rows.
func (s *secondTry) Close(ctx *sql.Context) error { return s.rows.Close(ctx) }
