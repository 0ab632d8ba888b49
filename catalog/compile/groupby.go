package compile

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// cancelInterval is after how many rows an iterator asks whether the statement was cancelled.
const cancelInterval = 1024

// groupBy executes GROUP BY with keys, row by row, on one goroutine. GMS's own iterator reads on a second goroutine, which waits for
// ever when an expression fails, and cannot be killed.
type groupBy struct {
	node   *plan.GroupBy
	child  sql.RowIter
	key    sql.Row
	schema sql.Schema // of key

	groups map[uint64][]sql.AggregationBuffer
	order  []uint64 // of first appearance; nil until the child is read
	next   int
	done   bool
}

func newGroupBy(ctx *sql.Context, n *plan.GroupBy, child sql.RowIter) *groupBy {
	schema := make(sql.Schema, len(n.GroupByExprs))
	for i, e := range n.GroupByExprs {
		schema[i] = &sql.Column{Type: e.Type(ctx)}
	}
	return &groupBy{
		node: n, child: child, key: make(sql.Row, len(schema)), schema: schema, groups: make(map[uint64][]sql.AggregationBuffer),
	}
}

// Next returns the next group, in the order in which the groups first appeared.
func (g *groupBy) Next(ctx *sql.Context) (sql.Row, error) {
	if !g.done {
		if err := g.readAll(ctx); err != nil {
			return nil, err
		}
		g.done = true
	}
	if g.next == len(g.order) {
		return nil, io.EOF
	}
	if g.next%cancelInterval == 0 && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	buffers := g.groups[g.order[g.next]]
	g.next++
	row := make(sql.Row, len(buffers))
	for i, b := range buffers {
		v, err := b.Eval(ctx)
		if err != nil {
			return nil, err
		}
		row[i] = v
	}
	return row, nil
}

func (g *groupBy) readAll(ctx *sql.Context) error {
	for n := 1; ; n++ {
		row, err := g.child.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n%cancelInterval == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		buffers, err := g.groupOf(ctx, row)
		if err != nil {
			return err
		}
		for _, b := range buffers {
			if err := b.Update(ctx, row); err != nil {
				return err
			}
		}
	}
}

func (g *groupBy) groupOf(ctx *sql.Context, row sql.Row) ([]sql.AggregationBuffer, error) {
	for i, e := range g.node.GroupByExprs {
		v, err := e.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		g.key[i] = v
	}
	h, err := hash.HashOf(ctx, g.schema, g.key)
	if err != nil {
		return nil, err
	}
	if buffers, ok := g.groups[h]; ok {
		return buffers, nil
	}
	buffers := make([]sql.AggregationBuffer, len(g.node.SelectDeps))
	for i, e := range g.node.SelectDeps {
		if buffers[i], err = newBuffer(ctx, e); err != nil {
			return nil, err
		}
	}
	g.groups[h] = buffers
	g.order = append(g.order, h)
	return buffers, nil
}

// newBuffer aggregates an expression; one that is no aggregate gives its value in the group's first row.
func newBuffer(ctx *sql.Context, e sql.Expression) (sql.AggregationBuffer, error) {
	if a, ok := e.(sql.Aggregation); ok {
		return a.NewBuffer(ctx)
	}
	return aggregation.NewFirst(e).NewBuffer(ctx)
}

// Close releases the groups and the child.
func (g *groupBy) Close(ctx *sql.Context) error {
	for _, buffers := range g.groups {
		for _, b := range buffers {
			b.Dispose(ctx)
		}
	}
	g.groups, g.order = nil, nil
	return g.child.Close(ctx)
}
