package catalog

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// addIntervals makes DATE_ADD and DATE_SUB of t + INTERVAL and t - INTERVAL, which mean the same in MySQL; GMS's cut the parts of a second off. It makes WEEK of
// EXTRACT(WEEK FROM t), too, and reads what is no date or time by its type.
func addIntervals(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if extract, ok := e.(*function.Extract); ok {
		if week, ok := extractedWeek(ctx, extract); ok {
			return week, transform.NewTree, nil
		}
		if part, ok := extractedPart(ctx, extract); ok {
			return part, transform.NewTree, nil
		}
	}
	switch f := e.(type) {
	case *function.DateAdd: // TIMESTAMPADD
		if !types.IsTimespan(f.Date.Type(ctx)) {
			return newShifted(ctx, f.Date, f.Interval, false), transform.NewTree, nil
		}
	case *function.TimestampDiff:
		return readOperands(ctx, f)
	}
	a, ok := e.(*expression.Arithmetic)
	if !ok {
		return e, transform.SameTree, nil
	}
	date, interval := a.LeftChild, a.RightChild
	if _, ok := date.(*expression.Interval); ok {
		date, interval = interval, date
	}
	if _, ok := interval.(*expression.Interval); !ok {
		return e, transform.SameTree, nil
	}
	return newShifted(ctx, date, interval.(*expression.Interval), a.Op == "-"), transform.NewTree, nil
}

// readOperands is TIMESTAMPDIFF of what it reads.
func readOperands(ctx *sql.Context, f *function.TimestampDiff) (sql.Expression, transform.TreeIdentity, error) {
	children, same := slices.Clone(f.Children()), transform.SameTree
	for i, c := range children[1:] {
		if read := readsDatetime.argument(ctx, c); read != c {
			children[1+i], same = read, transform.NewTree
		}
	}
	if same {
		return f, same, nil
	}
	out, err := f.WithChildren(ctx, children...)
	return out, same, err
}

// shiftFunctions take the place of GMS's functions of these names, whose results are wrong beyond 292 years, and errors where MySQL has NULL.
var shiftFunctions = map[string]sql.Function{
	"date_add": shift("date_add", false), "date_sub": shift("date_sub", true), "adddate": shift("adddate", false), "subdate": shift("subdate", true),
}

// shift is DATE_ADD or DATE_SUB, or ADDDATE or SUBDATE, which take a number of days too.
func shift(name string, back bool) sql.Function {
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) != 2 {
			return nil, sql.ErrInvalidArgumentNumber.New(name, 2, len(args))
		}
		interval, ok := args[1].(*expression.Interval)
		switch {
		case ok:
		case name == "adddate" || name == "subdate":
			interval = expression.NewInterval(args[1], "DAY")
		default:
			return nil, refuse(KindInvalid, "%s wants an interval: %s(date, INTERVAL n DAY)", strings.ToUpper(name), strings.ToUpper(name))
		}
		return newShifted(ctx, args[0], interval, back), nil
	}}
}

// newShifted is date + interval, or with back date - interval. Of a TIME it is GMS's.
func newShifted(ctx *sql.Context, date sql.Expression, interval *expression.Interval, back bool) sql.Expression {
	if date.Resolved() && types.IsTimespan(date.Type(ctx)) {
		if back {
			return &function.DateSub{Date: date, Interval: interval}
		}
		return &function.DateAdd{Date: date, Interval: interval}
	}
	return &shifted{date: date, interval: interval, back: back}
}

// shifted is a date or time that is moved by an interval.
type shifted struct {
	date     sql.Expression
	interval *expression.Interval
	back     bool
	seen     int // rows
}

var (
	_ sql.FunctionExpression = (*shifted)(nil)
	_ compile.Shifted        = (*shifted)(nil)
	_ sql.CollationCoercible = (*shifted)(nil)
)

// FunctionName is the function's name.
func (e *shifted) FunctionName() string {
	if e.back {
		return "date_sub"
	}
	return "date_add"
}

// Description is for listings.
func (e *shifted) Description() string { return "moves a date by an interval." }

func (e *shifted) String() string {
	return e.FunctionName() + "(" + e.date.String() + "," + e.interval.String() + ")"
}

// Resolved says whether the operands are.
func (e *shifted) Resolved() bool { return e.date.Resolved() && e.interval.Resolved() }

// IsNullable is true: the result may be out of range.
func (e *shifted) IsNullable(*sql.Context) bool { return true }

// CollationCoercibility is as GMS has it.
func (e *shifted) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return ctx.GetCollation(), 4
}

// Children are the date and the interval's number. The interval itself is no value.
func (e *shifted) Children() []sql.Expression { return []sql.Expression{e.date, e.interval.Child} }

// WithChildren is of another date and number.
func (e *shifted) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 2)
	}
	return &shifted{date: children[0], interval: expression.NewInterval(children[1], e.interval.Unit), back: e.back}, nil
}

// ofDay says whether the interval leaves the time of the day.
func (e *shifted) ofDay() bool {
	switch e.interval.Unit {
	case "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "YEAR_MONTH":
		return true
	}
	return false
}

// Shift is what is moved, and by how much.
func (e *shifted) Shift() (date, n sql.Expression, unit string, back bool) {
	return e.date, e.interval.Child, e.interval.Unit, e.back
}

// Type is that of the date, with a time and parts of a second where the interval has them; of what is no date by its type, a text.
func (e *shifted) Type(ctx *sql.Context) sql.Type {
	digits := 0
	if strings.HasSuffix(e.interval.Unit, "MICROSECOND") || e.interval.Unit == "SECOND" && !types.IsInteger(e.interval.Child.Type(ctx)) {
		digits = types.MaxDatetimePrecision
	}
	switch t := e.date.Type(ctx).(type) {
	case sql.DatetimeType:
		if types.IsDateType(t) && e.ofDay() {
			return types.Date
		}
		return types.MustCreateDatetimeType(sqltypes.Datetime, max(digits, t.Precision()))
	}
	return types.LongText
}

// Eval moves the date. NULL, with MySQL's warning, is what is no date or becomes one of another year than 0 to 9999.
func (e *shifted) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	e.seen++
	v, err := e.date.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if err != nil || v == nil {
		return nil, err
	}
	by, err := e.by(ctx, row)
	if err != nil || by == nil {
		return nil, err
	}
	at, isTime := v.(time.Time)
	if !isTime {
		c, ok, err := readsDatetime.whole(ctx, e.date, e.seen, v)
		if err != nil || !ok {
			return nil, err
		}
		at = c.Time()
	}
	moved, ok := move(at, by, e.back)
	if !ok {
		w := e.Overflow(ctx)
		ctx.Warn(w.Code, "%s", w.Message)
		return nil, nil
	}
	if !types.IsTextOnly(e.Type(ctx)) {
		return moved, nil
	}
	text, isText := v.(string)
	if e.ofDay() && !(isText && strings.Contains(text, ":")) && midnight(moved).Equal(moved) {
		return mysqltype.WithText(moved, types.Date), nil
	}
	return mysqltype.WithText(moved, types.Datetime), nil
}

// Overflow is MySQL's warning of a date or time that is out of range.
func (e *shifted) Overflow(ctx *sql.Context) vector.Warning {
	if !types.IsDateType(e.Type(ctx)) {
		return vector.Warning{Code: fieldOverflow, Message: "Datetime function: datetime field overflow"}
	}
	operator := map[bool]string{true: "-", false: "+"}[e.back]
	return vector.Warning{
		Code:    outOfRange,
		Message: fmt.Sprintf("DATE value is out of range in '(%s %s interval %s %s)'", sqlText(e.date), operator, sqlText(e.interval.Child), strings.ToLower(e.interval.Unit)),
	}
}

// outOfRange is the number of MySQL's warning of a date that there is not.
const outOfRange = 6527

// fieldOverflow is the number of MySQL's warning.
const fieldOverflow = 1441

// by is the interval. GMS's seconds are whole.
func (e *shifted) by(ctx *sql.Context, row sql.Row) (*expression.TimeDelta, error) {
	if e.interval.Unit != "SECOND" || types.IsInteger(e.interval.Child.Type(ctx)) {
		return e.interval.EvalDelta(ctx, row)
	}
	v, err := e.interval.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	seconds, err := decimalValue(ctx, v)
	if err != nil || seconds == nil {
		return e.interval.EvalDelta(ctx, row)
	}
	micros := new(apd.Decimal)
	if _, err := exactContext.Mul(micros, seconds, apd.New(batch.MicrosPerSecond, 0)); err != nil {
		return nil, err
	}
	if _, err := exactContext.Quantize(micros, micros, 0); err != nil { // has no place for all digits
		return &expression.TimeDelta{Microseconds: math.MaxInt64}, nil
	}
	n, err := micros.Int64()
	if err != nil {
		n = math.MaxInt64 // beyond every year
	}
	return &expression.TimeDelta{Microseconds: n}, nil
}

// maxYears is beyond the years that there are.
const maxYears = 10_000

// move adds an interval to a time; false when the result is not of the years 0 to 9999.
func move(t time.Time, by *expression.TimeDelta, back bool) (time.Time, bool) {
	sign := int64(1)
	if back {
		sign = -1
	}
	if !within(by.Years, maxYears) || !within(by.Months, maxYears*12) {
		return t, false
	}
	t = expression.TimeDelta{Years: sign * by.Years, Months: sign * by.Months}.Add(t)
	micros := t.UnixMicro()
	for _, part := range []struct{ n, of int64 }{
		{by.Days, batch.MicrosPerDay}, {by.Hours, 3600 * batch.MicrosPerSecond}, {by.Minutes, 60 * batch.MicrosPerSecond}, {by.Seconds, batch.MicrosPerSecond}, {by.Microseconds, 1},
	} {
		if !within(part.n, maxYears*366*batch.MicrosPerDay/part.of) {
			return t, false
		}
		micros += sign * part.n * part.of
	}
	t = time.UnixMicro(micros).UTC()
	return t, mysqltype.Shown(t)
}

func within(n, limit int64) bool { return -limit <= n && n <= limit }
