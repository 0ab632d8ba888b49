package catalog

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// logFunctions are the logarithms: GMS warns in other words than MySQL, and its LOG10 of a power of ten is none but nearly so.
var logFunctions = map[string]sql.Function{
	"ln":    logarithm("ln", 1, math.Log),
	"log2":  logarithm("log2", 1, math.Log2),
	"log10": logarithm("log10", 1, log10),
	"log":   logarithm("log", 2, math.Log),
}

// invalidLogarithm is the number of MySQL's warning.
const invalidLogarithm = 3020

// logarithm is one of a number, or of a base and a number.
func logarithm(name string, most int, of func(float64) float64) sql.Function {
	return scalarFunction(name, 1, most, fixedType(types.Float64, func(ctx *sql.Context, args []any) (any, error) {
		x := make([]float64, len(args))
		for i, v := range args {
			converted, _, err := types.Float64.Convert(ctx, v)
			if err != nil {
				return nil, err
			}
			x[i], _ = converted.(float64)
			if x[i] <= 0 || x[i] == 1 && i < len(args)-1 {
				ctx.Warn(invalidLogarithm, "Invalid argument for logarithm")
				return nil, nil
			}
		}
		switch {
		case len(x) == 1:
			return of(x[0]), nil
		case x[0] == 2:
			return math.Log2(x[1]), nil
		}
		return math.Log(x[1]) / math.Log(x[0]), nil
	}))
}

// log10 is exact for the powers of ten.
func log10(x float64) float64 {
	y := math.Log10(x)
	if whole := math.Round(y); math.Pow10(int(whole)) == x {
		return whole
	}
	return y
}
