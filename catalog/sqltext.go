package catalog

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"lakesql/catalog/compile"
	"lakesql/catalog/resultmeta"
)

// sqlText is an expression as MySQL shows it in warnings.
func sqlText(e sql.Expression) string {
	switch e := e.(type) {
	case resultmeta.Conversion:
		return sqlText(e.Written())
	case *compile.DateText:
		return sqlText(e.Child)
	case *expression.GetField:
		if e.Table() == "" {
			return "`" + e.Name() + "`"
		}
		return fmt.Sprintf("`%s`.`%s`.`%s`", e.Database(), e.Table(), e.Name())
	case *expression.Literal:
		if text, ok := e.Value().(string); ok {
			return "'" + text + "'"
		}
	case *expression.UnaryMinus:
		return "-(" + sqlText(e.Child) + ")"
	case interface{ Unwrap() sql.Expression }:
		return sqlText(e.Unwrap())
	case sql.FunctionExpression:
		texts := make([]string, len(e.Children()))
		for i, c := range e.Children() {
			texts[i] = sqlText(c)
		}
		return strings.ToLower(e.FunctionName()) + "(" + strings.Join(texts, ",") + ")"
	}
	return e.String()
}
