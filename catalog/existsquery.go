package catalog

import (
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// countRows words the subqueries of EXISTS that GMS takes for the rows of their tables so that it counts their own: an aggregation without GROUP BY has one row
// whatever its tables have, LIMIT 0 none. Windows, which give no row more or less, it leaves out: GMS joins with a window as if it had its child's columns.
func countRows(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		exists, ok := n.(*ast.ExistsExpr)
		if !ok {
			return true, nil
		}
		s, ok := exists.Subquery.Select.(*ast.Select)
		if !ok {
			return true, nil
		}
		if !aggregates(s.SelectExprs) && (!s.QueryOpts.Distinct || s.Limit == nil) {
			leaveOutWindows(s.SelectExprs)
		}
		hasOne := len(s.GroupBy) == 0 && s.Having == nil && aggregates(s.SelectExprs)
		switch {
		case isNoRow(s.Limit) && hasOne:
			s.Limit, s.Having = nil, ast.NewWhere(ast.HavingStr, ast.BoolVal(false))
		case isNoRow(s.Limit):
			where := ast.Expr(ast.BoolVal(false))
			if s.Where != nil {
				where = &ast.AndExpr{Left: s.Where.Expr, Right: where}
			}
			s.Limit, s.Where = nil, ast.NewWhere(ast.WhereStr, where)
		case hasOne && s.Limit == nil:
			exists.Subquery.Select = &ast.SetOp{Type: ast.UnionAllStr, Left: ones(len(s.SelectExprs)), Right: s}
		}
		return true, nil
	}, stmt)
}

// leaveOutWindows puts 1 for the columns with a window.
func leaveOutWindows(columns ast.SelectExprs) {
	for _, c := range columns {
		column, ok := c.(*ast.AliasedExpr)
		if !ok {
			continue
		}
		windowed := false
		_ = ast.Walk(func(n ast.SQLNode) (bool, error) { // the visit has no errors
			f, ok := n.(*ast.FuncExpr)
			windowed = windowed || ok && f.Over != nil
			return true, nil
		}, column.Expr)
		if windowed {
			column.Expr = ast.NewIntVal([]byte("1"))
		}
	}
}

// aggregates says whether one of the columns is, or has, an aggregate of the SELECT itself.
func aggregates(columns ast.SelectExprs) bool {
	found := false
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.Subquery:
			return false, nil
		case *ast.FuncExpr:
			found = found || n.IsAggregate() && n.Over == nil
		case *ast.GroupConcatExpr:
			found = true
		}
		return !found, nil
	}, columns)
	return found
}

func isNoRow(limit *ast.Limit) bool {
	if limit == nil {
		return false
	}
	n, ok := limit.Rowcount.(*ast.SQLVal)
	return ok && n.Type == ast.IntVal && string(n.Val) == "0"
}

// ones is SELECT 1, 1 and so on.
func ones(n int) *ast.Select {
	s := &ast.Select{}
	for range n {
		s.SelectExprs = append(s.SelectExprs, &ast.AliasedExpr{Expr: ast.NewIntVal([]byte("1"))})
	}
	return s
}
