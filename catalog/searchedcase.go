package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// searchCases writes CASE value WHEN other ... as CASE WHEN value = other ..., so that the rules for comparisons see what is compared. GMS computes the value for
// each WHEN either way.
func searchCases(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	c, ok := e.(*expression.Case)
	if !ok || c.Expr == nil {
		return e, transform.SameTree, nil
	}
	branches := make([]expression.CaseBranch, len(c.Branches))
	for i, b := range c.Branches {
		branches[i] = expression.CaseBranch{Cond: expression.NewEquals(c.Expr, b.Cond), Value: b.Value}
	}
	return expression.NewCase(nil, branches, c.Else), transform.NewTree, nil
}
