package catalog

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// uniqueColumns refuses a derived table, a common table expression that is read, and a view with two columns of one name.
func uniqueColumns(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	var err error
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if create, ok := n.(*plan.CreateView); ok {
			n = create.Definition
		}
		if s, ok := n.(*plan.SubqueryAlias); ok && err == nil {
			err = uniqueNamesOf(ctx, s)
		}
		return err == nil
	})
	return n, transform.SameTree, err
}

func uniqueNamesOf(ctx *sql.Context, s *plan.SubqueryAlias) error {
	names := s.ColumnNames
	if len(names) == 0 {
		for _, c := range s.Child.Schema(ctx) {
			names = append(names, c.Name)
		}
	}
	seen := map[string]bool{}
	for _, name := range names {
		if key := strings.ToLower(name); seen[key] {
			return sql.ErrDuplicateColumn.New(name)
		} else {
			seen[key] = true
		}
	}
	return nil
}
