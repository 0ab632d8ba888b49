package catalog

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// cutCharacters writes CAST(e AS CHAR(n)) as CAST(LEFT(CAST(e AS CHAR), n) AS CHAR). GMS cuts after n bytes, in the middle of a character, and a text not at all.
func cutCharacters(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		c, ok := n.(*ast.ConvertExpr)
		if !ok || c.Type == nil || c.Type.Length == nil || !strings.HasSuffix(strings.ToLower(c.Type.Type), "char") {
			return true, nil
		}
		whole := &ast.ConvertExpr{Name: c.Name, Expr: c.Expr, Type: &ast.ConvertType{Type: c.Type.Type}}
		c.Expr = &ast.FuncExpr{
			Name:  ast.NewColIdent("left"),
			Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: whole}, &ast.AliasedExpr{Expr: c.Type.Length}},
		}
		c.Type.Length = nil
		return true, nil
	}, stmt)
}
