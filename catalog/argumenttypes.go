package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"lakesql/sqlext"
)

// withArguments is a function that is given its arguments as it knows them.
type withArguments struct {
	sql.Function
	as func(ctx *sql.Context, args []sql.Expression) []sql.Expression
}

// NewInstance is a call.
func (f withArguments) NewInstance(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
	return f.Function.NewInstance(ctx, f.as(ctx, args))
}

// argumentTypes are how functions take arguments that GMS's do not know what to do with.
var argumentTypes = map[string]func(ctx *sql.Context, args []sql.Expression) []sql.Expression{
	"crc32": asTexts(notText), "reverse": asTexts(notText), "hex": asTexts(types.IsJSON), "upper": asTexts(types.IsJSON), "ucase": asTexts(types.IsJSON), "lower": asTexts(types.IsJSON), "lcase": asTexts(types.IsJSON),
	sqlext.IntervalFunction: boundsAsNumbers, "json_object": namesNotNull,
}

// notText is false of dates too, which writeDates writes.
func notText(t sql.Type) bool { return !sql.IsStringType(t) && !types.IsTime(t) && t != types.Null }

// asTexts writes the arguments of these types as texts.
func asTexts(of func(sql.Type) bool) func(*sql.Context, []sql.Expression) []sql.Expression {
	return func(ctx *sql.Context, args []sql.Expression) []sql.Expression {
		out := make([]sql.Expression, len(args))
		for i, e := range args {
			if out[i] = e; e.Resolved() && of(e.Type(ctx)) {
				out[i] = expression.NewConvert(e, expression.ConvertToChar)
			}
		}
		return out
	}
}

// boundsAsNumbers reads what INTERVAL compares as numbers; the first argument is the text that was written.
func boundsAsNumbers(ctx *sql.Context, args []sql.Expression) []sql.Expression {
	if len(args) == 0 {
		return args
	}
	numbers, _ := numbersOf(ctx, args[1:], len(args)-1, toDouble, false)
	return append([]sql.Expression{args[0]}, numbers...)
}

// namesNotNull refuses a member without a name in JSON_OBJECT.
func namesNotNull(_ *sql.Context, args []sql.Expression) []sql.Expression {
	out := slices.Clone(args)
	for i := 0; i < len(out); i += 2 {
		out[i] = memberName{out[i]}
	}
	return out
}

// memberName is the name of a member of a document.
type memberName struct{ sql.Expression }

// Eval is the name, or an error in place of NULL.
func (n memberName) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := n.Expression.Eval(ctx, row)
	if err == nil && v == nil {
		err = mysql.NewSQLError(3158, "22032", "JSON documents may not contain NULL member names.")
	}
	return v, err
}

// Children is the name's expression.
func (n memberName) Children() []sql.Expression { return []sql.Expression{n.Expression} }

// WithChildren is of another name.
func (n memberName) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	return memberName{children[0]}, nil
}
