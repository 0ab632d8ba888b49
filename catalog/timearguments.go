package catalog

import (
	"fmt"
	"math"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/mysqltype"
	"lakesql/catalog/resultmeta"
)

// reading is how MySQL reads what is no date or time where it wants one.
type reading struct {
	name string // in warnings: date, datetime or time
	json string // the type that a document is cast to
	time bool   // a TIME
}

var (
	readsDate     = reading{name: "date", json: "DATE"}
	readsDatetime = reading{name: "datetime", json: "DATETIME/TIMESTAMP"}
	readsTime     = reading{name: "time", json: "TIME", time: true}
)

// civil reads a value that is no NULL, of a row that is counted from 1; false, with MySQL's warning, for what is none. Month and day may be 0.
func (r reading) civil(ctx *sql.Context, of sql.Expression, row int, v any) (mysqltype.Civil, bool, error) {
	none := mysqltype.Civil{}
	switch v := v.(type) {
	case time.Time:
		if mysqltype.IsZeroDate(v) {
			return none, false, nil
		}
		return mysqltype.CivilOf(v), true, nil
	case types.Timespan:
		if r.time {
			return mysqltype.Civil{Clock: int64(v)}, true, nil
		}
		today := midnight(ctx.QueryTime())
		return mysqltype.CivilOf(today.Add(time.Duration(v) * time.Microsecond)), true, nil
	}
	scalar, err := mysqltype.Scalar(ctx, v)
	if err != nil || scalar == nil {
		return none, false, err
	}
	isJSON := types.IsJSON(of.Type(ctx))
	switch s := scalar.(type) {
	case string:
		c, ok, exact, err := r.ofText(ctx, s)
		switch {
		case err != nil:
			return none, false, err
		case isJSON && !(ok && exact):
			warnJSONCast(ctx, r.json, of, row)
		case !ok && r.name == readsDatetime.name:
			ctx.Warn(mysqltype.WrongValue, "Incorrect datetime value: '%s'", mysqltype.ShownText(s))
		case !ok || !exact:
			ctx.Warn(mysqltype.WrongValue, "Truncated incorrect %s value: '%s'", r.name, mysqltype.ShownText(s))
		}
		return c, ok, nil
	case []any, map[string]any:
		warnJSONCast(ctx, r.json, of, row)
		return none, false, nil
	}
	c, ok, err := r.ofNumber(ctx, scalar)
	if !ok && err == nil {
		r.refuseNumber(ctx, scalar)
	}
	return c, ok, err
}

// whole reads a date as civil does; one whose month or day is 0 is none, too.
func (r reading) whole(ctx *sql.Context, of sql.Expression, row int, v any) (mysqltype.Civil, bool, error) {
	c, ok, err := r.civil(ctx, of, row, v)
	if err != nil || !ok || c.Whole() {
		return c, ok, err
	}
	switch text, isText := v.(string); {
	case isText && r == readsDate:
		ctx.Warn(mysqltype.WrongValue, "Truncated incorrect date value: '%s'", mysqltype.ShownText(text))
	default:
		r.refuseNumber(ctx, v)
	}
	return c, false, nil
}

// ofText reads a text.
func (r reading) ofText(ctx *sql.Context, text string) (c mysqltype.Civil, ok, exact bool, err error) {
	if r.time {
		c, exact, ok = mysqltype.ReadTime(text)
		return c, ok, exact, nil
	}
	d, ok := mysqltype.ReadDate(text)
	if !ok || d.Zone == "" {
		return d.Civil, ok, d.Exact, nil
	}
	if !d.Whole() {
		return c, false, false, nil
	}
	at, ok, err := inSession(ctx, d.Time(), d.Zone)
	return mysqltype.CivilOf(at), ok && err == nil, d.Exact, err
}

// ofNumber reads a number.
func (r reading) ofNumber(ctx *sql.Context, v any) (c mysqltype.Civil, ok bool, err error) {
	if f, isFloat := v.(float64); isFloat && r == readsDate {
		v = math.RoundToEven(f)
	}
	if truth, isTruth := v.(bool); isTruth {
		v = map[bool]int8{true: 1}[truth]
	}
	n, err := types.InternalDecimalType.ConvertToDecimal(v)
	if err != nil || n.Form != apd.Finite {
		return c, false, err
	}
	whole, micros, ok := mysqltype.WholeAndMicros(n)
	switch {
	case !ok:
		return c, false, nil
	case r.time:
		c, ok = mysqltype.TimeOfNumber(whole, micros)
		return c, ok, nil
	case r == readsDatetime && 0 <= whole && whole < firstDay: // 0 is the date of zeros
		return c, whole == 0 && micros >= 0, nil
	}
	c, ok = mysqltype.DateOfNumber(whole, micros)
	return c, ok && micros >= 0, nil
}

// firstDay is the least number that is a day, 2000-01-01.
const firstDay = 101

// refuseNumber warns of a number that is no date or time.
func (r reading) refuseNumber(ctx *sql.Context, v any) {
	shown := fmt.Sprint(v)
	switch n := v.(type) {
	case bool:
		shown = map[bool]string{true: "1", false: "0"}[n]
	case *apd.Decimal:
		shown = n.Text('f')
		if r == readsDate {
			ctx.Warn(mysqltype.WrongValue, "Truncated incorrect date value: '%s'", shown)
			return
		}
	case float64:
		if r == readsDate {
			shown = fmt.Sprint(math.RoundToEven(n))
		}
	}
	if r == readsTime {
		ctx.Warn(mysqltype.WrongValue, "Truncated incorrect time value: '%s'", shown)
		return
	}
	ctx.Warn(mysqltype.WrongValue, "Incorrect datetime value: '%s'", shown)
}

// timeArgument is what is no date or time where one is wanted, a text, a number or a document, as MySQL reads it: a DATETIME, or a TIME. GMS's functions read fewer texts
// and no numbers.
type timeArgument struct {
	expression.UnaryExpressionStub
	reading
	digits int // behind the point, to which a TIME is rounded
	seen   int // rows
}

var (
	_ sql.Expression         = (*timeArgument)(nil)
	_ sql.CollationCoercible = (*timeArgument)(nil)
	_ resultmeta.Conversion  = (*timeArgument)(nil)
)

// Written is the argument.
func (e *timeArgument) Written() sql.Expression { return e.Child }

func (e *timeArgument) String() string { return e.Child.String() }

// Type is that of the date or time.
func (e *timeArgument) Type(*sql.Context) sql.Type {
	if e.time {
		return types.Time
	}
	return types.DatetimeMaxPrecision
}

// IsNullable is true: what is no date is NULL.
func (e *timeArgument) IsNullable(*sql.Context) bool { return true }

// CollationCoercibility is that of a date.
func (e *timeArgument) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 5
}

// WithChildren is of another argument.
func (e *timeArgument) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &timeArgument{expression.UnaryExpressionStub{Child: children[0]}, e.reading, e.digits, 0}, nil
}

// Eval is the date or time.
func (e *timeArgument) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	e.seen++
	v, err := e.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if err != nil || v == nil {
		return nil, err
	}
	if e.time {
		c, ok, err := e.civil(ctx, e.Child, e.seen, v)
		if err != nil || !ok {
			return nil, err
		}
		return types.Timespan(roundedTime(c.Clock, e.digits)), nil
	}
	c, ok, err := e.whole(ctx, e.Child, e.seen, v)
	if err != nil || !ok {
		return nil, err
	}
	return c.Time(), nil
}

// roundedTime is a TIME with so many digits behind the point.
func roundedTime(micros int64, digits int) int64 {
	unit := int64(1)
	for range types.MaxDatetimePrecision - digits {
		unit *= 10
	}
	half := unit / 2
	if micros < 0 {
		half = -half
	}
	return min(max((micros+half)/unit*unit, -mysqltype.LongestTime), mysqltype.LongestTime)
}

// timeArguments are the functions of dates and times whose first arguments are read so.
var timeArguments = map[string]ofTimes{
	"date": {first: 1, reading: readsDate}, "dayofweek": {first: 1, reading: readsDate}, "dayofyear": {first: 1, reading: readsDate}, "weekday": {first: 1, reading: readsDate},
	"week": {first: 1, reading: readsDate}, "yearweek": {first: 1, reading: readsDate}, "weekofyear": {first: 1, reading: readsDate}, "to_days": {first: 1, reading: readsDate},
	"last_day": {first: 1, reading: readsDate}, "dayname": {first: 1, reading: readsDate}, "datediff": {first: 2, reading: readsDate},
	"to_seconds": {first: 1, reading: readsDatetime}, "date_format": {first: 1, reading: readsDatetime},
}

// ofTimes is a function whose first arguments are dates or times.
type ofTimes struct {
	sql.Function
	first   int
	reading reading
}

// NewInstance is a call.
func (f ofTimes) NewInstance(ctx *sql.Context, args []sql.Expression) (sql.Expression, error) {
	read := make([]sql.Expression, len(args))
	for i, a := range args {
		if read[i] = a; i < f.first {
			read[i] = f.reading.argument(ctx, a)
		}
	}
	return f.Function.NewInstance(ctx, read)
}

// argument is an expression where a date or time is wanted.
func (r reading) argument(ctx *sql.Context, e sql.Expression) sql.Expression {
	if !e.Resolved() || types.IsTime(e.Type(ctx)) || r.time && types.IsTimespan(e.Type(ctx)) {
		return e
	}
	return &timeArgument{expression.UnaryExpressionStub{Child: e}, r, types.MaxDatetimePrecision, 0}
}
