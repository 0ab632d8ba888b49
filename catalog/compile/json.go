package compile

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/mysqltype"
)

// exactJSON lets an INSERT read the texts for JSON columns before GMS does, which takes every number in them for a double. It returns n itself
// when there is nothing to read.
func exactJSON(ctx *sql.Context, n *plan.InsertInto) *plan.InsertInto {
	table, source := n.Destination.Schema(ctx), n.Source.Schema(ctx)
	if len(table) != len(source) || isExact(n.Source) {
		return n
	}
	found := false
	columns := make([]sql.Expression, len(source))
	for i, c := range source {
		columns[i] = expression.NewGetFieldWithTable(i, 0, c.Type, c.DatabaseSource, c.Source, c.Name, c.Nullable)
		if types.IsJSON(table[i].Type) {
			found = true
			columns[i] = &document{columns[i]}
		}
	}
	if !found {
		return n
	}
	if _, ok := compileNode(ctx, n.Source); ok {
		return n
	}
	out := *n
	out.Source = plan.NewProject(ctx, columns, n.Source)
	return &out
}

// isExact says whether the source of an INSERT comes from exactJSON.
func isExact(n sql.Node) bool {
	p, ok := n.(*plan.Project)
	if !ok {
		return false
	}
	for _, e := range p.Projections {
		if _, ok := e.(*document); ok {
			return true
		}
	}
	return false
}

// document is a value as a JSON column takes it.
type document struct{ text sql.Expression }

func (d *document) Resolved() bool                 { return d.text.Resolved() }
func (d *document) String() string                 { return fmt.Sprintf("json(%s)", d.text) }
func (d *document) Type(*sql.Context) sql.Type     { return types.JSON }
func (d *document) IsNullable(c *sql.Context) bool { return d.text.IsNullable(c) }
func (d *document) Children() []sql.Expression     { return []sql.Expression{d.text} }

// WithChildren is of another text.
func (d *document) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(d, len(children), 1)
	}
	return &document{children[0]}, nil
}

// Eval reads the text.
func (d *document) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := d.text.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil || v == nil {
		return nil, err
	}
	return mysqltype.ToJSON(ctx, v)
}
