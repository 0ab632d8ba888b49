package catalog

import (
	"slices"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// havingOverGroups makes a condition over groups one over a derived table of the groups, where it has aggregates that GMS finds no tables for: those of a
// join whose columns are qualified, because it looks for them by the last part of their names alone, and GROUP_CONCAT; or where it has a key that is computed,
// of which GMS looks for the columns.
//
//	SELECT a.k FROM a JOIN b ON ... GROUP BY a.k HAVING SUM(a.n * b.n) > 1
//	SELECT g.c1 AS k FROM (SELECT a.k AS c1, SUM(a.n * b.n) AS c2 FROM a JOIN b ON ... GROUP BY a.k) g WHERE g.c2 > 1
//
// One with a subquery, or with *, is left as it is.
func havingOverGroups(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		s, ok := n.(*ast.Select)
		if !ok || s.Having == nil {
			return true, nil
		}
		g, err := groupsOf(s)
		if err != nil || g.windows || g.other || !g.lacksTables(s) {
			return true, err
		}
		having := g.unaliased(s.Having.Expr)
		g.derive(s)
		where := &ast.Where{Type: ast.WhereStr, Expr: g.above(having)}
		g.from(s)
		s.Where = where
		return true, nil
	}, stmt)
}

// ofJoin says whether there is more than one table.
func ofJoin(from ast.TableExprs) bool {
	if len(from) != 1 {
		return len(from) > 1
	}
	switch e := from[0].(type) {
	case *ast.JoinTableExpr:
		return true
	case *ast.ParenTableExpr:
		return ofJoin(e.Exprs)
	}
	return false
}

// lacksTables says whether the condition is such a one, without subqueries.
func (g *groupedSelect) lacksTables(s *ast.Select) bool {
	var computed []string
	for _, e := range s.GroupBy {
		if key := g.key(s, e); !isColumn(key) {
			computed = append(computed, ast.String(key))
		}
	}
	lacks, subqueries, joined := false, false, ofJoin(s.From)
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) { // the visit has no errors
		switch n := n.(type) {
		case *ast.Subquery:
			subqueries = true
		case *ast.GroupConcatExpr:
			lacks = true
		case *ast.FuncExpr:
			lacks = lacks || joined && isAggregate(n) && hasQualified(n.Exprs)
		}
		e, ok := n.(ast.Expr)
		lacks = lacks || ok && len(computed) > 0 && slices.Contains(computed, ast.String(e))
		return true, nil
	}, s.Having.Expr)
	return lacks && !subqueries
}

// hasQualified says whether there is a column with its table's name.
func hasQualified(args ast.SelectExprs) bool {
	has := false
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) { // the visit has no errors
		c, ok := n.(*ast.ColName)
		has = has || ok && !c.Qualifier.IsEmpty()
		return true, nil
	}, args)
	return has
}

func isColumn(e ast.Expr) bool {
	_, ok := e.(*ast.ColName)
	return ok
}
