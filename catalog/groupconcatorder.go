package catalog

import (
	"strconv"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// orderByArguments puts the arguments of GROUP_CONCAT in the places of numbers in its ORDER BY, which GMS takes for columns of the table.
func orderByArguments(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		g, ok := n.(*ast.GroupConcatExpr)
		if !ok {
			return true, nil
		}
		for _, o := range g.OrderBy {
			v, ok := o.Expr.(*ast.SQLVal)
			if !ok || v.Type != ast.IntVal {
				continue
			}
			at, err := strconv.Atoi(string(v.Val))
			if err != nil || at < 1 || at > len(g.Exprs) {
				continue // GMS says that there is no such column
			}
			if argument, ok := g.Exprs[at-1].(*ast.AliasedExpr); ok {
				o.Expr = argument.Expr
			}
		}
		return true, nil
	}, stmt)
}
