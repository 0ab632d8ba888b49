package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
)

// correctedFunctions take the place of GMS's functions of these names.
var correctedFunctions = map[string]sql.Function{
	"str_to_date": sql.Function2{Name: "str_to_date", Fn: func(ctx *sql.Context, text, format sql.Expression) sql.Expression {
		return nullIfNull{function.NewStrToDate(ctx, text, format)}
	}},
}

// nullIfNull makes a function NULL where an argument is, which GMS takes for an error.
type nullIfNull struct{ sql.Expression }

// Eval is the function's value.
func (f nullIfNull) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	for _, argument := range f.Children() {
		v, err := argument.Eval(ctx, row)
		if v == nil || err != nil {
			return nil, err
		}
	}
	return f.Expression.Eval(ctx, row)
}

// WithChildren returns it with other arguments.
func (f nullIfNull) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := f.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return nullIfNull{e}, nil
}
