package vector

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

var boolType = batch.Type{Kind: batch.Bool}

// column is a reference to a column of the batch.
type column struct {
	index int
	field batch.Field
}

// NewColumn returns column index of the batches that it will see.
func NewColumn(index int, field batch.Field) Expr { return &column{index: index, field: field} }

// ColumnOf is the position of the column that an expression is; false where it is none.
func ColumnOf(e Expr) (index int, ok bool) {
	c, ok := e.(*column)
	if !ok {
		return 0, false
	}
	return c.index, true
}

func (e *column) Type() batch.Type { return e.field.Type }

func (e *column) children() []Expr { return nil }

func (e *column) Clone() Expr { return e }

func (e *column) Eval(_ context.Context, b *batch.Batch) (*batch.Vector, error) {
	if e.index >= len(b.Cols) || b.Cols[e.index].Type != e.field.Type {
		return nil, fmt.Errorf("read column %s: the batch has no column %d of type %s", e.field.Name, e.index, e.field.Type)
	}
	return b.Cols[e.index], nil
}

// columnsOf returns the positions of the columns that expressions look at, each once.
func columnsOf(exprs ...Expr) []int {
	var out []int
	for _, e := range exprs {
		if c, ok := e.(*column); ok {
			out = append(out, c.index)
		}
		out = append(out, columnsOf(e.children()...)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// literal is a constant.
type literal struct {
	typ batch.Type
	constant
}

func (e *literal) Type() batch.Type { return e.typ }

func (e *literal) children() []Expr { return nil }

func (e *literal) Clone() Expr { return &literal{typ: e.typ, constant: constant{value: e.value}} }

func (e *literal) Eval(_ context.Context, b *batch.Batch) (*batch.Vector, error) {
	return e.vector(e.typ, b.Len), nil
}

// parameter is a constant that is set after the expression was made, and before it is evaluated. Its clones have the same value.
type parameter struct {
	literal
	of *parameterValue
}

// parameterValue is what a parameter is set to.
type parameterValue struct {
	value *batch.Vector
	known bool // it is set
}

// NewParameter returns a constant of a type that is NULL until set gives it, and its clones, a value, one row of the type, or nil for NULL: before the
// first Eval. A FileFilter takes it for any value until then.
func NewParameter(t batch.Type) (e Expr, set func(value *batch.Vector)) {
	p := &parameter{literal: literal{typ: t}, of: &parameterValue{}}
	return p, func(value *batch.Vector) { *p.of = parameterValue{value: value, known: true} }
}

func (e *parameter) Clone() Expr { return &parameter{literal: literal{typ: e.typ}, of: e.of} }

func (e *parameter) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	if e.value != e.of.value {
		e.constant = constant{value: e.of.value}
	}
	return e.literal.Eval(ctx, b)
}

func newLiteral(t batch.Type, set func(v *batch.Vector)) Expr {
	v := batch.NewVector(t, 1)
	set(v)
	return &literal{typ: t, constant: constant{value: v}}
}

// NewNull returns a NULL of a type.
func NewNull(t batch.Type) Expr { return &literal{typ: t} }

// NewConstant returns a constant of a type, given as batch.Vector.AppendValue takes it.
func NewConstant(t batch.Type, value any) (Expr, error) {
	v := batch.NewVector(t, 1)
	if err := v.AppendValue(value); err != nil {
		return nil, err
	}
	if v.IsNull(0) {
		return NewNull(t), nil
	}
	return &literal{typ: t, constant: constant{value: v}}, nil
}

// NewBool returns a boolean literal.
func NewBool(v bool) Expr {
	return newLiteral(boolType, func(out *batch.Vector) { out.AppendBool(v) })
}

// NewInt returns a long literal.
func NewInt(v int64) Expr {
	return newLiteral(batch.Type{Kind: batch.Int64}, func(out *batch.Vector) { out.AppendInt64(v) })
}

// NewFloat returns a double literal.
func NewFloat(v float64) Expr {
	return newLiteral(batch.Type{Kind: batch.Float64}, func(out *batch.Vector) { out.AppendFloat64(v) })
}

// NewDecimal returns a decimal literal of type decimal(precision, scale).
func NewDecimal(unscaled decimal128.Num, precision, scale uint8) Expr {
	return newLiteral(batch.DecimalOf(precision, scale), func(out *batch.Vector) { out.AppendDecimal(unscaled) })
}

// NewString returns a string literal.
func NewString(v string) Expr {
	return newLiteral(batch.Type{Kind: batch.String}, func(out *batch.Vector) { out.AppendString(v) })
}

// NewDate returns a date literal: days since 1970-01-01.
func NewDate(days int32) Expr {
	return newLiteral(batch.Type{Kind: batch.Date}, func(out *batch.Vector) { out.AppendInt32(days) })
}

// NewTimestamp returns a literal of kind Timestamp or TimestampNTZ: microseconds since 1970-01-01.
func NewTimestamp(kind batch.Kind, micros int64) Expr {
	return newLiteral(batch.Type{Kind: kind}, func(out *batch.Vector) { out.AppendInt64(micros) })
}
