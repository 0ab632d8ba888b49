package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
	"lakesql/sqlext"
)

// expressionText is an expression as MySQL writes it in an error: columns with their tables and databases, an operator in parentheses, what a minus is before in them too.
func expressionText(ctx *sql.Context, e sql.Expression) string {
	switch e := e.(type) {
	case *expression.GetField:
		return columnInError(e)
	case *expression.Literal:
		return literalInError(ctx, e)
	case *exactArith:
		return fmt.Sprintf("(%s %s %s)", expressionText(ctx, e.LeftChild), e.op, expressionText(ctx, e.RightChild))
	case *expression.Arithmetic:
		return fmt.Sprintf("(%s %s %s)", expressionText(ctx, e.LeftChild), e.Op, expressionText(ctx, e.RightChild))
	case *expression.Div:
		return fmt.Sprintf("(%s / %s)", expressionText(ctx, e.LeftChild), expressionText(ctx, e.RightChild))
	case *expression.UnaryMinus:
		return "-(" + expressionText(ctx, e.Child) + ")"
	case *expression.Convert:
		switch e.Type(ctx) {
		case types.Int64:
			return fmt.Sprintf("cast(%s as signed)", expressionText(ctx, e.Child))
		case types.Uint64:
			return fmt.Sprintf("cast(%s as unsigned)", expressionText(ctx, e.Child))
		}
	case compile.Wrapper:
		return expressionText(ctx, e.Unwrap())
	case sql.FunctionExpression:
		return functionText(ctx, e.FunctionName(), e.Children())
	}
	if children := e.Children(); len(children) == 1 && e.String() == children[0].String() { // GMS or this package has put it around
		return expressionText(ctx, children[0])
	}
	return e.String()
}

func functionText(ctx *sql.Context, name string, args []sql.Expression) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = expressionText(ctx, a)
	}
	if len(texts) == 2 && strings.IndexByte("&|^<>", name[0]) >= 0 {
		return "(" + texts[0] + " " + name + " " + texts[1] + ")"
	}
	return strings.ToLower(name) + "(" + strings.Join(texts, ",") + ")"
}

func columnInError(f *expression.GetField) string {
	var names []string
	for _, name := range []string{f.Database(), f.Table(), f.Name()} {
		if name != "" {
			names = append(names, "`"+strings.ReplaceAll(name, "`", "``")+"`")
		}
	}
	return strings.Join(names, ".")
}

// literalInError is a literal; what is below 0 is the minus of another one to MySQL.
func literalInError(ctx *sql.Context, l *expression.Literal) string {
	var text string
	switch v := l.Value().(type) {
	case nil:
		return "NULL"
	case string:
		return sqlext.QuoteString(v)
	case float64:
		text = strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "e+", "e", 1)
	default:
		text = l.String()
	}
	if positive, minus := strings.CutPrefix(text, "-"); minus {
		return "-(" + positive + ")"
	}
	return text
}
