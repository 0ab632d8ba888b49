package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// countTruths has what JSON is made of be a number where it is a column, an aggregate or a subquery: TRUE and a comparison are true there, but as columns they are of
// an integer type. GMS looks at the value alone, which may still be a truth.
func countTruths(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if !makesJSON(ctx, e) || !slices.ContainsFunc(e.Children(), func(c sql.Expression) bool { return isStoredTruth(ctx, c) }) {
		return e, transform.SameTree, nil
	}
	children := slices.Clone(e.Children())
	for i, c := range children {
		if isStoredTruth(ctx, c) {
			children[i] = &storedTruth{expression.UnaryExpressionStub{Child: c}}
		}
	}
	out, err := e.WithChildren(ctx, children...)
	return out, transform.NewTree, err
}

func makesJSON(ctx *sql.Context, e sql.Expression) bool {
	if isJSONCast(ctx, e) {
		return true
	}
	f, ok := e.(sql.FunctionExpression)
	return ok && strings.HasPrefix(strings.ToLower(f.FunctionName()), "json")
}

func isStoredTruth(ctx *sql.Context, e sql.Expression) bool {
	switch e.(type) {
	case *expression.GetField, *plan.Subquery, sql.Aggregation:
		return e.Resolved() && types.IsBoolean(e.Type(ctx))
	}
	return false
}

// storedTruth is a truth as the number that a column has.
type storedTruth struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*storedTruth)(nil)
	_ sql.CollationCoercible = (*storedTruth)(nil)
)

func (e *storedTruth) String() string { return e.Child.String() }

// Type is the column's.
func (e *storedTruth) Type(ctx *sql.Context) sql.Type { return e.Child.Type(ctx) }

// CollationCoercibility is that of a number.
func (e *storedTruth) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren is of another column.
func (e *storedTruth) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &storedTruth{expression.UnaryExpressionStub{Child: children[0]}}, nil
}

// Eval is 1, 0 or NULL.
func (e *storedTruth) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	switch {
	case err != nil:
		return nil, err
	case v == true:
		return int8(1), nil
	case v == false:
		return int8(0), nil
	}
	return v, nil
}
