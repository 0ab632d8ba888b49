package compile

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// columnsIn are the positions of the columns that an expression looks at, ascending, each once.
func columnsIn(ctx *sql.Context, e sql.Expression) []int {
	var out []int
	transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		if f, ok := e.(*expression.GetField); ok {
			out = append(out, f.Index())
		}
		return false
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// moved is an expression with its columns at other positions.
func moved(ctx *sql.Context, e sql.Expression, to func(position int) int) (out sql.Expression, ok bool) {
	out, _, err := transform.Expr(ctx, e, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if f, ok := e.(*expression.GetField); ok {
			return f.WithIndex(to(f.Index())), transform.NewTree, nil
		}
		return e, transform.SameTree, nil
	})
	return out, err == nil
}
