package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/resultmeta"
	"lakesql/sqlext"
)

// describeResult keeps what clients are told of the columns of the statement's result. Of all plans that are analyzed for a statement its own comes first.
func describeResult(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	if s, ok := ctx.Session.(*session); ok && !s.described {
		s.result, s.described = resultmeta.Of(ctx, n), true
		warnDeprecated(ctx)
		warnJSONCompared(ctx, n)
	}
	return n, transform.SameTree, nil
}

// warnDeprecated warns of what MySQL will not take for ever.
func warnDeprecated(ctx *sql.Context) {
	for _, d := range sqlext.Deprecations(ctx.Query()) {
		if d.Word == "||" && sql.LoadSqlMode(ctx).PipesAsConcat() {
			continue
		}
		ctx.Warn(deprecated, "%s", d.Message)
	}
}

// deprecated is the number of MySQL's warning.
const deprecated = 1287

// ResultColumns are what clients are told of the columns of the result of the statement that the session runs; nil: the types of the columns say all.
func ResultColumns(ctx *sql.Context) []resultmeta.Column {
	if s, ok := ctx.Session.(*session); ok {
		return s.result
	}
	return nil
}

// warnJSONCompared warns of operators that compare documents as texts.
func warnJSONCompared(ctx *sql.Context, n sql.Node) {
	transform.InspectExpressions(ctx, n, func(ctx *sql.Context, e sql.Expression) bool {
		operator := ""
		switch f := e.(type) {
		case *expression.Between:
			operator = "BETWEEN operator"
		case sql.FunctionExpression:
			if name := functionName(f); name == "greatest" || name == "least" {
				operator = "LEAST and GREATEST operators"
			}
		}
		if operator != "" && slices.ContainsFunc(e.Children(), func(c sql.Expression) bool { return c.Resolved() && types.IsJSON(c.Type(ctx)) }) {
			ctx.Warn(notSupported, "This version of MySQL doesn't yet support 'comparison of JSON in the %s'", operator)
		}
		return true
	})
}

// notSupported is the number of MySQL's warning.
const notSupported = 1235
