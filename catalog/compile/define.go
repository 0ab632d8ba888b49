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

// Columned is a table that says what SHOW COLUMNS shows of it: of GMS's words a literal default has quotes, a type its character set, and a collation is the server's.
type Columned interface {
	ShowColumns(ctx *sql.Context, full bool) ([]sql.Row, error)
}

// showColumns is DESCRIBE, or SHOW COLUMNS, of a Columned table; nil for others and for views.
func showColumns(ctx *sql.Context, n *plan.ShowColumns) (sql.RowIter, error) {
	t, ok := n.Child.(*plan.ResolvedTable)
	if !ok {
		return nil, nil
	}
	columned, ok := sql.GetUnderlyingTable(t.Table).(Columned)
	if !ok {
		return nil, nil
	}
	rows, err := columned.ShowColumns(ctx, n.Full)
	if err != nil {
		return nil, err
	}
	return sql.RowsToRowIter(rows...), nil
}
