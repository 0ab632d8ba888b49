package catalog

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// intervalRule is the id of addIntervals among the analyzer's rules.
const intervalRule analyzer.RuleId = 10003

// installIntervalRule adds addIntervals, once, as installOverflowRule does.
var installIntervalRule = sync.OnceFunc(func() {
	analyzer.AlwaysBeforeDefault = append(analyzer.AlwaysBeforeDefault, analyzer.Rule{Id: intervalRule, Apply: addIntervals})
})

// addIntervals makes DATE_ADD and DATE_SUB of t + INTERVAL and t - INTERVAL, which mean the same in MySQL; GMS's cut the parts of a second off.
func addIntervals(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeExprsWithOpaque(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		a, ok := e.(*expression.Arithmetic)
		if !ok {
			return e, transform.SameTree, nil
		}
		date, interval := a.LeftChild, a.RightChild
		if _, ok := date.(*expression.Interval); ok {
			date, interval = interval, date
		}
		if _, ok := interval.(*expression.Interval); !ok {
			return e, transform.SameTree, nil
		}
		var out sql.Expression
		var err error
		if a.Op == "-" {
			out, err = function.NewDateSub(ctx, date, interval)
		} else {
			out, err = function.NewDateAdd(ctx, date, interval)
		}
		return out, transform.NewTree, err
	})
}
