package catalog

import (
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog/compile"
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

// convertTexts makes CONVERT(e USING charset) a text that has what is left of e's in that character set: a ? in place of each character that it has not. Bytes are
// read as texts in it, and are NULL where they are none. GMS has the bytes of the character set, and reads the text of a number back as a number.
func convertTexts(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	c, ok := e.(*expression.ConvertUsing)
	if !ok || !c.Child.Resolved() || c.TargetCharSet == sql.CharacterSet_binary {
		return e, transform.SameTree, nil
	}
	out, err := converted(c.TargetCharSet).NewInstance(ctx, []sql.Expression{compile.NewDateText(c.Child)})
	return out, transform.NewTree, err
}

func converted(to sql.CharacterSetID) sql.Function {
	typ := types.CreateLongText(to.DefaultCollation())
	return scalarFunction("convert using "+to.Name(), 1, 1, fixedType(typ, func(ctx *sql.Context, args []any) (any, error) {
		if raw, ok := args[0].([]byte); ok {
			text, ok := to.Encoder().Decode(raw)
			if !ok || !utf8.Valid(text) {
				ctx.Warn(1300, "Invalid %s character string: '%X'", to.Name(), raw)
				return nil, nil
			}
			return string(text), nil
		}
		text, err := asText(ctx, args[0])
		if err != nil {
			return nil, err
		}
		back, ok := to.Encoder().Decode(to.Encoder().EncodeReplaceUnknown([]byte(text)))
		if !ok {
			return nil, nil
		}
		return string(back), nil
	}))
}
