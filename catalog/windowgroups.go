package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// windowOverGroups makes a SELECT with windows over groups, which GMS refuses, one over a derived table of the groups:
//
//	SELECT a, SUM(SUM(x)) OVER (ORDER BY a) FROM t GROUP BY a
//	SELECT g.c1 AS a, SUM(g.c2) OVER (ORDER BY g.c1) AS ... FROM (SELECT a AS c1, SUM(x) AS c2 FROM t GROUP BY a) g
//
// One with a subquery beside the windows, or with *, is left as it is.
func windowOverGroups(s *ast.Select) error {
	g, err := groupsOf(s)
	if err != nil {
		return err
	}
	if !g.windows || g.other || len(s.GroupBy) == 0 && !g.aggregates {
		return nil
	}
	g.derive(s)
	if s.Having != nil {
		having := *s.Having
		having.Expr = g.having(having.Expr)
		g.below.Having = &having
	}
	for _, w := range s.Window {
		g.window(w)
	}
	g.from(s)
	return nil
}

// derive makes the query of the groups, and of the select list and the order expressions over it.
func (g *groupedSelect) derive(s *ast.Select) {
	g.below = &ast.Select{From: s.From, Where: s.Where, Lock: s.Lock}
	for _, e := range s.GroupBy {
		key := g.key(s, e)
		g.below.GroupBy = append(g.below.GroupBy, key)
		g.keys = append(g.keys, ast.String(key))
	}
	for _, item := range s.SelectExprs {
		item := item.(*ast.AliasedExpr)
		if item.As.IsEmpty() {
			name := item.InputExpression
			if column, ok := item.Expr.(*ast.ColName); ok {
				name = column.Name.String()
			} else if name == "" {
				name = ast.String(item.Expr)
			}
			item.As = ast.NewColIdent(name)
		}
		item.Expr = g.above(item.Expr)
	}
	for _, by := range s.OrderBy {
		if column, ok := by.Expr.(*ast.ColName); ok && column.Qualifier.IsEmpty() && g.aliases[column.Name.Lowered()] != nil {
			continue
		}
		by.Expr = g.above(by.Expr)
	}
}

// from makes the derived table all that the SELECT is from.
func (g *groupedSelect) from(s *ast.Select) {
	from := &ast.AliasedTableExpr{Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}, Expr: &ast.Subquery{Select: g.below}, As: ast.NewTableIdent(groupsTable)}
	s.From, s.Where, s.GroupBy, s.Having, s.Lock = ast.TableExprs{from}, nil, nil, nil, nil
}

// groupsTable is the name of the derived table.
const groupsTable = "_groups"

// groupedSelect is a SELECT that is taken apart.
type groupedSelect struct {
	windows, aggregates, other bool
	aliases                    map[string]ast.Expr // of the select list
	below                      *ast.Select
	keys                       []string
	columns                    map[string]*ast.ColName // of below, by their text
}

// groupsOf looks at a SELECT.
func groupsOf(s *ast.Select) (*groupedSelect, error) {
	g := &groupedSelect{aliases: make(map[string]ast.Expr), columns: make(map[string]*ast.ColName)}
	return g, g.look(s)
}

// isAggregate says whether an expression is an aggregate of groups.
func isAggregate(n ast.SQLNode) bool {
	switch n := n.(type) {
	case *ast.GroupConcatExpr:
		return true
	case *ast.FuncExpr:
		is, err := planbuilder.IsAggregateFunc(sql.NewEmptyContext(), n.Name.Lowered())
		return is && err == nil && n.Over == nil
	}
	return false
}

// look finds out what there is in the SELECT's own expressions.
func (g *groupedSelect) look(s *ast.Select) error {
	var nodes []ast.SQLNode
	for _, item := range s.SelectExprs {
		aliased, ok := item.(*ast.AliasedExpr)
		if !ok {
			g.other = true
			continue
		}
		if !aliased.As.IsEmpty() {
			g.aliases[aliased.As.Lowered()] = aliased.Expr
		}
		nodes = append(nodes, aliased.Expr)
	}
	for _, by := range s.OrderBy {
		nodes = append(nodes, by.Expr)
	}
	for _, w := range s.Window {
		nodes = append(nodes, w)
	}
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.Subquery:
			g.other = true
			return false, nil
		case *ast.FuncExpr:
			g.windows = g.windows || n.Over != nil
		}
		g.aggregates = g.aggregates || isAggregate(n)
		return true, nil
	}, nodes...)
}

// key is an expression of GROUP BY, which may be the place or the name of one of the select list.
func (g *groupedSelect) key(s *ast.Select, e ast.Expr) ast.Expr {
	if v, ok := e.(*ast.SQLVal); ok && v.Type == ast.IntVal {
		if n, err := strconv.Atoi(string(v.Val)); err == nil && n >= 1 && n <= len(s.SelectExprs) {
			return s.SelectExprs[n-1].(*ast.AliasedExpr).Expr
		}
	}
	return g.unaliased(e)
}

// unaliased is an expression with the names of the select list replaced by what they stand for. A column of a table goes before one of them only where
// it is the same.
func (g *groupedSelect) unaliased(e ast.Expr) ast.Expr {
	return g.replaced(e, func(of ast.Expr) ast.Expr { return of })
}

// having is a condition over the groups. A key that is no column of a table goes by its name among the columns of the groups: GMS knows it by no other.
func (g *groupedSelect) having(e ast.Expr) ast.Expr {
	return g.replaced(e, func(of ast.Expr) ast.Expr {
		if _, ok := of.(*ast.ColName); ok || !slices.Contains(g.keys, ast.String(of)) {
			return of
		}
		return &ast.ColName{Name: g.column(of).Name}
	})
}

// replaced is an expression with something else for each name of the select list.
func (g *groupedSelect) replaced(e ast.Expr, by func(of ast.Expr) ast.Expr) ast.Expr {
	for _, n := range g.topmost(e, func(n ast.SQLNode) bool {
		c, ok := n.(*ast.ColName)
		return ok && c.Qualifier.IsEmpty() && g.aliases[c.Name.Lowered()] != nil
	}) {
		e = ast.ReplaceExpr(e, n, by(g.aliases[n.(*ast.ColName).Name.Lowered()]))
	}
	return e
}

// topmost are the expressions of a kind in another one that are in no other of that kind.
func (g *groupedSelect) topmost(e ast.Expr, kind func(ast.SQLNode) bool) (out []ast.Expr) {
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) { // the visit has no errors
		if x, ok := n.(ast.Expr); ok && kind(n) {
			out = append(out, x)
			return false, nil
		}
		return true, nil
	}, e)
	return out
}

// above is an expression over the groups.
func (g *groupedSelect) above(e ast.Expr) ast.Expr {
	for _, n := range g.topmost(e, func(n ast.SQLNode) bool {
		f, ok := n.(*ast.FuncExpr)
		return ok && f.Over != nil || g.isBelow(n)
	}) {
		if f, ok := n.(*ast.FuncExpr); ok && f.Over != nil {
			for _, arg := range f.Exprs {
				if aliased, ok := arg.(*ast.AliasedExpr); ok {
					aliased.Expr = g.above(aliased.Expr)
				}
			}
			g.window((*ast.WindowDef)(f.Over))
			continue
		}
		e = ast.ReplaceExpr(e, n, g.column(n))
	}
	return e
}

// isBelow says whether an expression is one of the groups.
func (g *groupedSelect) isBelow(n ast.SQLNode) bool {
	if c, ok := n.(*ast.ColName); ok {
		return c.Qualifier.Name.String() != groupsTable // an expression that stands in two places was there already
	}
	if isAggregate(n) {
		return true
	}
	_, ok := n.(ast.Expr)
	return ok && slices.Contains(g.keys, ast.String(n))
}

func (g *groupedSelect) window(w *ast.WindowDef) {
	for i, e := range w.PartitionBy {
		w.PartitionBy[i] = g.above(e)
	}
	for _, by := range w.OrderBy {
		by.Expr = g.above(by.Expr)
	}
}

// column is the column of the groups that an expression is.
func (g *groupedSelect) column(e ast.Expr) *ast.ColName {
	text := ast.String(e)
	if there, ok := g.columns[text]; ok {
		return there
	}
	name := fmt.Sprintf("_%d", len(g.columns)+1)
	g.below.SelectExprs = append(g.below.SelectExprs, &ast.AliasedExpr{Expr: e, As: ast.NewColIdent(name), InputExpression: strings.TrimSpace(text)})
	g.columns[text] = &ast.ColName{Name: ast.NewColIdent(name), Qualifier: ast.TableName{Name: ast.NewTableIdent(groupsTable)}}
	return g.columns[text]
}
