package delta

import (
	"context"

	"lakesql/batch"
)

// Evaluator evaluates the SQL in a table's metadata: constraints, generated columns, defaults. This package knows no SQL.
type Evaluator interface {
	// Compile prepares expressions over the columns of schema. One that cannot be compiled is an error that names it.
	Compile(ctx context.Context, schema *batch.Schema, exprs []Expression) (Evaluation, error)
}

// Expression is a SQL expression and the type that its values are to have: those of another one are cast as by an INSERT, where a value
// that does not fit is an error.
type Expression struct {
	SQL  string // in Spark's spelling, as tables keep it
	Type batch.Type
}

// Evaluation is compiled expressions. It belongs to one goroutine.
type Evaluation interface {
	// Eval returns one vector an expression, of its type and as long as the batch's columns. At rows that the batch does not select the
	// values are unspecified. The vectors are valid until the next call.
	Eval(ctx context.Context, b *batch.Batch) ([]*batch.Vector, error)
}
