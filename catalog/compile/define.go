package compile

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// Definer is a table that words its own CREATE TABLE, as GMS cannot: it knows InnoDB only.
type Definer interface {
	CreateStatement(ctx *sql.Context) string
}

// showCreate is SHOW CREATE TABLE of a Definer; nil for other tables and for views.
func showCreate(ctx *sql.Context, n *plan.ShowCreateTable) sql.RowIter {
	t, ok := n.Child.(*plan.ResolvedTable)
	if !ok || n.IsView {
		return nil
	}
	d, ok := sql.GetUnderlyingTable(t.Table).(Definer)
	if !ok {
		return nil
	}
	return sql.RowsToRowIter(sql.Row{t.Name(), d.CreateStatement(ctx)})
}
