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

// gmsGroupByRule is the name of GMS's rule for ONLY_FULL_GROUP_BY.
const gmsGroupByRule = "validateGroupBy"

// allowSubqueries puts a rule in the place of GMS's for ONLY_FULL_GROUP_BY, which refuses every subquery beside a GROUP BY: to it, a subquery is what it takes from the query
// around it.
func allowSubqueries() {
	at := slices.IndexFunc(analyzer.OnceBeforeDefault, func(r analyzer.Rule) bool { return r.Id.String() == gmsGroupByRule })
	validate := analyzer.OnceBeforeDefault[at].Apply
	analyzer.OnceBeforeDefault[at].Apply = func(
		ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags,
	) (sql.Node, transform.TreeIdentity, error) {
		shown, _, err := withoutSubqueries(ctx, n)
		if err == nil {
			_, _, err = validate(ctx, a, shown, scope, sel, flags)
		}
		return n, transform.SameTree, err
	}
}

// withoutSubqueries is a plan with the columns of its tables that a subquery refers to in the place of the subquery.
func withoutSubqueries(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
	var own sql.ColSet
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		if t, ok := n.(plan.TableIdNode); ok {
			own = own.Union(t.Columns())
		}
		return true
	})
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		holder, ok := n.(sql.Expressioner)
		if !ok {
			return n, transform.SameTree, nil
		}
		all, same, err := standIns(ctx, holder.Expressions(), own)
		if err != nil || same {
			return n, transform.SameTree, err
		}
		n, err = holder.WithExpressions(ctx, all...)
		return n, transform.NewTree, err
	})
}

// ofNoColumn tells whether an expression without operands takes nothing from a row either, as NOW() and @@version: GMS takes it for a column.
func ofNoColumn(e sql.Expression) bool {
	switch e := e.(type) {
	case *expression.SystemVar, *expression.UserVar, *variableValue:
		return true
	case sql.WindowAdaptableExpression:
		return false
	case sql.FunctionExpression:
		return len(e.Children()) == 0
	}
	return false
}

// standIns are expressions with columns in the place of subqueries, and NULL in that of what is of no column.
func standIns(ctx *sql.Context, all []sql.Expression, own sql.ColSet) ([]sql.Expression, transform.TreeIdentity, error) {
	out, same := slices.Clone(all), transform.SameTree
	for i, e := range all {
		switch e := e.(type) {
		case *plan.Subquery:
			out[i], same = outerColumns(ctx, e, own), transform.NewTree
			continue
		case *plan.ExistsSubquery:
			out[i], same = outerColumns(ctx, e.Query, own), transform.NewTree
			continue
		case sql.Aggregation: // whatever is in it, and known by its text
			continue
		}
		if ofNoColumn(e) {
			out[i], same = expression.NewLiteral(nil, types.Null), transform.NewTree
			continue
		}
		children, unchanged, err := standIns(ctx, e.Children(), own)
		if err != nil {
			return nil, same, err
		}
		if unchanged {
			continue
		}
		if out[i], err = e.WithChildren(ctx, children...); err != nil {
			return nil, same, err
		}
		same = transform.NewTree
	}
	return out, same, nil
}

// outerColumns are the columns of the query around that a subquery, or one in it, refers to.
func outerColumns(ctx *sql.Context, s *plan.Subquery, own sql.ColSet) sql.Expression {
	out := expression.Tuple{expression.NewLiteral(nil, types.Null)}
	correlated := s.Correlated().Intersection(own)
	transform.InspectExpressions(ctx, s.Query, func(ctx *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			if correlated.Contains(e.Id()) {
				out = append(out, e)
			}
		case *plan.Subquery:
			out = append(out, outerColumns(ctx, e, own))
		}
		return true
	})
	return out
}
