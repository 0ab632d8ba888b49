package vector

import (
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// CompareOp is a comparison.
type CompareOp uint8

// The comparisons. NullSafeEqual is MySQL's <=>.
const (
	Equal CompareOp = iota
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	NullSafeEqual
)

// ArithOp is an arithmetic operation.
type ArithOp uint8

// The arithmetic operations.
const (
	Add ArithOp = iota
	Subtract
	Multiply
	Divide    // MySQL's /
	IntDivide // DIV
	Modulo    // %
)

// NewColumn returns column index of the batches that it will see.
func NewColumn(index int, field batch.Field) Expr { return nil }

// NewNull returns a NULL of a type.
func NewNull(t batch.Type) Expr { return nil }

// NewBool returns a boolean literal.
func NewBool(v bool) Expr { return nil }

// NewInt returns a long literal.
func NewInt(v int64) Expr { return nil }

// NewFloat returns a double literal.
func NewFloat(v float64) Expr { return nil }

// NewDecimal returns a decimal literal of type decimal(precision, scale).
func NewDecimal(unscaled decimal128.Num, precision, scale uint8) Expr { return nil }

// NewString returns a string literal.
func NewString(v string) Expr { return nil }

// NewDate returns a date literal: days since 1970-01-01.
func NewDate(days int32) Expr { return nil }

// NewTimestamp returns a literal of kind Timestamp or TimestampNTZ: microseconds since 1970-01-01.
func NewTimestamp(kind batch.Kind, micros int64) Expr { return nil }

// NewCompare returns l op r, a boolean.
func NewCompare(op CompareOp, l, r Expr) (Expr, error) { return nil, unsupported("comparison") }

// NewAnd returns the conjunction of boolean expressions.
func NewAnd(args ...Expr) (Expr, error) { return nil, unsupported("AND") }

// NewOr returns the disjunction of boolean expressions.
func NewOr(args ...Expr) (Expr, error) { return nil, unsupported("OR") }

// NewNot returns the negation of a boolean expression.
func NewNot(arg Expr) (Expr, error) { return nil, unsupported("NOT") }

// NewIsNull returns arg IS NULL, which is never null.
func NewIsNull(arg Expr) Expr { return nil }

// NewIn returns arg IN (list).
func NewIn(arg Expr, list []Expr) (Expr, error) { return nil, unsupported("IN") }

// NewBetween returns low <= arg AND arg <= high.
func NewBetween(arg, low, high Expr) (Expr, error) { return nil, unsupported("BETWEEN") }

// NewLike returns arg LIKE pattern under the binary collation; escape is the escape character, 0 for none.
func NewLike(arg Expr, pattern string, escape rune) (Expr, error) { return nil, unsupported("LIKE") }

// NewArith returns l op r.
func NewArith(op ArithOp, l, r Expr) (Expr, error) { return nil, unsupported("arithmetic") }

// NewCast returns arg as type to, by the rules of MySQL's CAST.
func NewCast(arg Expr, to batch.Type) (Expr, error) { return nil, unsupported("CAST") }
