package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"lakesql/catalog/resultmeta"
)

// describeResult keeps what clients are told of the columns of the statement's result. Of all plans that are analyzed for a statement its own comes first.
func describeResult(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	if s, ok := ctx.Session.(*session); ok && !s.described {
		s.result, s.described = resultmeta.Of(ctx, n), true
	}
	return n, transform.SameTree, nil
}

// ResultColumns are what clients are told of the columns of the result of the statement that the session runs; nil: the types of the columns say all.
func ResultColumns(ctx *sql.Context) []resultmeta.Column {
	if s, ok := ctx.Session.(*session); ok {
		return s.result
	}
	return nil
}
