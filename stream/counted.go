package stream

import (
	"context"
	"errors"
	"io"

	"lakesql/batch"
	"lakesql/vector"
)

// counted is what one batch reads of a source: how many rows, and whether the source failed.
type counted struct {
	ss *session
	// guarded by ss.s.mu until all who read have ended
	rows int64
	err  error
}

// over passes the source's rows on. The rows of the only source may be read by several goroutines.
func (c *counted) over(op vector.Operator) vector.Operator {
	in := countedRows{Operator: op, to: c}
	if f, ok := op.(vector.Forker); ok && len(c.ss.sources) == 1 {
		return &countedForker{countedRows: in, source: f}
	}
	return &in
}

// countedRows is one reader of a source's rows. Before each batch others may have their turn.
type countedRows struct {
	vector.Operator
	to     *counted
	reader int // how many were made before it
}

// Next passes on the source's next batch.
func (c *countedRows) Next(ctx context.Context) (*batch.Batch, error) {
	if err := c.to.ss.turnOf(c.reader).yield(ctx); err != nil {
		return nil, err
	}
	b, err := c.Operator.Next(ctx)
	s := c.to.ss.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if !errors.Is(err, io.EOF) && ctx.Err() == nil && c.to.err == nil {
			c.to.err = err
		}
		return nil, err
	}
	n := int64(b.Rows())
	c.to.rows += n
	s.rowsInBatch += n
	return b, nil
}

// countedForker is the rows of a source that several may read.
type countedForker struct {
	countedRows
	source vector.Forker
}

// Fork implements vector.Forker.
func (c *countedForker) Fork(n int) []vector.Fork {
	reader := -1
	return vector.ForkOver(c.source, n, func(op vector.Operator) vector.Operator {
		reader++
		return &countedRows{Operator: op, to: c.to, reader: reader}
	})
}
