package compile

import (
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// rows hands out the rows of an operator one by one.
type rows struct {
	op      vector.Operator
	batch   *batch.Batch
	getters []mysqltype.Getter
	next    int // of batch's selected rows
	warned  warnings
	closed  bool
}

// NewRows returns the rows of an operator. Closing them closes it.
func NewRows(op vector.Operator) BatchRows { return &rows{op: op} }

// Next returns the next row.
func (r *rows) Next(ctx *sql.Context) (sql.Row, error) {
	for r.batch == nil || r.next == r.batch.Rows() {
		b, err := r.NextBatch(ctx)
		if err != nil {
			return nil, err // io.EOF too
		}
		r.take(b)
	}
	at := r.batch.Row(r.next)
	r.next++
	row := make(sql.Row, len(r.getters))
	for i, get := range r.getters {
		row[i] = get(at)
	}
	return row, nil
}

// Schema is that of the batches.
func (r *rows) Schema() *batch.Schema { return r.op.Schema() }

// NextBatch returns the next batch.
func (r *rows) NextBatch(ctx *sql.Context) (*batch.Batch, error) {
	b, err := r.op.Next(vector.WithWarnings(ctx, r.warned.add))
	r.warned.flush(ctx)
	if err != nil && err != io.EOF { // GMS does not close the rows of a subquery that fails
		err = closeAfter(ctx, r, err)
	}
	return b, err
}

func (r *rows) take(b *batch.Batch) {
	r.batch, r.next = b, 0
	r.getters = make([]mysqltype.Getter, len(b.Cols))
	if b.Rows() == 0 {
		return
	}
	for i, col := range b.Cols {
		r.getters[i] = mysqltype.NewGetter(b.Schema.Fields[i], col)
	}
}

// Close closes the operator. It can be called twice.
func (r *rows) Close(*sql.Context) error {
	if r.closed {
		return nil
	}
	r.closed = true
	return r.op.Close()
}

// BatchRows are rows that can be had by batches instead: one or the other.
type BatchRows interface {
	sql.RowIter
	// Schema is that of the batches.
	Schema() *batch.Schema
	// NextBatch returns the next batch, which stays valid until the call after it, or io.EOF. The first call may return ErrNoBatches.
	NextBatch(ctx *sql.Context) (*batch.Batch, error)
}

// ErrNoBatches says that there are only rows.
var ErrNoBatches = errors.New("the rows are not in batches")

var (
	_ BatchRows = (*rows)(nil)
	_ BatchRows = (*secondTry)(nil)
)

// Drain reads a row iterator to its end and closes it.
func Drain(ctx *sql.Context, iter sql.RowIter) ([]sql.Row, error) {
	var out []sql.Row
	err := Each(ctx, iter, func(row sql.Row) error {
		out = append(out, row)
		return nil
	})
	return out, err
}

// Each hands every row of an iterator to visit, and closes it.
func Each(ctx *sql.Context, iter sql.RowIter, visit func(sql.Row) error) error {
	for {
		row, err := iter.Next(ctx)
		if err == io.EOF {
			return iter.Close(ctx)
		}
		if err == nil {
			err = visit(row)
		}
		if err != nil {
			return closeAfter(ctx, iter, err)
		}
	}
}

// closeAfter closes an iterator that failed; the first error is the one that counts.
func closeAfter(ctx *sql.Context, iter sql.RowIter, err error) error {
	if closeErr := iter.Close(ctx); closeErr != nil && ctx.Session != nil {
		ctx.GetLogger().Debugf("close after %v: %v", err, closeErr)
	}
	return err
}
