package compile

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
)

// Builder executes what it can of a plan, and leaves the rest to GMS.
type Builder struct {
	base *rowexec.BaseBuilder
	// rowsOnly leaves aggregations to the rows.
	rowsOnly bool
}

var _ sql.NodeExecBuilder = (*Builder)(nil)

// Install makes the builder GMS's first choice.
func Install(base *rowexec.BaseBuilder) { base.PriorityBuilder = &Builder{base: base} }

// Build returns the rows of a node; nil, nil when GMS shall build it. outer is what
// rows begin with: what stands to the left in joins. What may refer to an outer query (PrependNode and what is above it) is never compiled here.
func (b *Builder) Build(ctx *sql.Context, n sql.Node, outer sql.Row) (sql.RowIter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *plan.DescribeQuery:
		return b.explain(ctx, n, outer)
	case *plan.ShowCreateTable:
		return showCreate(ctx, n), nil
	case *plan.ShowColumns:
		return showColumns(ctx, n)
	case *plan.InsertInto:
		return b.buildInsert(ctx, n, outer)
	case *plan.GroupBy:
		return b.buildGroupBy(ctx, n, outer)
	case *plan.Filter:
		return b.buildFilter(ctx, n, outer)
	case *plan.JoinNode:
		return b.buildJoin(ctx, n, outer)
	case *plan.SetOp:
		return b.buildSetOp(ctx, n, outer)
	case *plan.Sort:
		return b.buildSort(ctx, n, outer)
	case *plan.Window:
		return b.buildWindow(ctx, n, outer)
	case numbered:
		return n.build(ctx, outer)
	case compared:
		return n.build(ctx, outer)
	case distinctOf:
		return n.build(ctx, outer)
	case *plan.Distinct:
		return b.buildDistinct(ctx, n, n.Child, outer)
	case *plan.OrderedDistinct:
		return b.buildDistinct(ctx, n, n.Child, outer)
	case *plan.Project, *plan.TableAlias, *plan.ResolvedTable, *plan.SubqueryAlias, *plan.Having,
		*plan.TopN, *plan.Limit, *plan.Offset:
		return b.buildWhole(ctx, n, outer)
	}
	return nil, nil
}

// buildWhole runs a node that compiles as a whole; nil, nil when it does not.
func (b *Builder) buildWhole(ctx *sql.Context, n sql.Node, outer sql.Row) (sql.RowIter, error) {
	p, ok := compileNode(ctx, besides(ctx, outer), n)
	if !ok {
		return nil, nil
	}
	return b.run(ctx, n, outer, p)
}

// run gives the rows of a node by the pipeline that it compiled to; nil, nil when they are not to come from one.
func (b *Builder) run(ctx *sql.Context, n sql.Node, outer sql.Row, p *pipeline) (sql.RowIter, error) {
	if p.aggregated && b.rowsOnly {
		return nil, nil
	}
	runs(ctx, n, p)
	rows, err := p.rows(ctx)
	if err != nil || !p.aggregated {
		return rows, err
	}
	return &secondTry{rows: rows, batches: rows, onRows: func(ctx *sql.Context) (sql.RowIter, error) {
		leaves(ctx, n)
		base := *b.base
		base.PriorityBuilder = &Builder{base: &base, rowsOnly: true}
		return base.Build(ctx, n, outer)
	}}, nil
}

// buildDistinct leaves to GMS what does not compile, and of which bytes decide.
func (b *Builder) buildDistinct(ctx *sql.Context, n, child sql.Node, outer sql.Row) (sql.RowIter, error) {
	whole, err := b.buildWhole(ctx, n, outer)
	if schema := n.Schema(ctx); whole == nil && err == nil && collatedKeys(schema) {
		rows, err := b.base.Build(ctx, child, outer)
		if err != nil {
			return nil, err
		}
		return newDistinctRows(rows, schema), nil
	}
	return whole, err
}

// buildFilter runs the conjuncts that compile on batches, and the others on the rows that are left.
func (b *Builder) buildFilter(ctx *sql.Context, n *plan.Filter, outer sql.Row) (sql.RowIter, error) {
	if whole, err := b.buildWhole(ctx, n, outer); whole != nil || err != nil {
		return whole, err
	}
	child, ok := compileNode(ctx, besides(ctx, outer), n.Child)
	if !ok {
		if rows, err := buildNarrowed(ctx, n); rows != nil || err != nil {
			return rows, err
		}
	}
	if !ok || child.aggregated {
		rows, err := b.base.Build(ctx, n.Child, outer)
		if err != nil {
			return nil, err
		}
		return plan.NewFilterIter(&interruptible{Expression: n.Expression}, rows), nil
	}
	p, rest := compileFilter(ctx, child, n.Expression)
	runs(ctx, n.Child, p)
	iter, err := p.rows(ctx)
	if err != nil || len(rest) == 0 {
		return iter, err
	}
	predicate, err := foldDates(ctx, expression.JoinAnd(rest...))
	if err != nil {
		return nil, closeAfter(ctx, iter, err)
	}
	return plan.NewFilterIter(&interruptible{Expression: predicate}, iter), nil
}

func (b *Builder) buildGroupBy(ctx *sql.Context, n *plan.GroupBy, outer sql.Row) (sql.RowIter, error) {
	if s, ok := fromStatistics(ctx, n); ok {
		row, known, err := s.row(ctx)
		if err != nil {
			return nil, err
		}
		if known {
			return sql.RowsToRowIter(row), nil
		}
	}
	if p, ok := compileAggregation(ctx, besides(ctx, outer), n); ok { // statistics were asked already
		if rows, err := b.run(ctx, n, outer, p); rows != nil || err != nil {
			return rows, err
		}
	}
	if len(n.GroupByExprs) == 0 {
		return nil, nil // GMS's iterator without keys is a plain loop
	}
	child, err := b.base.Build(ctx, n.Child, outer)
	if err != nil {
		return nil, err
	}
	return newGroupBy(ctx, n, child), nil
}
