package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// evaluateEveryRow keeps functions whose value is another one each time from being computed once for all rows of a filter, as GMS does with all that
// refers to no column: DELETE ... WHERE RAND() < 0.5 would delete every row or none.
func evaluateEveryRow(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n.(type) {
		case *plan.Filter, *plan.JoinNode:
			return transform.OneNodeExpressions(ctx, n, everyRowOf)
		}
		return n, transform.SameTree, nil
	})
}

func everyRowOf(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	switch e := e.(type) {
	case *plan.Subquery:
		query, same, err := evaluateEveryRow(ctx, nil, e.Query, nil, nil, nil)
		if err != nil || same {
			return e, transform.SameTree, err
		}
		return e.WithQuery(query), transform.NewTree, nil
	case *function.Rand:
		if e.Child != nil {
			break // of a seed: the same each time
		}
		return &everyRow{e}, transform.NewTree, nil
	case *function.Sleep, *function.UUIDFunc, *function.UUIDShortFunc, *function.RandomBytes, *assignVariable, *variableValue:
		return &everyRow{e}, transform.NewTree, nil
	}
	return e, transform.SameTree, nil
}

// everyRow is an expression that is not the same for all rows, although no column is in it.
type everyRow struct{ sql.Expression }

// notConstant is what GMS knows, among what has neither a column nor an effect, as not to be computed once.
var notConstant = expression.NewProcedureParam("", nil)

// Children are those of the expression, which is hidden, and a sign that it is not constant.
func (e *everyRow) Children() []sql.Expression {
	return append(slices.Clone(e.Expression.Children()), notConstant)
}

// WithChildren returns it over other operands.
func (e *everyRow) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	inner, err := e.Expression.WithChildren(ctx, children[:len(children)-1]...)
	if err != nil {
		return nil, err
	}
	return &everyRow{inner}, nil
}

// IsNonDeterministic is true: of equal rows, too.
func (e *everyRow) IsNonDeterministic() bool { return true }

// CollationCoercibility is the expression's.
func (e *everyRow) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, e.Expression)
}

var (
	_ sql.NonDeterministicExpression = (*everyRow)(nil)
	_ sql.CollationCoercible         = (*everyRow)(nil)
)
