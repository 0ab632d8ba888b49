package vector

import (
	"context"

	"lakesql/batch"
)

// unparted hands out rows in the order of keys, which is that of the probe sides of the joins below. A join that does not fit in memory is executed part by part, and its rows come in
// another order. That is known when the first row is there: by then every join has its build side.
type unparted struct {
	child   Operator
	columns []int
	budget  *Budget
	rows    Operator // nil: nothing was asked for yet
}

// NewUnparted returns an operator with the rows of child in ascending order of some columns, in which they come unless a join is cut into parts. The budget is that of the joins; it may be nil.
func NewUnparted(child Operator, columns []int, budget *Budget) Operator {
	return &unparted{child: child, columns: columns, budget: budget}
}

// Schema implements Operator.
func (u *unparted) Schema() *batch.Schema { return u.child.Schema() }

// Next implements Operator.
func (u *unparted) Next(ctx context.Context) (*batch.Batch, error) {
	if u.rows == nil {
		first, err := u.child.Next(ctx)
		if err != nil {
			return nil, err
		}
		if u.rows = u.child; !u.budget.isParted() {
			return first, nil
		}
		keys := make([]SortKey, len(u.columns))
		for i, c := range u.columns {
			keys[i].Expr = NewColumn(c, u.Schema().Fields[c])
		}
		if u.rows, err = NewSort(&resumed{Operator: u.child, first: first}, keys, NoLimit, u.budget); err != nil {
			u.rows = u.child
			return nil, err
		}
	}
	return u.rows.Next(ctx)
}

// Close implements Operator.
func (u *unparted) Close() error {
	if u.rows != nil {
		return u.rows.Close()
	}
	return u.child.Close()
}

// resumed is an operator whose first batch was taken already.
type resumed struct {
	Operator
	first *batch.Batch // nil: it was handed out
}

// Next implements Operator.
func (r *resumed) Next(ctx context.Context) (*batch.Batch, error) {
	if first := r.first; first != nil {
		r.first = nil
		return first, nil
	}
	return r.Operator.Next(ctx)
}
