package catalog

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"lakesql/batch"
	"lakesql/catalog/compile"
)

// scalarCall is a call of a function of ours: Spark's, MySQL's that GMS lacks, and those that GMS has otherwise than MySQL.
type scalarCall struct {
	name string
	args []sql.Expression
	make func(ctx *sql.Context, args []sql.Expression) (scalarBody, error)
	scalarBody
}

// scalarBody is what a function does with its arguments.
type scalarBody struct {
	typ   sql.Type
	nulls bool // eval sees NULLs; else the call is NULL when an argument is
	eval  func(ctx *sql.Context, args []any) (any, error)
	cast  batch.Type // of a CAST; else Invalid
	fixed bool       // a DECIMAL has no more digits than the type
}

var (
	_ sql.FunctionExpression = (*scalarCall)(nil)
	_ compile.FixedDecimal   = (*scalarCall)(nil)
)

func scalarFunction(name string, least, most int, make func(*sql.Context, []sql.Expression) (scalarBody, error)) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) < least || len(args) > most {
			return nil, sql.ErrInvalidArgumentNumber.New(name, fmt.Sprintf("%d or more", least), len(args))
		}
		body, err := make(ctx, args)
		return &scalarCall{name: name, args: args, make: make, scalarBody: body}, err
	}}
}

func fixedType(t sql.Type, eval func(*sql.Context, []any) (any, error)) func(*sql.Context, []sql.Expression) (scalarBody, error) {
	return func(*sql.Context, []sql.Expression) (scalarBody, error) { return scalarBody{typ: t, eval: eval}, nil }
}

// FixedDecimal tells whether a DECIMAL has no more digits than its type.
func (c *scalarCall) FixedDecimal() bool { return c.fixed }

// FunctionName is the function's name.
func (c *scalarCall) FunctionName() string { return c.name }

// Description is for listings, in which these functions are not.
func (c *scalarCall) Description() string { return c.name }

// Resolved says whether the arguments are.
func (c *scalarCall) Resolved() bool { return expression.ExpressionsResolved(c.args...) }

func (c *scalarCall) String() string {
	texts := make([]string, len(c.args))
	for i, a := range c.args {
		texts[i] = a.String()
	}
	return c.name + "(" + strings.Join(texts, ", ") + ")"
}

// Type is that of the values.
func (c *scalarCall) Type(*sql.Context) sql.Type { return c.typ }

// IsNullable is true: what does not convert is NULL.
func (c *scalarCall) IsNullable(*sql.Context) bool { return true }

// Children are the arguments.
func (c *scalarCall) Children() []sql.Expression { return c.args }

// WithChildren returns the call with other arguments.
func (c *scalarCall) WithChildren(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) != len(c.args) {
		return nil, sql.ErrInvalidChildrenNumber.New(c, len(args), len(c.args))
	}
	body, err := c.make(ctx, args)
	return &scalarCall{name: c.name, args: args, make: c.make, scalarBody: body}, err
}

// Eval computes the value.
func (c *scalarCall) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	values := make([]any, len(c.args))
	for i, a := range c.args {
		v, err := a.Eval(ctx, row)
		if err == nil {
			v, err = sql.UnwrapAny(ctx, v)
		}
		if err != nil || v == nil && !c.nulls {
			return nil, err
		}
		values[i] = v
	}
	return c.eval(ctx, values)
}
