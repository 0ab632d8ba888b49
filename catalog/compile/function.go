package compile

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// function compiles a call of a function that batches have.
func (c compiler) function(e sql.Expression) (vector.Expr, error) {
	switch e := e.(type) {
	case *expression.Case:
		return c.caseWhen(e)
	case *function.If:
		args := e.Children()
		return c.choose(e, []sql.Expression{args[0]}, args[1:])
	case *function.IfNull, *function.Coalesce:
		return c.coalesce(e)
	case *function.Year:
		return c.datePart(vector.Year, e.Child)
	case *function.Quarter:
		return c.datePart(vector.Quarter, e.Child)
	case *function.Month:
		return c.datePart(vector.Month, e.Child)
	case *function.Day:
		return c.datePart(vector.Day, e.Child)
	case *function.Hour:
		return c.datePart(vector.Hour, e.Child)
	case *function.Minute:
		return c.datePart(vector.Minute, e.Child)
	case *function.Second:
		return c.datePart(vector.Second, e.Child)
	case *function.Extract:
		return c.extract(e)
	case sql.FunctionExpression:
		return c.scalar(e)
	}
	return nil, errNotCompiled
}

func (c compiler) datePart(part vector.DatePart, arg sql.Expression) (vector.Expr, error) {
	x, err := c.compile(arg)
	if err != nil {
		return nil, err
	}
	return vector.NewDatePart(part, x)
}

var extracted = map[string]vector.DatePart{
	"YEAR": vector.Year, "QUARTER": vector.Quarter, "MONTH": vector.Month, "DAY": vector.Day, "HOUR": vector.Hour, "MINUTE": vector.Minute, "SECOND": vector.Second,
}

// extract is EXTRACT(part FROM time), a BIGINT.
func (c compiler) extract(e *function.Extract) (vector.Expr, error) {
	unit, ok := literalText(e.LeftChild)
	if !ok {
		return nil, errNotCompiled
	}
	unit = strings.ToUpper(unit)
	if f, ok := vector.Extract(unit); ok {
		return c.kernelOf(e, f, e.RightChild)
	}
	part, ok := extracted[unit]
	if !ok {
		return nil, errNotCompiled
	}
	x, err := c.datePart(part, e.RightChild)
	if err != nil {
		return nil, err
	}
	return vector.NewCast(x, batch.Type{Kind: batch.Int64})
}

// caseWhen is CASE. One that compares a value with others is written otherwise by the analyzer's rules.
func (c compiler) caseWhen(e *expression.Case) (vector.Expr, error) {
	if e.Expr != nil {
		return nil, errNotCompiled
	}
	var conditions, values []sql.Expression
	for _, b := range e.Branches {
		conditions, values = append(conditions, b.Cond), append(values, b.Value)
	}
	otherwise := e.Else
	if otherwise == nil {
		otherwise = expression.NewLiteral(nil, types.Null)
	}
	return c.choose(e, conditions, append(values, otherwise))
}

// coalesce is the first argument that is not NULL.
func (c compiler) coalesce(e sql.Expression) (vector.Expr, error) {
	args := e.Children()
	if len(args) < 2 {
		return nil, errNotCompiled
	}
	values, err := c.alternatives(e, args)
	if err != nil {
		return nil, err
	}
	return vector.NewCoalesce(values...)
}

// choose compiles an expression that gives the value of the first condition that is true, and else the last value.
func (c compiler) choose(e sql.Expression, conditions, values []sql.Expression) (vector.Expr, error) {
	whens := make([]vector.Expr, len(conditions))
	for i, condition := range conditions {
		x, err := c.boolean(condition)
		if err != nil {
			return nil, err
		}
		whens[i] = x
	}
	thens, err := c.alternatives(e, values)
	if err != nil {
		return nil, err
	}
	last := len(thens) - 1
	return vector.NewCase(whens, thens[:last], thens[last])
}

// alternatives are values, of which an expression gives one, in one type.
func (c compiler) alternatives(e sql.Expression, values []sql.Expression) ([]vector.Expr, error) {
	out := make([]vector.Expr, len(values))
	for i, value := range values {
		if literal, ok := value.(*expression.Literal); ok && literal.Value() == nil {
			continue
		}
		x, err := c.operand(value)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	t, ok := chosenType(e.Type(c.ctx), out)
	if !ok {
		return nil, errNotCompiled
	}
	for i, x := range out {
		if x == nil {
			out[i] = vector.NewNull(t)
			continue
		}
		var err error
		if out[i], err = vector.NewCast(x, t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// chosenType is the type of a choice between values (nil: NULL) which GMS gives the type gms; false where it would not keep their values.
func chosenType(gms sql.Type, values []vector.Expr) (batch.Type, bool) {
	if t, ok := chosenDecimal(values); ok {
		return t, t.Precision <= batch.MaxPrecision
	}
	t, err := mysqltype.ToDelta(mysqltype.Computed(gms))
	if err != nil || !byBytes(gms) || types.IsJSON(gms) {
		return t, false
	}
	for _, x := range values {
		if x == nil {
			continue
		}
		from := x.Type()
		_, isInt := integerKinds[from.Kind]
		_, toInt := integerKinds[t.Kind]
		switch {
		case from == t:
		case isInt && toInt:
			t = batch.Type{Kind: batch.Int64}
		default:
			return t, false
		}
	}
	return t, true
}

// chosenDecimal is the DECIMAL with the digits of all values; false where there is another than a DECIMAL or an integer, or no DECIMAL.
func chosenDecimal(values []vector.Expr) (t batch.Type, ok bool) {
	decimal := false
	var whole, scale uint8
	for _, x := range values {
		if x == nil {
			continue
		}
		d, exact := vector.ExactDecimal(x)
		if !exact {
			return t, false
		}
		decimal = decimal || x.Type().Kind == batch.Decimal
		whole, scale = max(whole, d.Precision-d.Scale), max(scale, d.Scale)
	}
	return batch.DecimalOf(whole+scale, scale), decimal
}

var integerKinds = map[batch.Kind]struct{}{batch.Int8: {}, batch.Int16: {}, batch.Int32: {}, batch.Int64: {}}
