package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// findRow is (a, b) = (SELECT ...) of several columns, either side first.
func findRow(ctx *sql.Context, e *expression.Equals) (sql.Expression, transform.TreeIdentity, error) {
	left, right := e.Left(), e.Right()
	if _, first := left.(*plan.Subquery); first {
		left, right = right, left
	}
	columns, isTuple := left.(expression.Tuple)
	if !isTuple || len(columns) < 2 {
		return e, transform.SameTree, nil
	}
	in, _, err := collateLeft(ctx, plan.NewInSubquery(ctx, left, right))
	if err != nil {
		return nil, transform.SameTree, err
	}
	m, err := newMember(ctx, in.(*plan.InSubquery))
	if err != nil || m == nil {
		return e, transform.SameTree, err
	}
	return &rowEqual{m}, transform.NewTree, nil
}

// rowEqual compares columns with those of the one row of a subquery: NULL where it has none, an error where it has several. GMS refuses more than one column.
type rowEqual struct{ in *member }

var (
	_ sql.Expression         = (*rowEqual)(nil)
	_ sql.CollationCoercible = (*rowEqual)(nil)
)

func (e *rowEqual) String() string {
	return e.in.LeftChild.String() + " = " + e.in.rows.String()
}

// Resolved tells whether both sides are.
func (e *rowEqual) Resolved() bool { return e.in.LeftChild.Resolved() && e.in.rows.Resolved() }

// Type is a truth.
func (e *rowEqual) Type(*sql.Context) sql.Type { return types.Boolean }

// IsNullable is true: there may be no row.
func (e *rowEqual) IsNullable(*sql.Context) bool { return true }

// CollationCoercibility is that of a number.
func (e *rowEqual) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// Children are the columns and the subquery.
func (e *rowEqual) Children() []sql.Expression { return e.in.Children() }

// WithChildren is of other columns and another subquery.
func (e *rowEqual) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 2)
	}
	m, err := newMember(ctx, plan.NewInSubquery(ctx, children[0], children[1]))
	if err != nil || m == nil {
		return expression.NewEquals(children[0], children[1]), err
	}
	return &rowEqual{m}, nil
}

// Eval compares column by column.
func (e *rowEqual) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.in.LeftChild.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	rows, err := e.in.rows.EvalMultiple(ctx, row)
	switch {
	case err != nil || len(rows) == 0:
		return nil, err
	case len(rows) > 1:
		return nil, sql.ErrExpectedSingleRow.New()
	}
	n := len(e.in.equal)
	pair := make(sql.Row, 2*n)
	fillColumns(pair[:n], v)
	fillColumns(pair[n:], rows[0])
	return e.in.isEqual(ctx, pair)
}
