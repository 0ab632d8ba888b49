package catalog

import (
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// nameUnited gives the columns of a UNION, INTERSECT or EXCEPT that is ordered by positions the names that they have anyway. Of one without a name GMS would
// sort by the expression in the first SELECT: by a literal there is no order.
func nameUnited(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		if u, ok := n.(*ast.SetOp); ok && len(u.OrderBy) > 0 {
			nameFirst(u)
		}
		return true, nil
	}, stmt)
}

// nameFirst names the columns of the first SELECT, which are those of the query.
func nameFirst(query ast.SelectStatement) {
	switch q := query.(type) {
	case *ast.SetOp:
		nameFirst(q.Left)
	case *ast.ParenSelect:
		nameFirst(q.Select)
	case *ast.Select:
		for _, c := range q.SelectExprs {
			e, ok := c.(*ast.AliasedExpr)
			if !ok || !e.As.IsEmpty() {
				continue
			}
			if _, ok := e.Expr.(*ast.ColName); !ok {
				e.As = ast.NewColIdent(e.InputExpression)
			}
		}
	}
}
