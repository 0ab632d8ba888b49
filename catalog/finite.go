package catalog

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/vector"
)

// finiteFunctions are the functions of numbers whose result may be no finite number, which is MySQL's error 1690. GMS's have an infinity, NULL, or another error.
var finiteFunctions = map[string]sql.Function{
	"exp": finiteFunction("exp", "exp"), "pow": finiteFunction("pow", "pow"), "power": finiteFunction("power", "pow"), "cot": finiteFunction("cot", "cot"), "degrees": finiteFunction("degrees", "degrees"),
}

func finiteFunction(name, written string) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		e, err := builtIns[name].NewInstance(ctx, args)
		f, ok := e.(sql.FunctionExpression)
		if err != nil || !ok {
			return e, err
		}
		return finite{f, written}, nil
	}}
}

// finite is a function whose values are finite.
type finite struct {
	sql.FunctionExpression
	written string // its name in errors
}

// Eval is the value of GMS's.
func (f finite) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := f.FunctionExpression.Eval(ctx, row)
	if n, ok := v.(float64); ok && !math.IsInf(n, 0) && !math.IsNaN(n) {
		return v, err
	}
	if err != nil && !sql.ErrValueOutOfRange.Is(err) {
		return nil, err
	}
	for _, argument := range f.Children() {
		of, err := argument.Eval(ctx, row)
		if of == nil || err != nil {
			return nil, err
		}
	}
	return nil, &vector.OverflowError{Type: "DOUBLE", Expr: functionText(ctx, f.written, f.Children())}
}

// WithChildren returns it with other arguments.
func (f finite) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := f.FunctionExpression.WithChildren(ctx, children...)
	if of, ok := e.(sql.FunctionExpression); ok && err == nil {
		return finite{of, f.written}, nil
	}
	return e, err
}
