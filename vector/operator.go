package vector

import (
	"context"
	"fmt"

	"lakesql/batch"
)

// Operator hands out batches. It is used by one goroutine at a time.
type Operator interface {
	Schema() *batch.Schema
	// Next returns the next batch, which stays valid until the call after it, or io.EOF. A batch may have no selected rows.
	Next(ctx context.Context) (*batch.Batch, error)
	// Close releases everything that the operator and its children hold. It can be called twice, and at any time.
	Close() error
}

// columnKeeper is an operator that can leave columns out. It is told before Next.
type columnKeeper interface {
	// keepColumns says which columns are looked at. Batches may have nil for the others, each of them as it likes.
	keepColumns(columns []int)
}

func keepColumns(op Operator, columns []int) {
	if k, ok := op.(columnKeeper); ok {
		k.keepColumns(columns)
	}
}

// Expr is a compiled expression. An Expr keeps buffers between calls: one goroutine at a time.
type Expr interface {
	Type() batch.Type
	// Eval returns a vector of b.Len rows. Only the selected rows of it are defined; it stays valid until the next Eval.
	Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error)
	// Clone returns the same expression with buffers of its own, for another goroutine.
	Clone() Expr
	// children are the expressions that it is made of.
	children() []Expr
}

func cloneAll(exprs []Expr) []Expr {
	out := make([]Expr, len(exprs))
	for i, e := range exprs {
		out[i] = e.Clone()
	}
	return out
}

// UnsupportedError says that an expression cannot be computed exactly here. It is no fault: run it row by row.
type UnsupportedError struct{ What string }

func (e *UnsupportedError) Error() string { return "not vectorised: " + e.What }

func unsupported(format string, args ...any) error {
	return &UnsupportedError{What: fmt.Sprintf(format, args...)}
}

// OverflowError is a value out of the range of its type: MySQL's error 1690.
type OverflowError struct {
	Type string // "BIGINT", "DECIMAL", "DOUBLE"
	Expr string // the operation with its values
}

func (e *OverflowError) Error() string {
	return fmt.Sprintf("%s value is out of range in '%s'", e.Type, e.Expr)
}
