package compile

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// compileExpr turns an expression over the pipeline's rows into one over its batches, or returns an error: run it on rows.
func compileExpr(ctx *sql.Context, p *pipeline, e sql.Expression) (vector.Expr, error) {
	c := compiler{ctx: ctx, p: p}
	before := len(p.subqueries)
	x, err := c.compile(e)
	if err != nil {
		p.subqueries = p.subqueries[:before]
	}
	return x, err
}

// Wrapper is an expression that corrects GMS's for rows; batches need no correction.
type Wrapper interface {
	sql.Expression
	Unwrap() sql.Expression
}

// ExactArithmetic is arithmetic of integers and DECIMALs as NewArith and NewDivide of package vector do it.
type ExactArithmetic interface {
	expression.BinaryExpression
	ExactArithmetic() (op vector.ArithOp, increment uint8)
}

// Shown is a DECIMAL that is rounded to the digits of its type.
type Shown interface {
	sql.Expression
	ShownDecimal(ctx *sql.Context) (sql.Expression, sql.DecimalType)
}

// unwrap is the expression in Wrappers.
func unwrap(e sql.Expression) sql.Expression {
	for {
		w, ok := e.(Wrapper)
		if !ok {
			return e
		}
		e = w.Unwrap()
	}
}

type compiler struct {
	ctx *sql.Context
	p   *pipeline
	// wide: what is compiled is aggregated before there is a row, so that a value without a place in a batch leaves all to the rows.
	wide bool
	// watched: a conversion that fails is another's business, row by row.
	watched bool
}

// compile turns an expression into kernels as far as there are, and what is left of it into calls for each row.
func (c compiler) compile(e sql.Expression) (vector.Expr, error) {
	if w, ok := e.(*watched); ok {
		c.watched = true
		return c.compile(w.inner)
	}
	x, err := c.kernel(e)
	if err == nil {
		return x, nil
	}
	if x, callErr := c.perRow(e); callErr == nil {
		return x, nil
	}
	return nil, err
}

func (c compiler) kernel(e sql.Expression) (vector.Expr, error) {
	switch e := e.(type) {
	case Caster:
		if child, to, ok := e.CastTo(c.ctx); ok {
			return c.cast(child, to)
		}
		return c.function(e)
	case Wrapper:
		return c.kernel(e.Unwrap())
	case *expression.Alias:
		return c.compile(e.Child)
	case *Assigned:
		return c.assignment(e)
	case *expression.GetField:
		return c.column(e)
	case *plan.Subquery:
		return c.subquery(e)
	case *plan.ExistsSubquery:
		return c.exists(e)
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
		return c.divide(vector.Divide, e, defaultIncrement)
	case *expression.IntDiv:
		return c.divide(vector.IntDivide, e, 0)
	case *expression.Mod:
		return c.divide(vector.Modulo, e, 0)
	case ExactArithmetic:
		op, increment := e.ExactArithmetic()
		if op >= vector.Divide {
			return c.divide(op, e, increment)
		}
		return c.arith(op, e.Left(), e.Right())
	case Shown:
		return c.shown(e)
	case *DateText:
		return c.dateText(e)
	case *expression.UnaryMinus:
		return c.sized(e, vector.Negate, e.Child)
	case *expression.Convert:
		return c.converted(e)
	}
	if op, ok := compareOp(e); ok {
		pair := e.(expression.Comparer)
		return c.compare(op, pair.Left(), pair.Right())
	}
	return c.function(e)
}

func (c compiler) cast(child sql.Expression, to batch.Type) (vector.Expr, error) {
	x, err := c.compile(child)
	if err != nil {
		return nil, err
	}
	return vector.NewCast(x, to)
}

var arithOps = map[string]vector.ArithOp{"+": vector.Add, "-": vector.Subtract, "*": vector.Multiply}

func compareOp(e sql.Expression) (vector.CompareOp, bool) {
	switch e.(type) {
	case *expression.Equals, equated:
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
	i := e.Index() - c.p.outer
	if i < 0 || i >= len(c.p.fields) || !strings.EqualFold(c.p.names[i], e.Name()) && !c.p.isCalled(i, e.Id()) {
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

// compare compiles l op r.
func (c compiler) compare(op vector.CompareOp, l, r sql.Expression) (vector.Expr, error) {
	left, right, err := c.comparable(l, r)
	if err != nil {
		return nil, err
	}
	if left.Type().Kind == batch.Bool && op != vector.Equal && op != vector.NullSafeEqual {
		return nil, errNotCompiled
	}
	if left, right, err = c.ofOneScale(left, right); err != nil {
		return nil, err
	}
	return vector.NewCompare(op, left, right)
}

// comparable compiles two operands that are compared. A literal takes the type by which MySQL compares it with the other one.
func (c compiler) comparable(l, r sql.Expression) (left, right vector.Expr, err error) {
	if !c.comparedByBytes(l, r) {
		return nil, nil, errNotCompiled
	}
	if left, right, err = c.operands(l, r); err == nil && !alike(left.Type(), right.Type()) {
		err = errNotCompiled
	}
	return left, right, err
}

// ofOneScale are two operands where both are decimals, and no decimal here has the digits of both: the one with fewer decimals is given zeros. A value that has
// no place then leaves all to the rows.
func (c compiler) ofOneScale(l, r vector.Expr) (vector.Expr, vector.Expr, error) {
	a, b := l.Type(), r.Type()
	if a.Kind != batch.Decimal || b.Kind != batch.Decimal || a.Scale == b.Scale || max(a.Precision-a.Scale, b.Precision-b.Scale)+max(a.Scale, b.Scale) <= batch.MaxPrecision {
		return l, r, nil
	}
	if a.Scale > b.Scale {
		r, l, err := c.ofOneScale(r, l)
		return l, r, err
	}
	zeros := b.Scale - a.Scale
	one := decimal128.GetScaleMultiplier(int(zeros))
	l, err := c.narrow(vector.NewArith(vector.Multiply, l, vector.NewDecimal(one, zeros+1, zeros)))
	return l, r, err
}

// comparedByBytes says whether texts among operands are compared by their bytes.
func (c compiler) comparedByBytes(l sql.Expression, others ...sql.Expression) bool {
	for _, r := range others {
		if with, ok := ComparedBy(c.ctx, l, r); ok && !BytesDecide(with) {
			return false
		}
	}
	return true
}

// ComparedBy is the collation that MySQL takes to compare two texts; false: they are not both texts.
func ComparedBy(ctx *sql.Context, l, r sql.Expression) (sql.CollationID, bool) {
	if !types.IsText(l.Type(ctx)) || !types.IsText(r.Type(ctx)) {
		return sql.Collation_Unspecified, false
	}
	left, ofLeft := sql.GetCoercibility(ctx, l)
	right, ofRight := sql.GetCoercibility(ctx, r)
	with, _ := sql.ResolveCoercibility(left, ofLeft, right, ofRight)
	return with, true
}

func (c compiler) operands(l, r sql.Expression) (left, right vector.Expr, err error) {
	ll, leftLiteral := unwrap(l).(*expression.Literal)
	rl, rightLiteral := unwrap(r).(*expression.Literal)
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
	x, low, err := c.comparable(e.Val, e.Lower)
	if err != nil {
		return nil, err
	}
	again, high, err := c.comparable(e.Val, e.Upper)
	if err != nil || x.Type().Kind == batch.Bool || x.Type() != again.Type() {
		return nil, cmp.Or(err, errNotCompiled)
	}
	for range 2 { // the second time with the scale that the value has by then
		if x, low, err = c.ofOneScale(x, low); err == nil {
			x, high, err = c.ofOneScale(x, high)
		}
		if err != nil {
			return nil, err
		}
	}
	return vector.NewBetween(x, low, high)
}

func (c compiler) in(l, r sql.Expression) (vector.Expr, error) {
	tuple, ok := r.(expression.Tuple)
	if !ok || !c.comparedByBytes(l, tuple...) {
		return nil, errNotCompiled
	}
	x, err := c.operand(l)
	if err != nil {
		return nil, err
	}
	list := make([]vector.Expr, len(tuple))
	for i, item := range tuple {
		if literal, ok := unwrap(item).(*expression.Literal); ok {
			list[i], err = c.literalFor(literal, x.Type())
		} else {
			list[i], err = c.operand(item)
		}
		if err != nil {
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
	if !ok || x.Type().Kind != batch.String || !c.comparedByBytes(e.Left(), e.Right()) {
		return nil, errNotCompiled
	}
	pattern, ok := literal.Value().(string)
	escape, okEscape := escapeOf(e)
	if !ok || !okEscape {
		return nil, errNotCompiled
	}
	return vector.NewLike(x, pattern, escape)
}

// escapeOf is the character of ESCAPE, by default a backslash; false where it is no literal of one.
func escapeOf(e *expression.Like) (rune, bool) {
	if e.Escape == nil {
		return '\\', true
	}
	literal, ok := e.Escape.(*expression.Literal)
	if !ok {
		return 0, false
	}
	text, _ := literal.Value().(string)
	escape, size := utf8.DecodeRuneInString(text)
	return escape, size > 0 && size == len(text) && escape != utf8.RuneError
}

// defaultIncrement is of div_precision_increment.
const defaultIncrement = 4

// divide leaves a division that may be by zero to the rows where that is an error.
func (c compiler) divide(op vector.ArithOp, e expression.BinaryExpression, increment uint8) (vector.Expr, error) {
	if divisionIsError(c.ctx) {
		by, ok := e.Right().(*expression.Literal)
		if !ok {
			return nil, errNotCompiled
		}
		if zero, err := by.Type(c.ctx).Compare(c.ctx, by.Value(), int64(0)); err != nil || zero == 0 || by.Value() == nil {
			return nil, errNotCompiled
		}
	}
	if op != vector.Divide {
		return c.arith(op, e.Left(), e.Right())
	}
	l, r, err := c.numbers(e.Left(), e.Right())
	if err != nil {
		return nil, err
	}
	return c.narrow(vector.NewDivide(l, r, increment))
}

// narrow is an expression whose values have a place in a batch, or after which the rows can begin again.
func (c compiler) narrow(x vector.Expr, err error) (vector.Expr, error) {
	if err == nil && vector.Wide(x) && !c.wide && (!c.p.aggregated || c.p.many) {
		return nil, errNotCompiled
	}
	return x, err
}

func (c compiler) arith(op vector.ArithOp, l, r sql.Expression) (vector.Expr, error) {
	left, right, err := c.numbers(l, r)
	if err != nil {
		return nil, err
	}
	x, err := c.narrow(vector.NewArith(op, left, right))
	if err == nil && x.Type().Kind == batch.Int64 && (types.IsUnsigned(l.Type(c.ctx)) || types.IsUnsigned(r.Type(c.ctx))) {
		return nil, errNotCompiled // the result is unsigned, which no batch has
	}
	return x, err
}

func (c compiler) numbers(l, r sql.Expression) (left, right vector.Expr, err error) {
	if left, err = c.number(l); err == nil {
		right, err = c.number(r)
	}
	return left, right, err
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

// shown rounds a DECIMAL to the digits of its type.
func (c compiler) shown(e Shown) (vector.Expr, error) {
	child, t := e.ShownDecimal(c.ctx)
	x, err := c.compile(child)
	if err != nil {
		return nil, err
	}
	if t.Scale() > mysqltype.MaxDecimalPrecision {
		return nil, errNotCompiled
	}
	return vector.NewShown(x, batch.DecimalOf(min(t.Precision(), mysqltype.MaxDecimalPrecision), t.Scale()))
}
