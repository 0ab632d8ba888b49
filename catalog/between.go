package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// computeBounds has BETWEEN compute its operands as MySQL does: the value once, and where that is not NULL both bounds. GMS leaves out the second bound where the
// first one decides, and in filters makes two comparisons of it, each in a type of its own.
func computeBounds(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	b, ok := e.(*expression.Between)
	if !ok || !b.Resolved() {
		return e, transform.SameTree, nil
	}
	out := newBetween(ctx, b)
	return out, transform.TreeIdentity(out == e), nil
}

// newBetween is GMS's where no operand can fail or warn, and two comparisons are in the one type of all three.
func newBetween(ctx *sql.Context, b *expression.Between) sql.Expression {
	operands := b.Children()
	isFloat := func(e sql.Expression) bool { return types.IsFloat(e.Type(ctx)) }
	if !slices.ContainsFunc(operands, func(e sql.Expression) bool { return !isPlain(ctx, e) }) && (isFloat(b.Val) || !isFloat(b.Lower) && !isFloat(b.Upper)) {
		return b
	}
	for i, e := range operands {
		if _, literal := e.(*expression.Literal); !literal {
			operands[i] = &operandAt{e, i}
		}
	}
	return &between{b, expression.NewBetween(operands[0], operands[1], operands[2])}
}

// isPlain tells whether an expression is a value that is there: a column, a literal, or such a number as it is compared.
func isPlain(ctx *sql.Context, e sql.Expression) bool {
	if c, ok := e.(*compared); ok && types.IsNumber(c.Child.Type(ctx)) {
		e = c.Child
	}
	switch e.(type) {
	case *expression.GetField, *expression.Literal:
		return true
	}
	return false
}

// between is BETWEEN of operands that are computed first.
type between struct {
	*expression.Between
	test *expression.Between // of a row that has the operands
}

var _ compile.Wrapper = (*between)(nil)

// Unwrap returns GMS's: batches compute operands as this does.
func (b *between) Unwrap() sql.Expression { return b.Between }

// WithChildren is of other operands.
func (b *between) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 3 {
		return nil, sql.ErrInvalidChildrenNumber.New(b, len(children), 3)
	}
	return newBetween(ctx, expression.NewBetween(children[0], children[1], children[2])), nil
}

// Eval compares the operands.
func (b *between) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	values := make(sql.Row, 3)
	for i, e := range b.Children() {
		var err error
		if values[i], err = e.Eval(ctx, row); err != nil || i == 0 && values[i] == nil {
			return nil, err
		}
	}
	return b.test.Eval(ctx, values)
}

// operandAt is an operand that has been computed, at a place in a row.
type operandAt struct {
	sql.Expression
	at int
}

var _ sql.CollationCoercible = (*operandAt)(nil)

// Children are none: it is computed.
func (e *operandAt) Children() []sql.Expression { return nil }

// CollationCoercibility is the operand's.
func (e *operandAt) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, e.Expression)
}

// Eval is the value.
func (e *operandAt) Eval(_ *sql.Context, row sql.Row) (any, error) { return row[e.at], nil }
