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
func (s *secondTry) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := s.rows.Next(ctx)
	if again, err := s.again(ctx, err); err != nil {
		return nil, err
	} else if again {
		return s.rows.Next(ctx)
	}
	s.started = true
	return row, err
}

// Schema is that of the batches.
func (s *secondTry) Schema() *batch.Schema { return s.batches.Schema() }

// NextBatch returns the next batch.
func (s *secondTry) NextBatch(ctx *sql.Context) (*batch.Batch, error) {
	b, err := s.batches.NextBatch(ctx)
	if again, err := s.again(ctx, err); err != nil {
		return nil, err
	} else if again {
		return nil, ErrNoBatches
	}
	s.started = s.started || err != nil || b.Rows() > 0
	return b, err
}

// again goes over to GMS's rows where there was no row because of a value. err is that it could not.
func (s *secondTry) again(ctx *sql.Context, was error) (again bool, err error) {
	var overflow *vector.OverflowError
	if s.started || !errors.As(was, &overflow) {
		return false, nil
	}
	s.started = true
	if err := s.rows.Close(ctx); err != nil {
		return false, err
	}
	if s.rows, err = s.onRows(ctx); err != nil {
		s.rows = sql.RowsToRowIter()
		return false, err
	}
	return true, nil
}

// Close closes the rows.
func (s *secondTry) Close(ctx *sql.Context) error { return s.rows.Close(ctx) }
