package catalog

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/sqlext"
)

// compareQuantified words comparisons with ALL, ANY and SOME of a subquery by what GMS has: IN and NOT IN, or the subquery's least and greatest value.
//
//	a = ANY (q)    a IN (q)
//	a > ANY (q)    IF((SELECT COUNT(*) FROM q) = 0, FALSE, a > (SELECT MIN(x) FROM q) OR (SELECT IF(COUNT(*) = COUNT(x), FALSE, NULL) FROM q))
//	a > ALL (q)    IF((SELECT COUNT(*) FROM q) = 0, TRUE, a > (SELECT MAX(x) FROM q) AND (SELECT IF(COUNT(*) = COUNT(x), TRUE, NULL) FROM q))
//
// Where WHERE only asks whether it is true, a > ANY (q) is a > (SELECT MIN(x) FROM q), which runs on batches.
func compareQuantified(stmt ast.SQLNode) error {
	asked := make(map[ast.Expr]bool) // whether it is true, and no more
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.Where:
			if n != nil && n.Type == ast.WhereStr {
				for _, e := range conjuncts(n.Expr) {
					asked[e] = true
				}
			}
		case *ast.ComparisonExpr:
			call, ok := n.Right.(*ast.FuncExpr)
			if !ok || !call.Name.EqualString(sqlext.QuantifiedFunction) {
				return true, nil
			}
			q, err := quantifiedOf(call)
			if err != nil {
				return false, err
			}
			return true, q.compare(n, asked[n])
		case *ast.AliasedExpr:
			n.InputExpression = sqlext.AsWritten(n.InputExpression)
		case *ast.FuncExpr:
			if n.Name.EqualString(sqlext.QuantifiedFunction) { // on no side of a comparison
				return false, sql.ErrInvalidSyntax.New(sqlext.AsWritten(ast.String(n)))
			}
		}
		return true, nil
	}, stmt)
}

// quantifiedQuery is the right side of such a comparison.
type quantifiedQuery struct {
	all   bool
	query *ast.Subquery
}

func quantifiedOf(call *ast.FuncExpr) (q quantifiedQuery, err error) {
	if len(call.Exprs) == 3 {
		text, isText := call.Exprs[0].(*ast.AliasedExpr)
		query, isQuery := call.Exprs[1].(*ast.AliasedExpr)
		if isText && isQuery {
			if v, ok := text.Expr.(*ast.SQLVal); ok {
				q.all = sqlext.Quantifies(string(v.Val))
			}
			q.query, _ = unparenthesized(query.Expr).(*ast.Subquery)
		}
	}
	if q.query == nil {
		return q, sql.ErrFunctionNotFound.New(sqlext.QuantifiedFunction)
	}
	return q, nil
}

// compare makes the comparison one without a quantifier. asked: that NULL is not true is all that matters.
func (q quantifiedQuery) compare(n *ast.ComparisonExpr, asked bool) error {
	equal, unequal := n.Operator == ast.EqualStr, n.Operator == ast.NotEqualStr
	switch {
	case equal && !q.all:
		n.Operator, n.Right = ast.InStr, q.query
		return nil
	case unequal && q.all:
		n.Operator, n.Right = ast.NotInStr, q.query
		return nil
	}
	if row, ok := n.Left.(ast.ValTuple); ok {
		return sql.ErrInvalidOperandColumns.New(1, len(row))
	}
	if s, ok := q.query.Select.(*ast.Select); ok && len(s.SelectExprs) > 1 {
		return sql.ErrInvalidOperandColumns.New(1, len(s.SelectExprs))
	}
	extremes := []string{"MAX"}
	switch {
	case equal, unequal:
		extremes = []string{"MIN", "MAX"}
	case strings.HasPrefix(n.Operator, ast.GreaterThanStr) != q.all:
		extremes = []string{"MIN"}
	}
	if asked && !q.all && len(extremes) == 1 {
		n.Right = q.value(call(extremes[0], quantifiedColumn()))
		return nil
	}
	var found ast.Expr
	for _, extreme := range extremes {
		one := ast.Expr(&ast.ComparisonExpr{Operator: n.Operator, Left: n.Left, Right: q.value(call(extreme, quantifiedColumn()))})
		found = q.join(found, one)
	}
	empty := &ast.ComparisonExpr{Operator: ast.EqualStr, Left: q.value(countExpr(nil)), Right: intLiteral(0)}
	noNULL := &ast.ComparisonExpr{Operator: ast.EqualStr, Left: countExpr(nil), Right: countExpr(quantifiedColumn())}
	found = q.join(found, q.value(call("IF", noNULL, ast.BoolVal(q.all), &ast.NullVal{})))
	n.Left, n.Operator, n.Right = call("IF", empty, ast.BoolVal(q.all), found), ast.NotEqualStr, intLiteral(0)
	return nil
}

// join are conditions all, or any, of which hold.
func (q quantifiedQuery) join(a, b ast.Expr) ast.Expr {
	switch {
	case a == nil:
		return b
	case q.all:
		return &ast.AndExpr{Left: a, Right: &ast.ParenExpr{Expr: b}}
	}
	return &ast.OrExpr{Left: a, Right: &ast.ParenExpr{Expr: b}}
}

// The names of the subquery as a table, and of its column.
const (
	quantifiedTable      = "_quantified"
	quantifiedColumnName = "_value"
)

func quantifiedColumn() *ast.ColName {
	return &ast.ColName{Name: ast.NewColIdent(quantifiedColumnName), Qualifier: ast.TableName{Name: ast.NewTableIdent(quantifiedTable)}}
}

// value is an aggregate over the values of the subquery.
func (q quantifiedQuery) value(aggregate ast.Expr) *ast.Subquery {
	from := &ast.AliasedTableExpr{
		Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}, As: ast.NewTableIdent(quantifiedTable),
		Expr: &ast.Subquery{Select: q.query.Select, Columns: ast.Columns{ast.NewColIdent(quantifiedColumnName)}},
	}
	item := &ast.AliasedExpr{Expr: aggregate, InputExpression: ast.String(aggregate)}
	return &ast.Subquery{Select: &ast.Select{SelectExprs: ast.SelectExprs{item}, From: ast.TableExprs{from}}}
}

// call is a call of a function.
func call(name string, args ...ast.Expr) *ast.FuncExpr {
	f := &ast.FuncExpr{Name: ast.NewColIdent(name)}
	for _, arg := range args {
		f.Exprs = append(f.Exprs, &ast.AliasedExpr{Expr: arg})
	}
	return f
}

// countExpr is COUNT of an expression; nil: of the rows.
func countExpr(e ast.Expr) *ast.FuncExpr {
	if e != nil {
		return call("COUNT", e)
	}
	return &ast.FuncExpr{Name: ast.NewColIdent("COUNT"), Exprs: ast.SelectExprs{&ast.StarExpr{}}}
}
