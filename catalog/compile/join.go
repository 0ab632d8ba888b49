package compile

import (
	"errors"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"lakesql/batch"
	"lakesql/vector"
)

// compileJoin is a join of any type that refers to nothing of what stands to the left of it.
func compileJoin(ctx *sql.Context, in scope, n *plan.JoinNode) (*pipeline, bool) {
	if isInner(n.Op) {
		return compileGroup(ctx, in, n)
	}
	kind, ok := joinKinds[n.Op]
	if !ok {
		return nil, false
	}
	g := &joinGroup{in: in} // of the left side
	if !g.add(ctx, n.Left()) || len(g.relations) > maxRelations {
		return nil, false
	}
	beside := in
	beside.lateral += g.width
	right, ok := compileNode(ctx, beside, n.Right())
	if !ok {
		return nil, false
	}
	var conditions []sql.Expression
	if n.Filter != nil {
		row, ok := rowOf(ctx, n.Filter, in.outer+in.lateral, g.width+len(right.fields))
		if !ok {
			return nil, false
		}
		conditions = splitTuples(ctx, row)
	}
	if n.Op.IsSemi() || n.Op.IsAnti() {
		return g.reduced(ctx, kind, right, conditions)
	}
	left, ok := g.compile(ctx)
	if !ok {
		return nil, false
	}
	return joinSides(ctx, kind, side{p: left}, side{p: right, first: g.width}, conditions)
}

// isInner says whether a join has the pairs of rows for which its condition is true, however it finds them.
func isInner(op plan.JoinType) bool {
	switch op {
	case plan.JoinTypeCross, plan.JoinTypeCrossHash, plan.JoinTypeInner, plan.JoinTypeHash, plan.JoinTypeMerge, plan.JoinTypeLookup:
		return true
	}
	return false
}

// joinKinds are the kinds of joins whose probe side is the left one.
var joinKinds = map[plan.JoinType]vector.JoinKind{
	plan.JoinTypeLeftOuter: vector.LeftJoin, plan.JoinTypeLeftOuterHash: vector.LeftJoin, plan.JoinTypeLeftOuterMerge: vector.LeftJoin,
	plan.JoinTypeLeftOuterLookup: vector.LeftJoin, plan.JoinTypeRightOuter: vector.BuildOuterJoin, plan.JoinTypeFullOuter: vector.FullJoin,
	plan.JoinTypeSemi: vector.SemiJoin, plan.JoinTypeSemiHash: vector.SemiJoin, plan.JoinTypeSemiMerge: vector.SemiJoin, plan.JoinTypeSemiLookup: vector.SemiJoin,
	plan.JoinTypeAntiIncludeNulls: vector.AntiJoin, plan.JoinTypeAntiHashIncludeNulls: vector.AntiJoin,
	plan.JoinTypeAntiMergeIncludeNulls: vector.AntiJoin, plan.JoinTypeAntiLookupIncludeNulls: vector.AntiJoin,
	plan.JoinTypeAnti: vector.NotInJoin, plan.JoinTypeAntiHash: vector.NotInJoin, plan.JoinTypeAntiMerge: vector.NotInJoin, plan.JoinTypeAntiLookup: vector.NotInJoin,
}

// exchanged are the kinds with the sides exchanged.
var exchanged = map[vector.JoinKind]vector.JoinKind{
	vector.InnerJoin: vector.InnerJoin, vector.LeftJoin: vector.BuildOuterJoin, vector.BuildOuterJoin: vector.LeftJoin, vector.FullJoin: vector.FullJoin,
	vector.SemiJoin: vector.BuildSemiJoin, vector.AntiJoin: vector.BuildAntiJoin,
}

// joinSides joins two sides by conditions over rows that have the columns of both. The result has the columns of both in
// that order, or of the left alone, as the kind has it. The smaller side is the one that is kept.
func joinSides(ctx *sql.Context, kind vector.JoinKind, l, r side, conditions []sql.Expression) (*pipeline, bool) {
	var own, kept []sql.Expression // own: of the right side alone, where what they rule out matches nothing
	for _, e := range conditions {
		if kind != vector.BuildOuterJoin && kind != vector.FullJoin && kind != vector.NotInJoin && r.has(ctx, e) {
			own = append(own, e)
		} else {
			kept = append(kept, e)
		}
	}
	left, right := l.p, r.p
	r, ok := r.filtered(ctx, own)
	if !ok {
		return nil, false
	}
	j := &joining{kind: kind, probe: l, build: r}
	flipped, can := exchanged[kind]
	if can = can && !left.addressed && l.p.size().rows < r.p.size().rows; can {
		j.kind, j.probe, j.build = flipped, r, l
	}
	for _, e := range kept {
		if !j.require(ctx, e) {
			return nil, false
		}
	}
	p, ok := j.pipeline()
	if !ok {
		return nil, false
	}
	p.outer = left.outer
	if nl, nr := len(left.fields), len(right.fields); can && len(p.fields) == nl+nr && j.kind != vector.BuildSemiJoin && j.kind != vector.BuildAntiJoin {
		p = p.rearranged(append(span(nr, nl), span(0, nr)...))
	}
	return p, true
}

// span are n numbers from first on.
func span(first, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = first + i
	}
	return out
}

// side is one input of a join. In the rows of the join's conditions its columns are at first and after, or where at says.
type side struct {
	p     *pipeline
	first int
	at    []int // nil: in sequence
}

// column is the side's column at a position of a row; false: it is none of the side's.
func (s side) column(position int) (int, bool) {
	if s.at == nil {
		return position - s.first, position >= s.first && position < s.first+len(s.p.fields)-s.p.added
	}
	for i, p := range s.at {
		if p == position {
			return i, true
		}
	}
	return 0, false
}

// has says whether all columns of an expression are the side's, of which there must be one.
func (s side) has(ctx *sql.Context, e sql.Expression) bool {
	used := columnsIn(ctx, e)
	for _, u := range used {
		if _, ok := s.column(u); !ok {
			return false
		}
	}
	return len(used) > 0
}

// compile compiles an expression over the rows of the join's conditions.
func (s side) compile(ctx *sql.Context, e sql.Expression) (vector.Expr, error) {
	e, ok := moved(ctx, e, func(i int) int {
		c, ok := s.column(i)
		if !ok {
			return -1
		}
		return s.p.outer + c
	})
	if !ok {
		return nil, errNotCompiled
	}
	return compileExpr(ctx, s.p, e)
}

// filtered is the side with conditions on it.
func (s side) filtered(ctx *sql.Context, conditions []sql.Expression) (side, bool) {
	if len(conditions) == 0 {
		return s, true
	}
	tests, texts, same := make([]vector.Expr, len(conditions)), make([]string, len(conditions)), make([]string, len(conditions))
	for i, e := range conditions {
		var err error
		if tests[i], err = s.compile(ctx, e); err != nil || tests[i].Type().Kind != batch.Bool {
			return s, false
		}
		texts[i], same[i] = e.String(), s.text(ctx, e)
	}
	predicate, err := conjunction(tests)
	if err != nil {
		return s, false
	}
	s.p = s.p.where(predicate, texts, same)
	return s, true
}

// joining is a join whose conditions are being put together.
type joining struct {
	kind         vector.JoinKind
	probe, build side
	keys         vector.Join // its keys
	residual     []vector.Expr
	texts        []string
	same         []string // what text says of the conditions
}

// require adds a condition: keys where it is an equality of the two sides, else a part of the residual.
func (j *joining) require(ctx *sql.Context, e sql.Expression) bool {
	j.same = append(j.same, j.text(ctx, e))
	if j.equate(ctx, e) {
		j.texts = append(j.texts, e.String())
		return true
	}
	if j.kind == vector.NotInJoin {
		return false
	}
	both := pairs(j.probe, j.build)
	x, err := both.compile(ctx, e)
	if err != nil || x.Type().Kind != batch.Bool {
		return false
	}
	j.residual = append(j.residual, x)
	j.texts = append(j.texts, e.String())
	return true
}

// pairs are the pairs of rows of two sides, as what expressions are over.
func pairs(a, b side) side {
	p := &pipeline{}
	out := side{p: p}
	for _, s := range []side{a, b} {
		p.fields, p.names = append(p.fields, s.p.fields...), append(p.names, s.p.names...)
		for i := range s.p.fields {
			id := sql.ColumnId(0)
			if i < len(s.p.ids) {
				id = s.p.ids[i]
			}
			p.ids = append(p.ids, id)
			if s.at != nil {
				out.at = append(out.at, s.at[i])
			} else {
				out.at = append(out.at, s.first+i)
			}
		}
	}
	return out
}

// equate adds a key.
func (j *joining) equate(ctx *sql.Context, e sql.Expression) bool {
	op, ok := compareOp(e)
	if !ok || op != vector.Equal && op != vector.NullSafeEqual || j.kind == vector.NotInJoin && op == vector.NullSafeEqual {
		return false
	}
	pair := e.(expression.Comparer)
	l, r := pair.Left(), pair.Right()
	if !j.probe.has(ctx, l) {
		l, r = r, l
	}
	if !j.probe.has(ctx, l) || !j.build.has(ctx, r) {
		return false
	}
	probe, err := j.probe.compile(ctx, l)
	if err != nil {
		return false
	}
	build, err := j.build.compile(ctx, r)
	if err != nil {
		return false
	}
	return j.key(ctx, l.Type(ctx), r.Type(ctx), probe, build, op == vector.NullSafeEqual)
}

// key adds a pair of keys, brought to one type as MySQL compares them.
func (j *joining) key(_ *sql.Context, probeType, buildType sql.Type, probe, build vector.Expr, nullSafe bool) bool {
	if !byBytes(probeType) || !byBytes(buildType) || !alike(probe.Type(), build.Type()) || !batch.Ordered(probe.Type()) {
		return false
	}
	if probe.Type() != build.Type() {
		var err error
		if probe, build, err = vector.Comparable(probe, build); err != nil {
			return false
		}
	}
	j.keys.Probe, j.keys.Build = append(j.keys.Probe, probe), append(j.keys.Build, build)
	j.keys.NullSafe = append(j.keys.NullSafe, nullSafe)
	return true
}

var joinTitles = map[vector.JoinKind]string{
	vector.InnerJoin: "Join", vector.LeftJoin: "Left join", vector.BuildOuterJoin: "Right join", vector.FullJoin: "Full join", vector.SemiJoin: "Semi join",
	vector.AntiJoin: "Anti join", vector.NotInJoin: "Not-in join", vector.BuildSemiJoin: "Right semi join", vector.BuildAntiJoin: "Right anti join",
}

// pipeline is the join: the probe's columns and then the build's, or those of the one side that the kind has.
func (j *joining) pipeline() (*pipeline, bool) {
	residual, err := conjunction(j.residual)
	if err != nil {
		return nil, false
	}
	join := vector.Join{Kind: j.kind, Probe: j.keys.Probe, Build: j.keys.Build, NullSafe: j.keys.NullSafe, Residual: residual}
	if j.kind == vector.NotInJoin {
		join.NullSafe = nil
	}
	probe, build := j.probe.p, j.build.p
	if _, err := vector.NewJoin(vector.NewBatches(&batch.Schema{Fields: probe.fields}), vector.NewBatches(&batch.Schema{Fields: build.fields}), join, nil); err != nil {
		return nil, false
	}
	out := &pipeline{outer: probe.outer, computed: true, aggregated: probe.aggregated || build.aggregated, many: true, addressed: probe.addressed, budget: probe.budget}
	out.take(probe, ofProbe, j.kind == vector.BuildOuterJoin || j.kind == vector.FullJoin, j.kind != vector.BuildSemiJoin && j.kind != vector.BuildAntiJoin)
	out.take(build, ofBuild, j.kind == vector.LeftJoin || j.kind == vector.FullJoin, j.kind != vector.SemiJoin && j.kind != vector.AntiJoin && j.kind != vector.NotInJoin)
	title := joinTitles[j.kind]
	if len(j.texts) > 0 {
		title += " " + strings.Join(j.texts, " AND ")
	}
	out.plan = &step{title: title, of: out, below: append(probe.steps(), build.steps()...)}
	out.same = sameOf(joinTitles[j.kind], []string{probe.same, build.same}, j.same)
	out.size = sync.OnceValue(func() size { return j.size(join) })
	out.build = func(ctx *sql.Context) (vector.Operator, error) {
		p, err := probe.open(ctx)
		if err != nil {
			return nil, err
		}
		b, err := build.open(ctx)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		return vector.NewJoin(p, b, join, probe.budget)
	}
	return out, true
}

// take appends the columns of another pipeline, which is at a place of a join, if wanted.
func (p *pipeline) take(from *pipeline, place string, nullable, wanted bool) {
	if !wanted {
		return
	}
	for i, f := range from.fields {
		f.Nullable = f.Nullable || nullable
		p.origins = append(p.origins, from.origin(i, place))
		p.fields, p.names = append(p.fields, f), append(p.names, from.names[i])
		id := sql.ColumnId(0)
		if i < len(from.ids) {
			id = from.ids[i]
		}
		p.ids = append(p.ids, id)
	}
}

// rearranged is a pipeline with these of its columns.
func (p *pipeline) rearranged(columns []int) *pipeline {
	out := *p
	out.fields, out.names, out.ids, out.source, out.origins = nil, nil, nil, nil, nil
	exprs := make([]vector.Expr, len(columns))
	for i, c := range columns {
		exprs[i] = vector.NewColumn(c, p.fields[c])
		out.fields, out.names, out.origins = append(out.fields, p.fields[c]), append(out.names, p.names[c]), append(out.origins, p.origin(c, ""))
		id := sql.ColumnId(0)
		if c < len(p.ids) {
			id = p.ids[c]
		}
		out.ids = append(out.ids, id)
	}
	out.scanned, out.computed, out.subqueries = nil, true, nil
	out.computeOver(p, exprs)
	return &out
}

// rowOf is an expression with the positions of its columns in a row of the given width, which GMS's rows have after what they begin with; false when
// it looks at something else: an outer query, a subquery.
func rowOf(ctx *sql.Context, e sql.Expression, begin, width int) (sql.Expression, bool) {
	out, ok := moved(ctx, e, func(i int) int { return i - begin })
	if !ok || hasSubquery(ctx, out) {
		return nil, false
	}
	used := columnsIn(ctx, out)
	if len(used) > 0 && (used[0] < 0 || used[len(used)-1] >= width) {
		return nil, false
	}
	return out, true
}

func hasSubquery(ctx *sql.Context, e sql.Expression) bool {
	return transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		_, is := e.(sql.ExpressionWithNodes)
		return is
	})
}

// splitTuples are the conjuncts of a condition, with an equality of tuples taken apart.
func splitTuples(ctx *sql.Context, condition sql.Expression) []sql.Expression {
	var out []sql.Expression
	for _, e := range expression.SplitConjunction(ctx, condition) {
		if eq, ok := e.(*expression.Equals); ok {
			l, okL := eq.Left().(expression.Tuple)
			r, okR := eq.Right().(expression.Tuple)
			if okL && okR && len(l) == len(r) {
				for i := range l {
					out = append(out, newEquated(l[i], r[i]))
				}
				continue
			}
		}
		out = append(out, e)
	}
	return out
}
