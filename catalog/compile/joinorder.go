package compile

import (
	"math"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"lakesql/batch"
	"lakesql/vector"
)

// exhaustive is up to how many relations every order is looked at; 3 to the power of them are the steps.
const exhaustive = 10

// joinOrder finds the order in which the relations of a group are joined at least cost: rows that are read, kept and handed on.
type joinOrder struct {
	group      *joinGroup
	conditions []condition // that are no equalities of columns
	classes    []equals
	sizes      []size // by relation
}

// equals are columns that are equal in each row of the group, one of a relation at most. It is enough to equate two of them wherever two sides are joined.
type equals struct {
	columns []int
	fields  []*expression.GetField // by column
	uses    relations
}

// joinTree is an order of joins.
type joinTree struct {
	set         relations
	left, right *joinTree // nil: one relation
	rows, cost  float64
}

func newJoinOrder(ctx *sql.Context, g *joinGroup) *joinOrder {
	o := &joinOrder{group: g}
	for _, r := range g.relations {
		o.sizes = append(o.sizes, r.p.size())
	}
	for _, c := range g.conditions {
		if !o.equate(ctx, c.expr) {
			o.conditions = append(o.conditions, c)
		}
	}
	for i := range o.classes {
		for _, c := range o.classes[i].columns {
			o.classes[i].uses |= 1 << g.relationOf(c)
		}
	}
	return o
}

// equate takes in an equality of two columns of one type.
func (o *joinOrder) equate(_ *sql.Context, e sql.Expression) bool {
	eq, ok := e.(*expression.Equals)
	if !ok {
		return false
	}
	l, okL := eq.Left().(*expression.GetField)
	r, okR := eq.Right().(*expression.GetField)
	if !okL || !okR || o.field(l.Index()) != o.field(r.Index()) {
		return false
	}
	var of relations
	together := append(o.equalTo(l.Index()), o.equalTo(r.Index())...)
	slices.Sort(together)
	for _, column := range slices.Compact(together) {
		if of.has(1 << o.group.relationOf(column)) {
			return false
		}
		of |= 1 << o.group.relationOf(column)
	}
	at := -1
	for _, f := range []*expression.GetField{l, r} {
		at = o.unite(at, f)
	}
	return true
}

// equalTo are the columns of the class of a column, and itself.
func (o *joinOrder) equalTo(column int) []int {
	for _, c := range o.classes {
		if slices.Contains(c.columns, column) {
			return slices.Clone(c.columns)
		}
	}
	return []int{column}
}

// unite adds a column to a class, -1 for a new one, with all columns that it is known to be equal to, and returns the class.
func (o *joinOrder) unite(class int, f *expression.GetField) int {
	for i, c := range o.classes {
		for _, column := range c.columns {
			if column != f.Index() || i == class {
				continue
			}
			if class < 0 {
				return i
			}
			o.classes[class].columns = append(o.classes[class].columns, c.columns...)
			o.classes[class].fields = append(o.classes[class].fields, c.fields...)
			o.classes = append(o.classes[:i], o.classes[i+1:]...)
			if i < class {
				class--
			}
			return class
		}
	}
	if class < 0 {
		o.classes = append(o.classes, equals{})
		class = len(o.classes) - 1
	}
	for _, column := range o.classes[class].columns {
		if column == f.Index() {
			return class
		}
	}
	o.classes[class].columns = append(o.classes[class].columns, f.Index())
	o.classes[class].fields = append(o.classes[class].fields, f)
	return class
}

// field is the type of a column of the group.
func (o *joinOrder) field(column int) batch.Type {
	r := o.group.relations[o.group.relationOf(column)]
	return r.p.fields[column-r.first].Type
}

// equalities are what equates the columns of two sides.
func (o *joinOrder) equalities(left, right relations) []sql.Expression {
	var out []sql.Expression
	for _, c := range o.classes {
		l, r := o.first(c, left), o.first(c, right)
		if l >= 0 && r >= 0 {
			out = append(out, expression.NewEquals(c.fields[l], c.fields[r]))
		}
	}
	return out
}

// first is the first of equal columns that is among relations; -1: none is.
func (o *joinOrder) first(c equals, among relations) int {
	if c.uses&among == 0 {
		return -1
	}
	for i, column := range c.columns {
		if among.has(1 << o.group.relationOf(column)) {
			return i
		}
	}
	return -1
}

// best is the order of least cost, of all or, where there are too many, of those that join the two that make the fewest rows at each step.
func (o *joinOrder) best() *joinTree {
	n := len(o.group.relations)
	single := make([]*joinTree, n)
	for i := range single {
		single[i] = &joinTree{set: 1 << i, rows: max(1, o.sizes[i].rows)}
	}
	if o.group.relations[0].p.addressed {
		return o.written(single)
	}
	if n > exhaustive {
		return o.greedy(single)
	}
	trees := make([]*joinTree, 1<<n)
	for i, t := range single {
		trees[1<<i] = t
	}
	for set := 1; set < len(trees); set++ {
		for left := (set - 1) & set; left > set&^left; left = (left - 1) & set {
			if t := o.pair(trees[left], trees[set&^left]); trees[set] == nil || t.cost < trees[set].cost {
				trees[set] = t
			}
		}
	}
	return trees[len(trees)-1]
}

// written is the order in which the relations stand in the statement.
func (o *joinOrder) written(trees []*joinTree) *joinTree {
	out := trees[0]
	for _, t := range trees[1:] {
		out = o.pair(out, t)
	}
	return out
}

func (o *joinOrder) greedy(trees []*joinTree) *joinTree {
	for len(trees) > 1 {
		var best *joinTree
		at := [2]int{}
		for i := range trees {
			for k := i + 1; k < len(trees); k++ {
				if t := o.pair(trees[i], trees[k]); best == nil || t.rows < best.rows || t.rows == best.rows && t.cost < best.cost {
					best, at = t, [2]int{i, k}
				}
			}
		}
		trees[at[0]] = best
		trees = append(trees[:at[1]], trees[at[1]+1:]...)
	}
	return trees[0]
}

// What a row costs where it is kept and found again, in terms of one that is handed on.
const buildCost = 3

// pair joins two trees. The smaller one is kept.
func (o *joinOrder) pair(l, r *joinTree) *joinTree {
	out := &joinTree{set: l.set | r.set, left: l, right: r}
	out.rows = max(1, l.rows*r.rows*o.share(l, r))
	out.cost = l.cost + r.cost + max(l.rows, r.rows) + buildCost*min(l.rows, r.rows) + out.rows
	return out
}

// share estimates which share of the pairs of rows meets the conditions that need both sides.
func (o *joinOrder) share(l, r *joinTree) float64 {
	keys, dl, dr := 0, 1.0, 1.0
	for _, c := range o.classes {
		if i, k := o.first(c, l.set), o.first(c, r.set); i >= 0 && k >= 0 {
			keys, dl, dr = keys+1, dl*o.distinct(c, l), dr*o.distinct(c, r)
		}
	}
	share := 1.0
	switch capped := dl > l.rows || dr > r.rows; {
	case keys == 0:
	case keys > 1 && capped: // a key of several columns, which are not independent of each other
		share = 1 / min(max(1, min(dl, l.rows)), max(1, min(dr, r.rows)))
	default:
		share = 1 / max(1, dl, dr)
	}
	both := l.set | r.set
	for _, c := range o.conditions {
		if both.has(c.uses) && !l.set.has(c.uses) && !r.set.has(c.uses) {
			share *= shareOf(c.expr)
		}
	}
	return share
}

// shareOf is what is assumed of a condition on several relations.
func shareOf(e sql.Expression) float64 {
	if op, ok := compareOp(e); ok && op == vector.Equal {
		return 0.01
	}
	return 0.3
}

// distinct is how many values the least of equal columns has in a tree.
func (o *joinOrder) distinct(c equals, t *joinTree) float64 {
	least := math.MaxFloat64
	for _, column := range c.columns {
		if i := o.group.relationOf(column); t.set.has(1 << i) {
			least = min(least, o.sizes[i].distinct(column-o.group.relations[i].first))
		}
	}
	return max(1, min(least, t.rows))
}

// columns is what is thought of columns of the group when there are so many rows.
func (o *joinOrder) columns(at []int, rows float64) []vector.ColumnEstimate {
	out := make([]vector.ColumnEstimate, len(at))
	for i, column := range at {
		r := o.group.relationOf(column)
		out[i] = o.sizes[r].columns[column-o.group.relations[r].first]
		out[i].Distinct = min(out[i].Distinct, math.Ceil(rows))
	}
	return out
}
