package catalog

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/sqlext"
)

// givenRowsFunction is the table function whose rows the statement itself supplies.
const givenRowsFunction = "__given_rows"

// givenRowsKey is the context's key of givenRows.
type givenRowsKey struct{}

// givenRows are the rows of __given_rows().
type givenRows struct {
	schema sql.Schema
	rows   []sql.Row
}

// newTableFunctions makes the functions that stand where a table may stand, by their names in lower case.
func (c *Catalog) newTableFunctions() map[string]sql.TableFunction {
	return map[string]sql.TableFunction{
		"read_files":          &readFiles{c: c},
		"table_changes":       &tableChanges{c: c},
		sqlext.SourceFunction: &streamSource{},
		givenRowsFunction:     &givenRowsNode{},
		levelsFunction:        &rollupLevels{},
	}
}

// leaf is the part of a table function's node that is the same for all: no children, no expressions, no database.
type leaf struct{ database sql.Database }

// Resolved is true: arguments are evaluated when the node is made.
func (leaf) Resolved() bool { return true }

// IsReadOnly is true.
func (leaf) IsReadOnly() bool { return true }

// Children are none.
func (leaf) Children() []sql.Node { return nil }

// Expressions are none.
func (leaf) Expressions() []sql.Expression { return nil }

// Database is the one that was current.
func (l leaf) Database() sql.Database { return l.database }

func noChildren(n sql.Node, given int) (sql.Node, error) {
	if given > 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, given, 0)
	}
	return n, nil
}

// givenRowsNode is the node of __given_rows().
type givenRowsNode struct {
	leaf
	givenRows
}

var _ sql.TableFunction = (*givenRowsNode)(nil)

// NewInstance takes the rows from the context.
func (n *givenRowsNode) NewInstance(ctx *sql.Context, db sql.Database, _ []sql.Expression) (sql.Node, error) {
	given, ok := ctx.Value(givenRowsKey{}).(givenRows)
	if !ok {
		return nil, fmt.Errorf("%s is not for statements", givenRowsFunction)
	}
	schema := given.schema.Copy()
	for _, c := range schema {
		c.Source = givenRowsFunction
	}
	return &givenRowsNode{leaf{db}, givenRows{schema, given.rows}}, nil
}

// Name is the function's name.
func (n *givenRowsNode) Name() string   { return givenRowsFunction }
func (n *givenRowsNode) String() string { return givenRowsFunction }

// Schema is that of the rows.
func (n *givenRowsNode) Schema(*sql.Context) sql.Schema { return n.schema }

// WithChildren returns the node.
func (n *givenRowsNode) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return noChildren(n, len(children))
}

// WithExpressions returns the node.
func (n *givenRowsNode) WithExpressions(*sql.Context, ...sql.Expression) (sql.Node, error) {
	return n, nil
}

// WithDatabase returns the node in another database.
func (n *givenRowsNode) WithDatabase(db sql.Database) (sql.Node, error) {
	return &givenRowsNode{leaf{db}, n.givenRows}, nil
}

// RowIter hands out the rows.
func (n *givenRowsNode) RowIter(*sql.Context, sql.Row) (sql.RowIter, error) {
	return sql.RowsToRowIter(n.rows...), nil
}
