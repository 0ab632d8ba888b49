package catalog

import (
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// refuseMisplaced refuses an aggregate or a window function in the WHERE or the GROUP BY of a query, and in the arguments of an aggregate, all of which GMS plans, or fails at in
// other words. One in a subquery may be of the query around it.
func refuseMisplaced(stmt ast.SQLNode) error {
	if err := misplacedInClauses(stmt); err != nil {
		return err
	}
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.GroupConcatExpr:
			return true, ast.Walk(misplaced, n.Exprs)
		case *ast.FuncExpr:
			if n.IsAggregate() && n.Over == nil {
				return true, ast.Walk(misplaced, n.Exprs)
			}
		}
		return true, nil
	}, stmt)
}

func misplacedInClauses(stmt ast.SQLNode) error {
	switch s := stmt.(type) {
	case *ast.SetOp:
		if err := misplacedInClauses(s.Left); err != nil {
			return err
		}
		return misplacedInClauses(s.Right)
	case *ast.ParenSelect:
		return misplacedInClauses(s.Select)
	case *ast.Select:
		if s.Where != nil {
			if err := ast.Walk(misplaced, s.Where); err != nil {
				return err
			}
		}
		if err := ast.Walk(misplaced, s.GroupBy); err != nil {
			return err
		}
		return groupedAggregate(s)
	}
	return nil
}

// groupedAggregate refuses to group by the number of a column of the query that an aggregate is in.
func groupedAggregate(s *ast.Select) error {
	for _, by := range s.GroupBy {
		number, ok := by.(*ast.SQLVal)
		if !ok || number.Type != ast.IntVal {
			continue
		}
		for i, item := range s.SelectExprs {
			column, ok := item.(*ast.AliasedExpr)
			if !ok {
				break // what is behind a * has no number yet
			}
			if string(number.Val) == strconv.Itoa(i+1) && ast.Walk(misplaced, column.Expr) != nil {
				name := column.As.String()
				if name == "" {
					name = column.InputExpression
				}
				return mysql.NewSQLError(1056, "42000", "Can't group on '%s'", name)
			}
		}
	}
	return nil
}

func misplaced(n ast.SQLNode) (bool, error) {
	switch n := n.(type) {
	case *ast.Subquery:
		return false, nil
	case *ast.GroupConcatExpr:
		return false, errGroupFunction
	case *ast.FuncExpr:
		if n.Over != nil {
			return false, mysql.NewSQLError(3593, mysql.SSUnknownSQLState, "You cannot use the window function '%s' in this context.'", strings.ToLower(n.Name.String()))
		}
		if n.IsAggregate() {
			return false, errGroupFunction
		}
	}
	return true, nil
}

var errGroupFunction = mysql.NewSQLError(1111, mysql.SSUnknownSQLState, "Invalid use of group function")

// uniqueNames refuses a WITH that has a name twice.
func uniqueNames(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		with, ok := n.(*ast.With)
		if !ok || with == nil {
			return true, nil
		}
		seen := map[string]bool{}
		for _, e := range with.Ctes {
			if name := e.As.String(); seen[name] {
				return false, mysql.NewSQLError(1066, "42000", "Not unique table/alias: '%s'", name)
			} else {
				seen[name] = true
			}
		}
		return true, nil
	}, stmt)
}
