package compile

import (
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// ExactAggregation is a SUM or AVG that is a DECIMAL, and exact, where its argument is.
type ExactAggregation interface {
	sql.Aggregation
	// Exact is the type of the result; false: it is a DOUBLE.
	Exact(ctx *sql.Context) (t sql.DecimalType, ok bool)
	Average() bool
}

// DeviationAggregation is VARIANCE or STDDEV: a DOUBLE.
type DeviationAggregation interface {
	sql.Aggregation
	Sample() bool // of a sample: VAR_SAMP, STDDEV_SAMP
	Root() bool   // STDDEV
}

// ConcatAggregation is GROUP_CONCAT.
type ConcatAggregation interface {
	sql.Aggregation
	// Text is the text of a row, NULL where the row does not count; false: it has bytes.
	Text(ctx *sql.Context) (text sql.Expression, ok bool)
	OutputExpressions() []sql.Expression // the arguments
	Order() sql.SortConditions
	Distinct() bool // rows with the same arguments count once
	Separator() string
	MaxLen() int // bytes of a result
}

// AggregationWrapper is an aggregation that corrects GMS's for rows; batches need no correction.
type AggregationWrapper interface {
	sql.Aggregation
	UnwrapAggregation() sql.Aggregation
}

// compileGroupBy is an aggregation below other nodes. What statistics answer is left to buildGroupBy.
func compileGroupBy(ctx *sql.Context, in scope, n *plan.GroupBy) (*pipeline, bool) {
	if s, ok := fromStatistics(ctx, n); ok {
		if _, known, err := s.row(ctx); known || err != nil {
			return nil, false
		}
	}
	return compileAggregation(ctx, in, n)
}

// compileAggregation is a hash aggregation.
func compileAggregation(ctx *sql.Context, in scope, n *plan.GroupBy) (*pipeline, bool) {
	child, ok := compileNode(ctx, in, n.Child)
	if !ok {
		return nil, false
	}
	if child, ok = child.withSubqueries(ctx, append(n.SelectDeps[:len(n.SelectDeps):len(n.SelectDeps)], n.GroupByExprs...)...); !ok {
		return nil, false
	}
	return child.aggregate(ctx, n)
}

// aggregate is the aggregation of a node over the pipeline.
func (p *pipeline) aggregate(ctx *sql.Context, n *plan.GroupBy) (*pipeline, bool) {
	if len(n.GroupByExprs) == 0 && !slices.ContainsFunc(n.SelectDeps, isAggregate) {
		return nil, false
	}
	c := compiler{ctx: ctx, p: p, wide: true}
	keys, texts, same := make([]vector.Expr, len(n.GroupByExprs)), make([]string, len(n.GroupByExprs)), make([]string, len(n.GroupByExprs))
	for i, e := range n.GroupByExprs {
		x, err := c.key(e)
		if err != nil {
			return nil, false
		}
		keys[i], texts[i], same[i] = x, e.String(), p.text(ctx, e)
	}
	out := &pipeline{outer: p.outer, computed: true, aggregated: true, budget: p.budget}
	aggregates, selected := make([]vector.Aggregate, len(n.SelectDeps)), make([]string, len(n.SelectDeps))
	for i, column := range n.Schema(ctx) {
		a, err := c.aggregate(n.SelectDeps[i])
		if err != nil {
			return nil, false
		}
		a.Field.Name = column.Name
		aggregates[i], selected[i] = a, n.SelectDeps[i].String()
		out.origins = append(out.origins, p.text(ctx, n.SelectDeps[i]))
		out.fields = append(out.fields, a.Field)
		out.names = append(out.names, column.Name)
		id := sql.ColumnId(0)
		if named, ok := n.SelectDeps[i].(sql.IdExpression); ok {
			id = named.Id()
		}
		out.ids = append(out.ids, id)
	}
	if _, err := vector.NewAggregate(vector.NewBatches(&batch.Schema{}), keys, aggregates, nil); err != nil {
		return nil, false
	}
	title := "Aggregate " + strings.Join(selected, ", ")
	if len(texts) > 0 {
		title += " by " + strings.Join(texts, ", ")
	}
	out.plan, out.same = &step{title: title, of: out, below: p.steps()}, sameOf("aggregate", []string{p.same}, same)
	out.size = sync.OnceValue(func() size {
		below := p.size()
		grouped := size{rows: below.grouped(keys), columns: make([]vector.ColumnEstimate, len(aggregates))}
		for i, a := range aggregates {
			grouped.columns[i].OfGroups = true
			if a.Func == vector.First {
				grouped.columns[i] = below.computed(a.Args)[0]
			}
		}
		return grouped
	})
	out.build = func(ctx *sql.Context) (vector.Operator, error) {
		op, err := p.open(ctx)
		if err != nil {
			return nil, err
		}
		return vector.NewAggregate(op, keys, aggregates, p.budget)
	}
	out.share()
	return out, true
}

// isAggregate is false of ANY_VALUE: without a GROUP BY it makes no aggregation of a SELECT.
func isAggregate(e sql.Expression) bool {
	_, isAny := e.(*aggregation.AnyValue)
	_, is := e.(sql.Aggregation)
	return is && !isAny
}

// key compiles an expression by whose values rows are told apart: bytes must decide what is equal.
func (c compiler) key(e sql.Expression) (vector.Expr, error) {
	x, err := c.operand(e)
	if err != nil {
		return nil, err
	}
	if !byBytes(e.Type(c.ctx)) {
		return nil, errNotCompiled
	}
	return x, nil
}

// byBytes says whether texts of a type are equal, and ordered, by their bytes.
func byBytes(t sql.Type) bool {
	collated, ok := t.(sql.TypeWithCollation)
	if !ok {
		return true
	}
	return BytesDecide(collated.Collation())
}

// BytesDecide says whether a collation compares texts by their bytes.
func BytesDecide(c sql.CollationID) bool {
	return c == sql.Collation_Default || c == sql.Collation_binary || c == sql.Collation_Unspecified
}

// aggregate compiles one column of a GroupBy.
func (c compiler) aggregate(e sql.Expression) (vector.Aggregate, error) {
	switch e := e.(type) {
	case aggregatedKey:
		x, err := c.key(e.Expression)
		if err != nil {
			return vector.Aggregate{}, err
		}
		return vector.Aggregate{Func: vector.First, Args: []vector.Expr{x}, Field: batch.Field{Type: x.Type(), Nullable: true}}, nil
	case AggregationWrapper:
		return c.aggregate(e.UnwrapAggregation())
	case ExactAggregation:
		return c.sum(e)
	case *aggregation.Count:
		return c.count(e)
	case *aggregation.CountDistinct:
		return c.countDistinct(e)
	case *aggregation.Min:
		return c.extreme(vector.Min, e.Child)
	case *aggregation.Max:
		return c.extreme(vector.Max, e.Child)
	case DeviationAggregation:
		return c.deviation(e)
	case ConcatAggregation:
		return c.concat(e)
	case *aggregation.AnyValue:
		field, x, err := compileColumn(c.ctx, c.p, e.Child)
		field.Nullable = true
		return vector.Aggregate{Func: vector.AnyValue, Args: []vector.Expr{x}, Field: field}, err
	case *expression.GetField:
		field, x, err := compileColumn(c.ctx, c.p, e)
		return vector.Aggregate{Func: vector.First, Args: []vector.Expr{x}, Field: field}, err
	}
	return vector.Aggregate{}, errNotCompiled
}

var countField = batch.Field{Type: batch.Type{Kind: batch.Int64}}

func (c compiler) count(e *aggregation.Count) (vector.Aggregate, error) {
	out := vector.Aggregate{Func: vector.Count, Field: countField}
	switch arg := e.Child.(type) {
	case *expression.Star:
		return out, nil
	case *expression.Literal:
		if arg.Value() == nil {
			return out, errNotCompiled
		}
		return out, nil
	}
	x, err := c.compile(e.Child)
	out.Args = []vector.Expr{x}
	return out, err
}

func (c compiler) countDistinct(e *aggregation.CountDistinct) (vector.Aggregate, error) {
	out := vector.Aggregate{Func: vector.Count, Distinct: true, Field: countField}
	for _, arg := range e.ChildExpressions {
		x, err := c.key(unwrap(arg))
		if err != nil {
			return out, err
		}
		out.Args = append(out.Args, x)
	}
	return out, nil
}

func (c compiler) extreme(f vector.AggregateFunc, arg sql.Expression) (vector.Aggregate, error) {
	c.watched = true // GMS writes a date of a function that is an extreme otherwise
	arg, _ = undistinct(arg)
	if w, ok := arg.(Wrapper); ok {
		arg = w.Unwrap()
	}
	if _, err := c.key(arg); err != nil {
		return vector.Aggregate{}, err
	}
	field, x, err := compileColumn(c.ctx, c.p, arg)
	field.Nullable = true
	return vector.Aggregate{Func: f, Args: []vector.Expr{x}, Field: field}, err
}

// deviation compiles VARIANCE and STDDEV of numbers.
func (c compiler) deviation(e DeviationAggregation) (vector.Aggregate, error) {
	out := vector.Aggregate{Func: vector.VariancePop, Field: batch.Field{Type: batch.Type{Kind: batch.Float64}, Nullable: true}}
	switch {
	case e.Root() && e.Sample():
		out.Func = vector.StddevSample
	case e.Root():
		out.Func = vector.StddevPop
	case e.Sample():
		out.Func = vector.VarianceSample
	}
	x, err := c.operand(e.Children()[0])
	if err != nil {
		return out, err
	}
	if family(x.Type().Kind) != batch.Int64 { // of numbers
		return out, errNotCompiled
	}
	x, err = vector.NewCast(x, out.Field.Type)
	out.Args = []vector.Expr{x}
	return out, err
}

// concat compiles GROUP_CONCAT of texts and of what is written as one; DISTINCT only where equal values are equal texts.
func (c compiler) concat(e ConcatAggregation) (vector.Aggregate, error) {
	field := batch.Field{Type: batch.Type{Kind: batch.String}, Nullable: true}
	out := vector.Aggregate{Func: vector.GroupConcat, Distinct: e.Distinct(), Concat: &vector.Concatenation{Separator: e.Separator(), MaxLen: e.MaxLen()}, Field: field}
	text, ok := e.Text(c.ctx)
	if !ok {
		return out, errNotCompiled
	}
	if e.Distinct() {
		arg := e.OutputExpressions()
		if len(arg) > 1 || types.IsFloat(arg[0].Type(c.ctx)) {
			return out, errNotCompiled
		}
		if _, err := c.key(arg[0]); err != nil {
			return out, err
		}
	}
	x, err := c.compile(text)
	if err != nil {
		return out, err
	}
	out.Args = []vector.Expr{x}
	for _, by := range e.Order() {
		if by.NullOrdering != sql.NullsFirst {
			return out, errNotCompiled
		}
		if x, err = c.key(by.Expr); err != nil {
			return out, err
		}
		out.Args, out.Concat.Descending = append(out.Args, x), append(out.Concat.Descending, by.Order == sql.Descending)
	}
	return out, nil
}

func undistinct(e sql.Expression) (arg sql.Expression, distinct bool) {
	if d, ok := e.(*expression.DistinctExpression); ok {
		return d.Child, true
	}
	return e, false
}

// sum compiles SUM and AVG. The DECIMAL of the result has the digits that Delta allows; a sum with more is an error of the operator.
func (c compiler) sum(e ExactAggregation) (vector.Aggregate, error) {
	arg, isDistinct := undistinct(e.Children()[0])
	x, err := c.operand(arg)
	if err != nil {
		return vector.Aggregate{}, err
	}
	out := vector.Aggregate{Func: vector.Sum, Args: []vector.Expr{x}, Distinct: isDistinct, Field: batch.Field{Nullable: true}}
	if e.Average() {
		out.Func = vector.Average
	}
	t, exact := e.Exact(c.ctx)
	switch kind := x.Type().Kind; {
	case exact && (family(kind) == batch.Int64 && kind != batch.Float32 && kind != batch.Float64 || kind == batch.Bool) && t.Scale() <= mysqltype.MaxDecimalPrecision:
		out.Field.Type = batch.DecimalOf(min(t.Precision(), mysqltype.MaxDecimalPrecision), t.Scale())
	case !exact && types.IsFloat(arg.Type(c.ctx)) && (kind == batch.Float32 || kind == batch.Float64):
		out.Field.Type = batch.Type{Kind: batch.Float64}
	default:
		return out, errNotCompiled
	}
	return out, nil
}
