package vector

import (
	"context"

	"lakesql/batch"
)

// SetOperation is INTERSECT or EXCEPT. Rows are equal by their bytes, and null equals null.
type SetOperation uint8

// The operations. Without All each row comes once.
const (
	Intersect    SetOperation = iota // the rows that both sides have
	IntersectAll                     // as often as the one has them that has them less often
	Except                           // the rows of the left side that the right one does not have
	ExceptAll                        // as often as the left side has them more often
)

// setOperation hands out each row as often as the counts behind its columns say.
//
//  1. The rows of both sides are grouped by all columns, and those of all and of the right side counted.
//  2. Each group is handed out as often as the operation says.
type setOperation struct {
	Operator // the groups
	kind     SetOperation
	schema   *batch.Schema
	below    *batch.Batch
	row      int   // of below's selected rows
	done     int64 // how often it came
	rows     []int32
	out      batch.Batch
}

// NewSetOperation returns an operator with the rows of a set operation. Both sides have columns of the same types, all of which have an order.
func NewSetOperation(kind SetOperation, left, right Operator, budget *Budget) (Operator, error) {
	o := &setOperation{kind: kind, schema: left.Schema()}
	tag := batch.Field{Name: "right", Type: batch.Type{Kind: batch.Int64}, Nullable: true}
	fields := append(o.schema.Fields[:len(o.schema.Fields):len(o.schema.Fields)], tag)
	side := func(op Operator, of Expr) Operator {
		var exprs []Expr
		for i, f := range o.schema.Fields {
			exprs = append(exprs, NewColumn(i, f))
		}
		return NewProject(op, append(exprs, of), fields)
	}
	var keys []Expr
	var columns []Aggregate
	for i, f := range o.schema.Fields {
		keys = append(keys, NewColumn(i, f))
		columns = append(columns, Aggregate{Func: First, Args: []Expr{NewColumn(i, f)}, Field: f})
	}
	count := batch.Field{Name: "count", Type: batch.Type{Kind: batch.Int64}}
	columns = append(columns, Aggregate{Func: Count, Field: count}, Aggregate{Func: Count, Args: []Expr{NewColumn(len(keys), tag)}, Field: count})
	var err error
	o.Operator, err = NewAggregate(NewUnion(&batch.Schema{Fields: fields}, side(left, NewNull(tag.Type)), side(right, NewInt(1))), keys, columns, budget)
	return o, err
}

func (o *setOperation) Schema() *batch.Schema { return o.schema }

// times is how often a row comes that both sides together have so often, and the right one so often.
func (o *setOperation) times(all, right int64) int64 {
	left := all - right
	n := min(left, right)
	if o.kind == Except || o.kind == ExceptAll {
		n = left - right
		if o.kind == Except && right > 0 {
			n = 0
		}
	}
	if o.kind == Intersect || o.kind == Except {
		n = min(n, 1)
	}
	return n
}

func (o *setOperation) Next(ctx context.Context) (*batch.Batch, error) {
	n := len(o.schema.Fields)
	for o.rows = o.rows[:0]; len(o.rows) == 0; {
		if o.below == nil || o.row == o.below.Rows() {
			var err error
			if o.below, err = o.Operator.Next(ctx); err != nil {
				return nil, err
			}
			o.row, o.done = 0, 0
		}
		for o.row < o.below.Rows() && len(o.rows) < batch.MaxRows {
			at := o.below.Row(o.row)
			times := o.times(o.below.Cols[n].I64[at], o.below.Cols[n+1].I64[at])
			for ; o.done < times && len(o.rows) < batch.MaxRows; o.done++ {
				o.rows = append(o.rows, int32(at))
			}
			if o.done >= times {
				o.row, o.done = o.row+1, 0
			}
		}
	}
	o.out = batch.Batch{Schema: o.schema, Cols: o.out.Cols[:0], Len: len(o.rows)}
	for _, v := range o.below.Cols[:n] {
		o.out.Cols = append(o.out.Cols, v.Gather(o.rows))
	}
	return &o.out, nil
}
