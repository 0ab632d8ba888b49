package vector

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// The functions of numbers. An integer is taken as a BIGINT, a FLOAT as a DOUBLE, a DECIMAL as it is.
var (
	Negate = &Function{name: "-", takes: takesNumber, fails: true, bind: negate}
	Abs    = &Function{name: "ABS", takes: takesNumber, fails: true, bind: abs}
)

// takesNumber is one number; the result has its type.
func takesNumber(args []Expr) ([]batch.Type, batch.Type, bool) {
	if len(args) != 1 {
		return nil, batch.Type{}, false
	}
	t := args[0].Type()
	_, isInt := integer(t.Kind)
	switch {
	case isInt:
		t = longType
	case isFloat(t.Kind):
		t = batch.Type{Kind: batch.Float64}
	case t.Kind != batch.Decimal:
		return nil, t, false
	}
	return []batch.Type{t}, t, true
}

func negate(f *frame) valueFunc {
	out, in := f.out, f.args[0]
	switch in.Type.Kind {
	case batch.Float64:
		return func(i int) bool {
			out.F64[i] = 0 - in.F64[i] // not -0
			return true
		}
	case batch.Decimal:
		return func(i int) bool {
			setDecimal(out, i, in.DecimalAt(i).Negate())
			return true
		}
	}
	return func(i int) bool {
		if in.I64[i] == math.MinInt64 {
			f.found.fail(&OverflowError{Type: "BIGINT", Expr: fmt.Sprintf("-(%d)", in.I64[i])})
		}
		out.I64[i] = -in.I64[i]
		return true
	}
}

func abs(f *frame) valueFunc {
	out, in := f.out, f.args[0]
	switch in.Type.Kind {
	case batch.Float64:
		return func(i int) bool {
			out.F64[i] = math.Abs(in.F64[i])
			return true
		}
	case batch.Decimal:
		return func(i int) bool {
			setDecimal(out, i, in.DecimalAt(i).Abs())
			return true
		}
	}
	return func(i int) bool {
		if in.I64[i] == math.MinInt64 {
			f.found.fail(&OverflowError{Type: "BIGINT", Expr: fmt.Sprintf("abs(%d)", in.I64[i])})
		}
		out.I64[i] = max(in.I64[i], -in.I64[i])
		return true
	}
}

// RoundedDecimal are the digits that MySQL gives ROUND(x, digits) of a DECIMAL(precision, scale), or with cut TRUNCATE(x, digits).
func RoundedDecimal(precision, scale uint8, digits int64, cut bool) (newPrecision, newScale uint8) {
	kept := min(max(digits, 0), maxMySQLScale)
	whole := int64(precision - scale)
	if kept < int64(scale) && !cut {
		whole++ // 9.9 becomes 10
	}
	return uint8(max(whole+kept, 1)), uint8(kept)
}

// Round is ROUND(x, digits) of a DECIMAL x, or with cut TRUNCATE(x, digits). Digits below 0 are those before the point.
func Round(digits int64, cut bool) *Function {
	takes := func(args []Expr) ([]batch.Type, batch.Type, bool) {
		if len(args) != 1 || args[0].Type().Kind != batch.Decimal {
			return nil, batch.Type{}, false
		}
		t := args[0].Type()
		precision, scale := RoundedDecimal(t.Precision, t.Scale, digits, cut)
		return []batch.Type{t}, batch.DecimalOf(precision, scale), precision <= batch.MaxPrecision
	}
	return &Function{name: "ROUND", takes: takes, bind: func(f *frame) valueFunc { return roundDecimal(f, digits, cut) }}
}

func roundDecimal(f *frame, digits int64, cut bool) valueFunc {
	out, in := f.out, f.args[0]
	scale := int64(in.Type.Scale)
	if digits = min(digits, maxMySQLScale); digits >= scale {
		up := decimal128.GetScaleMultiplier(int(out.Type.Scale) - int(in.Type.Scale))
		return func(i int) bool {
			setDecimal(out, i, in.DecimalAt(i).Mul(up))
			return true
		}
	}
	down := scale - digits
	if down > batch.MaxPrecision {
		return func(i int) bool {
			setDecimal(out, i, decimal128.Num{})
			return true
		}
	}
	by := power10(uint8(down))
	zeros := power10(uint8(max(-digits, 0))) // that stand for digits before the point
	return func(i int) bool {
		x, negative := magnitude(in.DecimalAt(i))
		q, rest := x.dividedBy(by)
		if !cut {
			if left := by.minus(rest); !rest.less(left) {
				q.lo++
				if q.lo == 0 {
					q.hi++
				}
			}
		}
		setDecimal(out, i, q.signed(negative).Mul(zeros.signed(false)))
		return true
	}
}
