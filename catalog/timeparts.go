package catalog

import (
	"math"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
)

// timeParts are the functions of a part of a date or time. Those of a date take one whose month or day is 0.
var timeParts = map[string]sql.Function{
	"year":    partOf("year", readsDate, types.Int32, func(c mysqltype.Civil) any { return int32(int64(c.Year)) }),
	"quarter": partOf("quarter", readsDate, types.Int32, func(c mysqltype.Civil) any { return int32(int64(c.Month+2) / 3) }),
	"month":   partOf("month", readsDate, types.Int32, func(c mysqltype.Civil) any { return int32(int64(c.Month)) }),
	"monthname": partOf("monthname", readsDate, types.LongText, func(c mysqltype.Civil) any {
		if c.Month == 0 {
			return nil
		}
		return time.Month(c.Month).String()
	}),
	"day":         partOf("day", readsDate, types.Int32, func(c mysqltype.Civil) any { return int32(int64(c.Day)) }),
	"dayofmonth":  partOf("dayofmonth", readsDate, types.Int32, func(c mysqltype.Civil) any { return int32(int64(c.Day)) }),
	"hour":        partOf("hour", readsTime, types.Int32, func(c mysqltype.Civil) any { return int32(span(c) / (3600 * batch.MicrosPerSecond)) }),
	"minute":      partOf("minute", readsTime, types.Int32, func(c mysqltype.Civil) any { return int32(span(c) / (60 * batch.MicrosPerSecond) % 60) }),
	"second":      partOf("second", readsTime, types.Int32, func(c mysqltype.Civil) any { return int32(span(c) / batch.MicrosPerSecond % 60) }),
	"time_to_sec": secondsOfTime,
	"time":        scalarFunction("time", 1, 1, ofCivil(types.Time, readsTime, 0, func(c mysqltype.Civil) any { return types.Timespan(c.Clock) })),
	"microsecond": partOf("microsecond", readsTime, types.Int32, func(c mysqltype.Civil) any { return int32(span(c) % batch.MicrosPerSecond) }),
}

// span is a TIME without its sign.
func span(c mysqltype.Civil) int64 { return max(c.Clock, -c.Clock) }

// partOf is the part of a date or time; of those that are such by their type it is GMS's function, which batches have.
func partOf(name string, r reading, t sql.Type, part func(mysqltype.Civil) any) sql.Function {
	own := scalarFunction(name, 1, 1, ofCivil(t, r, 0, part))
	return sql.FunctionN{Name: name, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if of := correctedFunctions[name]; len(args) == 1 && args[0].Resolved() && types.IsTime(args[0].Type(ctx)) {
			if of == nil {
				of = builtIns[name]
			}
			return of.NewInstance(ctx, args)
		}
		return own.NewInstance(ctx, args)
	}}
}

// ofCivil is what a function makes of a date or time that is one of its arguments.
func ofCivil(t sql.Type, r reading, argument int, of func(mysqltype.Civil) any) func(*sql.Context, []sql.Expression) (scalarBody, error) {
	return func(_ *sql.Context, args []sql.Expression) (scalarBody, error) {
		seen := 0 // rows
		return scalarBody{typ: t, nulls: true, eval: func(ctx *sql.Context, values []any) (any, error) {
			seen++
			c, ok, err := r.civil(ctx, args[argument], seen, values[argument])
			if err != nil || !ok {
				return nil, err
			}
			return of(c), nil
		}}, nil
	}
}

// secondsOfTime is TIME_TO_SEC(time).
var secondsOfTime = scalarFunction("time_to_sec", 1, 1, ofCivil(types.Int64, readsTime, 0, func(c mysqltype.Civil) any { return c.Clock / batch.MicrosPerSecond }))

// extractedPart is EXTRACT(unit FROM e) of what is no date or time by its type; false of all else, which is GMS's.
func extractedPart(ctx *sql.Context, e *function.Extract) (sql.Expression, bool) {
	literal, ok := e.LeftChild.(*expression.Literal)
	if !ok || !e.RightChild.Resolved() || types.IsTime(e.RightChild.Type(ctx)) {
		return nil, false
	}
	text, _ := literal.Value().(string)
	unit := strings.ToUpper(text)
	part, known := extractedParts[unit]
	if !known {
		return nil, false
	}
	r := readsTime
	if dateUnits[unit] {
		r = readsDatetime
	}
	call, err := scalarFunction("extract", 2, 2, ofCivil(types.Int64, r, 1, func(c mysqltype.Civil) any { return part(c) })).NewInstance(ctx, e.Children())
	return call, err == nil
}

// dateUnits are the units of EXTRACT that are of a date; the others are of a time.
var dateUnits = map[string]bool{"YEAR": true, "QUARTER": true, "MONTH": true, "DAY": true, "YEAR_MONTH": true}

// extractedParts are what EXTRACT takes: the parts of a date, or the digits of a time from the first unit on to the last one.
var extractedParts = map[string]func(mysqltype.Civil) int64{
	"YEAR":       func(c mysqltype.Civil) int64 { return int64(c.Year) },
	"QUARTER":    func(c mysqltype.Civil) int64 { return int64(c.Month+2) / 3 },
	"MONTH":      func(c mysqltype.Civil) int64 { return int64(c.Month) },
	"DAY":        func(c mysqltype.Civil) int64 { return int64(c.Day) },
	"YEAR_MONTH": func(c mysqltype.Civil) int64 { return int64(c.Year*100 + c.Month) },
	"HOUR":       clockDigits(1e10, 1e9), "HOUR_MINUTE": clockDigits(1e8, 1e11), "HOUR_SECOND": clockDigits(1e6, 1e13), "HOUR_MICROSECOND": clockDigits(1, math.MaxInt64),
	"MINUTE": clockDigits(1e8, 1e2), "MINUTE_SECOND": clockDigits(1e6, 1e4), "MINUTE_MICROSECOND": clockDigits(1, 1e10),
	"SECOND": clockDigits(1e6, 1e2), "SECOND_MICROSECOND": clockDigits(1, 1e8), "MICROSECOND": clockDigits(1, 1e6),
	"DAY_HOUR": withDay(1e2, 1e10), "DAY_MINUTE": withDay(1e4, 1e8), "DAY_SECOND": withDay(1e6, 1e6), "DAY_MICROSECOND": withDay(1e12, 1),
}

// clockDigits are the digits hhhmmssffffff of a time from a place on, as many as are below a power of ten.
func clockDigits(from, below int64) func(mysqltype.Civil) int64 {
	return func(c mysqltype.Civil) int64 {
		n := span(c)
		seconds, micros := n/batch.MicrosPerSecond, n%batch.MicrosPerSecond
		n = ((seconds/3600*100+seconds/60%60)*100+seconds%60)*batch.MicrosPerSecond + micros
		if n = n / from % below; c.Clock < 0 {
			return -n
		}
		return n
	}
}

// withDay are the digits of a time from a place on, behind those of the day.
func withDay(day, from int64) func(mysqltype.Civil) int64 {
	clock := clockDigits(from, math.MaxInt64)
	return func(c mysqltype.Civil) int64 { return int64(c.Day)*day + clock(c) }
}
