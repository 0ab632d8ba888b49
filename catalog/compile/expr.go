package compile

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// compileExpr turns an expression over the pipeline's rows into one over its batches, or returns an error: run it on rows.
func compileExpr(ctx *sql.Context, p *pipeline, e sql.Expression) (vector.Expr, error) {
	c := compiler{ctx: ctx, p: p}
	return c.compile(e)
}

// Wrapper is an expression that corrects GMS's for rows; batches need no correction.
type Wrapper interface {
	sql.Expression
	Unwrap() sql.Expression
}

type compiler struct {
	ctx *sql.Context
	p   *pipeline
}

func (c compiler) compile(e sql.Expression) (vector.Expr, error) {
	switch e := e.(type) {
	case Wrapper:
		return c.compile(e.Unwrap())
	case Caster:
		return c.cast(e)
	case *expression.Alias:
		return c.compile(e.Child)
	case *Assigned:
		return c.assignment(e)
	case *expression.GetField:
		return c.column(e)
	case *expression.Literal:
		if x, ok := mysqltype.Literal(e.Value(), e.Type(c.ctx)); ok {
			return x, nil
		}
		return nil, errNotCompiled
	case *expression.And, *expression.Or:
		return c.logic(e)
	case *expression.Not:
		return c.not(e.Child)
	case *expression.IsNull:
		x, err := c.compile(e.Child)
		if err != nil {
			return nil, err
		}
		return vector.NewIsNull(x), nil
	case *expression.Between:
		return c.between(e)
	case *expression.InTuple:
		return c.in(e.Left(), e.Right())
	case *expression.HashInTuple:
		return c.in(e.Left(), e.Right())
	case *expression.Like:
		return c.like(e)
	case *expression.Arithmetic:
		op, ok := arithOps[e.Op]
		if !ok {
			return nil, errNotCompiled
		}
		return c.arith(op, e.Left(), e.Right())
	case *expression.Div:
		return c.divide(vector.Divide, e.Left(), e.Right())
	case *expression.IntDiv:
		return c.divide(vector.IntDivide, e.Left(), e.Right())
	case *expression.Mod:
		return c.divide(vector.Modulo, e.Left(), e.Right())
	}
	if op, ok := compareOp(e); ok {
		pair := e.(expression.Comparer)
		return c.compare(op, pair.Left(), pair.Right())
	}
	return c.function(e)
}

func (c compiler) cast(e Caster) (vector.Expr, error) {
	child, to, ok := e.CastTo(c.ctx)
	if !ok {
		return nil, errNotCompiled
	}
	x, err := c.compile(child)
	if err != nil {
		return nil, err
	}
	return vector.NewCast(x, to)
}

var arithOps = map[string]vector.ArithOp{"+": vector.Add, "-": vector.Subtract, "*": vector.Multiply}

func compareOp(e sql.Expression) (vector.CompareOp, bool) {
	switch e.(type) {
	case *expression.Equals:
		return vector.Equal, true
	case *expression.NullSafeEquals:
		return vector.NullSafeEqual, true
	case *expression.GreaterThan:
		return vector.Greater, true
	case *expression.GreaterThanOrEqual:
		return vector.GreaterEqual, true
	case *expression.LessThan:
		return vector.Less, true
	case *expression.LessThanOrEqual:
		return vector.LessEqual, true
	}
	return 0, false
}

// operand compiles an expression whose value is looked into. Documents are compared and computed with by rules of their own, which the
// rows have.
func (c compiler) operand(e sql.Expression) (vector.Expr, error) {
	if types.IsJSON(e.Type(c.ctx)) {
		return nil, errNotCompiled
	}
	return c.compile(e)
}

// column is a column of the pipeline's batches. GMS's index is its position in the row; the name must agree.
func (c compiler) column(e *expression.GetField) (vector.Expr, error) {
	i := e.Index()
	if i < 0 || i >= len(c.p.fields) || !strings.EqualFold(c.p.names[i], e.Name()) {
		return nil, errNotCompiled
	}
	return vector.NewColumn(i, c.p.fields[i]), nil
}

// assignment compiles where no value can fail to fit its column.
func (c compiler) assignment(e *Assigned) (vector.Expr, error) {
	value, to := e.Child, e.to
	if e.ignore {
		return nil, errNotCompiled
	}
	if literal, ok := value.(*expression.Literal); ok {
		return c.constant(e, literal, to)
	}
	x, err := c.compile(value)
	if err != nil {
		return nil, err
	}
	if to.Type.Kind == batch.String && !mysqltype.OfField(to).Equals(mysqltype.Text) {
		return nil, errNotCompiled
	}
	if x.Type().Kind == batch.Bool && to.Type.Kind != batch.Bool || to.Type.Kind == batch.Date && x.Type().Kind != batch.Date {
		return nil, errNotCompiled
	}
	return vector.NewCast(x, to.Type)
}

// constant is an assigned literal, converted once.
func (c compiler) constant(e *Assigned, literal *expression.Literal, to batch.Field) (vector.Expr, error) {
	if literal.Value() == nil && to.Nullable {
		return vector.NewNull(to.Type), nil
	}
	once := *e
	v, err := once.Eval(c.ctx, nil)
	if err != nil {
		return nil, errNotCompiled
	}
	if v, err = mysqltype.ToBatch(c.ctx, to, v); err != nil {
		return nil, errNotCompiled
	}
	return vector.NewConstant(to.Type, v)
}

func (c compiler) logic(e sql.Expression) (vector.Expr, error) {
	var args []vector.Expr
	for _, child := range e.Children() {
		x, err := c.boolean(child)
		if err != nil {
			return nil, err
		}
		args = append(args, x)
	}
	if _, and := e.(*expression.And); and {
		return vector.NewAnd(args...)
	}
	return vector.NewOr(args...)
}

func (c compiler) boolean(e sql.Expression) (vector.Expr, error) {
	x, err := c.compile(e)
	if err != nil {
		return nil, err
	}
	if x.Type().Kind != batch.Bool {
		return nil, errNotCompiled
	}
	return x, nil
}

func (c compiler) not(e sql.Expression) (vector.Expr, error) {
	x, err := c.boolean(e)
	if err != nil {
		return nil, err
	}
	return vector.NewNot(x)
}

// compare compiles l op r. A literal takes the type by which MySQL compares it with the other side.
func (c compiler) compare(op vector.CompareOp, l, r sql.Expression) (vector.Expr, error) {
	left, right, err := c.operands(l, r)
	if err != nil {
		return nil, err
	}
	if !alike(left.Type(), right.Type()) {
		return nil, errNotCompiled
	}
	if left.Type().Kind == batch.Bool && op != vector.Equal && op != vector.NullSafeEqual {
		return nil, errNotCompiled
	}
	return vector.NewCompare(op, left, right)
}

func (c compiler) operands(l, r sql.Expression) (left, right vector.Expr, err error) {
	ll, leftLiteral := l.(*expression.Literal)
	rl, rightLiteral := r.(*expression.Literal)
	if leftLiteral && rightLiteral {
		return nil, nil, errNotCompiled
	}
	if leftLiteral {
		if right, err = c.operand(r); err == nil {
			left, err = c.literalFor(ll, right.Type())
		}
		return left, right, err
	}
	if left, err = c.operand(l); err != nil {
		return nil, nil, err
	}
	if rightLiteral {
		right, err = c.literalFor(rl, left.Type())
	} else {
		right, err = c.operand(r)
	}
	return left, right, err
}

func (c compiler) literalFor(e *expression.Literal, t batch.Type) (vector.Expr, error) {
	if e.Value() == nil {
		return nil, errNotCompiled
	}
	x, ok := mysqltype.LiteralFor(c.ctx, e.Value(), e.Type(c.ctx), t)
	if !ok {
		return nil, errNotCompiled
	}
	return x, nil
}

// alike says whether MySQL compares two types as vector does: within one family. Mixed families are converted by rules of
// MySQL's own, which the rows have.
func alike(a, b batch.Type) bool { return family(a.Kind) == family(b.Kind) }

func family(k batch.Kind) batch.Kind {
	switch k {
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64, batch.Float32, batch.Float64, batch.Decimal:
		return batch.Int64
	default:
		return k
	}
}

func (c compiler) between(e *expression.Between) (vector.Expr, error) {
	x, err := c.operand(e.Val)
	if err != nil {
		return nil, err
	}
	bounds := make([]vector.Expr, 2)
	for i, bound := range []sql.Expression{e.Lower, e.Upper} {
		literal, ok := bound.(*expression.Literal)
		if !ok {
			return nil, errNotCompiled
		}
		if bounds[i], err = c.literalFor(literal, x.Type()); err != nil {
			return nil, err
		}
		if !alike(x.Type(), bounds[i].Type()) || x.Type().Kind == batch.Bool {
			return nil, errNotCompiled
		}
	}
	return vector.NewBetween(x, bounds[0], bounds[1])
}

func (c compiler) in(l, r sql.Expression) (vector.Expr, error) {
	tuple, ok := r.(expression.Tuple)
	if !ok {
		return nil, errNotCompiled
	}
	x, err := c.operand(l)
	if err != nil {
		return nil, err
	}
	list := make([]vector.Expr, len(tuple))
	for i, item := range tuple {
		literal, ok := item.(*expression.Literal)
		if !ok {
			return nil, errNotCompiled
		}
		if list[i], err = c.literalFor(literal, x.Type()); err != nil {
			return nil, err
		}
		if !alike(x.Type(), list[i].Type()) {
			return nil, errNotCompiled
		}
	}
	return vector.NewIn(x, list)
}

func (c compiler) like(e *expression.Like) (vector.Expr, error) {
	x, err := c.operand(e.Left())
	if err != nil {
		return nil, err
	}
	literal, ok := e.Right().(*expression.Literal)
	if !ok || x.Type().Kind != batch.String || e.Escape != nil {
		return nil, errNotCompiled
	}
	pattern, ok := literal.Value().(string)
	if !ok {
		return nil, errNotCompiled
	}
	return vector.NewLike(x, pattern, '\\')
}

// divide leaves a division that may be by zero to the rows where that is an error.
func (c compiler) divide(op vector.ArithOp, l, r sql.Expression) (vector.Expr, error) {
	if divisionIsError(c.ctx) {
		by, ok := r.(*expression.Literal)
		if !ok {
			return nil, errNotCompiled
		}
		if zero, err := by.Type(c.ctx).Compare(c.ctx, by.Value(), int64(0)); err != nil || zero == 0 || by.Value() == nil {
			return nil, errNotCompiled
		}
	}
	return c.arith(op, l, r)
}

func (c compiler) arith(op vector.ArithOp, l, r sql.Expression) (vector.Expr, error) {
	left, err := c.number(l)
	if err != nil {
		return nil, err
	}
	right, err := c.number(r)
	if err != nil {
		return nil, err
	}
	return vector.NewArith(op, left, right)
}

func (c compiler) number(e sql.Expression) (vector.Expr, error) {
	x, err := c.compile(e)
	if err != nil {
		return nil, err
	}
	if family(x.Type().Kind) != batch.Int64 {
		return nil, errNotCompiled
	}
	return x, nil
}
