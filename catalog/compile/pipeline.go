package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// pipeline is a tree of plan nodes as vector operators, not opened yet. Its expressions keep buffers: it is opened once.
type pipeline struct {
	fields []batch.Field
	names  []string       // as expressions above call the columns
	ids    []sql.ColumnId // of columns that expressions may call by another name; 0, or too few: they do not
	outer  int            // columns of outer queries, which come before fields in the rows that expressions above are over
	added  int            // the last of fields, which those rows do not have: values of subqueries
	source Source         // while nothing is above the scan; else nil
	build  func(ctx *sql.Context) (vector.Operator, error)
	plan   *step
	size   func() size // sync.OnceValue
	// scanned is what the rows come from, and condition, over its columns, which of them come; nil: all. scanned is nil when a condition
	// stands above a Project.
	scanned   Source
	condition vector.Expr
	computed  bool
	// aggregated: there is an aggregation, whose result may have no place in a batch.
	aggregated bool
	// many: above the aggregation there is a window, a join or a UNION, whose rows come before all are computed.
	many bool
	// same says what the rows are: pipelines of which it is the same have the same ones. Empty: nothing is known. origins are what the columns are, among
	// such pipelines.
	same    string
	origins []string
	// subqueries are those without a reference to an outer query in expressions above: they are executed once. joined are the values of others, by columns
	// that were added.
	subqueries []*subquery
	joined     map[*plan.Subquery]vector.Expr
	// addressed: the rows come in the order of their addresses, by which a statement changes them. Joins then begin with these rows, and keep their order.
	addressed bool
	budget    *vector.Budget
}

// open opens the operators, and those of the subqueries of expressions above them.
func (p *pipeline) open(ctx *sql.Context) (vector.Operator, error) {
	op, err := p.build(ctx)
	if err != nil {
		return nil, err
	}
	return p.afterSubqueries(ctx, p.plan.observe(ctx, op), false)
}

func (p *pipeline) rows(ctx *sql.Context) (BatchRows, error) {
	op, err := p.openWhole(ctx)
	if err != nil {
		return nil, err
	}
	return NewRows(op), nil
}

// compileNode compiles a node with all that is below it; false when anything in it does not compile, or nothing shall.
func compileNode(ctx *sql.Context, in scope, n sql.Node) (*pipeline, bool) {
	if !vectorOn(ctx) {
		return nil, false
	}
	if s, ok := sourceOf(n); ok {
		return sourcePipeline(ctx, in, s), true
	}
	switch n := n.(type) {
	case *plan.EmptyTable:
		return compileEmpty(ctx, in, n)
	case *plan.TableAlias:
		return compileAlias(ctx, in, n, n.Child)
	case *plan.SubqueryAlias:
		return compileDerived(ctx, in, n)
	case *plan.Filter:
		return compileFiltered(ctx, in, n)
	case *plan.Having:
		return compileWhole(ctx, in, n.Child, n.Cond)
	case *plan.GroupBy:
		return compileGroupBy(ctx, in, n)
	case *plan.Sort:
		return compileSort(ctx, in, n.Child, n.SortConditions, nil)
	case *plan.TopN:
		if !n.CalcFoundRows {
			return compileSort(ctx, in, n.Child, n.SortConditions, n.Limit)
		}
	case *plan.Limit:
		if !n.CalcFoundRows {
			return compileLimit(ctx, in, n.Child, false, n.Limit)
		}
	case *plan.Offset:
		return compileLimit(ctx, in, n.Child, true, n.Offset)
	case *plan.Distinct:
		return compileDistinct(ctx, in, n.Child)
	case *plan.OrderedDistinct:
		return compileDistinct(ctx, in, n.Child)
	case *plan.Project:
		return compileProject(ctx, in, n)
	case *plan.SetOp:
		return compileSetOp(ctx, in, n)
	case *plan.Window:
		return compileWindow(ctx, in, n)
	case *plan.JoinNode:
		return compileJoin(ctx, in, n)
	case *plan.HashLookup:
		return compileNode(ctx, in, n.Child)
	case *plan.CachedResults:
		return compileNode(ctx, in, n.Child)
	}
	return nil, false
}

// isCalled says whether an id is that of a column.
func (p *pipeline) isCalled(column int, id sql.ColumnId) bool {
	return id != 0 && column < len(p.ids) && p.ids[column] == id
}

// sourceOf is the Source that a node is, or whose table it is.
func sourceOf(n sql.Node) (Source, bool) {
	if t, ok := n.(*plan.ResolvedTable); ok {
		s, ok := sql.GetUnderlyingTable(t.Table).(Source)
		return s, ok
	}
	s, ok := n.(Source)
	return s, ok
}

func sourcePipeline(ctx *sql.Context, in scope, s Source) *pipeline {
	fields := s.Columns()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	p := &pipeline{
		fields: fields, names: names, outer: in.outer, addressed: slices.Contains(names, vector.FileColumn), source: s, scanned: s, budget: in.budget,
		build: func(ctx *sql.Context) (vector.Operator, error) { return s.Scan(ctx, nil) },
		size:  sync.OnceValue(func() size { return sizeOf(ctx, s) }),
	}
	p.plan = &step{title: s.Describe(), of: p, source: s}
	p.plan.reads = func() float64 { return p.size().rows }
	if r, ok := s.(Repeatable); ok {
		p.same, p.origins = r.Rows(), names
	}
	return p
}

// compileWhole is a filter all of which compiles.
func compileWhole(ctx *sql.Context, in scope, n sql.Node, filter sql.Expression) (*pipeline, bool) {
	child, ok := compileNode(ctx, in, n)
	if !ok {
		return nil, false
	}
	p, rest := compileFilter(ctx, child, filter)
	return p, len(rest) == 0
}

// compileDerived is a derived table or a view that refers to nothing outside of it.
func compileDerived(ctx *sql.Context, in scope, n *plan.SubqueryAlias) (*pipeline, bool) {
	if n.IsLateral || !n.Correlated.Empty() {
		return nil, false
	}
	inner := in
	if !n.OuterScopeVisibility {
		inner.outer, inner.lateral = 0, 0
	}
	p, ok := compileAlias(ctx, inner, n, n.Child)
	if ok {
		p.scanned, p.computed, p.outer = nil, true, in.outer
	}
	return p, ok
}

// compileAlias is a node's child under the names of the node.
func compileAlias(ctx *sql.Context, in scope, n, of sql.Node) (*pipeline, bool) {
	child, ok := compileNode(ctx, in, of)
	if !ok {
		return nil, false
	}
	schema := n.Schema(ctx)
	if len(schema) != len(child.names) {
		return nil, false
	}
	out := *child
	out.ids, out.names = nil, make([]string, len(schema))
	for i, c := range schema {
		out.names[i] = c.Name
	}
	return &out, true
}

// compileFilter puts the conjuncts of a filter that compile on top of a pipeline, and returns the others. Those with subqueries come last.
func compileFilter(ctx *sql.Context, child *pipeline, filter sql.Expression) (*pipeline, []sql.Expression) {
	var simple, nested []sql.Expression
	for _, e := range expression.SplitConjunction(ctx, filter) {
		if hasSubquery(ctx, e) {
			nested = append(nested, e)
		} else {
			simple = append(simple, e)
		}
	}
	p, rest := compileConjuncts(ctx, child, simple)
	for _, e := range nested {
		if q, ok := p.existential(ctx, e); ok {
			p = q
			continue
		}
		with, ok := p.withSubqueries(ctx, e)
		if !ok {
			rest = append(rest, e)
			continue
		}
		q, left := compileConjuncts(ctx, with, []sql.Expression{e})
		if len(left) > 0 {
			rest = append(rest, e)
			continue
		}
		p = q.withoutAdded()
	}
	return p, rest
}

// compileConjuncts puts those of some conditions that compile on top of a pipeline, and returns the others.
func compileConjuncts(ctx *sql.Context, child *pipeline, conjuncts []sql.Expression) (*pipeline, []sql.Expression) {
	var compiled []vector.Expr
	var texts, same []string
	var rest []sql.Expression
	for _, e := range conjuncts {
		x, err := compileExpr(ctx, child, e)
		if err != nil || x.Type().Kind != batch.Bool {
			rest = append(rest, e)
			continue
		}
		compiled = append(compiled, x)
		texts, same = append(texts, e.String()), append(same, child.text(ctx, e))
	}
	predicate, err := conjunction(compiled)
	if err != nil {
		return child, conjuncts
	}
	if predicate == nil {
		return child, rest
	}
	return child.where(predicate, texts, same), rest
}

// where is the pipeline's rows for which a predicate is true. texts are its conjuncts, same what text says of them.
func (p *pipeline) where(predicate vector.Expr, texts, same []string) *pipeline {
	out := *p
	out.same = sameOf("filter", []string{p.same}, same)
	out.source, out.subqueries = nil, nil
	out.narrow(predicate)
	out.size = sync.OnceValue(func() size { return p.size().filtered(predicate) })
	below := p.steps()
	if p.source != nil {
		scan := *p.plan
		scan.filter, below[0] = predicate, &scan
	}
	out.plan = &step{title: "Filter " + strings.Join(texts, " AND "), of: &out, below: below}
	out.build = func(ctx *sql.Context) (vector.Operator, error) {
		op, err := openFiltered(ctx, p, below[0], predicate)
		if err != nil {
			return nil, err
		}
		return vector.NewFilter(op, predicate), nil
	}
	return &out
}

// narrow adds a predicate to the condition.
func (p *pipeline) narrow(predicate vector.Expr) {
	if p.condition != nil {
		var err error
		if predicate, err = vector.NewAnd(p.condition, predicate); err != nil {
			p.scanned = nil
		}
	}
	if p.condition = predicate; p.computed {
		p.scanned = nil
	}
}

// openFiltered lets a scan, which is that step, know what the filter right above it wants.
func openFiltered(ctx *sql.Context, child *pipeline, scan *step, predicate vector.Expr) (vector.Operator, error) {
	if child.source == nil {
		return child.open(ctx)
	}
	op, err := child.source.Scan(ctx, predicate)
	if err != nil {
		return nil, err
	}
	return child.afterSubqueries(ctx, scan.observe(ctx, op), child.size().rows > 0)
}

func conjunction(all []vector.Expr) (vector.Expr, error) {
	switch len(all) {
	case 0:
		return nil, nil
	case 1:
		return all[0], nil
	default:
		return vector.NewAnd(all...)
	}
}

func compileProject(ctx *sql.Context, in scope, n *plan.Project) (*pipeline, bool) {
	child, ok := compileNode(ctx, in, n.Child)
	if !ok {
		return nil, false
	}
	if child, ok = child.withSubqueries(ctx, n.Projections...); !ok {
		return nil, false
	}
	return child.project(ctx, n.Projections)
}

// project is a pipeline of expressions over this one.
func (p *pipeline) project(ctx *sql.Context, projections []sql.Expression) (*pipeline, bool) {
	out := &pipeline{outer: p.outer, scanned: p.scanned, condition: p.condition, computed: true, addressed: p.addressed, budget: p.budget}
	exprs := make([]vector.Expr, len(projections))
	texts := make([]string, len(projections))
	for i, e := range projections {
		field, x, err := compileColumn(ctx, p, e)
		if err != nil {
			return nil, false
		}
		exprs[i], texts[i] = x, e.String()
		out.origins = append(out.origins, p.text(ctx, unalias(e)))
		out.fields = append(out.fields, field)
		out.names = append(out.names, field.Name)
	}
	out.aggregated, out.many, out.same = p.aggregated, p.many, p.same
	out.plan = &step{title: "Project " + strings.Join(texts, ", "), of: out, below: p.steps()}
	out.computeOver(p, exprs)
	return out, true
}

// computeOver makes a pipeline the values of expressions over the columns of another one. Its fields are those of the values.
func (p *pipeline) computeOver(below *pipeline, exprs []vector.Expr) {
	p.size = sync.OnceValue(func() size {
		from := below.size()
		return size{rows: from.rows, columns: from.computed(exprs)}
	})
	p.build = func(ctx *sql.Context) (vector.Operator, error) {
		op, err := below.open(ctx)
		if err != nil {
			return nil, err
		}
		return vector.NewProject(op, exprs, p.fields), nil
	}
}

// compileColumn compiles a projected expression. A column that is passed through keeps its exact batch type; anything else must
// have the type that the client is told.
func compileColumn(ctx *sql.Context, child *pipeline, e sql.Expression) (batch.Field, vector.Expr, error) {
	name := e.String()
	if named, ok := e.(sql.Nameable); ok {
		name = named.Name()
	}
	inner := unalias(e)
	x, err := compileExpr(ctx, child, inner)
	if err != nil {
		return batch.Field{}, nil, err
	}
	if column, ok := inner.(*expression.GetField); ok {
		field := child.fields[column.Index()-child.outer]
		field.Name = name
		return field, x, nil
	}
	if _, isNull := inner.Type(ctx).(sql.NullType); isNull || !sameType(mysqltype.Of(x.Type()), inner.Type(ctx)) {
		return batch.Field{}, nil, fmt.Errorf("%s is %s in rows and %s in batches", inner, inner.Type(ctx), x.Type())
	}
	return batch.Field{Name: name, Type: x.Type(), Nullable: inner.IsNullable(ctx)}, x, nil
}

func unalias(e sql.Expression) sql.Expression {
	for {
		a, ok := e.(*expression.Alias)
		if !ok {
			return e
		}
		e = a.Child
	}
}

// sameType says whether values of both types look the same on the wire.
func sameType(a, b sql.Type) bool {
	da, okA := a.(sql.DecimalType)
	db, okB := b.(sql.DecimalType)
	if okA && okB {
		return da.Scale() == db.Scale() // a batch may have fewer digits in front of the point
	}
	return a.Type() == b.Type() || types.IsTextOnly(a) && types.IsTextOnly(b)
}

// errNotCompiled says that an expression is left to the rows.
var errNotCompiled = errors.New("not compiled")
