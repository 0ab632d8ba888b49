package vector

import (
	"slices"

	"lakesql/batch"
)

// NewBetween returns arg BETWEEN low AND high. All three compare in one type, as in MySQL. Where arg is null no bound is computed, else both are: one of them may
// fail, or warn, where the other one decides.
func NewBetween(arg, low, high Expr) (Expr, error) {
	operands := []Expr{arg, low, high}
	if slices.ContainsFunc(operands, func(x Expr) bool { return isFloat(x.Type().Kind) }) {
		for i, x := range operands {
			x, err := NewCast(x, batch.Type{Kind: batch.Float64})
			if err != nil {
				return nil, err
			}
			operands[i] = foldConstant(x)
		}
	}
	if !slices.ContainsFunc(operands, uncertain) {
		return isBetween(operands)
	}
	return newAhead(operands, isBetween)
}

func isBetween(operands []Expr) (Expr, error) {
	from, err := NewCompare(GreaterEqual, operands[0], operands[1])
	if err != nil {
		return nil, err
	}
	to, err := NewCompare(LessEqual, operands[0], operands[2])
	if err != nil {
		return nil, err
	}
	return NewAnd(from, to)
}

// uncertain tells whether an operand may fail, or warn.
func uncertain(e Expr) bool {
	_, known := e.(*parameter)
	return !known && mayFail(e)
}
