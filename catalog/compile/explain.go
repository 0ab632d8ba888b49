package compile

import (
	"errors"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// explain shows the plan as it will be executed: chains that compile appear as the operators of a Vector node, and what the log answers as a
// Statistics node. The parser turns
// plain EXPLAIN into the tree form, whose one text column every driver can read.
func (b *Builder) explain(ctx *sql.Context, n *plan.DescribeQuery, outer sql.Row) (sql.RowIter, error) {
	if !n.Format.Plan {
		return nil, nil
	}
	if n.Format.Analyze {
		if err := b.runForStatistics(ctx, n, outer); err != nil {
			return nil, err
		}
	}
	shown, err := markCompiled(ctx, n.Child)
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

func (b *Builder) runForStatistics(ctx *sql.Context, n *plan.DescribeQuery, outer sql.Row) error {
	if !n.Child.IsReadOnly() {
		return errors.New("EXPLAIN ANALYZE executes the statement, and this one would change something")
	}
	iter, err := b.base.Build(ctx, n.Child, outer)
	if err != nil {
		return err
	}
	return Each(ctx, iter, func(sql.Row) error { return nil })
}

// markCompiled puts a compiledNode in the place of each chain that compiles, the longest ones.
func markCompiled(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	out, _, err := transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		whole, err := withOriginals(ctx, n)
		if err != nil {
			return nil, transform.SameTree, err
		}
		if p, ok := compileNode(ctx, whole); ok {
			return &compiledNode{Node: whole, title: "Vector", text: p.text}, transform.NewTree, nil
		}
		if text, ok, err := explainStatistics(ctx, whole); ok || err != nil {
			return &compiledNode{Node: whole, title: "Statistics", text: text}, transform.NewTree, err
		}
		return n, transform.SameTree, nil
	})
	return out, err
}

// withOriginals puts what compiledNodes stand for back under a node.
func withOriginals(ctx *sql.Context, n sql.Node) (sql.Node, error) {
	children := n.Children()
	changed := false
	originals := make([]sql.Node, len(children))
	for i, child := range children {
		originals[i] = child
		if c, ok := child.(*compiledNode); ok {
			originals[i], changed = c.Node, true
		}
	}
	if !changed {
		return n, nil
	}
	return n.WithChildren(ctx, originals...)
}

// compiledNode stands for a compiled chain in the text of EXPLAIN. It is never executed.
type compiledNode struct {
	sql.Node
	title string // what executes it
	text  []string
}

// Children are none: the chain is one thing.
func (n *compiledNode) Children() []sql.Node { return nil }

func (n *compiledNode) String() string {
	printed := ""
	for i := len(n.text) - 1; i >= 0; i-- {
		printed = node(n.text[i], printed)
	}
	return node(n.title, printed)
}

// Describe is String, whatever the options.
func (n *compiledNode) Describe(*sql.Context, sql.DescribeOptions) string { return n.String() }

func node(title, child string) string {
	p := sql.NewTreePrinter()
	_ = p.WriteNode("%s", title)
	if child != "" {
		_ = p.WriteChildren(child)
	}
	return p.String()
}
