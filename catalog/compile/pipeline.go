package compile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// pipeline is a chain of plan nodes as vector operators, not opened yet. Its expressions keep buffers: it is opened once.
type pipeline struct {
	fields []batch.Field
	names  []string // as expressions above call the columns
	source Source   // while nothing is above the scan; else nil
	open   func(ctx *sql.Context) (vector.Operator, error)
	text   []string // for EXPLAIN, the root first
	// scanned is what the rows come from, and condition, over its columns, which of them come; nil: all. scanned is nil when a condition
	// stands above a Project.
	scanned   Source
	condition vector.Expr
	projected bool
	// aggregated: there is an aggregation, whose result may have no place in a batch.
	aggregated bool
	budget     *vector.Budget
}

func (p *pipeline) rows(ctx *sql.Context) (sql.RowIter, error) {
	op, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	return NewRows(op), nil
}

// compileNode compiles a whole chain; false when anything in it does not compile.
func compileNode(ctx *sql.Context, n sql.Node) (*pipeline, bool) {
	switch n := n.(type) {
	case *plan.ResolvedTable:
		if s, ok := sql.GetUnderlyingTable(n.Table).(Source); ok {
			return sourcePipeline(s), true
		}
	case *plan.TableAlias:
		return compileAlias(ctx, n, n.Child)
	case *plan.SubqueryAlias:
		return compileSubquery(ctx, n)
	case *plan.Filter:
		return compileWhole(ctx, n.Child, n.Expression)
	case *plan.Having:
		return compileWhole(ctx, n.Child, n.Cond)
	case *plan.GroupBy:
		return compileGroupBy(ctx, n)
	case *plan.Sort:
		return compileSort(ctx, n.Child, n.SortConditions, nil)
	case *plan.TopN:
		if !n.CalcFoundRows {
			return compileSort(ctx, n.Child, n.SortConditions, n.Limit)
		}
	case *plan.Limit:
		if !n.CalcFoundRows {
			return compileLimit(ctx, n.Child, false, n.Limit)
		}
	case *plan.Offset:
		return compileLimit(ctx, n.Child, true, n.Offset)
	case *plan.Distinct:
		return compileDistinct(ctx, n.Child)
	case *plan.OrderedDistinct:
		return compileDistinct(ctx, n.Child)
	case *plan.Project:
		return compileProject(ctx, n)
	case Source:
		return sourcePipeline(n), true
	}
	return nil, false
}

func sourcePipeline(s Source) *pipeline {
	fields := s.Columns()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return &pipeline{
		fields: fields, names: names, source: s, scanned: s, text: []string{s.Describe()}, budget: vector.NewBudget(queryMemory),
		open: func(ctx *sql.Context) (vector.Operator, error) { return s.Scan(ctx, nil) },
	}
}

// compileWhole is a filter all of which compiles.
func compileWhole(ctx *sql.Context, n sql.Node, filter sql.Expression) (*pipeline, bool) {
	child, ok := compileNode(ctx, n)
	if !ok {
		return nil, false
	}
	p, rest := compileFilter(ctx, child, filter)
	return p, len(rest) == 0
}

// compileSubquery is a derived table or a view that refers to nothing outside of it.
func compileSubquery(ctx *sql.Context, n *plan.SubqueryAlias) (*pipeline, bool) {
	if n.IsLateral || !n.Correlated.Empty() {
		return nil, false
	}
	p, ok := compileAlias(ctx, n, n.Child)
	if ok {
		p.scanned, p.projected = nil, true
	}
	return p, ok
}

// compileAlias is a node's child under the names of the node.
func compileAlias(ctx *sql.Context, n, of sql.Node) (*pipeline, bool) {
	child, ok := compileNode(ctx, of)
	if !ok {
		return nil, false
	}
	schema := n.Schema(ctx)
	if len(schema) != len(child.names) {
		return nil, false
	}
	out := *child
	out.names = make([]string, len(schema))
	for i, c := range schema {
		out.names[i] = c.Name
	}
	return &out, true
}

// compileFilter puts the conjuncts of a filter that compile on top of a pipeline, and returns the others.
func compileFilter(ctx *sql.Context, child *pipeline, filter sql.Expression) (*pipeline, []sql.Expression) {
	var compiled []vector.Expr
	var texts []string
	var rest []sql.Expression
	for _, e := range expression.SplitConjunction(ctx, filter) {
		x, err := compileExpr(ctx, child, e)
		if err != nil || x.Type().Kind != batch.Bool {
			rest = append(rest, e)
			continue
		}
		compiled = append(compiled, x)
		texts = append(texts, e.String())
	}
	predicate, err := conjunction(compiled)
	if err != nil {
		return child, expression.SplitConjunction(ctx, filter)
	}
	if predicate == nil {
		return child, rest
	}
	out := *child
	out.source = nil
	out.narrow(predicate)
	out.text = append([]string{"Filter " + strings.Join(texts, " AND ")}, child.text...)
	out.open = func(ctx *sql.Context) (vector.Operator, error) {
		op, err := openFiltered(ctx, child, predicate)
		if err != nil {
			return nil, err
		}
		return vector.NewFilter(op, predicate), nil
	}
	return &out, rest
}

// narrow adds a predicate to the condition.
func (p *pipeline) narrow(predicate vector.Expr) {
	if p.condition != nil {
		var err error
		if predicate, err = vector.NewAnd(p.condition, predicate); err != nil {
			p.scanned = nil
		}
	}
	if p.condition = predicate; p.projected {
		p.scanned = nil
	}
}

// openFiltered lets a scan know what the filter right above it wants.
func openFiltered(ctx *sql.Context, child *pipeline, predicate vector.Expr) (vector.Operator, error) {
	if child.source != nil {
		return child.source.Scan(ctx, predicate)
	}
	return child.open(ctx)
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

func compileProject(ctx *sql.Context, n *plan.Project) (*pipeline, bool) {
	child, ok := compileNode(ctx, n.Child)
	if !ok {
		return nil, false
	}
	out := &pipeline{scanned: child.scanned, condition: child.condition, projected: true, aggregated: child.aggregated, budget: child.budget}
	exprs := make([]vector.Expr, len(n.Projections))
	texts := make([]string, len(n.Projections))
	for i, e := range n.Projections {
		field, x, err := compileColumn(ctx, child, e)
		if err != nil {
			return nil, false
		}
		exprs[i], texts[i] = x, e.String()
		out.fields = append(out.fields, field)
		out.names = append(out.names, field.Name)
	}
	out.text = append([]string{"Project " + strings.Join(texts, ", ")}, child.text...)
	out.open = func(ctx *sql.Context) (vector.Operator, error) {
		op, err := child.open(ctx)
		if err != nil {
			return nil, err
		}
		return vector.NewProject(op, exprs, out.fields), nil
	}
	return out, true
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
		field := child.fields[column.Index()]
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
		return da.Precision() == db.Precision() && da.Scale() == db.Scale()
	}
	return a.Type() == b.Type() || types.IsTextOnly(a) && types.IsTextOnly(b)
}

// errNotCompiled says that an expression is left to the rows.
var errNotCompiled = errors.New("not compiled")
