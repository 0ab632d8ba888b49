package catalog

import (
	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"

	"lakesql/catalog/compile"
)

// exactChoice is CASE, IF, IFNULL or COALESCE over DECIMALs and integers with the DECIMAL type that MySQL gives it: GMS's has always 65 digits, 30 of
// them behind the point.
type exactChoice struct {
	sql.Expression // GMS's
	typ            sql.DecimalType
	scale          uint8 // of what Eval gives
}

var (
	_ sql.Expression         = (*exactChoice)(nil)
	_ sql.CollationCoercible = (*exactChoice)(nil)
	_ compile.Wrapper        = (*exactChoice)(nil)
)

// newExactChoice is false for another expression, and where a value is no number of the kind, or all are integers.
func newExactChoice(ctx *sql.Context, e sql.Expression) (*exactChoice, bool) {
	var values []sql.Expression
	switch e := e.(type) {
	case *expression.Case:
		for _, b := range e.Branches {
			values = append(values, b.Value)
		}
		if e.Else != nil {
			values = append(values, e.Else)
		}
	case *function.If:
		values = e.Children()[1:]
	case *function.IfNull, *function.Coalesce:
		values = e.Children()
	default:
		return nil, false
	}
	out := &exactChoice{Expression: e}
	var whole, scale uint8
	decimal := false
	for _, v := range values {
		if l, ok := v.(*expression.Literal); ok && l.Value() == nil {
			continue
		}
		d, ok := exactDigits(ctx, v)
		if !ok {
			return nil, false
		}
		_, isDecimal := v.Type(ctx).(sql.DecimalType)
		decimal = decimal || isDecimal
		whole, scale, out.scale = max(whole, d.precision-d.scale), max(scale, d.scale), max(out.scale, carriedScale(ctx, v))
	}
	out.typ = exactType(whole+scale, scale)
	return out, decimal
}

// Unwrap returns the expression that compiles: batches count the digits by themselves.
func (c *exactChoice) Unwrap() sql.Expression { return c.Expression }

// Type is MySQL's.
func (c *exactChoice) Type(*sql.Context) sql.Type { return c.typ }

// CollationCoercibility is that of a number.
func (*exactChoice) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren returns it over other operands.
func (c *exactChoice) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := c.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	if out, ok := newExactChoice(ctx, e); ok {
		return out, nil
	}
	return e, nil
}

// Eval is the chosen value as a DECIMAL. GMS's would round it to its own type.
func (c *exactChoice) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	chosen, err := c.chosen(ctx, row)
	if err != nil {
		return nil, err
	}
	for _, e := range chosen {
		if v, err := roundedTo(ctx, e, row, c.scale); err != nil || v != nil {
			return v, err
		}
	}
	return nil, nil
}

// chosen are the operands the first of which that is not NULL is the value.
func (c *exactChoice) chosen(ctx *sql.Context, row sql.Row) ([]sql.Expression, error) {
	switch e := c.Expression.(type) {
	case *expression.Case:
		for _, b := range e.Branches {
			if is, err := sql.EvaluateCondition(ctx, b.Cond, row); err != nil || sql.IsTrue(is) {
				return []sql.Expression{b.Value}, err
			}
		}
		if e.Else == nil {
			return nil, nil
		}
		return []sql.Expression{e.Else}, nil
	case *function.If:
		is, err := sql.EvaluateCondition(ctx, e.Children()[0], row)
		if sql.IsTrue(is) {
			return e.Children()[1:2], err
		}
		return e.Children()[2:], err
	}
	return c.Children(), nil // IFNULL and COALESCE
}

// roundedTo is the value of an exact expression with digits behind the point.
func roundedTo(ctx *sql.Context, e sql.Expression, row sql.Row, scale uint8) (any, error) {
	n, err := evalNumber(ctx, e, row)
	if err != nil || n == nil {
		return nil, err
	}
	return atScale(n, scale)
}

// atScale is a number with digits behind the point.
func atScale(n *apd.Decimal, scale uint8) (any, error) {
	out := new(apd.Decimal)
	if _, err := exactContext.Quantize(out, n, -int32(scale)); err != nil {
		return nil, err
	}
	if out.IsZero() {
		out.Negative = false
	}
	return out, nil
}

// shownDigits is a DECIMAL with the digits that its type shows, where more were computed: it is looked at as a whole, as a key or a text.
type shownDigits struct{ expression.UnaryExpressionStub }

var (
	_ sql.Expression         = (*shownDigits)(nil)
	_ sql.CollationCoercible = (*shownDigits)(nil)
	_ compile.Shown          = (*shownDigits)(nil)
)

// showDigits is false, and the expression itself, where it has no more.
func showDigits(ctx *sql.Context, e sql.Expression) (sql.Expression, bool) {
	if d, ok := e.Type(ctx).(sql.DecimalType); ok && carriedScale(ctx, e) > d.Scale() {
		return &shownDigits{expression.UnaryExpressionStub{Child: e}}, true
	}
	return e, false
}

func (e *shownDigits) String() string { return e.Child.String() }

// Type is the expression's.
func (e *shownDigits) Type(ctx *sql.Context) sql.Type { return e.Child.Type(ctx) }

// ShownDecimal is what is shown, and its type.
func (e *shownDigits) ShownDecimal(ctx *sql.Context) (sql.Expression, sql.DecimalType) {
	return e.Child, e.Type(ctx).(sql.DecimalType)
}

// CollationCoercibility is that of a number.
func (*shownDigits) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren is of another expression.
func (e *shownDigits) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	out, _ := showDigits(ctx, children[0])
	return out, nil
}

// Eval rounds half away from zero.
func (e *shownDigits) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	return roundedTo(ctx, e.Child, row, e.Type(ctx).(sql.DecimalType).Scale())
}
