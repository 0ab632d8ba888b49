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
	"lakesql/catalog/mysqltype"
)

// cutTexts writes CAST(e AS CHAR(n)) as CAST(CUT_CHARACTERS(CAST(e AS CHAR), n) AS CHAR). GMS cuts after n bytes, in the middle of a character, and a text not at all, and does not warn.
func cutTexts(stmt ast.SQLNode) error {
	return eachSized(stmt, "char", func(c *ast.ConvertExpr) {
		c.Expr, c.Type.Length = cut(cutCharacters, c), nil
	})
}

// cutBinaries writes CAST(e AS BINARY(n)) as CAST(CUT_BYTES(CAST(e AS BINARY), n) AS BINARY(n)), of which GMS leaves out the outer one, and which warns.
func cutBinaries(stmt ast.SQLNode) error {
	return eachSized(stmt, "binary", func(c *ast.ConvertExpr) { c.Expr = cut(cutBytes, c) })
}

// eachSized calls do for each CAST to a type with a length whose name ends so.
func eachSized(stmt ast.SQLNode, typ string, do func(*ast.ConvertExpr)) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		if c, ok := n.(*ast.ConvertExpr); ok && c.Type != nil && c.Type.Length != nil && strings.HasSuffix(strings.ToLower(c.Type.Type), typ) {
			do(c)
		}
		return true, nil
	}, stmt)
}

// cut is what a function leaves of what is cast.
func cut(function string, c *ast.ConvertExpr) ast.Expr {
	whole := &ast.ConvertExpr{Name: c.Name, Expr: c.Expr, Type: &ast.ConvertType{Type: c.Type.Type}}
	return &ast.FuncExpr{Name: ast.NewColIdent(function), Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: whole}, &ast.AliasedExpr{Expr: c.Type.Length}}}
}

// The functions of cutTexts and cutBinaries.
const (
	cutCharacters = "cut_characters"
	cutBytes      = "cut_bytes"
)

// cutFunctions are LEFT with the warning of a CAST that cuts. Bytes are filled up with zeros.
var cutFunctions = map[string]sql.Function{cutCharacters: cutFunction(cutCharacters, "CHAR"), cutBytes: cutFunction(cutBytes, "BINARY")}

func cutFunction(name, typ string) sql.Function {
	return scalarFunction(name, 2, 2, func(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
		body, err := correctedFunctions["left"].NewInstance(ctx, args)
		left, ok := body.(*scalarCall)
		if err != nil || !ok {
			return scalarBody{}, err
		}
		return scalarBody{typ: left.typ, eval: func(ctx *sql.Context, values []any) (any, error) {
			out, err := left.eval(ctx, values)
			if size := byteLength(out); err == nil && size < byteLength(values[0]) {
				ctx.Warn(mysqltype.WrongValue, "Truncated incorrect %s(%d) value: '%s'", typ, size, values[0])
			}
			if b, ok := out.([]byte); ok && err == nil {
				n, err := asInteger(ctx, values[1])
				return append(b, make([]byte, max(0, int(n)-len(b)))...), err
			}
			return out, err
		}}, nil
	})
}

func byteLength(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return 0
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
