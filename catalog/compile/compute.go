package compile

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// Caster is an expression that is a CAST as NewCast of package vector does it, where that can do it.
type Caster interface {
	sql.Expression
	// CastTo is what is cast, and the type; false for a CAST that batches would do otherwise.
	CastTo(ctx *sql.Context) (sql.Expression, batch.Type, bool)
}

// Computation is the columns of a SELECT over one Source, computed for batches that its owner has. It belongs to one goroutine.
type Computation struct {
	source *batch.Schema
	out    []computed
}

// computed is one column: over batches where expr is not nil, else row by row.
type computed struct {
	typ  batch.Type
	expr vector.Expr
	rows sql.Expression
}

// Compute prepares the columns of an analyzed plan, which must be a projection of one Source. types are those that the values are to
// have: others are converted as by an INSERT, and what does not convert is an error.
func Compute(ctx *sql.Context, n sql.Node, types []batch.Type) (*Computation, error) {
	projections, source, err := projectionOf(ctx, n)
	if err != nil {
		return nil, err
	}
	if len(projections) != len(types) {
		return nil, fmt.Errorf("plan with %d columns for %d expressions", len(projections), len(types))
	}
	strict := stricter{onFault: Refuse}
	child := sourcePipeline(ctx, statementScope(ctx), source)
	c := &Computation{source: &batch.Schema{Fields: source.Columns()}, out: make([]computed, len(types))}
	for i, e := range projections {
		out := &c.out[i]
		out.typ = types[i]
		if x, err := (compiler{ctx: ctx, p: child, watched: true}).compile(unalias(e)); err == nil {
			if x, err = vector.NewCast(x, types[i]); err == nil {
				out.expr = x
				continue
			}
		}
		if out.rows, err = strict.column(ctx, e, false); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// projectionOf takes a plan apart. A plan that gives the source's columns as they are may have no projection.
func projectionOf(ctx *sql.Context, n sql.Node) ([]sql.Expression, Source, error) {
	project, ok := n.(*plan.Project)
	if !ok {
		schema := n.Schema(ctx)
		all := make([]sql.Expression, len(schema))
		for i, c := range schema {
			all[i] = expression.NewGetFieldWithTable(i, 0, c.Type, c.DatabaseSource, c.Source, c.Name, c.Nullable)
		}
		project = plan.NewProject(ctx, all, n)
	}
	child := project.Child
	if alias, ok := child.(*plan.TableAlias); ok {
		child = alias.Child
	}
	source, ok := child.(Source)
	if !ok {
		return nil, nil, fmt.Errorf("an expression over one row is planned as %T over %T", n, child)
	}
	return project.Projections, source, nil
}

// Eval computes the columns for the rows that a batch of the source selects, as vectors of the batch's length. They are valid until
// the next call.
func (c *Computation) Eval(ctx *sql.Context, b *batch.Batch) ([]*batch.Vector, error) {
	out := make([]*batch.Vector, len(c.out))
	var rows []sql.Row
	for i, x := range c.out {
		var err error
		if x.expr != nil {
			out[i], err = x.expr.Eval(ctx, b)
		} else {
			if rows == nil {
				rows = c.rows(b)
			}
			out[i], err = x.eval(ctx, rows)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// rows are the batch's rows; nil where a row is not selected.
func (c *Computation) rows(b *batch.Batch) []sql.Row {
	getters := make([]mysqltype.Getter, len(b.Cols))
	for i, col := range b.Cols {
		getters[i] = mysqltype.NewGetter(c.source.Fields[i], col)
	}
	out := make([]sql.Row, b.Len)
	for i := range b.Rows() {
		at := b.Row(i)
		row := make(sql.Row, len(getters))
		for j, get := range getters {
			row[j] = get(at)
		}
		out[at] = row
	}
	return out
}

func (x computed) eval(ctx *sql.Context, rows []sql.Row) (*batch.Vector, error) {
	out := batch.NewVector(x.typ, len(rows))
	for _, row := range rows {
		if row == nil {
			out.AppendNulls(1)
			continue
		}
		v, err := x.rows.Eval(ctx, row)
		if err == nil {
			v, err = mysqltype.ToBatch(ctx, batch.Field{Type: x.typ}, v)
		}
		if err == nil {
			err = out.AppendValue(v)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.rows, err)
		}
	}
	return out, nil
}
