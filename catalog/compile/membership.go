package compile

import (
	"math/bits"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"lakesql/batch"
	"lakesql/vector"
)

// GMS makes of IN and EXISTS an inner join with the distinct rows of the subquery. Where all columns of those are equal to columns of one other relation, each row of that
// has one match at the most, with values that it has itself: a semi join says the same, and needs no distinct rows.

// membership is a semi join of a relation of a group.
type membership struct {
	of    int              // the first column of the relation
	rows  *pipeline        // with columns after the group's
	equal []sql.Expression // over the columns of both
}

// goneColumn is a column of a relation that was taken out of a group.
type goneColumn struct {
	field *expression.GetField // a column that has its values
	name  string
}

// relation compiles a node as a relation of the group, whose columns are the next ones.
func (g *joinGroup) relation(ctx *sql.Context, in scope, n sql.Node) (*pipeline, bool) {
	distinct, ok := below(n).(*plan.Distinct)
	if !ok {
		return compileNode(ctx, in, n)
	}
	rows, ok := compileNode(ctx, in, distinct.Child)
	if !ok {
		return nil, false
	}
	p, ok := rows.distinct(ctx, distinct.Schema(ctx))
	if g.distinct == nil {
		g.distinct = map[int]*pipeline{}
	}
	g.distinct[g.width] = rows
	return p, ok
}

// findMembers takes the relations out of the group that only say which rows of another one there are.
func (g *joinGroup) findMembers(ctx *sql.Context) bool {
	for i := len(g.relations) - 1; i >= 0 && len(g.relations) > 1; i-- {
		r := g.relations[i]
		rows := g.distinct[r.first]
		if rows == nil || slices.ContainsFunc(g.members, func(m membership) bool { return m.of == r.first }) {
			continue
		}
		equal, conditions, ok := g.equalColumns(ctx, i)
		if !ok {
			continue
		}
		m := membership{rows: rows}
		if g.equal == nil {
			g.equal = map[int]goneColumn{}
		}
		for k := range r.p.fields {
			pair := equal[r.first+k]
			g.equal[r.first+k] = goneColumn{field: pair.other, name: r.p.names[k]}
			m.of = g.relations[g.relationOf(pair.other.Index())].first
			m.equal = append(m.equal, expression.NewEquals(pair.other, pair.mine.WithIndex(g.width+k)))
		}
		g.members = append(g.members, m)
		g.conditions = nil
		for _, c := range conditions {
			e, ok := g.replaced(ctx, c.expr)
			if !ok {
				return false
			}
			g.conditions = append(g.conditions, condition{expr: e})
		}
		g.relations = append(g.relations[:i], g.relations[i+1:]...)
		for k, c := range g.conditions { // relations have other numbers now
			g.conditions[k].uses = g.usedBy(ctx, c.expr)
		}
	}
	return true
}

// equalColumns finds for each column of a relation one of the same type that it is equal to, all of one other relation, and the conditions that are left.
func (g *joinGroup) equalColumns(ctx *sql.Context, of int) (equal map[int]equalPair, rest []condition, ok bool) {
	r := g.relations[of]
	equal = map[int]equalPair{}
	with := -1
	for _, c := range g.conditions {
		pair, is := g.equality(ctx, c, of)
		if !is || equal[pair.mine.Index()].mine != nil || with >= 0 && g.relationOf(pair.other.Index()) != with {
			rest = append(rest, c)
			continue
		}
		with = g.relationOf(pair.other.Index())
		equal[pair.mine.Index()] = pair
	}
	// What is left must not need both alone: it would be a condition on the rows of one relation.
	for _, c := range rest {
		if uses := c.uses &^ (1 << of); c.uses.has(1<<of) && bits.OnesCount64(uint64(uses|1<<max(with, 0))) < 2 {
			return nil, nil, false
		}
	}
	return equal, rest, len(equal) == len(r.p.fields)
}

// equalPair is a column of a relation and one of another, which are equal.
type equalPair struct{ mine, other *expression.GetField }

// equality takes apart a condition that a column of a relation is equal to one of another: bytes that are equal are the same value.
func (g *joinGroup) equality(ctx *sql.Context, c condition, of int) (pair equalPair, ok bool) {
	eq, ok := c.expr.(*expression.Equals)
	if !ok {
		return pair, false
	}
	l, okL := eq.Left().(*expression.GetField)
	r, okR := eq.Right().(*expression.GetField)
	if !okL || !okR {
		return pair, false
	}
	if g.relationOf(l.Index()) != of {
		l, r = r, l
	}
	if g.relationOf(l.Index()) != of || g.relationOf(r.Index()) == of {
		return pair, false
	}
	t := g.typeOf(l.Index())
	isFloat := t.Kind == batch.Float32 || t.Kind == batch.Float64
	return equalPair{l, r}, t == g.typeOf(r.Index()) && !isFloat && byBytes(l.Type(ctx)) && byBytes(r.Type(ctx))
}

// typeOf is the type of a column of the group.
func (g *joinGroup) typeOf(column int) batch.Type {
	r := g.relations[g.relationOf(column)]
	return r.p.fields[column-r.first].Type
}

// replaced is an expression with other columns in the places of those that are gone.
func (g *joinGroup) replaced(ctx *sql.Context, e sql.Expression) (sql.Expression, bool) {
	out, _, err := transform.Expr(ctx, e, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		if f, ok := e.(*expression.GetField); ok {
			if gone, ok := g.equal[f.Index()]; ok {
				return gone.field, transform.NewTree, nil
			}
		}
		return e, transform.SameTree, nil
	})
	return out, err == nil
}

// reduce joins relations with the rows that say which of theirs there are, and returns what is better done when the relations are joined: where that leaves fewer rows.
func (g *joinGroup) reduce(ctx *sql.Context) (late []membership, ok bool) {
	for _, m := range g.members {
		l := &g.relations[g.relationOf(m.of)]
		if len(g.relations) > 1 && l.p.size().rows > newJoinOrder(ctx, g).best().rows {
			late = append(late, m)
			continue
		}
		if l.p, ok = joinSides(ctx, vector.SemiJoin, *l, side{p: m.rows, first: g.width}, m.equal); !ok {
			return nil, false
		}
	}
	return late, true
}
