package compile

import (
	"errors"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// explain shows the plan as it will be executed: chains that compile appear as the operators of a Vector node, and what the log answers as a
// Statistics node. The parser turns
// plain EXPLAIN into the tree form, whose one text column every driver can read.
func (b *Builder) explain(ctx *sql.Context, n *plan.DescribeQuery, outer sql.Row) (sql.RowIter, error) {
	if !n.Format.Plan {
		return nil, nil
	}
	mark := markCompiled
	if n.Format.Analyze {
		a, err := b.analyze(ctx, n, outer)
		if err != nil {
			return nil, err
		}
		mark = a.mark
	}
	shown, err := mark(ctx, statementScope(ctx), n.Child)
	if err != nil {
		return nil, err
	}
	var out []sql.Row
	for line := range strings.SplitSeq(sql.Describe(ctx, shown, n.Format), "\n") {
		if strings.TrimSpace(line) != "" {
			out = append(out, sql.NewRow(strings.TrimRight(line, "\r")))
		}
	}
	return sql.RowsToRowIter(out...), nil
}

// analyze executes the statement, and observes what of it runs on columns.
func (b *Builder) analyze(ctx *sql.Context, n *plan.DescribeQuery, outer sql.Row) (*analysis, error) {
	if !n.Child.IsReadOnly() {
		return nil, errors.New("EXPLAIN ANALYZE executes the statement, and this one would change something")
	}
	ctx, a := analysed(ctx)
	iter, err := b.base.Build(ctx, n.Child, outer)
	if err != nil {
		return nil, err
	}
	return a, Each(ctx, iter, func(sql.Row) error { return nil })
}

// mark puts a compiledNode in the place of each part of a plan that ran on columns.
func (a *analysis) mark(ctx *sql.Context, in scope, n sql.Node) (sql.Node, error) {
	if s, ok := a.ran[n]; ok {
		return &compiledNode{Node: n, plan: &step{title: "Vector", below: []*step{s}}}, nil
	}
	return markBelow(ctx, in, n, a.mark)
}

// markCompiled puts a compiledNode in the place of each part of a plan that compiles, the largest ones.
func markCompiled(ctx *sql.Context, in scope, n sql.Node) (sql.Node, error) {
	if p, ok := compileNode(ctx, in, n); ok {
		sharedBelow(p.plan)
		return &compiledNode{Node: n, plan: &step{title: "Vector", below: []*step{p.plan}}}, p.plan.look(ctx)
	}
	if f, ok := n.(*plan.Filter); ok {
		if child, ok := compileNode(ctx, in, f.Child); ok && !child.aggregated {
			p, _ := compileFilter(ctx, child, f.Expression)
			if err := p.plan.look(ctx); err != nil {
				return nil, err
			}
			return f.WithChildren(ctx, &compiledNode{Node: f.Child, plan: &step{title: "Vector", below: []*step{p.plan}}})
		}
	}
	return markBelow(ctx, in, n, markCompiled)
}

// markBelow marks what is below a node that does not run on columns, or the node where statistics are its answer.
func markBelow(ctx *sql.Context, in scope, n sql.Node, mark func(*sql.Context, scope, sql.Node) (sql.Node, error)) (sql.Node, error) {
	if answer, ok, err := explainStatistics(ctx, n); ok || err != nil {
		return &compiledNode{Node: n, plan: answer}, err
	}
	children := slices.Clone(n.Children())
	if len(children) == 0 {
		return n, nil
	}
	_, joined := n.(*plan.JoinNode)
	for i, child := range children {
		var err error
		if children[i], err = mark(ctx, in, child); err != nil {
			return nil, err
		}
		if joined {
			in.lateral += len(child.Schema(ctx))
		}
	}
	return n.WithChildren(ctx, children...)
}

// compiledNode stands for a compiled chain in the text of EXPLAIN. It is never executed.
type compiledNode struct {
	sql.Node
	plan *step
}

// Children are none: the chain is one thing.
func (n *compiledNode) Children() []sql.Node { return nil }

func (n *compiledNode) String() string { return n.plan.String() }

// Describe is String, whatever the options.
func (n *compiledNode) Describe(*sql.Context, sql.DescribeOptions) string { return n.String() }
