package catalog

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// keepGrantTables refuses to write into the database mysql, also where it is the current one: only statements about accounts do.
func keepGrantTables(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	var err error
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		switch n := n.(type) {
		case *plan.InsertInto:
			transform.Inspect(n.Destination, func(of sql.Node) bool {
				if t, ok := of.(*plan.ResolvedTable); ok && isGrantDatabase(t.Database()) {
					err = errGrantTables
				}
				return err == nil
			})
		case *plan.CreateView:
			if isGrantDatabase(n.Database()) {
				err = errViews
			}
		}
		return err == nil
	})
	return n, transform.SameTree, err
}

func isGrantDatabase(db sql.Database) bool { return db != nil && strings.EqualFold(db.Name(), "mysql") }
