package catalog

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/mysqltype"
	"lakesql/catalog/resultmeta"
)

// textNumber is a text, bytes or a document that is calculated with: a DOUBLE as MySQL has it, beside DIV a DECIMAL, and an INTEGER where a function wants one. GMS makes DECIMALs of
// texts where they stand alone, and fails at some.
type textNumber struct {
	expression.UnaryExpressionStub
	as    numeral
	whole bool // of an aggregate, in whose warnings MySQL counts no rows
	seen  int  // rows
}

// numeral is the type of number that a text is read as, by its name in MySQL's warnings.
type numeral string

const (
	toDouble  numeral = "DOUBLE"
	toDecimal numeral = "DECIMAL"
	toInteger numeral = "INTEGER"
)

var (
	_ sql.Expression         = (*textNumber)(nil)
	_ sql.CollationCoercible = (*textNumber)(nil)
	_ resultmeta.Conversion  = (*textNumber)(nil)
)

// Written is the text.
func (e *textNumber) Written() sql.Expression { return e.Child }

func (e *textNumber) String() string { return e.Child.String() }

// Type is that of the number.
func (e *textNumber) Type(*sql.Context) sql.Type {
	switch e.as {
	case toDecimal:
		return types.InternalDecimalType
	case toInteger:
		return types.Int64
	}
	return types.Float64
}

// CollationCoercibility is that of a number.
func (e *textNumber) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren is of another text.
func (e *textNumber) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &textNumber{expression.UnaryExpressionStub{Child: children[0]}, e.as, e.whole, 0}, nil
}

// Eval is the number that the text begins with.
func (e *textNumber) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if e.seen++; e.whole {
		e.seen = 1
	}
	v, err := e.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if err == nil {
		v, err = mysqltype.Scalar(ctx, v)
	}
	if err != nil || v == nil {
		return nil, err
	}
	if _, isText := v.(string); !isText && types.IsJSON(e.Child.Type(ctx)) {
		v = e.scalar(ctx, v)
	}
	switch e.as {
	case toInteger:
		bits, err := asBits(ctx, v)
		return int64(bits), err
	case toDecimal:
		n, err := decimalValue(ctx, v)
		if err == nil && n.NumDigits()+int64(n.Exponent) > types.DecimalTypeMaxPrecision {
			n = mysqltype.DecimalLimit(types.MustCreateDecimalType(types.DecimalTypeMaxPrecision, 0), n.Negative)
		}
		return n, err
	}
	if text, ok := v.(string); ok {
		return doubleNumber(ctx, text), nil
	}
	f, _, err := types.Float64.Convert(ctx, v)
	return f, err
}

// scalar is what a document holds, and 0 in place of what is no scalar.
func (e *textNumber) scalar(ctx *sql.Context, v any) any {
	switch v.(type) {
	case []any, map[string]any:
		warnJSONCast(ctx, string(e.as), e.Child, e.seen)
		return int64(0)
	}
	return v
}

// warnJSONCast warns of a document that is no value of the type that it is taken for, in a row that is counted from 1.
func warnJSONCast(ctx *sql.Context, to string, document sql.Expression, row int) {
	column := document.String()
	if f, ok := document.(*expression.GetField); ok {
		column = f.Name()
	}
	ctx.Warn(invalidJSONCast, "Invalid JSON value for CAST to %s from column %s at row %d", to, column, row)
}

// invalidJSONCast is the number of MySQL's warning.
const invalidJSONCast = 3156

// doubleNumber is a text as a DOUBLE, with MySQL's warning.
func doubleNumber(ctx *sql.Context, text string) float64 {
	f, exact := mysqltype.DoubleOf(text)
	if !exact {
		ctx.Warn(mysqltype.WrongValue, "Truncated incorrect DOUBLE value: '%s'", mysqltype.ShownText(text))
	}
	return f
}

// numberTexts makes numbers of the texts that are calculated with.
func numberTexts(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	as := toDouble
	switch c := e.(type) {
	case *expression.Arithmetic, *expression.Div, *expression.Mod, *expression.UnaryMinus:
	case *expression.IntDiv:
		as = toDecimal
	case *function.Char:
		as = toInteger
	case *expression.Convert:
		if !types.IsFloat(c.Type(ctx)) {
			return e, transform.SameTree, nil
		}
	default:
		return e, transform.SameTree, nil
	}
	children := e.Children()
	for _, c := range children {
		if _, ok := c.(*expression.Interval); ok {
			return e, transform.SameTree, nil
		}
	}
	numbers, same := numbersOf(ctx, children, len(children), as, false)
	if same {
		return e, same, nil
	}
	out, err := e.WithChildren(ctx, numbers...)
	return out, same, err
}

// numbersOf are operands, of which the first ones are numbers.
func numbersOf(ctx *sql.Context, all []sql.Expression, first int, as numeral, whole bool) ([]sql.Expression, transform.TreeIdentity) {
	out, same := make([]sql.Expression, len(all)), transform.SameTree
	for i, e := range all {
		if out[i] = e; i < first && hasTexts(ctx, e) && !(as == toInteger && areBytes(ctx, e)) {
			out[i], same = &textNumber{expression.UnaryExpressionStub{Child: e}, as, whole, 0}, transform.NewTree
		}
		if i < first && as == toInteger && isDate(ctx, e) {
			out[i], same = asNumber(ctx, e), transform.NewTree
		}
		if d, ok := e.(*expression.DistinctExpression); ok {
			if n, unchanged := numbersOf(ctx, []sql.Expression{d.Child}, 1, as, whole); !unchanged {
				out[i], same = expression.NewDistinctExpression(n[0]), transform.NewTree
			}
		}
	}
	return out, same
}

// hasTexts tells whether values are texts, or bytes or documents that are taken for texts. Bytes that are written in hexadecimal digits are a number.
func hasTexts(ctx *sql.Context, e sql.Expression) bool {
	if !e.Resolved() {
		return false
	}
	t := e.Type(ctx)
	if _, isLiteral := e.(*expression.Literal); isLiteral {
		return types.IsTextOnly(t)
	}
	return types.IsTextOnly(t) || types.IsBinaryType(t)
}

// areBytes tells whether values are bytes, whose bits GMS has.
func areBytes(ctx *sql.Context, e sql.Expression) bool {
	return types.IsBinaryType(e.Type(ctx)) && !types.IsJSON(e.Type(ctx))
}

// numberArguments are the functions whose texts are read as a type of number, with how many of their arguments are.
var numberArguments = map[numeral]map[string]int{
	toDouble: {
		"abs": 1, "sign": 1, "floor": 1, "ceil": 1, "ceiling": 1, "round": 1, "truncate": 1, "format": 1,
		"sqrt": 1, "pow": 2, "power": 2, "exp": 1, "ln": 1, "log": 2, "log2": 1, "log10": 1, "mod": 2,
		"sin": 1, "cos": 1, "tan": 1, "cot": 1, "asin": 1, "acos": 1, "atan": 2, "atan2": 2, "degrees": 1, "radians": 1,
		"sum": 1, "avg": 1, "std": 1, "stddev": 1, "stddev_pop": 1, "stddev_samp": 1, "variance": 1, "var_pop": 1, "var_samp": 1,
	},
	toDecimal: {"sec_to_time": 1, "from_unixtime": 1},
	toInteger: {
		"elt": 1, "bit_count": 1, "bit_and": 1, "bit_or": 1, "bit_xor": 1, "makedate": 2, "maketime": 2, "export_set": 1, "make_set": 1, "from_days": 1, "inet_ntoa": 1,
		"period_add": 2, "period_diff": 2, "space": 1,
	},
}

// numbersRead tells whether a function reads texts as numbers: which arguments, and as what.
func numbersRead(name string) (first int, as numeral, ok bool) {
	for as, names := range numberArguments {
		if first, ok := names[name]; ok {
			return first, as, true
		}
	}
	return 0, "", false
}

// aggregateNames are those of them that are aggregates.
var aggregateNames = map[string]bool{
	"sum": true, "avg": true, "std": true, "stddev": true, "stddev_pop": true, "stddev_samp": true, "variance": true, "var_pop": true, "var_samp": true, "bit_and": true, "bit_or": true, "bit_xor": true,
}

// ofNumbers is a function whose first arguments are numbers.
type ofNumbers struct {
	sql.Function
	first int
	as    numeral
}

// NewInstance is a call.
func (f ofNumbers) NewInstance(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
	numbers, _ := numbersOf(ctx, args, f.first, f.as, aggregateNames[strings.ToLower(f.FunctionName())])
	return f.Function.NewInstance(ctx, numbers)
}

// builtIns are GMS's functions.
var builtIns = func() map[string]sql.Function {
	out := make(map[string]sql.Function, len(function.BuiltIns))
	for _, f := range function.BuiltIns {
		out[f.FunctionName()] = f
	}
	return out
}()
