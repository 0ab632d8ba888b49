package compile

import (
	"math/bits"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"lakesql/vector"
)

// relations are some of a group, by their numbers.
type relations uint64

func (r relations) has(all relations) bool { return r&all == all }

const maxRelations = 64

// joinGroup is relations that are joined in whatever order is best, and the conditions on them. A row of the group has the columns of all relations, one
// after another, and conditions are over such rows.
type joinGroup struct {
	in         scope
	relations  []side // by their columns in a row of the group
	width      int
	conditions []condition
	// distinct are the rows of relations that have each row once, before they are made so: by the first of their columns.
	distinct map[int]*pipeline
	members  []membership
	equal    map[int]goneColumn // by column of the relations that are gone
	// correlated are the conditions that refer to the outer query's columns. They are over rows that have those, and then the group's; nil: there must be none.
	correlated []sql.Expression
}

// condition is one that the rows of a group meet.
type condition struct {
	expr sql.Expression
	uses relations
}

// compileGroup is a node over inner joins.
func compileGroup(ctx *sql.Context, in scope, n sql.Node) (*pipeline, bool) {
	g := &joinGroup{in: in}
	if !g.add(ctx, n) || len(g.relations) > maxRelations {
		return nil, false
	}
	return g.compile(ctx)
}

// compileFiltered is a filter all of which compiles. Over joins its conditions are theirs, too.
func compileFiltered(ctx *sql.Context, in scope, n *plan.Filter) (*pipeline, bool) {
	if p, ok := compileAntiFilter(ctx, in, n); ok {
		return p, true
	}
	j, ok := n.Child.(*plan.JoinNode)
	if !ok || !isInner(j.Op) {
		return compileWhole(ctx, in, n.Child, n.Expression)
	}
	var simple, nested []sql.Expression
	for _, e := range expression.SplitConjunction(ctx, n.Expression) {
		if hasSubquery(ctx, e) {
			nested = append(nested, e)
		} else {
			simple = append(simple, e)
		}
	}
	below := n.Child
	if len(simple) > 0 {
		below = plan.NewFilter(ctx, expression.JoinAnd(simple...), n.Child)
	}
	p, ok := compileGroup(ctx, in, below)
	if !ok || len(nested) == 0 {
		return p, ok
	}
	p, rest := compileFilter(ctx, p, expression.JoinAnd(nested...))
	return p, len(rest) == 0
}

// add takes a node into the group: a join with its sides and conditions, or a relation.
func (g *joinGroup) add(ctx *sql.Context, n sql.Node) bool {
	first := g.width
	switch n := n.(type) {
	case *plan.HashLookup:
		return g.add(ctx, n.Child)
	case *plan.JoinNode:
		if isInner(n.Op) {
			return g.add(ctx, n.Left()) && g.add(ctx, n.Right()) && (n.Filter == nil || g.require(ctx, n.Filter, g.in.outer+g.in.lateral))
		}
	case *plan.Filter:
		j, ok := n.Child.(*plan.JoinNode)
		if joins := ok && isInner(j.Op); (joins || g.correlated != nil) && !hasSubquery(ctx, n.Expression) {
			return g.add(ctx, n.Child) && g.require(ctx, n.Expression, g.in.outer-first)
		}
	}
	in := g.in
	in.lateral += first
	p, ok := g.relation(ctx, in, n)
	if !ok {
		return false
	}
	g.relations = append(g.relations, side{p: p, first: first})
	g.width += len(p.fields)
	return true
}

// require adds the conjuncts of a condition over rows that begin with so many columns of others.
func (g *joinGroup) require(ctx *sql.Context, e sql.Expression, begin int) bool {
	for _, c := range expression.SplitConjunction(ctx, e) {
		if used := columnsIn(ctx, c); g.correlated != nil && len(used) > 0 && used[0] < g.in.outer {
			c, ok := moved(ctx, c, func(i int) int {
				if i < g.in.outer {
					return i
				}
				return g.in.outer + i - begin
			})
			if !ok || hasSubquery(ctx, c) {
				return false
			}
			g.correlated = append(g.correlated, c)
			continue
		}
		c, ok := rowOf(ctx, c, begin, g.width)
		if !ok {
			return false
		}
		for _, c := range factored(ctx, c) {
			g.conditions = append(g.conditions, condition{expr: c, uses: g.usedBy(ctx, c)})
		}
	}
	return true
}

// usedBy are the relations whose columns an expression looks at.
func (g *joinGroup) usedBy(ctx *sql.Context, e sql.Expression) relations {
	var out relations
	for _, c := range columnsIn(ctx, e) {
		out |= 1 << g.relationOf(c)
	}
	return out
}

// relationOf is the relation of a column.
func (g *joinGroup) relationOf(column int) int {
	for i, r := range g.relations {
		if column < r.first+len(r.p.fields) {
			return i
		}
	}
	return len(g.relations) - 1
}

// compile joins the relations.
func (g *joinGroup) compile(ctx *sql.Context) (*pipeline, bool) {
	if !g.filter(ctx) {
		return nil, false
	}
	return g.join(ctx)
}

// reduced are the joined relations with, or without, a match on the right, as the kind has it: right's columns come after the group's in the conditions. A
// relation that alone decides it is reduced before it is joined, unless the joins leave fewer rows than it has.
func (g *joinGroup) reduced(ctx *sql.Context, kind vector.JoinKind, right *pipeline, conditions []sql.Expression) (*pipeline, bool) {
	if !g.filter(ctx) {
		return nil, false
	}
	r := side{p: right, first: g.width}
	var uses relations
	for i, e := range conditions {
		e, ok := g.replaced(ctx, e)
		if !ok {
			return nil, false
		}
		conditions[i] = e
		for _, c := range columnsIn(ctx, e) {
			if c < g.width {
				uses |= 1 << g.relationOf(c)
			}
		}
	}
	if len(g.relations) > 1 && bits.OnesCount64(uint64(uses)) == 1 {
		l := &g.relations[bits.TrailingZeros64(uint64(uses))]
		if l.p.size().rows <= newJoinOrder(ctx, g).best().rows {
			var ok bool
			if l.p, ok = joinSides(ctx, kind, *l, r, conditions); !ok {
				return nil, false
			}
			return g.join(ctx)
		}
	}
	p, ok := g.join(ctx)
	if !ok {
		return nil, false
	}
	return joinSides(ctx, kind, side{p: p}, r, conditions)
}

// filter puts the conditions of one relation on it.
func (g *joinGroup) filter(ctx *sql.Context) bool {
	g.imply(ctx)
	own := make([][]sql.Expression, len(g.relations))
	var rest []condition
	for _, c := range g.conditions {
		if bits.OnesCount64(uint64(c.uses)) <= 1 {
			i := bits.TrailingZeros64(uint64(c.uses | 1<<(len(g.relations)-1))) // one of no relation is any one's
			own[i] = append(own[i], c.expr)
		} else {
			rest = append(rest, c)
		}
	}
	g.conditions = rest
	for i, r := range g.relations {
		var ok bool
		if len(own[i]) > 0 {
			delete(g.distinct, r.first)
		}
		if g.relations[i], ok = r.filtered(ctx, own[i]); !ok {
			return false
		}
	}
	return g.findMembers(ctx)
}

// join joins the relations, which are filtered.
func (g *joinGroup) join(ctx *sql.Context) (*pipeline, bool) {
	late, ok := g.reduce(ctx)
	if !ok {
		return nil, false
	}
	p, ok := g.joinAll(ctx)
	for _, m := range late {
		if !ok {
			return nil, false
		}
		p, ok = joinSides(ctx, vector.SemiJoin, side{p: p}, side{p: m.rows, first: g.width}, m.equal)
	}
	return p, ok
}

func (g *joinGroup) joinAll(ctx *sql.Context) (*pipeline, bool) {
	if len(g.relations) == 1 && len(g.equal) == 0 {
		return g.relations[0].p, len(g.conditions) == 0
	}
	if len(g.relations) == 1 && len(g.conditions) > 0 {
		return nil, false
	}
	o := newJoinOrder(ctx, g)
	joined, ok := o.join(ctx, o.best())
	if !ok {
		return nil, false
	}
	columns := make([]int, g.width)
	for i, position := range joined.at {
		columns[position] = i
	}
	for column, gone := range g.equal {
		columns[column] = columns[gone.field.Index()]
	}
	p := joined.p.rearranged(columns)
	for column, gone := range g.equal {
		p.names[column], p.ids[column] = gone.name, 0
	}
	p.outer = g.in.outer
	p.share()
	return p, true
}

// join joins two sides of a group by those of its conditions that need both, and by equal columns.
func (o *joinOrder) join(ctx *sql.Context, t *joinTree) (side, bool) {
	if t.left == nil {
		s := o.group.relations[bits.TrailingZeros64(uint64(t.set))]
		s.at = span(s.first, len(s.p.fields))
		return s, true
	}
	left, ok := o.join(ctx, t.left)
	if !ok {
		return side{}, false
	}
	right, ok := o.join(ctx, t.right)
	if !ok {
		return side{}, false
	}
	j := &joining{kind: vector.InnerJoin, probe: left, build: right}
	if !left.p.addressed && left.p.size().rows < right.p.size().rows {
		j.probe, j.build = right, left
	}
	for _, pair := range o.equalities(t.left.set, t.right.set) {
		if !j.require(ctx, pair) {
			return side{}, false
		}
	}
	for _, c := range o.conditions {
		if t.set.has(c.uses) && !t.left.set.has(c.uses) && !t.right.set.has(c.uses) && !j.require(ctx, c.expr) {
			return side{}, false
		}
	}
	p, ok := j.pipeline()
	if !ok {
		return side{}, false
	}
	p.size = func() size {
		return size{rows: t.rows, columns: o.columns(append(j.probe.at[:len(j.probe.at):len(j.probe.at)], j.build.at...), t.rows)}
	}
	return side{p: p, at: append(j.probe.at[:len(j.probe.at):len(j.probe.at)], j.build.at...)}, true
}
