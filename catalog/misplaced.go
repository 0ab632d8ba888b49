package catalog

import (
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// refuseMisplaced refuses an aggregate or a window function in the WHERE of a query, which GMS plans all the same. One in a subquery may be of the query around it.
func refuseMisplaced(stmt ast.SQLNode) error {
	switch s := stmt.(type) {
	case *ast.SetOp:
		if err := refuseMisplaced(s.Left); err != nil {
			return err
		}
		return refuseMisplaced(s.Right)
	case *ast.ParenSelect:
		return refuseMisplaced(s.Select)
	case *ast.Select:
		if s.Where != nil {
			return ast.Walk(misplaced, s.Where)
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
