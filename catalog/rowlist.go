package catalog

import (
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// compareRows writes (a, b) IN ((1, 2), (3, NULL)) as comparisons of each row, which know NULL: to GMS's IN, a NULL in a row is equal to a NULL.
func compareRows(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		in, ok := n.(*ast.ComparisonExpr)
		if !ok || in.Operator != ast.InStr && in.Operator != ast.NotInStr {
			return true, nil
		}
		left, isRow := in.Left.(ast.ValTuple)
		list, isList := in.Right.(ast.ValTuple)
		if !isRow || !isList || len(left) < 2 || len(list) == 0 {
			return true, nil
		}
		for _, row := range list {
			if columns, ok := row.(ast.ValTuple); !ok || len(columns) != len(left) {
				return true, nil // which is refused
			}
		}
		in.Right = ast.BoolVal(in.Operator == ast.InStr)
		in.Left, in.Operator = &ast.ParenExpr{Expr: anyRow(left, list)}, ast.EqualStr
		return true, nil
	}, stmt)
}

// anyRow is true where left is equal to one of the rows. Halves keep it shallow.
func anyRow(left ast.ValTuple, rows ast.ValTuple) ast.Expr {
	if len(rows) == 1 {
		return &ast.ComparisonExpr{Operator: ast.EqualStr, Left: left, Right: rows[0]}
	}
	half := len(rows) / 2
	return &ast.OrExpr{Left: anyRow(left, rows[:half]), Right: anyRow(left, rows[half:])}
}
