package compile

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/vector"
)

// secondTry is the rows of a pipeline with an aggregation. Where a value has no place in a batch, before there was a row, it begins again on
// GMS's rows: their DECIMAL has MySQL's 65 digits, a batch's 38.
type secondTry struct {
	rows    sql.RowIter
	onRows  func(ctx *sql.Context) (sql.RowIter, error)
	started bool
}

// Next returns the next row.
func (s *secondTry) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := s.rows.Next(ctx)
	var overflow *vector.OverflowError
	if s.started || !errors.As(err, &overflow) {
		s.started = true
		return row, err
	}
	s.started = true
	if err := s.rows.Close(ctx); err != nil {
		return nil, err
	}
	if s.rows, err = s.onRows(ctx); err != nil {
		s.rows = sql.RowsToRowIter()
		return nil, err
	}
	return s.rows.Next(ctx)
}

// Close closes the rows.
func (s *secondTry) Close(ctx *sql.Context) error { return s.rows.Close(ctx) }
