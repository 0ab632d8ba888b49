package catalog

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// timeFunctions are MySQL's functions of times that GMS lacks, or has otherwise.
var timeFunctions = map[string]sql.Function{
	"from_unixtime": sql.FunctionN{Name: "from_unixtime", Fn: newFromUnixtime},
	"maketime":      scalarFunction("maketime", 3, 3, fixedType(types.Time, makeTime)),
	"sec_to_time":   scalarFunction("sec_to_time", 1, 1, fixedType(types.Time, timeOfSeconds)),
	"timediff":      timeDifference,
	"convert_tz":    convertZone,
	"time_format":   timeFormat,
	"addtime":       shiftedTime("addtime", 1),
	"subtime":       shiftedTime("subtime", -1),
	"to_seconds":    scalarFunction("to_seconds", 1, 1, fixedType(types.Int64, secondsSinceZero)),
	"period_add":    scalarFunction("period_add", 2, 2, fixedType(types.Int64, periodAdd)),
	"period_diff":   scalarFunction("period_diff", 2, 2, fixedType(types.Int64, periodDiff)),
	"utc_date": scalarFunction("utc_date", 0, 0, fixedType(types.Date, func(ctx *sql.Context, _ []any) (any, error) {
		return midnight(ctx.QueryTime().UTC()), nil
	})),
	"utc_time":     scalarFunction("utc_time", 0, 1, utcTime),
	"curdate":      today("curdate"),
	"current_date": today("current_date"),
}

// today is CURDATE(), a DATE: GMS's is a text.
func today(name string) sql.Function {
	return scalarFunction(name, 0, 0, fixedType(types.Date, func(ctx *sql.Context, _ []any) (any, error) {
		text, err := function.NewCurrDate(ctx).Eval(ctx, nil)
		if err != nil {
			return nil, err
		}
		return time.Parse(time.DateOnly, text.(string))
	}))
}

// lastUnixTime is the last second that FROM_UNIXTIME takes: 3001-01-18 23:59:59.
const lastUnixTime = 32536771199

// newFromUnixtime is FROM_UNIXTIME(n), with as many digits behind the second as n has, and with a format DATE_FORMAT of that. GMS's takes whole seconds only.
func newFromUnixtime(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
	if len(args) == 0 || len(args) > 2 {
		return nil, sql.ErrInvalidArgumentNumber.New("from_unixtime", "1 or 2", len(args))
	}
	at, err := unixMoment.NewInstance(ctx, args[:1])
	if err != nil || len(args) == 1 {
		return at, err
	}
	return formatDate.NewInstance(ctx, []sql.Expression{at, args[1]})
}

var (
	unixMoment = scalarFunction("from_unixtime", 1, 1, func(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
		return scalarBody{typ: types.MustCreateDatetimeType(sqltypes.Datetime, secondDigits(ctx, args[0])), eval: momentOfUnix}, nil
	})
	formatDate = kernelFunction("date_format", vector.DateFormat, types.Text, 2, batch.Timestamp, batch.String)
)

// secondDigits are the digits behind the point of a number of seconds.
func secondDigits(ctx *sql.Context, e sql.Expression) int {
	if !e.Resolved() {
		return types.MaxDatetimePrecision
	}
	switch t := e.Type(ctx).(type) {
	case sql.DecimalType:
		return min(int(t.Scale()), types.MaxDatetimePrecision)
	default:
		if types.IsInteger(t) {
			return 0
		}
	}
	return types.MaxDatetimePrecision
}

func momentOfUnix(ctx *sql.Context, args []any) (any, error) {
	micros, ok, err := asMicroseconds(ctx, args[0])
	if err != nil || !ok || micros < 0 || micros >= (lastUnixTime+1)*int64(time.Second/time.Microsecond) {
		return nil, err
	}
	zone, err := function.SessionTimeZone(ctx)
	if err != nil {
		return nil, err
	}
	at, _ := sql.ConvertTimeZone(time.UnixMicro(micros).UTC(), "UTC", zone)
	return at, nil
}

// asMicroseconds is a number of seconds in microseconds, rounded; what is no number is read as far as it is one, with a warning. It is false for what is too large.
func asMicroseconds(ctx *sql.Context, v any) (int64, bool, error) {
	n, err := decimalValue(ctx, v)
	if err != nil {
		return 0, false, err
	}
	micros := new(apd.Decimal)
	if _, err := exactContext.Quantize(micros, n, -types.MaxDatetimePrecision); err != nil {
		return 0, false, nil
	}
	micros.Exponent += types.MaxDatetimePrecision
	out, err := micros.Int64()
	return out, err == nil, nil
}

// longestTime is the greatest TIME, 838:59:59, in seconds.
const longestTime = 838*3600 + 59*60 + 59

// timespan is a TIME, the greatest or least one for what is beyond, with MySQL's warning.
func timespan(ctx *sql.Context, micros int64, shown any) types.Timespan {
	const most = longestTime * int64(time.Second/time.Microsecond)
	if bounded := min(max(micros, -most), most); bounded != micros {
		ctx.Warn(1292, "Truncated incorrect time value: '%v'", shown)
		micros = bounded
	}
	return types.Timespan(micros)
}

// makeTime is MAKETIME(hours, minutes, seconds).
func makeTime(ctx *sql.Context, args []any) (any, error) {
	hours, err := asInteger(ctx, args[0])
	if err != nil {
		return nil, err
	}
	minutes, err := asInteger(ctx, args[1])
	if err != nil {
		return nil, err
	}
	seconds, ok, err := asMicroseconds(ctx, args[2])
	const second = int64(time.Second / time.Microsecond)
	if err != nil || !ok || minutes < 0 || minutes > 59 || seconds < 0 || seconds >= 60*second {
		return nil, err
	}
	micros := min(max(hours, -1000), 1000)*3600*second + minutes*60*second + seconds
	if hours < 0 {
		micros = max(hours, -1000)*3600*second - minutes*60*second - seconds
	}
	return timespan(ctx, micros, fmt.Sprintf("%d:%02d:%02d", abs(hours), minutes, seconds/second)), nil
}

// timeOfSeconds is SEC_TO_TIME(n).
func timeOfSeconds(ctx *sql.Context, args []any) (any, error) {
	micros, ok, err := asMicroseconds(ctx, args[0])
	if err != nil {
		return nil, err
	}
	if !ok {
		micros = math.MaxInt64
	}
	return timespan(ctx, micros, args[0]), nil
}

// secondsSinceZero is TO_SECONDS(time): seconds since the day 0.
func secondsSinceZero(ctx *sql.Context, args []any) (any, error) {
	at := asTime(ctx, args[0])
	if at == nil {
		return nil, nil
	}
	return at.Unix() + daysOf1970*24*3600, nil
}

// daysOf1970 is TO_DAYS('1970-01-01').
const daysOf1970 = 719528

func utcTime(ctx *sql.Context, _ []sql.Expression) (scalarBody, error) {
	return scalarBody{typ: types.Time, eval: func(ctx *sql.Context, args []any) (any, error) {
		digits := int64(0)
		if len(args) > 0 {
			var err error
			if digits, err = asInteger(ctx, args[0]); err != nil {
				return nil, err
			}
		}
		now := ctx.QueryTime().UTC()
		unit := time.Second
		for range min(max(digits, 0), types.MaxDatetimePrecision) {
			unit /= 10
		}
		return types.Timespan(now.Sub(midnight(now)).Truncate(unit).Microseconds()), nil
	}}, nil
}

// shiftedTime is ADDTIME(time, span), or SUBTIME: of a DATETIME or DATE a DATETIME, of a TIME one, of all else the text of what it is.
func shiftedTime(name string, sign int64) sql.Function {
	return scalarFunction(name, 2, 2, func(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
		t := sql.Type(types.LongText)
		if args[0].Resolved() {
			switch of := args[0].Type(ctx).(type) {
			case types.TimespanType_:
				t = types.Time
			case sql.DatetimeType:
				t = types.MustCreateDatetimeType(sqltypes.Datetime, max(of.Precision(), spanDigits(ctx, args[1])))
			}
		}
		return scalarBody{typ: t, eval: func(ctx *sql.Context, values []any) (any, error) {
			by, ok, err := readsTime.civil(ctx, args[1], 1, values[1])
			if err != nil || !ok {
				return nil, err
			}
			from, dated, ok, err := momentOf(ctx, args[0], values[0])
			if err != nil || !ok {
				return nil, err
			}
			return shiftTime(ctx, t, from, dated, sign*by.Clock)
		}}, nil
	})
}

// spanDigits are the digits behind the second of a span, of a text that is written in the statement as many as it has.
func spanDigits(ctx *sql.Context, e sql.Expression) int {
	if e.Resolved() && types.IsDateType(e.Type(ctx)) {
		return 0
	}
	return momentDigits(ctx, e)
}

func shiftTime(ctx *sql.Context, t sql.Type, from mysqltype.Civil, dated bool, by int64) (any, error) {
	if !dated {
		out := timespan(ctx, from.Clock+by, "")
		if t == types.Time {
			return out, nil
		}
		return out.String(), nil
	}
	at := from.Time().Add(time.Duration(by) * time.Microsecond)
	switch {
	case at.Year() < 1 || at.Year() > 9999:
		ctx.Warn(fieldOverflow, "Datetime function: datetime field overflow")
		return nil, nil
	case t != types.LongText:
		return at, nil
	case at.Nanosecond() == 0:
		return at.Format(time.DateTime), nil
	}
	return at.Format(textOfMoment), nil
}

// momentOf reads a TIME, or a date with a time of the day (dated); false, with MySQL's warning, for what is neither.
func momentOf(ctx *sql.Context, of sql.Expression, v any) (c mysqltype.Civil, dated, ok bool, err error) {
	switch v := v.(type) {
	case time.Time:
		return mysqltype.CivilOf(v), true, !mysqltype.IsZeroDate(v), nil
	case string, []byte, sql.JSONWrapper:
		text, err := asText(ctx, v)
		if err != nil {
			return c, false, false, err
		}
		if d, ok := mysqltype.ReadDate(text); ok && d.Whole() && (d.HasTime || strings.Contains(text, "-")) {
			return d.Civil, true, true, nil
		}
		c, exact, ok := mysqltype.ReadTime(text)
		switch {
		case !ok:
			ctx.Warn(mysqltype.WrongValue, "Incorrect datetime value: '%s'", mysqltype.ShownText(text))
		case !exact:
			ctx.Warn(mysqltype.WrongValue, "Truncated incorrect time value: '%s'", mysqltype.ShownText(text))
		}
		return c, false, ok, nil
	}
	c, ok, err = readsTime.civil(ctx, of, 1, v)
	return c, c.Whole(), ok, err
}

// timeDifference is TIMEDIFF(a, b), NULL of a TIME and a date.
var timeDifference = scalarFunction("timediff", 2, 2, func(_ *sql.Context, args []sql.Expression) (scalarBody, error) {
	return scalarBody{typ: types.Time, eval: func(ctx *sql.Context, values []any) (any, error) {
		a, datedA, ok, err := momentOf(ctx, args[0], values[0])
		if err != nil || !ok {
			return nil, err
		}
		b, datedB, ok, err := momentOf(ctx, args[1], values[1])
		if err != nil || !ok || datedA != datedB {
			return nil, err
		}
		micros := a.Clock - b.Clock
		if datedA {
			micros = a.Time().UnixMicro() - b.Time().UnixMicro()
		}
		seconds := abs(micros) / batch.MicrosPerSecond
		return timespan(ctx, micros, fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)), nil
	}}, nil
})

// convertZone is CONVERT_TZ(time, from, to), NULL of a zone that there is not.
var convertZone = scalarFunction("convert_tz", 3, 3, func(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
	t := types.MustCreateDatetimeType(sqltypes.Datetime, datetimeDigits(ctx, args[0]))
	seen := 0 // rows
	return scalarBody{typ: t, nulls: true, eval: func(ctx *sql.Context, values []any) (any, error) {
		if seen++; slices.Contains(values, nil) {
			return nil, nil
		}
		c, ok, err := readsDatetime.whole(ctx, args[0], seen, values[0])
		if err != nil || !ok {
			return nil, err
		}
		zones := make([]string, 2)
		for i := range zones {
			if zones[i], err = asText(ctx, values[i+1]); err != nil {
				return nil, err
			}
			if zones[i] == "SYSTEM" {
				zones[i] = sql.SystemTimezoneOffset()
			}
		}
		if at, ok := sql.ConvertTimeZone(c.Time(), zones[0], zones[1]); ok && inYears(at) {
			return at, nil
		}
		return nil, nil
	}}, nil
})

// datetimeDigits are the digits behind the second of what is read as a DATETIME.
func datetimeDigits(ctx *sql.Context, e sql.Expression) int {
	if e.Resolved() {
		if t, ok := e.Type(ctx).(sql.DatetimeType); ok {
			if types.IsDateType(t) {
				return 0
			}
			return t.Precision()
		}
	}
	return momentDigits(ctx, e)
}

// periodAdd is PERIOD_ADD(yyyymm, months).
func periodAdd(ctx *sql.Context, args []any) (any, error) {
	months, err := monthsOf(ctx, "period_add", args[0])
	if err != nil {
		return nil, err
	}
	n, err := asInteger(ctx, args[1])
	if err != nil {
		return nil, err
	}
	months += n
	return months/12*100 + months%12 + 1, nil
}

// periodDiff is PERIOD_DIFF(yyyymm, yyyymm): months between them.
func periodDiff(ctx *sql.Context, args []any) (any, error) {
	first, err := monthsOf(ctx, "period_diff", args[0])
	if err != nil {
		return nil, err
	}
	second, err := monthsOf(ctx, "period_diff", args[1])
	return first - second, err
}

// monthsOf are the months since the year 0 of a period, yyyymm or yymm.
func monthsOf(ctx *sql.Context, function string, v any) (int64, error) {
	period, err := asInteger(ctx, v)
	if err != nil {
		return 0, err
	}
	year, month := period/100, period%100
	if period <= 0 || month < 1 || month > 12 {
		return 0, sql.ErrInvalidArgument.New(function)
	}
	switch {
	case year < 70:
		year += 2000
	case year < 100:
		year += 1900
	}
	return year*12 + month - 1, nil
}
