package catalog

import (
	"encoding/base64"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/vector"
)

// correctedFunctions take the place of GMS's functions of these names.
var correctedFunctions = map[string]sql.Function{
	"str_to_date":     strToDate,
	"locate":          placeFunction("locate", vector.Locate, false, 3),
	"position":        placeFunction("position", vector.Locate, false, 2),
	"lpad":            kernelFunction("lpad", vector.LPad, types.LongText, 3, batch.String, batch.Int64, batch.String),
	"rpad":            kernelFunction("rpad", vector.RPad, types.LongText, 3, batch.String, batch.Int64, batch.String),
	"repeat":          kernelFunction("repeat", vector.Repeat, types.LongText, 2, batch.String, batch.Int64),
	"space":           sql.FunctionN{Name: "space", Fn: newSpace},
	"insert":          kernelFunction("insert", vector.Insert, types.LongText, 4, batch.String, batch.Int64, batch.Int64, batch.String),
	"makedate":        kernelFunction("makedate", vector.MakeDate, types.Date, 2, batch.Int64, batch.Int64),
	"from_days":       dateOfDays,
	"dayname":         ofDay("dayname", function.NewDayName),
	"monthname":       ofDay("monthname", function.NewMonthName),
	"floor":           scalarFunction("floor", 1, 1, floorNumber),
	"ceil":            scalarFunction("ceil", 1, 1, ceilNumber),
	"ceiling":         scalarFunction("ceiling", 1, 1, ceilNumber),
	"date":            scalarFunction("date", 1, 1, fixedType(types.Date, dayOf)),
	"date_format":     kernelFunction("date_format", vector.DateFormat, types.Text, 2, batch.Timestamp, batch.String),
	"to_days":         kernelFunction("to_days", vector.ToDays, types.Int64, 1, batch.Timestamp),
	"datediff":        kernelFunction("datediff", vector.DateDiff, types.Int64, 2, batch.Timestamp, batch.Timestamp),
	"week":            weekFunction,
	"weekofyear":      kernelFunction("weekofyear", vector.WeekOfYear, types.Int32, 1, batch.Timestamp),
	"microsecond":     kernelFunction("microsecond", vector.Microsecond, types.Int32, 1, batch.Timestamp),
	"ascii":           kernelFunction("ascii", vector.Ascii, types.Int32, 1, batch.String),
	"round":           roundFunction("round", false, function.NewRound),
	"truncate":        roundFunction("truncate", true, newTruncate),
	"abs":             sql.Function1{Name: "abs", Fn: newAbs},
	"nullif":          sql.Function2{Name: "nullif", Fn: newNullIf},
	"sign":            scalarFunction("sign", 1, 1, fixedType(types.Int8, signOf)),
	"substring":       substringFunction("substring"),
	"substr":          substringFunction("substr"),
	"mid":             substringFunction("mid"),
	"left":            partFunction("left", 2, 2, leftPart),
	"right":           partFunction("right", 2, 2, rightPart),
	"instr":           placeFunction("instr", vector.Instr, true, 2),
	"substring_index": kernelFunction("substring_index", vector.SubstringIndex, types.LongText, 3, batch.String, batch.String, batch.Int64),
	"strcmp":          scalarFunction("strcmp", 2, 2, strcmp),
	"concat":          sql.FunctionN{Name: "concat", Fn: newConcat},
	"greatest":        greatestFunction("greatest", 1, function.NewGreatest),
	"least":           greatestFunction("least", -1, function.NewLeast),
	"lower":           unlessBytes("lower", function.NewLower, asTheyAre),
	"lcase":           unlessBytes("lcase", function.NewLower, asTheyAre),
	"upper":           unlessBytes("upper", function.NewUpper, asTheyAre),
	"ucase":           unlessBytes("ucase", function.NewUpper, asTheyAre),
	"reverse":         unlessBytes("reverse", function.NewReverse, reversed),
	"ltrim": bytesOr("ltrim", 1, func(ctx *sql.Context, args []sql.Expression) sql.Expression {
		return function.NewLeftTrim(ctx, args[0])
	}),
	"rtrim": bytesOr("rtrim", 1, func(ctx *sql.Context, args []sql.Expression) sql.Expression {
		return function.NewRightTrim(ctx, args[0])
	}),
	"replace": bytesOr("replace", 3, func(ctx *sql.Context, args []sql.Expression) sql.Expression {
		return function.NewReplace(ctx, args[0], args[1], args[2])
	}),
	"json_quote":   ofText("json_quote", sql.IsStringType, json.NewJSONQuote),
	"from_base64":  scalarFunction("from_base64", 1, 1, fixedType(types.LongBlob, fromBase64)),
	"json_type":    scalarFunction("json_type", 1, 1, jsonType),
	"quote":        scalarFunction("quote", 1, 1, quotedText),
	"field":        sql.FunctionN{Name: "field", Fn: newField},
	"unhex":        unhexed,
	"inet_aton":    addressNumber,
	"inet_ntoa":    addressText,
	"soundex":      sql.Function1{Name: "soundex", Fn: newSoundex},
	"format":       sql.FunctionN{Name: "format", Fn: newFormat},
	"session_user": sql.NewFunction0("session_user", function.NewUser),
	"system_user":  sql.NewFunction0("system_user", function.NewUser),
	"json_unquote": ofText("json_unquote", textOrJSON, json.NewJSONUnquote),
	"timestamp":    sql.FunctionN{Name: "timestamp", Fn: newTimestamp},
	"datetime":     sql.FunctionN{Name: "datetime", Fn: newTimestamp},
}

// newSpace is REPEAT(' ', n): GMS's has no end where n is large.
func newSpace(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) != 1 {
		return nil, sql.ErrInvalidArgumentNumber.New("SPACE", "1", len(args))
	}
	return spaces.NewInstance(ctx, []sql.Expression{expression.NewLiteral(" ", types.LongText), args[0]})
}

var spaces = kernelFunction("space", vector.Repeat, types.LongText, 2, batch.String, batch.Int64)

var weekFunction = kernelFunction("week", vector.Week, types.Int32, 1, batch.Timestamp, batch.Int64)

// quotedText is QUOTE(e), which is the word NULL of NULL.
func quotedText(*sql.Context, []sql.Expression) (scalarBody, error) {
	return scalarBody{typ: types.LongText, nulls: true, eval: func(ctx *sql.Context, args []any) (any, error) {
		if args[0] == nil {
			return "NULL", nil
		}
		text, err := asText(ctx, args[0])
		return "'" + quoteEscapes.Replace(text) + "'", err
	}}, nil
}

var quoteEscapes = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\x00", `\0`, "\x1a", `\Z`)

// jsonType is JSON_TYPE(document): of NULL it is NULL, which GMS's takes for JSON's null.
func jsonType(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
	t := args[0].Type(ctx)
	return scalarBody{typ: types.LongText, eval: func(ctx *sql.Context, values []any) (any, error) {
		e, err := json.NewJSONType(ctx, expression.NewLiteral(values[0], t))
		if err != nil {
			return nil, err
		}
		return e.Eval(ctx, nil)
	}}, nil
}

// fromBase64 is FROM_BASE64(text): NULL of what is none.
func fromBase64(ctx *sql.Context, args []any) (any, error) {
	text, err := asText(ctx, args[0])
	if err != nil {
		return nil, err
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, nil
	}
	return decoded, nil
}

// newSoundex is SOUNDEX(e), which is empty where there are no letters.
func newSoundex(ctx *sql.Context, e sql.Expression) sql.Expression {
	return soundex{function.NewSoundex(ctx, e)}
}

type soundex struct{ sql.Expression }

// Eval is the sound.
func (f soundex) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := f.Expression.Eval(ctx, row)
	if v == "0000" { // where GMS has seen no letter
		v = ""
	}
	return v, err
}

// WithChildren returns it with other arguments.
func (f soundex) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := f.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return soundex{e}, nil
}

// extractedWeek is WEEK(time) for EXTRACT(WEEK FROM time): GMS counts the weeks of another mode.
func extractedWeek(ctx *sql.Context, e *function.Extract) (sql.Expression, bool) {
	if unit, ok := e.LeftChild.(*expression.Literal); !ok || unit.Value() != "WEEK" {
		return nil, false
	}
	week, err := weekFunction.NewInstance(ctx, []sql.Expression{readsDatetime.argument(ctx, e.RightChild)})
	return week, err == nil
}

// ofText is a function that takes operands of some types, and knows GMS's own texts only: a column of the lake is given to it as such.
func ofText(name string, takes func(sql.Type) bool, build func(*sql.Context, sql.Expression) sql.Expression) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) != 1 {
			return nil, sql.ErrInvalidArgumentNumber.New(name, "1", len(args))
		}
		e := args[0]
		t := e.Type(ctx)
		if !takes(t) && t != types.Null && !isBindVar(e) {
			return nil, mysql.NewSQLError(3064, "HY000", "Incorrect type for argument 1 in function %s.", name)
		}
		if types.IsTextOnly(t) {
			e = compile.NewDateText(e)
		}
		return build(ctx, e), nil
	}}
}

func isBindVar(e sql.Expression) bool {
	_, ok := e.(*expression.BindVar)
	return ok
}

func textOrJSON(t sql.Type) bool { return sql.IsStringType(t) || types.IsJSON(t) }

// newTimestamp is TIMESTAMP(e), or TIMESTAMP(e, time) that adds a time to it. GMS's of a DATE is a DATE, of a text a text, and of a number NULL.
func newTimestamp(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) == 0 || len(args) > 2 {
		return nil, sql.ErrInvalidArgumentNumber.New("timestamp", "1 or 2", len(args))
	}
	e := args[0]
	switch t := e.Type(ctx); {
	case types.IsDateType(t):
		e = expression.NewConvert(e, expression.ConvertToDatetime)
	case !types.IsTime(t):
		e = expression.NewConvertWithLengthAndScale(e, expression.ConvertToDatetime, momentDigits(ctx, e), 0)
	}
	if len(args) == 2 {
		return shiftedTime("addtime", 1).NewInstance(ctx, []sql.Expression{e, args[1]})
	}
	return e, nil
}

// momentDigits are the digits behind the second of a moment that is read from a number or text: of one that is written in the statement, as many as it has.
func momentDigits(ctx *sql.Context, e sql.Expression) int {
	text, ok := textOfLiteral(e)
	if !ok {
		return secondDigits(ctx, e)
	}
	_, digits, _ := strings.Cut(text, ".")
	return min(len(digits), types.MaxDatetimePrecision)
}

// ofDay is a function of a day that GMS has warn of NULL.
func ofDay(name string, build func(*sql.Context, sql.Expression) sql.Expression) sql.Function {
	return sql.Function1{Name: name, Fn: func(ctx *sql.Context, e sql.Expression) sql.Expression { return nullIfNull{build(ctx, e)} }}
}

// nullIfNull makes a function NULL where an argument is, which GMS takes for an error.
type nullIfNull struct{ sql.Expression }

var _ compile.Wrapper = nullIfNull{}

// Unwrap returns GMS's: what batches have for a function is NULL where an argument is.
func (f nullIfNull) Unwrap() sql.Expression { return f.Expression }

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
