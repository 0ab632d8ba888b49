package compile

import (
	"strings"

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

// AggregationWrapper is an aggregation that corrects GMS's for rows; batches need no correction.
type AggregationWrapper interface {
	sql.Aggregation
	UnwrapAggregation() sql.Aggregation
}

// queryMemory bounds what the operators of one pipeline hold: enough for some ten million groups, and not so much that one query could take
// the machine.
const queryMemory = 2 << 30

// compileGroupBy is an aggregation below other nodes. What statistics answer is left to buildGroupBy.
func compileGroupBy(ctx *sql.Context, n *plan.GroupBy) (*pipeline, bool) {
	if s, ok := fromStatistics(ctx, n); ok {
		if _, known, err := s.row(ctx); known || err != nil {
			return nil, false
		}
	}
	return compileAggregation(ctx, n)
}

// compileAggregation is a hash aggregation.
func compileAggregation(ctx *sql.Context, n *plan.GroupBy) (*pipeline, bool) {
	child, ok := compileNode(ctx, n.Child)
	if !ok {
		return nil, false
	}
	c := compiler{ctx: ctx, p: child}
	keys, texts := make([]vector.Expr, len(n.GroupByExprs)), make([]string, len(n.GroupByExprs))
	for i, e := range n.GroupByExprs {
		x, err := c.key(e)
		if err != nil {
			return nil, false
		}
		keys[i], texts[i] = x, e.String()
	}
	out := &pipeline{projected: true, aggregated: true, budget: child.budget}
	aggregates, selected := make([]vector.Aggregate, len(n.SelectDeps)), make([]string, len(n.SelectDeps))
	for i, column := range n.Schema(ctx) {
		a, err := c.aggregate(n.SelectDeps[i])
		if err != nil {
			return nil, false
		}
		a.Field.Name = column.Name
		aggregates[i], selected[i] = a, n.SelectDeps[i].String()
		out.fields = append(out.fields, a.Field)
		out.names = append(out.names, column.Name)
	}
	if _, err := vector.NewAggregate(vector.NewBatches(&batch.Schema{}), keys, aggregates, nil); err != nil {
		return nil, false
	}
	title := "Aggregate " + strings.Join(selected, ", ")
	if len(texts) > 0 {
		title += " by " + strings.Join(texts, ", ")
	}
	out.text = append([]string{title}, child.text...)
	out.open = func(ctx *sql.Context) (vector.Operator, error) {
		op, err := child.open(ctx)
		if err != nil {
			return nil, err
		}
		return vector.NewAggregate(op, keys, aggregates, child.budget)
	}
	return out, true
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
	switch collated.Collation() {
	case sql.Collation_Default, sql.Collation_binary, sql.Collation_Unspecified:
		return true
	}
	return false
}

// aggregate compiles one column of a GroupBy.
func (c compiler) aggregate(e sql.Expression) (vector.Aggregate, error) {
	switch e := e.(type) {
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
		x, err := c.key(arg)
		if err != nil {
			return out, err
		}
		out.Args = append(out.Args, x)
	}
	return out, nil
}

func (c compiler) extreme(f vector.AggregateFunc, arg sql.Expression) (vector.Aggregate, error) {
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
