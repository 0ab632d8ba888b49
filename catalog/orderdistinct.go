package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// orderDistinct has ORDER BY over SELECT DISTINCT look at the columns of the result. GMS computes what an alias stands for once more, from columns that are
// not there any longer.
func orderDistinct(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		s, ok := n.(*plan.Sort)
		if !ok {
			return n, transform.SameTree, nil
		}
		d, ok := s.Child.(*plan.Distinct)
		if !ok {
			return n, transform.SameTree, nil
		}
		p, ok := d.Child.(*plan.Project)
		if !ok {
			return n, transform.SameTree, nil
		}
		columns, same := slices.Clone(s.Expressions()), transform.SameTree
		for i, e := range columns {
			a, ok := e.(*expression.Alias)
			if !ok || !slices.ContainsFunc(p.Projections, func(of sql.Expression) bool { return isAlias(of, a) }) {
				continue
			}
			columns[i] = expression.NewGetFieldWithTable(int(a.Id()), 0, a.Type(ctx), "", "", a.Name(), a.IsNullable(ctx))
			same = transform.NewTree
		}
		if same {
			return n, same, nil
		}
		out, err := s.WithExpressions(ctx, columns...)
		return out, same, err
	})
}

func isAlias(e sql.Expression, of *expression.Alias) bool {
	a, ok := e.(*expression.Alias)
	return ok && a.Id() == of.Id()
}
