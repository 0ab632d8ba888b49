package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// correctedFunctions take the place of GMS's functions of these names.
var correctedFunctions = map[string]sql.Function{
	"str_to_date": sql.Function2{Name: "str_to_date", Fn: func(ctx *sql.Context, text, format sql.Expression) sql.Expression {
		return realDay{nullIfNull{function.NewStrToDate(ctx, text, format)}}
	}},
	"greatest":     ofTexts("greatest", function.NewGreatest),
	"least":        ofTexts("least", function.NewLeast),
	"json_quote":   ofText("json_quote", json.NewJSONQuote),
	"json_unquote": ofText("json_unquote", json.NewJSONUnquote),
	"timestamp":    sql.Function1{Name: "timestamp", Fn: newTimestamp},
	"datetime":     sql.Function1{Name: "datetime", Fn: newTimestamp},
}

// ofTexts is a function that knows GMS's own texts only: columns of the lake are given to it as such, and dates where another argument is a text.
func ofTexts(name string, build sql.CreateFuncNArgs) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		isText := func(e sql.Expression) bool { return types.IsTextOnly(e.Type(ctx)) }
		dates := slices.ContainsFunc(args, isText)
		args = slices.Clone(args)
		for i, a := range args {
			if isText(a) || dates && isDate(ctx, a) {
				args[i] = compile.NewDateText(a)
			}
		}
		return build(ctx, args...)
	}}
}

// ofText is ofTexts of a function of one argument.
func ofText(name string, build func(*sql.Context, sql.Expression) sql.Expression) sql.Function {
	return sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression {
		if types.IsTextOnly(e.Type(ctx)) {
			e = compile.NewDateText(e)
		}
		return build(ctx, e)
	}}
}

// newTimestamp is TIMESTAMP(e). GMS's of a DATE is a DATE, and of a text a text.
func newTimestamp(ctx *sql.Context, e sql.Expression) sql.Expression {
	switch t := e.Type(ctx); {
	case types.IsDateType(t):
		return expression.NewConvert(e, expression.ConvertToDatetime)
	case types.IsTextOnly(t):
		digits := types.MaxDatetimePrecision
		if l, ok := e.(*expression.Literal); ok && !strings.Contains(l.String(), ".") {
			digits = 0
		}
		return expression.NewConvertWithLengthAndScale(e, expression.ConvertToDatetime, digits, 0)
	}
	return &function.DatetimeConversion{Date: e}
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

// realDay is STR_TO_DATE, and NULL for a day that its month does not have, for which GMS's gives one of the next month.
type realDay struct{ sql.Expression }

// Eval is the date.
func (f realDay) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := f.Expression.Eval(ctx, row)
	at, ok := v.(time.Time)
	if err != nil || !ok || at.Day() > 3 {
		return v, err
	}
	text, err := f.Children()[0].Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	back, err := function.NewDateFormat(ctx, expression.NewLiteral(at, types.DatetimeMaxPrecision), f.Children()[1]).Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(numbers(fmt.Sprint(back)), numbers(fmt.Sprint(text))) {
		ctx.Warn(1411, "Incorrect datetime value: '%v' for function str_to_date", text)
		return nil, nil
	}
	return v, nil
}

// WithChildren returns it with other arguments.
func (f realDay) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := f.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return realDay{e}, nil
}

// numbers are those in a text, without what fills them up.
func numbers(text string) []string {
	all := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	for i, n := range all {
		all[i] = strings.TrimLeft(n, "0")
	}
	return all
}
