package resultmeta

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/sqltypes"
)

// Of are the columns of a plan's result; nil where a statement's columns are not those of a query.
func Of(ctx *sql.Context, query sql.Node) []Column {
	d := &derivation{ctx: ctx, columns: map[sql.ColumnId]Column{}}
	return d.node(query)
}

// derivation goes through a plan from the tables up.
type derivation struct {
	ctx     *sql.Context
	columns map[sql.ColumnId]Column // what expressions refer to; those of tables are missing
}

// node are the columns of a node; nil: they are a table's.
func (d *derivation) node(n sql.Node) []Column {
	switch n := n.(type) {
	case *plan.Project:
		d.node(n.Child)
		return d.list(n.Projections, d.selected)
	case *plan.GroupBy:
		d.node(n.Child)
		grouped := len(n.GroupByExprs) > 0
		return d.list(n.SelectDeps, func(e sql.Expression) Column {
			c := d.selected(e)
			if _, sorted := e.(*aggregation.GroupConcat); grouped && c.Known && !sorted { // rows that GROUP_CONCAT reads are sorted, and no temporary table has its texts
				return c.stored()
			}
			return c
		})
	case *plan.Window:
		d.node(n.Child)
		return d.list(n.SelectExprs, d.selected)
	case *plan.SubqueryAlias:
		of := d.node(n.Child)
		if !merged(n.Child) {
			for i, c := range of {
				if c.Known {
					of[i] = c.stored()
				}
			}
		}
		d.number(n.Columns(), of)
		return of
	case *plan.SetOp:
		return d.union(n)
	case *plan.RecursiveCte:
		of := d.node(n.Left())
		for i := range of {
			of[i] = Column{}
		}
		return of
	}
	children := n.Children()
	if len(children) == 1 {
		return d.node(children[0])
	}
	for _, c := range children {
		d.node(c)
	}
	return nil
}

// list are the columns of expressions, each of which others may refer to.
func (d *derivation) list(of []sql.Expression, column func(sql.Expression) Column) []Column {
	columns := make([]Column, len(of))
	for i, e := range of {
		columns[i] = column(e)
		if named, ok := e.(sql.IdExpression); ok && named.Id() != 0 && columns[i].Known {
			d.columns[named.Id()] = columns[i]
		}
	}
	return columns
}

// number has columns referred to by ids in their order.
func (d *derivation) number(ids sql.ColSet, of []Column) {
	i := 0
	ids.ForEach(func(id sql.ColumnId) {
		if i < len(of) && of[i].Known {
			d.columns[id] = of[i]
		}
		i++
	})
}

// union are the columns of UNION, EXCEPT and INTERSECT.
func (d *derivation) union(n *plan.SetOp) []Column {
	left, right := d.node(n.Left()), d.node(n.Right())
	left, right = d.unconverted(n.Left(), left), d.unconverted(n.Right(), right)
	ls, rs := n.Left().Schema(d.ctx), n.Right().Schema(d.ctx)
	if len(ls) != len(rs) {
		return nil
	}
	out := make([]Column, len(ls))
	for i := range out {
		l, r := sideOf(left, ls, i), sideOf(right, rs, i)
		if l.Type == r.Type && l.Type == sqltypes.TypeJSON && !known(left, i) && !known(right, i) {
			continue // as the tables'
		}
		if out[i] = merge(l, r); out[i].Known {
			out[i] = out[i].stored().notNull(l.NotNull && r.NotNull)
		}
	}
	d.number(n.Columns(), out)
	return out
}

func known(columns []Column, i int) bool { return i < len(columns) && columns[i].Known }

// unconverted are the columns of one side of a UNION before GMS converts them to the type that it has for both sides.
func (d *derivation) unconverted(side sql.Node, of []Column) []Column {
	p, ok := side.(*plan.Project)
	if !ok {
		return of
	}
	for i, e := range p.Projections {
		alias, ok := e.(*expression.Alias)
		if !ok {
			continue
		}
		cast, ok := alias.Child.(*expression.Convert)
		if !ok {
			continue
		}
		if f, ok := cast.Child.(*expression.GetField); ok && f.Name() == alias.Name() && i < len(of) {
			of[i] = d.expression(f)
		}
	}
	return of
}

// sideOf is a column of one side of a UNION.
func sideOf(columns []Column, schema sql.Schema, i int) Column {
	if known(columns, i) {
		return columns[i]
	}
	return ofType(schema[i].Type, schema[i].DatabaseSource != "" && !schema[i].Nullable)
}

// merged says whether MySQL computes a derived table with the query around it: only tables of others are kept as one.
func merged(n sql.Node) bool {
	switch n := n.(type) {
	case *plan.Project:
		return merged(n.Child)
	case *plan.Filter:
		return merged(n.Child)
	case *plan.TableAlias:
		return merged(n.Child)
	case *plan.JoinNode:
		return merged(n.Left()) && merged(n.Right())
	case *plan.SubqueryAlias, *plan.ResolvedTable:
		r, ok := n.(*plan.ResolvedTable)
		return !ok || r.Name() != ""
	}
	return false
}
