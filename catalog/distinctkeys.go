package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// countKeys has COUNT(DISTINCT) tell values apart as GROUP BY does. GMS's puts texts with commas between them, which takes no bytes, and no account
// of collations and of -0.
func countKeys(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeExprsWithOpaque(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if _, ok := e.(*aggregation.CountDistinct); !ok || slices.ContainsFunc(e.Children(), isNoKey) {
			return e, transform.SameTree, nil
		}
		children := slices.Clone(e.Children())
		for i, c := range children {
			children[i] = &distinctKey{expression.UnaryExpressionStub{Child: c}}
		}
		out, err := e.WithChildren(ctx, children...)
		return out, transform.NewTree, err
	})
}

// isNoKey is true of what a distinctKey is not put around.
func isNoKey(e sql.Expression) bool {
	switch e.(type) {
	case *distinctKey, *expression.Star:
		return true
	}
	return !e.Resolved()
}

// distinctKey is a number that stands for a value: values that are equal have one.
type distinctKey struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*distinctKey)(nil)
	_ sql.CollationCoercible = (*distinctKey)(nil)
	_ compile.Wrapper        = (*distinctKey)(nil)
)

// Unwrap returns the expression that compiles: batches have keys of their own.
func (e *distinctKey) Unwrap() sql.Expression { return e.Child }

func (e *distinctKey) String() string { return e.Child.String() }

// Type is a BIGINT UNSIGNED.
func (e *distinctKey) Type(*sql.Context) sql.Type { return types.Uint64 }

// CollationCoercibility is that of a number.
func (e *distinctKey) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren is of another value.
func (e *distinctKey) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &distinctKey{expression.UnaryExpressionStub{Child: children[0]}}, nil
}

// Eval is the key.
func (e *distinctKey) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	return hash.HashOf(ctx, sql.Schema{{Type: e.Child.Type(ctx)}}, sql.Row{v})
}
