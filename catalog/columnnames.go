package catalog

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/sqlext"
)

// nameColumns gives the columns of SELECTs that are given no name the one that MySQL gives them: a column's in parentheses is the column's, a literal's is its
// value, any other is what was written. Vitess takes the text from behind the column before: its comma, comments, but no NOT.
func nameColumns(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		if e, ok := n.(*ast.AliasedExpr); ok && e.As.IsEmpty() && e.InputExpression != "" {
			nameColumn(e)
		}
		return true, nil
	}, stmt)
}

func nameColumn(e *ast.AliasedExpr) {
	inner := unwrapped(e.Expr)
	if column, ok := inner.(*ast.ColName); ok {
		e.Expr, e.InputExpression = column, ""
		return
	}
	written := sqlext.Bare(e.InputExpression)
	e.InputExpression = written
	if _, not := e.Expr.(*ast.NotExpr); not {
		e.InputExpression = notWritten(written)
	}
	switch x := inner.(type) {
	case *ast.NullVal:
		e.InputExpression = "NULL"
	case *ast.SQLVal:
		switch x.Type {
		case ast.StrVal:
			e.InputExpression = textName(string(x.Val), written)
		case ast.IntVal, ast.FloatVal:
			if number := strings.Trim(written, "(+) "); number == string(x.Val) && number[0] != '-' { // a minus is an operator to MySQL
				e.InputExpression = number
			}
		}
	}
}

// notWritten is the text of a NOT, which vitess leaves out, with a parenthesis behind it, where it is the first column.
func notWritten(written string) string {
	if len(written) > 3 && strings.EqualFold(written[:3], "NOT") {
		return written
	}
	if strings.Count(written, ")") > strings.Count(written, "(") {
		return "NOT(" + written
	}
	return "NOT " + written
}

// unwrapped is an expression without parentheses, plus signs and the character sets of literals around it.
func unwrapped(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.Expr
		case *ast.UnaryExpr:
			if x.Operator != ast.UPlusStr && !strings.HasPrefix(x.Operator, "_") {
				return e
			}
			e = x.Expr
		default:
			return e
		}
	}
}

// textName is the name of a literal of text: the first of several beside each other, from its first character that can be seen. Of TIME '...' it is what was written.
func textName(value, written string) string {
	if len(written) > len("TIME") && strings.EqualFold(written[:len("TIME")], "TIME") && written != value {
		return written
	}
	if first, ok := sqlext.FirstText(written); ok && strings.HasPrefix(value, first) {
		value = first
	}
	if seen := strings.TrimLeftFunc(value, func(r rune) bool { return r <= ' ' }); seen != "" {
		return seen
	}
	return value
}
