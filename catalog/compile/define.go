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

// Keyed is a table that has a primary key which is information, and nothing for the planner.
type Keyed interface {
	PrimaryKey() []string
}

// showKeys is DESCRIBE, or SHOW COLUMNS, of a Keyed table as one whose columns say that they are of the primary key; nil where they do.
func showKeys(ctx *sql.Context, n *plan.ShowColumns) (sql.Node, error) {
	t, ok := n.Child.(*plan.ResolvedTable)
	if !ok {
		return nil, nil
	}
	keyed, ok := sql.GetUnderlyingTable(t.Table).(Keyed)
	if !ok {
		return nil, nil
	}
	schema, changed := n.TargetSchema().Copy(), false
	for _, name := range keyed.PrimaryKey() {
		if at := schema.IndexOfColName(name); at >= 0 && !schema[at].PrimaryKey {
			schema[at].PrimaryKey, changed = true, true
		}
	}
	if !changed {
		return nil, nil
	}
	return n.WithTargetSchema(schema)
}
