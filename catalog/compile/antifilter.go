package compile

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"lakesql/batch"
	"lakesql/vector"
)

// compileAntiFilter compiles what GMS makes of an anti join: a left join with a column on the right that is a constant, and a filter for the rows in which
// it is NULL. An anti join does not make the pairs first. The columns of the right side are NULL.
func compileAntiFilter(ctx *sql.Context, in scope, n *plan.Filter) (*pipeline, bool) {
	join, ok := n.Child.(*plan.JoinNode)
	if !ok || join.Filter == nil || !join.Op.IsLeftOuter() {
		return nil, false
	}
	kind := vector.AntiJoin
	if join.Op.IsExcludeNulls() {
		kind = vector.NotInJoin
	}
	width := len(join.Left().Schema(ctx))
	right, ok := below(join.Right()).(*plan.Project)
	if !ok {
		return nil, false
	}
	conjuncts, marked := expression.SplitConjunction(ctx, n.Expression), -1
	for i, e := range conjuncts {
		if isMarker(e, right, in.outer+width) {
			marked = i
		}
	}
	if marked < 0 {
		return nil, false
	}
	left, ok := compileNode(ctx, in, join.Left())
	if !ok {
		return nil, false
	}
	beside := in
	beside.lateral += width
	from, ok := compileNode(ctx, beside, right.Child)
	if !ok {
		return nil, false
	}
	build := side{p: from, at: make([]int, len(from.fields))}
	for i := range build.at {
		build.at[i] = -1
	}
	var nulls []batch.Field
	for i, e := range right.Projections {
		field := batch.Field{Type: batch.Type{Kind: batch.Int64}, Nullable: true}
		if column, ok := e.(*expression.GetField); ok {
			at := column.Index() - in.outer
			if at < 0 || at >= len(from.fields) {
				return nil, false
			}
			build.at[at], field.Type = width+i, from.fields[at].Type
		}
		nulls = append(nulls, field)
	}
	row, ok := rowOf(ctx, join.Filter, in.outer+in.lateral, width+len(nulls))
	if !ok {
		return nil, false
	}
	p, ok := joinSides(ctx, kind, side{p: left}, build, splitTuples(ctx, row))
	if !ok {
		return nil, false
	}
	p = p.withNulls(nulls)
	rest := append(append([]sql.Expression(nil), conjuncts[:marked]...), conjuncts[marked+1:]...)
	if len(rest) == 0 {
		return p, true
	}
	p, unmet := compileFilter(ctx, p, expression.JoinAnd(rest...))
	return p, len(unmet) == 0
}

// below is a node without what only caches its rows, or finds them by a key.
func below(n sql.Node) sql.Node {
	switch n := n.(type) {
	case *plan.HashLookup:
		return below(n.Child)
	case *plan.CachedResults:
		return below(n.Child)
	}
	return n
}

// isMarker says whether a condition asks for a constant of a projection to be NULL, whose columns begin at a position.
func isMarker(e sql.Expression, right *plan.Project, first int) bool {
	is, ok := e.(*expression.IsNull)
	if !ok {
		return false
	}
	column, ok := is.Child.(*expression.GetField)
	if !ok || column.Index() < first || column.Index() >= first+len(right.Projections) {
		return false
	}
	literal, ok := unalias(right.Projections[column.Index()-first]).(*expression.Literal)
	return ok && literal.Value() != nil
}

// withNulls is the pipeline with columns of NULL after its own.
func (p *pipeline) withNulls(fields []batch.Field) *pipeline {
	n := len(p.fields)
	out := p.rearranged(span(0, n))
	out.same = ""
	exprs := make([]vector.Expr, 0, n+len(fields))
	for i, f := range p.fields {
		exprs = append(exprs, vector.NewColumn(i, f))
	}
	for _, f := range fields {
		exprs = append(exprs, vector.NewNull(f.Type))
		out.names = append(out.names, "")
	}
	out.fields = append(out.fields, fields...)
	out.computeOver(p, exprs)
	return out
}
