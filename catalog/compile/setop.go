package compile

import (
	"errors"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"lakesql/batch"
	"lakesql/vector"
)

// setOperations are INTERSECT and EXCEPT, as they are with and without ALL.
var setOperations = map[int]map[bool]vector.SetOperation{
	plan.IntersectType: {true: vector.Intersect, false: vector.IntersectAll}, plan.ExceptType: {true: vector.Except, false: vector.ExceptAll},
}

// setTitle is a set operation in EXPLAIN. A UNION is one of all rows, above which Distinct stands.
func setTitle(n *plan.SetOp) string {
	title := map[int]string{plan.UnionType: "Union", plan.IntersectType: "Intersect", plan.ExceptType: "Except"}[n.SetOpType]
	if n.SetOpType == plan.UnionType || !n.Distinct {
		title += " all"
	}
	return title
}

// compileSetOp is UNION, INTERSECT or EXCEPT, with its ORDER BY and LIMIT.
func compileSetOp(ctx *sql.Context, in scope, n *plan.SetOp) (*pipeline, bool) {
	schema := n.Schema(ctx)
	if (n.Distinct || n.SetOpType != plan.UnionType) && setKeys(ctx, n) != nil {
		return nil, false
	}
	p, ok := compileSides(ctx, in, schema, n)
	if !ok {
		return nil, false
	}
	if n.SetOpType == plan.UnionType && n.Distinct {
		if p, ok = p.distinct(ctx, schema); !ok {
			return nil, false
		}
	}
	return p.cutOut(ctx, n)
}

// cutOut is the ORDER BY, OFFSET and LIMIT of a set operation.
func (p *pipeline) cutOut(ctx *sql.Context, n *plan.SetOp) (*pipeline, bool) {
	skip, count, ok := 0, vector.NoLimit, true
	if n.Offset != nil {
		if skip, ok = rowCount(ctx, n.Offset); !ok {
			return nil, false
		}
	}
	if n.Limit != nil {
		if count, ok = rowCount(ctx, n.Limit); !ok {
			return nil, false
		}
	}
	if len(n.SortConditions) > 0 {
		first := vector.NoLimit
		if count < vector.NoLimit-skip {
			first = skip + count
		}
		if p, ok = p.sorted(ctx, n.SortConditions, first); !ok {
			return nil, false
		}
	}
	if skip > 0 {
		p = p.without(skip)
	}
	if n.Limit != nil {
		p = p.limited(count)
	}
	return p, true
}

// sidesOf are what a set operation is of: more than two where a side is a UNION whose rows may as well come directly.
func sidesOf(n *plan.SetOp) []sql.Node {
	if n.SetOpType != plan.UnionType {
		return []sql.Node{n.Left(), n.Right()}
	}
	var out []sql.Node
	for _, side := range []sql.Node{n.Left(), n.Right()} {
		u, ok := side.(*plan.SetOp)
		if ok && u.SetOpType == plan.UnionType && (n.Distinct || !u.Distinct) && u.Limit == nil && u.Offset == nil {
			out = append(out, sidesOf(u)...)
			continue
		}
		out = append(out, side)
	}
	return out
}

// compileSides is the rows of a UNION ALL, an INTERSECT or an EXCEPT.
func compileSides(ctx *sql.Context, in scope, schema sql.Schema, n *plan.SetOp) (*pipeline, bool) {
	out := &pipeline{outer: in.outer, computed: true, budget: in.budget, plan: &step{title: setTitle(n)}}
	var sides []*pipeline
	for _, side := range sidesOf(n) {
		p, ok := compileNode(ctx, in, side)
		if !ok || len(p.fields) != len(schema) {
			return nil, false
		}
		sides = append(sides, p)
		out.aggregated, out.many = out.aggregated || p.aggregated, true
		out.plan.below = append(out.plan.below, p.steps()...)
	}
	for c, column := range schema {
		field := batch.Field{Name: column.Name, Nullable: column.Nullable, Type: sides[0].fields[c].Type, Metadata: sides[0].fields[c].Metadata}
		for _, p := range sides[1:] {
			var ok bool
			if field.Type, ok = united(field.Type, p.fields[c].Type); !ok {
				return nil, false
			}
		}
		out.fields, out.names = append(out.fields, field), append(out.names, column.Name)
	}
	exprs := make([][]vector.Expr, len(sides))
	for i, p := range sides {
		for c, field := range out.fields {
			x, err := vector.NewCast(vector.NewColumn(c, p.fields[c]), field.Type)
			if err != nil {
				return nil, false
			}
			exprs[i] = append(exprs[i], x)
		}
	}
	united := func(ops []vector.Operator) (vector.Operator, error) {
		for i, op := range ops {
			ops[i] = vector.NewProject(op, exprs[i], out.fields)
		}
		if kind, ok := setOperations[n.SetOpType][n.Distinct]; ok {
			return vector.NewSetOperation(kind, ops[0], ops[1], in.budget)
		}
		return vector.NewUnion(&batch.Schema{Fields: out.fields}, ops...), nil
	}
	empty := make([]vector.Operator, len(sides))
	for i, p := range sides {
		empty[i] = vector.NewBatches(&batch.Schema{Fields: p.fields})
	}
	if _, err := united(empty); err != nil || n.SetOpType != plan.UnionType && !out.byBytes(ctx, schema) {
		return nil, false
	}
	out.size = sync.OnceValue(func() size {
		known := size{columns: make([]vector.ColumnEstimate, len(out.fields))}
		for _, p := range sides {
			known.rows += p.size().rows
		}
		return known
	})
	out.build = func(ctx *sql.Context) (vector.Operator, error) {
		var ops []vector.Operator
		for _, p := range sides {
			op, err := p.open(ctx)
			if err != nil {
				for _, op := range ops {
					err = errors.Join(err, op.Close())
				}
				return nil, err
			}
			ops = append(ops, op)
		}
		return united(ops)
	}
	return out, true
}

// byBytes says whether the bytes of all columns decide what is equal.
func (p *pipeline) byBytes(ctx *sql.Context, schema sql.Schema) bool {
	_, _, ok := p.eachRow(ctx, schema)
	return ok
}

// united is the type for values of two; false: that is left to the rows.
func united(a, b batch.Type) (batch.Type, bool) {
	if a.Kind == batch.Decimal && b.Kind == batch.Decimal && a.Scale == b.Scale {
		return batch.DecimalOf(max(a.Precision, b.Precision), a.Scale), true
	}
	return a, a == b
}

// buildSetOp executes on batches what compiles. On rows it has UNION, INTERSECT and EXCEPT find equal what is equal: a truth is a number in a table's rows,
// and a Go bool in what GMS computes. GMS leaves out the rows of OFFSET before it sorts, and its EXCEPT takes the end of the right side for an empty text.
func (b *Builder) buildSetOp(ctx *sql.Context, n *plan.SetOp, outer sql.Row) (sql.RowIter, error) {
	if _, done := n.Left().(numbered); done {
		return nil, nil
	}
	if whole, err := b.buildWhole(ctx, n, outer); whole != nil || err != nil {
		return whole, err
	}
	numberedSides, err := n.WithChildren(ctx, numbered{n.Left(), b}, numbered{n.Right(), b})
	if err != nil {
		return nil, err
	}
	all := *numberedSides.(*plan.SetOp)
	all.Limit, all.Offset, all.SortConditions = nil, nil, nil
	var out sql.Node = &all
	keys := setKeys(ctx, n)
	switch {
	case n.SetOpType == plan.ExceptType, n.SetOpType == plan.IntersectType && keys != nil:
		out = compared{&all, b, keys}
	case n.Distinct && keys != nil:
		all.Distinct = false
		out = distinctOf{&all, b, keys}
	}
	if len(n.SortConditions) > 0 {
		by, err := orderOf(ctx, n, len(outer))
		if err != nil {
			return nil, err
		}
		out = plan.NewSort(by, out)
	}
	if n.Offset != nil {
		out = plan.NewOffset(n.Offset, out)
	}
	if n.Limit != nil {
		out = plan.NewLimit(n.Limit, out)
	}
	return b.base.Build(ctx, out, outer)
}

// orderOf is the ORDER BY of a set operation, whose columns are behind so many outer ones, over the types that its rows have: GMS takes those of the first side.
func orderOf(ctx *sql.Context, n *plan.SetOp, outer int) (sql.SortConditions, error) {
	schema := n.Schema(ctx)
	by := n.SortConditions.ToExpressions()
	for i, e := range by {
		var err error
		by[i], _, err = transform.Expr(ctx, e, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			f, ok := e.(*expression.GetField)
			if !ok || f.Index() < outer || f.Index()-outer >= len(schema) {
				return e, transform.SameTree, nil
			}
			c := schema[f.Index()-outer]
			return expression.NewGetField(f.Index(), c.Type, f.Name(), c.Nullable), transform.NewTree, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return n.SortConditions.FromExpressions(ctx, by...), nil
}

// compared is an EXCEPT or INTERSECT without ORDER BY and LIMIT.
type compared struct {
	*plan.SetOp
	b    *Builder
	keys sql.Schema // by which rows are told apart; nil: by their values
}

func (n compared) build(ctx *sql.Context, outer sql.Row) (sql.RowIter, error) {
	right, err := n.b.base.Build(ctx, n.Right(), outer)
	if err != nil {
		return nil, err
	}
	out := &comparedRows{distinct: n.Distinct, keys: n.keys, intersect: n.SetOpType == plan.IntersectType, right: make(map[uint64]int)}
	err = Each(ctx, right, func(row sql.Row) error {
		h, err := rowHash(ctx, n.keys, row)
		out.right[h]++
		return err
	})
	if err != nil {
		return nil, err
	}
	out.RowIter, err = n.b.base.Build(ctx, n.Left(), outer)
	return out, err
}

// comparedRows are the rows that are on the right, too, each as often as there, or with distinct once; without intersect those that are not.
type comparedRows struct {
	sql.RowIter
	distinct, intersect bool
	keys                sql.Schema
	right               map[uint64]int // how often a row is still to be met
}

// Next returns the next row.
func (r *comparedRows) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		row, err := r.RowIter.Next(ctx)
		if err != nil {
			return nil, err
		}
		h, err := rowHash(ctx, r.keys, row)
		if err != nil {
			return nil, err
		}
		met := r.right[h] > 0
		switch {
		case met && r.intersect && r.distinct:
			r.right[h] = 0
		case met && !r.distinct:
			r.right[h]--
		case !met && !r.intersect && r.distinct:
			r.right[h] = 1
		}
		if met == r.intersect {
			return row, nil
		}
	}
}

// numbered is a node whose truths are numbers.
type numbered struct {
	sql.Node
	b *Builder
}

func (n numbered) build(ctx *sql.Context, outer sql.Row) (sql.RowIter, error) {
	rows, err := n.b.base.Build(ctx, n.Node, outer)
	if err != nil {
		return nil, err
	}
	return numberedRows{rows}, nil
}

type numberedRows struct{ sql.RowIter }

// Next returns the next row.
func (r numberedRows) Next(ctx *sql.Context) (sql.Row, error) {
	row, err := r.RowIter.Next(ctx)
	for i, v := range row {
		if truth, ok := v.(bool); ok {
			row[i] = int8(0)
			if truth {
				row[i] = int8(1)
			}
		}
	}
	return row, err
}
