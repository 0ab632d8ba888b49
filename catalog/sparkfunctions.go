package catalog

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/sqlext"
)

// sparkFunctions are the functions that sqlext.SparkExpression puts into expressions of table metadata, where MySQL's own do
// something else than Spark's.
var sparkFunctions = map[string]sql.Function{
	sqlext.SparkCast:       scalarFunction(sqlext.SparkCast, 2, 2, newSparkCast),
	sqlext.SparkDivide:     scalarFunction(sqlext.SparkDivide, 2, 2, newSparkDivide),
	sqlext.SparkDateFormat: scalarFunction(sqlext.SparkDateFormat, 2, 2, fixedType(mysqltype.Text, sparkDateFormat)),
	sqlext.SparkDateTrunc:  scalarFunction(sqlext.SparkDateTrunc, 2, 2, fixedType(types.DatetimeMaxPrecision, sparkDateTrunc)),
	sqlext.SparkTrunc:      scalarFunction(sqlext.SparkTrunc, 2, 2, fixedType(types.Date, sparkTrunc)),
	sqlext.SparkDateAdd:    scalarFunction(sqlext.SparkDateAdd, 2, 2, fixedType(types.Date, sparkDateAdd)),
	sqlext.SparkAddMonths:  scalarFunction(sqlext.SparkAddMonths, 2, 2, fixedType(types.Date, sparkAddMonths)),
	sqlext.SparkAddTime:    scalarFunction(sqlext.SparkAddTime, 3, 3, newSparkAddTime),
	sqlext.SparkSubstring:  scalarFunction(sqlext.SparkSubstring, 2, 3, fixedType(mysqltype.Text, sparkSubstring)),
	sqlext.SparkGreatest:   scalarFunction(sqlext.SparkGreatest, 2, math.MaxInt, sparkExtreme(1)),
	sqlext.SparkLeast:      scalarFunction(sqlext.SparkLeast, 2, math.MaxInt, sparkExtreme(-1)),
}

// CastTo makes a CAST run on batches where they do it as Spark does. They write a timestamp's text as MySQL does, with six digits.
func (c *scalarCall) CastTo(ctx *sql.Context) (sql.Expression, batch.Type, bool) {
	if c.cast.Kind == batch.Invalid || c.cast.Kind == batch.String && types.IsTime(c.args[0].Type(ctx)) {
		return nil, batch.Type{}, false
	}
	return c.args[0], c.cast, true
}

// newSparkDivide is a / b: of doubles, or by Spark's rules of decimals. By zero it is NULL.
func newSparkDivide(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
	left, leftDecimal := decimalOf(ctx, args[0])
	right, rightDecimal := decimalOf(ctx, args[1])
	_, isLeft := args[0].Type(ctx).(sql.DecimalType)
	_, isRight := args[1].Type(ctx).(sql.DecimalType)
	if !leftDecimal || !rightDecimal || !isLeft && !isRight {
		return scalarBody{typ: types.Float64, eval: divideDoubles}, nil
	}
	scale := max(6, int(left.Scale)+int(right.Precision)+1)
	precision := int(left.Precision) - int(left.Scale) + int(right.Scale) + scale
	if over := precision - mysqltype.MaxDecimalPrecision; over > 0 {
		scale, precision = max(scale-over, min(scale, 6)), mysqltype.MaxDecimalPrecision
	}
	typ, err := types.CreateDecimalType(uint8(precision), uint8(scale))
	return scalarBody{typ: typ, eval: func(ctx *sql.Context, args []any) (any, error) { return divideDecimals(ctx, args, int32(scale)) }}, err
}

// decimalOf is the type of an exact number as a decimal.
func decimalOf(ctx *sql.Context, e sql.Expression) (batch.Type, bool) {
	t, err := mysqltype.ToDelta(e.Type(ctx))
	switch t.Kind {
	case batch.Decimal:
		return t, err == nil
	case batch.Int8:
		return batch.DecimalOf(3, 0), err == nil
	case batch.Int16:
		return batch.DecimalOf(5, 0), err == nil
	case batch.Int32:
		return batch.DecimalOf(10, 0), err == nil
	case batch.Int64:
		return batch.DecimalOf(20, 0), err == nil
	}
	return batch.Type{}, false
}

func divideDoubles(ctx *sql.Context, args []any) (any, error) {
	var values [2]float64
	for i, a := range args {
		v, _, err := types.Float64.Convert(ctx, a)
		if err != nil {
			return nil, err
		}
		values[i] = v.(float64)
	}
	if values[1] == 0 {
		return nil, nil
	}
	return values[0] / values[1], nil
}

func divideDecimals(ctx *sql.Context, args []any, scale int32) (any, error) {
	var values [2]*apd.Decimal
	for i, a := range args {
		v, err := decimalValue(ctx, a)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	if values[1].IsZero() {
		return nil, nil
	}
	out := new(apd.Decimal)
	if _, err := exactContext.Quo(out, values[0], values[1]); err != nil {
		return nil, err
	}
	_, err := exactContext.Quantize(out, out, -scale)
	return out, err
}

// sparkTime is a date or time, or a text of one. false: the text is none.
func sparkTime(v any) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case string:
		us, err := batch.ParseTimestamp([]byte(strings.TrimSpace(v)), time.UTC)
		return time.UnixMicro(us).UTC(), err == nil
	}
	return time.Time{}, false
}

func sparkDateFormat(_ *sql.Context, args []any) (any, error) {
	t, ok := sparkTime(args[0])
	pattern, isText := args[1].(string)
	if !ok || !isText {
		return nil, nil
	}
	parts, err := sqlext.ParseDatePattern(pattern)
	if err != nil {
		return nil, refuse(KindUnsupported, "date_format: %v", err)
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(datePart(t, p))
	}
	return b.String(), nil
}

// datePart is a piece of a date as Java's DateTimeFormatter writes it.
func datePart(t time.Time, p sqlext.DatePart) string {
	padded := func(n int) string { return fmt.Sprintf("%0*d", p.Count, n) }
	name := func(full string) string {
		if p.Count == 4 {
			return full
		}
		return full[:3]
	}
	switch p.Letter {
	case 'y':
		if p.Count == 2 {
			return padded(t.Year() % 100)
		}
		return padded(t.Year())
	case 'M':
		if p.Count > 2 {
			return name(t.Month().String())
		}
		return padded(int(t.Month()))
	case 'd':
		return padded(t.Day())
	case 'D':
		return padded(t.YearDay())
	case 'H':
		return padded(t.Hour())
	case 'h':
		return padded((t.Hour()+11)%12 + 1)
	case 'm':
		return padded(t.Minute())
	case 's':
		return padded(t.Second())
	case 'S':
		return fmt.Sprintf("%09d", t.Nanosecond())[:p.Count]
	case 'E':
		return name(t.Weekday().String())
	case 'a':
		return t.Format("PM")
	case 'Q', 'q':
		return padded((int(t.Month())-1)/3 + 1)
	}
	return p.Text
}

// sparkDateTrunc is date_trunc('unit', time).
func sparkDateTrunc(_ *sql.Context, args []any) (any, error) {
	t, ok := sparkTime(args[1])
	unit, isText := args[0].(string)
	if !ok || !isText {
		return nil, nil
	}
	switch strings.ToUpper(unit) {
	case "MICROSECOND":
		return t, nil
	case "MILLISECOND":
		return t.Truncate(time.Millisecond), nil
	case "SECOND":
		return t.Truncate(time.Second), nil
	case "MINUTE":
		return t.Truncate(time.Minute), nil
	case "HOUR":
		return t.Truncate(time.Hour), nil
	case "DAY", "DD":
		return midnight(t), nil
	}
	day, ok := truncDate(t, unit)
	if !ok {
		return nil, nil
	}
	return day, nil
}

// sparkTrunc is trunc(date, 'unit').
func sparkTrunc(_ *sql.Context, args []any) (any, error) {
	t, ok := sparkTime(args[0])
	unit, isText := args[1].(string)
	if !ok || !isText {
		return nil, nil
	}
	day, ok := truncDate(t, unit)
	if !ok {
		return nil, nil
	}
	return day, nil
}

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// truncDate is the first day of the week, month, quarter or year.
func truncDate(t time.Time, unit string) (time.Time, bool) {
	switch strings.ToUpper(unit) {
	case "WEEK":
		return midnight(t).AddDate(0, 0, -(int(t.Weekday())+6)%7), true
	case "MONTH", "MON", "MM":
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC), true
	case "QUARTER":
		return time.Date(t.Year(), (t.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC), true
	case "YEAR", "YYYY", "YY":
		return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC), true
	}
	return time.Time{}, false
}

func sparkDateAdd(ctx *sql.Context, args []any) (any, error) {
	t, ok := sparkTime(args[0])
	n, _, err := types.Int64.Convert(ctx, args[1])
	if !ok || err != nil {
		return nil, err
	}
	return midnight(t).AddDate(0, 0, int(n.(int64))), nil
}

// sparkAddMonths is the same day of another month, or its last.
func sparkAddMonths(ctx *sql.Context, args []any) (any, error) {
	t, ok := sparkTime(args[0])
	n, _, err := types.Int64.Convert(ctx, args[1])
	if !ok || err != nil {
		return nil, err
	}
	first := time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC).AddDate(0, int(n.(int64)), 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1), nil
}

// newSparkAddTime is t + INTERVAL n unit. A date stays one with units from a day on.
func newSparkAddTime(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
	unit, ok := args[2].(*expression.Literal)
	if !ok {
		return scalarBody{}, refuse(KindInvalid, "INTERVAL wants a unit")
	}
	name, _ := unit.Value().(string)
	typ := types.DatetimeMaxPrecision
	if _, clock := clockUnits[name]; !clock && args[0].Type(ctx).Type() == sqltypes.Date {
		typ = types.Date
	}
	return scalarBody{typ: typ, eval: func(ctx *sql.Context, args []any) (any, error) {
		t, ok := sparkTime(args[0])
		v, _, err := types.Int64.Convert(ctx, args[1])
		if !ok || err != nil {
			return nil, err
		}
		return addTime(ctx, t, v.(int64), name)
	}}, nil
}

// clockUnits are the units shorter than a day.
var clockUnits = map[string]time.Duration{
	"hour": time.Hour, "minute": time.Minute, "second": time.Second, "millisecond": time.Millisecond, "microsecond": time.Microsecond,
}

func addTime(ctx *sql.Context, t time.Time, n int64, unit string) (any, error) {
	switch unit {
	case "week":
		return t.AddDate(0, 0, 7*int(n)), nil
	case "day":
		return t.AddDate(0, 0, int(n)), nil
	case "month", "quarter", "year":
		months := map[string]int64{"month": 1, "quarter": 3, "year": 12}[unit]
		day, err := sparkAddMonths(ctx, []any{t, n * months})
		if err != nil {
			return nil, err
		}
		return day.(time.Time).Add(t.Sub(midnight(t))), nil
	}
	return t.Add(time.Duration(n) * clockUnits[unit]), nil
}

// sparkSubstring counts characters from 1, where 0 is 1 too, or from the end when the position is negative.
func sparkSubstring(ctx *sql.Context, args []any) (any, error) {
	text, _, err := mysqltype.Text.Convert(ctx, args[0])
	if err != nil {
		return nil, err
	}
	runes := []rune(text.(string))
	numbers := []int64{0, math.MaxInt32}
	for i, a := range args[1:] {
		n, _, err := types.Int64.Convert(ctx, a)
		if err != nil {
			return nil, err
		}
		numbers[i] = n.(int64)
	}
	length := int64(len(runes))
	start := numbers[0]
	switch {
	case start > 0:
		start--
	case start < 0:
		start += length
	}
	end := min(start+max(numbers[1], 0), length)
	start = max(start, 0)
	if start >= end {
		return "", nil
	}
	return string(runes[start:end]), nil
}

// sparkExtreme is greatest (sign 1) and least (sign -1), which leave NULLs out.
func sparkExtreme(sign int) func(*sql.Context, []sql.Expression) (scalarBody, error) {
	return func(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
		typ := args[0].Type(ctx)
		for _, a := range args[1:] {
			typ = types.GeneralizeTypes(typ, a.Type(ctx))
		}
		return scalarBody{typ: typ, nulls: true, eval: func(ctx *sql.Context, args []any) (any, error) {
			var best any
			for _, a := range args {
				if a == nil {
					continue
				}
				v, _, err := typ.Convert(ctx, a)
				if err != nil {
					return nil, err
				}
				if best != nil {
					order, err := typ.Compare(ctx, v, best)
					if err != nil {
						return nil, err
					}
					if order*sign <= 0 {
						continue
					}
				}
				best = v
			}
			return best, nil
		}}, nil
	}
}
