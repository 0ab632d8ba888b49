package compile

import (
	"context"
	"errors"
	"io"
	"maps"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// subquery is a query in an expression that refers to no outer one. It is executed once, when what the expression is over has a row.
type subquery struct {
	p     *pipeline
	exist bool // it is whether there is a row; else the one value of its one row
	set   func(value *batch.Vector)
}

// inner is the scope of subqueries in expressions over the pipeline.
func (p *pipeline) inner() scope {
	return scope{outer: p.outer + len(p.fields) - p.added, budget: p.budget}
}

// steps are those of the pipeline, and of the subqueries in expressions over it.
func (p *pipeline) steps() []*step {
	out := []*step{p.plan}
	for _, s := range p.subqueries {
		out = append(out, &step{title: "Subquery, once", below: []*step{s.p.plan}})
	}
	return out
}

// afterSubqueries is an operator for the pipeline whose rows come when the values of the subqueries in expressions over it are set. They are executed before it
// reads anything where that is early, else when it has a row; a subquery that no row asks for is not.
func (p *pipeline) afterSubqueries(ctx *sql.Context, op vector.Operator, early bool) (vector.Operator, error) {
	if len(p.subqueries) == 0 {
		return op, nil
	}
	opened := make([]vector.Operator, 0, len(p.subqueries))
	closed := func() error {
		var errs []error
		for _, o := range opened {
			errs = append(errs, o.Close())
		}
		return errors.Join(errs...)
	}
	for _, s := range p.subqueries {
		o, err := s.p.open(ctx)
		if err != nil {
			return nil, errors.Join(err, closed(), op.Close())
		}
		opened = append(opened, o)
	}
	return vector.NewBefore(op, vector.Preparation{
		Early: early,
		Run: func(ctx context.Context) error {
			for i, s := range p.subqueries {
				if err := s.evaluate(ctx, opened[i]); err != nil {
					return err
				}
			}
			return closed()
		},
		Close: closed,
	}), nil
}

// evaluate sets the value.
func (s *subquery) evaluate(ctx context.Context, op vector.Operator) error {
	value, rows, err := firstValue(ctx, op)
	switch {
	case err != nil:
		return err
	case s.exist:
		value = batch.NewVector(batch.Type{Kind: batch.Bool}, 1)
		value.AppendBool(rows > 0)
	case rows > 1:
		return sql.ErrExpectedSingleRow.New()
	}
	s.set(value)
	return nil
}

// firstValue is the first column of the first row, nil for NULL, and how many rows there are, as far as one and more are told apart.
func firstValue(ctx context.Context, op vector.Operator) (value *batch.Vector, rows int, err error) {
	for rows < 2 {
		b, err := op.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		if rows == 0 && b.Rows() > 0 {
			if v := b.Cols[0]; !v.IsNull(b.Row(0)) {
				value = v.Gather([]int32{int32(b.Row(0))}).Decode().Clone()
			}
		}
		rows += b.Rows()
	}
	return value, rows, nil
}

// subquery compiles the value of a subquery.
func (c compiler) subquery(e *plan.Subquery) (vector.Expr, error) {
	if x, ok := c.p.joined[e]; ok {
		return x, nil
	}
	if !e.CanCacheResults() {
		return nil, errNotCompiled
	}
	p, ok := compileNode(c.ctx, c.p.inner(), e.Query)
	if !ok || len(p.fields) != 1 || !sameValues(mysqltype.OfField(p.fields[0]), e.Type(c.ctx)) {
		return nil, errNotCompiled
	}
	return c.once(p, false, p.fields[0].Type), nil
}

// sameValues says whether values of both types are the same ones: of decimals, whether they have as many digits after the point.
func sameValues(a, b sql.Type) bool {
	da, okA := a.(sql.DecimalType)
	db, okB := b.(sql.DecimalType)
	if okA && okB {
		return da.Scale() == db.Scale()
	}
	return sameType(a, b)
}

// exists compiles whether a subquery has rows.
func (c compiler) exists(e *plan.ExistsSubquery) (vector.Expr, error) {
	if !e.Query.CanCacheResults() {
		return nil, errNotCompiled
	}
	p, ok := compileNode(c.ctx, c.p.inner(), e.Query.Query)
	if !ok {
		return nil, errNotCompiled
	}
	return c.once(p, true, batch.Type{Kind: batch.Bool}), nil
}

func (c compiler) once(p *pipeline, exist bool, t batch.Type) vector.Expr {
	x, set := vector.NewParameter(t)
	c.p.subqueries = append(c.p.subqueries, &subquery{p: p, exist: exist, set: set})
	c.p.aggregated = c.p.aggregated || p.aggregated
	return x
}

// withSubqueries is the pipeline with a column for each subquery in expressions over it that refers to it; false when one of them is to be executed row by
// row.
func (p *pipeline) withSubqueries(ctx *sql.Context, over ...sql.Expression) (*pipeline, bool) {
	out, ok := p, true
	for _, e := range over {
		transform.InspectExpr(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
			if s, is := e.(*plan.Subquery); is && !s.Correlated().Empty() && ok {
				out, ok = out.withValue(ctx, s)
			}
			return false
		})
	}
	return out, ok
}

// withoutAdded is the pipeline without the columns of subqueries.
func (p *pipeline) withoutAdded() *pipeline {
	if p.added == 0 {
		return p
	}
	out := p.rearranged(span(0, len(p.fields)-p.added))
	out.added, out.joined = 0, nil
	return out
}

// withValue adds a column with the value of a subquery that aggregates the rows which are equal to those of the pipeline in some columns: a left join with
// the aggregation of all rows by these columns.
func (p *pipeline) withValue(ctx *sql.Context, s *plan.Subquery) (*pipeline, bool) {
	if s.Volatile() {
		return nil, false
	}
	projects, grouped, ok := aggregated(s.Query)
	if !ok {
		return nil, false
	}
	in := p.inner()
	from, conditions, ok := compileCorrelated(ctx, in, grouped.Child)
	if !ok || len(conditions) == 0 {
		return nil, false
	}
	empty, ok := p.valueOfNothing(ctx, projects, grouped, from)
	if !ok {
		return nil, false
	}
	mine := side{p: p, first: p.outer}
	byKeys := *grouped
	byKeys.SelectDeps = append([]sql.Expression(nil), grouped.SelectDeps...)
	var outer []sql.Expression
	for _, c := range conditions {
		eq, is := c.(*expression.Equals)
		if !is {
			return nil, false
		}
		l, r := eq.Left(), eq.Right()
		if !mine.has(ctx, l) {
			l, r = r, l
		}
		if !mine.has(ctx, l) || !(side{p: from, first: from.outer}).has(ctx, r) {
			return nil, false
		}
		outer = append(outer, l)
		byKeys.GroupByExprs = append(byKeys.GroupByExprs, r)
		byKeys.SelectDeps = append(byKeys.SelectDeps, aggregatedKey{r})
	}
	values, ok := from.aggregate(ctx, &byKeys)
	if !ok {
		return nil, false
	}
	for _, n := range projects {
		keys := len(values.fields) - len(outer)
		exprs := append([]sql.Expression(nil), n.Projections...)
		for i := range outer {
			exprs = append(exprs, values.get(ctx, keys+i))
		}
		if values, ok = values.project(ctx, exprs); !ok {
			return nil, false
		}
	}
	if len(values.fields) != 1+len(outer) {
		return nil, false
	}
	equal := make([]sql.Expression, len(outer))
	for i, e := range outer {
		equal[i] = newEquated(e, values.get(ctx, 1+i))
	}
	joined, ok := joinSides(ctx, vector.LeftJoin, mine, side{p: values, first: values.outer}, equal)
	if !ok {
		return nil, false
	}
	return joined.addValue(p, s, len(outer), empty)
}

// addValue says that the first of the columns that a join has added to a pipeline is the value of a subquery, and the others its keys.
func (p *pipeline) addValue(to *pipeline, s *plan.Subquery, keys int, empty *batch.Vector) (*pipeline, bool) {
	at := len(to.fields)
	x := vector.NewColumn(at, p.fields[at])
	if empty != nil {
		otherwise, set := vector.NewParameter(p.fields[at].Type)
		set(empty)
		var err error
		if x, err = vector.NewCase([]vector.Expr{vector.NewIsNull(vector.NewColumn(at+1, p.fields[at+1]))}, []vector.Expr{otherwise}, x); err != nil {
			return nil, false
		}
	}
	out := *p
	out.added = to.added + 1 + keys
	out.names = append(append([]string(nil), to.names...), make([]string, 1+keys)...)
	out.joined = maps.Clone(to.joined)
	if out.joined == nil {
		out.joined = make(map[*plan.Subquery]vector.Expr)
	}
	out.joined[s] = x
	return &out, true
}

// aggregatedKey is a key of a GroupBy among its columns.
type aggregatedKey struct{ sql.Expression }

// get is a column of the pipeline, as an expression over it.
func (p *pipeline) get(_ *sql.Context, column int) *expression.GetField {
	f := p.fields[column]
	return expression.NewGetField(p.outer+column, mysqltype.OfField(f), p.names[column], f.Nullable)
}

// aggregated takes the plan of a subquery apart that is one aggregation, and projections of its one row, the lowest first.
func aggregated(n sql.Node) (projects []*plan.Project, grouped *plan.GroupBy, ok bool) {
	switch n := n.(type) {
	case *plan.Project:
		projects, grouped, ok = aggregated(n.Child)
		return append(projects, n), grouped, ok
	case *plan.GroupBy:
		return nil, n, len(n.GroupByExprs) == 0
	}
	return nil, nil, false
}

// valueOfNothing is the value of an aggregation of no rows; nil: NULL.
func (p *pipeline) valueOfNothing(ctx *sql.Context, projects []*plan.Project, grouped *plan.GroupBy, from *pipeline) (*batch.Vector, bool) {
	none := *from
	none.source, none.scanned = nil, nil
	none.build = func(*sql.Context) (vector.Operator, error) {
		return vector.NewBatches(&batch.Schema{Fields: from.fields}), nil
	}
	of, ok := none.aggregate(ctx, grouped)
	for _, n := range projects {
		if !ok {
			return nil, false
		}
		of, ok = of.project(ctx, n.Projections)
	}
	if !ok || len(of.fields) != 1 || len(none.subqueries) > 0 {
		return nil, false
	}
	op, err := of.open(ctx)
	if err != nil {
		return nil, false
	}
	value, _, err := firstValue(ctx, op)
	return value, errors.Join(err, op.Close()) == nil
}

// compileCorrelated compiles a node of a subquery, and returns the conditions that refer to the outer query with it: over rows that have its columns and then
// the pipeline's.
func compileCorrelated(ctx *sql.Context, in scope, n sql.Node) (*pipeline, []sql.Expression, bool) {
	g := &joinGroup{in: in, correlated: []sql.Expression{}}
	if !g.add(ctx, n) || len(g.relations) > maxRelations {
		return nil, nil, false
	}
	p, ok := g.compile(ctx)
	return p, g.correlated, ok
}

// existential joins the pipeline with the subquery of a condition that is [NOT] EXISTS or [NOT] IN; false where the condition is another one, or the subquery is
// to be executed row by row.
func (p *pipeline) existential(ctx *sql.Context, e sql.Expression) (*pipeline, bool) {
	kind, not := vector.SemiJoin, false
	if n, ok := e.(*expression.Not); ok {
		e, not = n.Child, true
	}
	switch e := unwrap(e).(type) {
	case *plan.ExistsSubquery:
		if e.Query.Volatile() {
			return nil, false
		}
		if not {
			kind = vector.AntiJoin
		}
		n, ok := rowsOf(ctx, e.Query.Query)
		if !ok {
			return nil, false
		}
		from, conditions, ok := compileCorrelated(ctx, p.inner(), n)
		if !ok || len(conditions) == 0 {
			return nil, false // a constant, which compiles as one
		}
		return joinSides(ctx, kind, side{p: p, first: p.outer}, side{p: from, first: from.outer}, conditions)
	case *plan.InSubquery:
		s, ok := e.RightChild.(*plan.Subquery)
		if !ok || s.Volatile() {
			return nil, false
		}
		if not {
			kind = vector.NotInJoin
		}
		from, conditions, ok := p.members(ctx, s)
		if !ok {
			return nil, false
		}
		left := []sql.Expression{e.LeftChild}
		if tuple, ok := e.LeftChild.(expression.Tuple); ok {
			left = tuple
		}
		if len(left) != len(from.fields) {
			return nil, false
		}
		for i, l := range left {
			conditions = append(conditions, newEquated(l, from.get(ctx, i)))
		}
		return joinSides(ctx, kind, side{p: p, first: p.outer}, side{p: from, first: from.outer}, conditions)
	}
	return nil, false
}

// members are the rows of the subquery of an IN.
func (p *pipeline) members(ctx *sql.Context, s *plan.Subquery) (from *pipeline, conditions []sql.Expression, ok bool) {
	if s.Correlated().Empty() {
		from, ok = compileNode(ctx, p.inner(), s.Query)
	}
	return from, nil, ok
}

// rowsOf is what a query has rows of, without what does not change whether there are some.
func rowsOf(ctx *sql.Context, n sql.Node) (sql.Node, bool) {
	switch n := n.(type) {
	case *plan.Project:
		return rowsOf(ctx, n.Child)
	case *plan.Sort:
		return rowsOf(ctx, n.Child)
	case *plan.Distinct:
		return rowsOf(ctx, n.Child)
	case *plan.Limit:
		if rows, ok := rowCount(ctx, n.Limit); !ok || rows == 0 {
			return nil, false
		}
		return rowsOf(ctx, n.Child)
	case *plan.Offset, *plan.TopN, *plan.GroupBy, *plan.Having, *plan.SetOp, *plan.Window:
		return nil, false
	}
	return n, true
}
