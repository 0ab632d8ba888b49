package catalog

import (
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// boundUnited makes of a UNION, INTERSECT or EXCEPT in parentheses that is ordered or limited there, and united with more, a derived table: GMS takes its order and limit for those of
// the whole.
func boundUnited(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		if u, ok := n.(*ast.SetOp); ok {
			u.Left, u.Right = bounded(u.Left), bounded(u.Right)
		}
		return true, nil
	}, stmt)
}

func bounded(side ast.SelectStatement) ast.SelectStatement {
	inner := side
	for {
		parens, ok := inner.(*ast.ParenSelect)
		if !ok {
			break
		}
		inner = parens.Select
	}
	u, ok := inner.(*ast.SetOp)
	if !ok || inner == side || len(u.OrderBy) == 0 && u.Limit == nil {
		return side
	}
	from := &ast.AliasedTableExpr{Expr: &ast.Subquery{Select: u}, As: ast.NewTableIdent("united"), Auth: bySelect}
	return &ast.Select{SelectExprs: ast.SelectExprs{&ast.StarExpr{}}, From: ast.TableExprs{from}}
}
