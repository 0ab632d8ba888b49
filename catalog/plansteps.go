package catalog

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// planStep is what a plan reads: a table, a derived table, or the result of a UNION.
type planStep struct {
	id      int // 0: NULL
	kind    string
	table   string // as the statement calls it; "": none
	access  string
	rows    uint64
	counted bool
	extra   []string
}

// planSteps lists what a plan reads, in its order, in the words of MySQL.
func planSteps(ctx *sql.Context, node sql.Node) []planStep {
	w := &stepWalker{ctx: ctx}
	kind := "SIMPLE"
	if w.isComposed(node) {
		kind = "PRIMARY"
	}
	w.query(node, kind)
	return w.steps
}

// stepWalker walks a plan. Each SELECT in it has a number.
type stepWalker struct {
	ctx   *sql.Context
	count int
	steps []planStep
}

// isComposed says whether there is more than one SELECT in a plan.
func (w *stepWalker) isComposed(node sql.Node) bool {
	composed := false
	transform.Inspect(node, func(n sql.Node) bool {
		switch n.(type) {
		case *plan.SubqueryAlias, *plan.SetOp:
			composed = true
		}
		if e, ok := n.(sql.Expressioner); ok {
			for _, e := range e.Expressions() {
				transform.InspectExpr(w.ctx, e, func(_ *sql.Context, e sql.Expression) bool {
					_, is := e.(*plan.Subquery)
					composed = composed || is
					return composed
				})
			}
		}
		return !composed
	})
	return composed
}

// query lists one SELECT, and below it those that it has inside.
func (w *stepWalker) query(node sql.Node, kind string) {
	w.count++
	id, first := w.count, len(w.steps)
	var inner []func()
	w.node(node, id, kind, nil, &inner)
	if len(w.steps) == first {
		w.steps = append(w.steps, planStep{id: id, kind: kind, extra: []string{"No tables used"}})
	}
	for _, f := range inner {
		f()
	}
}

// node lists what a part of a SELECT reads. extra is said of the first table that is read below.
func (w *stepWalker) node(node sql.Node, id int, kind string, extra []string, inner *[]func()) {
	if e, ok := node.(sql.Expressioner); ok {
		w.subqueries(e, inner)
	}
	switch n := node.(type) {
	case *plan.SetOp:
		w.union(n, id, kind)
		return
	case *plan.SubqueryAlias:
		derived := planStep{id: id, kind: kind, access: "ALL", extra: extra}
		at := len(w.steps)
		w.steps = append(w.steps, derived)
		*inner = append(*inner, func() {
			w.steps[at].table = fmt.Sprintf("<derived%d>", w.count+1)
			w.query(n.Child, "DERIVED")
		})
		return
	case *plan.TableAlias:
		if t, ok := n.Child.(*plan.ResolvedTable); ok {
			w.table(t, n.Name(), id, kind, extra)
			return
		}
	case *plan.ResolvedTable:
		w.table(n, n.Name(), id, kind, extra)
		return
	case *plan.Filter:
		extra = append([]string{"Using where"}, extra...)
	case *plan.GroupBy, *plan.Distinct, *plan.Window:
		extra = append([]string{"Using temporary"}, extra...)
	case *plan.Sort, *plan.TopN:
		extra = append([]string{"Using filesort"}, extra...)
	}
	for i, child := range node.Children() {
		if i > 0 {
			extra = nil
			if j, ok := node.(*plan.JoinNode); ok && j.Op.IsHash() {
				extra = []string{"Using join buffer (hash join)"}
			}
		}
		w.node(child, id, kind, extra, inner)
	}
}

func (w *stepWalker) table(n *plan.ResolvedTable, name string, id int, kind string, extra []string) {
	if plan.IsDualTable(n.Table) {
		w.steps = append(w.steps, planStep{id: id, kind: kind, extra: []string{"No tables used"}})
		return
	}
	s := planStep{id: id, kind: kind, table: name, access: "ALL", extra: extra}
	t := n.Table
	if wrapped, ok := t.(sql.TableWrapper); ok {
		t = wrapped.Underlying()
	}
	if known, ok := t.(*table); ok {
		if rows, exact := known.exactRows(); exact {
			s.rows, s.counted = uint64(rows), true
		}
	}
	w.steps = append(w.steps, s)
}

// union lists the parts of a UNION, and its result.
func (w *stepWalker) union(n *plan.SetOp, id int, kind string) {
	w.count-- // the first part has the number of the whole
	first := "PRIMARY"
	if kind == "DERIVED" || kind == "SUBQUERY" {
		first = kind
	}
	w.query(n.Left(), first)
	second := w.count + 1
	w.query(n.Right(), "UNION")
	w.steps = append(w.steps, planStep{kind: "UNION RESULT", table: fmt.Sprintf("<union%d,%d>", id, second), access: "ALL", extra: []string{"Using temporary"}})
}

// subqueries lists the SELECTs within expressions, after the tables of the one around them.
func (w *stepWalker) subqueries(n sql.Expressioner, inner *[]func()) {
	for _, e := range n.Expressions() {
		transform.InspectExpr(w.ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if s, ok := e.(*plan.Subquery); ok {
				kind := "SUBQUERY"
				if !s.Correlated().Empty() {
					kind = "DEPENDENT SUBQUERY"
				}
				*inner = append(*inner, func() { w.query(s.Query, kind) })
			}
			return false
		})
	}
}
