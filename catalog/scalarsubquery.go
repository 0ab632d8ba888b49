package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// keepScalars keeps GMS from turning a comparison with a subquery into a semi join, which is true of any row that the subquery has: MySQL refuses
// more than one, and takes none for NULL.
func keepScalars(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if _, ok := n.(*plan.Filter); ok {
			return transform.OneNodeExpressions(ctx, n, scalarOf)
		}
		return n, transform.SameTree, nil
	})
}

func scalarOf(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	switch e := e.(type) {
	case *plan.Subquery:
		query, same, err := keepScalars(ctx, nil, e.Query, nil, nil, nil)
		if err != nil || same {
			return e, transform.SameTree, err
		}
		return e.WithQuery(query), transform.NewTree, nil
	case expression.Comparer:
		if s, ok := e.Right().(*plan.Subquery); ok {
			if _, isEqual := e.(*expression.Equals); isEqual && types.NumColumns(s.Type(ctx)) > 1 {
				return expression.NewEquals(s, e.Left()), transform.NewTree, nil // a rowEqual when GMS is done
			}
			out, err := e.WithChildren(ctx, e.Left(), &scalar{expression.UnaryExpressionStub{Child: s}})
			return out, transform.NewTree, err
		}
	}
	return e, transform.SameTree, nil
}

// scalar is the one value of a subquery.
type scalar struct{ expression.UnaryExpressionStub }

var (
	_ compile.Wrapper        = (*scalar)(nil)
	_ sql.CollationCoercible = (*scalar)(nil)
)

// Unwrap is the subquery.
func (e *scalar) Unwrap() sql.Expression { return e.Child }

func (e *scalar) String() string { return e.Child.String() }

// Type is the subquery's.
func (e *scalar) Type(ctx *sql.Context) sql.Type { return e.Child.Type(ctx) }

// Eval executes the subquery.
func (e *scalar) Eval(ctx *sql.Context, row sql.Row) (any, error) { return e.Child.Eval(ctx, row) }

// CollationCoercibility is the subquery's.
func (e *scalar) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, e.Child)
}

// WithChildren is the value of another subquery.
func (e *scalar) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &scalar{expression.UnaryExpressionStub{Child: children[0]}}, nil
}
