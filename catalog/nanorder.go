package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// orderNaN makes ORDER BY, of queries and of windows, compare floats as batches do. By GMS's comparison a NaN is equal to every number, and rows come
// in an order that is none.
func orderNaN(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	n, sameWindows, err := transform.NodeExprsWithOpaque(ctx, n, orderWindow)
	if err != nil {
		return nil, sameWindows, err
	}
	n, same, err := transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		if u, ok := n.(*plan.SetOp); ok {
			return orderSetOp(ctx, u)
		}
		s, ok := n.(*plan.Sort)
		if !ok {
			return n, transform.SameTree, nil
		}
		columns, same := nanOrderedAll(ctx, s.Expressions())
		if same {
			return n, same, nil
		}
		out, err := s.WithExpressions(ctx, columns...)
		return out, same, err
	})
	return n, same && sameWindows, err
}

// orderSetOp is orderNaN for UNION and its like.
func orderSetOp(ctx *sql.Context, n *plan.SetOp) (sql.Node, transform.TreeIdentity, error) {
	columns, same := nanOrderedAll(ctx, n.SortConditions.ToExpressions())
	if same {
		return n, same, nil
	}
	out := *n
	out.SortConditions = n.SortConditions.FromExpressions(ctx, columns...)
	return &out, same, nil
}

// orderWindow is orderNaN for the window of a function.
func orderWindow(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	w, ok := e.(sql.WindowAdaptableExpression)
	if !ok || w.Window() == nil {
		return e, transform.SameTree, nil
	}
	return withWindowKeys(ctx, w, nanOrderedAll)
}

// withWindowKeys changes what the window of a function is partitioned and ordered by.
func withWindowKeys(
	ctx *sql.Context, w sql.WindowAdaptableExpression, change func(*sql.Context, []sql.Expression) ([]sql.Expression, transform.TreeIdentity),
) (sql.Expression, transform.TreeIdentity, error) {
	keys, same := change(ctx, w.Window().ToExpressions())
	if same {
		return w, same, nil
	}
	window, err := w.Window().FromExpressions(ctx, keys)
	if err != nil {
		return nil, same, err
	}
	return w.WithWindow(ctx, window), same, nil
}

func nanOrderedAll(ctx *sql.Context, all []sql.Expression) ([]sql.Expression, transform.TreeIdentity) {
	out, same := slices.Clone(all), transform.SameTree
	for i, e := range all {
		if t, ok := e.Type(ctx).(sql.NumberType); ok && types.IsFloat(t) {
			out[i], same = &nanOrdered{expression.UnaryExpressionStub{Child: e}}, transform.NewTree
		}
	}
	return out, same
}
