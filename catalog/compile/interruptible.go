package compile

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// interruptible is a condition that fails once the statement was cancelled. GMS's joins and filters read on as long as no row meets theirs, and look for
// nothing else.
type interruptible struct {
	sql.Expression
	calls int
}

// Eval gives the condition's value.
func (i *interruptible) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if i.calls++; i.calls%cancelInterval == 0 && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return i.Expression.Eval(ctx, row)
}

// buildJoin leaves what does not compile to GMS, its condition interruptible. A cross join has none, but builds its right side anew for each row of the left.
func (b *Builder) buildJoin(ctx *sql.Context, n *plan.JoinNode, outer sql.Row) (sql.RowIter, error) {
	if _, again := n.Filter.(*interruptible); again {
		return nil, nil
	}
	if whole, err := b.buildWhole(ctx, n, outer); whole != nil || err != nil || n.Filter == nil {
		return whole, err
	}
	own := *n
	own.Filter = &interruptible{Expression: n.Filter}
	return b.base.Build(ctx, &own, outer)
}
