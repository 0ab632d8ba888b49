package catalog

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// ownNames gives the tables of subqueries in HAVING names of their own where the query around has tables of the same name. GMS takes an aggregate there for
// one of the query around that reads the same: HAVING SUM(n) > (SELECT SUM(n) FROM t) over t.
func ownNames(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		s, ok := n.(*ast.Select)
		if !ok || s.Having == nil {
			return true, nil
		}
		outer := unaliased(s.From)
		return true, ast.Walk(func(n ast.SQLNode) (bool, error) {
			if sub, ok := n.(*ast.Subquery); ok {
				if inner, ok := sub.Select.(*ast.Select); ok {
					return true, rename(inner, outer)
				}
			}
			return true, nil
		}, s.Having)
	}, stmt)
}

// unaliased are the tables of a FROM that go by their own names, by those in lower case.
func unaliased(from ast.TableExprs) map[string]*ast.AliasedTableExpr {
	out := make(map[string]*ast.AliasedTableExpr)
	var add func(e ast.TableExpr)
	add = func(e ast.TableExpr) {
		switch e := e.(type) {
		case *ast.AliasedTableExpr:
			if name, ok := e.Expr.(ast.TableName); ok && e.As.IsEmpty() {
				out[strings.ToLower(name.Name.String())] = e
			}
		case *ast.ParenTableExpr:
			for _, inner := range e.Exprs {
				add(inner)
			}
		case *ast.JoinTableExpr:
			add(e.LeftExpr)
			add(e.RightExpr)
		}
	}
	for _, e := range from {
		add(e)
	}
	return out
}

// rename aliases the tables of a subquery whose names are among others, and what refers to them. What names a database, or a table twice, is left.
func rename(s *ast.Select, others map[string]*ast.AliasedTableExpr) error {
	mine := unaliased(s.From)
	counts := make(map[string]int)
	if err := ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.AliasedTableExpr:
			if name, ok := n.Expr.(ast.TableName); ok {
				counts[strings.ToLower(name.Name.String())]++
			}
		case *ast.ColName:
			if !n.Qualifier.DbQualifier.IsEmpty() {
				counts[strings.ToLower(n.Qualifier.Name.String())]++
			}
		}
		return true, nil
	}, s); err != nil {
		return err
	}
	alias := func(name ast.TableIdent) (ast.TableIdent, bool) {
		key := strings.ToLower(name.String())
		if mine[key] == nil || others[key] == nil || counts[key] != 1 {
			return name, false
		}
		return ast.NewTableIdent(key + "_in_having"), true
	}
	for _, e := range mine {
		if as, ok := alias(e.Expr.(ast.TableName).Name); ok {
			e.As = as
		}
	}
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		if column, ok := n.(*ast.ColName); ok {
			column.Qualifier.Name, _ = alias(column.Qualifier.Name)
		}
		return true, nil
	}, s)
}
