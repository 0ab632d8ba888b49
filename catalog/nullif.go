package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// newNullIf is NULLIF(value, other): a call of the comparison and the value, so that they are compared as value = other is. GMS's compares by itself.
func newNullIf(ctx *sql.Context, value, other sql.Expression) sql.Expression {
	args := []sql.Expression{expression.NewEquals(value, other), value}
	return &scalarCall{name: "nullif", args: args, make: nullIf, scalarBody: nullIfBody(ctx, value)}
}

func nullIf(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
	return nullIfBody(ctx, args[1]), nil
}

func nullIfBody(ctx *sql.Context, value sql.Expression) scalarBody {
	return scalarBody{typ: value.Type(ctx), nulls: true, eval: func(_ *sql.Context, args []any) (any, error) {
		if equal, _ := args[0].(bool); equal {
			return nil, nil
		}
		return args[1], nil
	}}
}
