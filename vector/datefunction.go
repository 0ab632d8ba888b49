package vector

import (
	"time"

	"lakesql/batch"
)

var dateType = batch.Type{Kind: batch.Date}

// takesTimes are a date or timestamp, then parameters of fixed types; from the least-th on they may be left out. A timeType among those is a date or
// timestamp too.
func takesTimes(result batch.Type, least int, params ...batch.Type) func([]Expr) ([]batch.Type, batch.Type, bool) {
	return func(args []Expr) ([]batch.Type, batch.Type, bool) {
		if len(args) < least || len(args) > len(params) {
			return nil, result, false
		}
		out := make([]batch.Type, len(args))
		for i, a := range args {
			if out[i] = params[i]; params[i] != timeType {
				continue
			}
			if out[i] = a.Type(); out[i].Kind != batch.Date && !isTimestamp(out[i].Kind) {
				return nil, result, false
			}
		}
		return out, result, true
	}
}

var (
	timeType = batch.Type{Kind: batch.Timestamp}
	intType  = batch.Type{Kind: batch.Int32}
)

// The functions of dates and of times in UTC.
var (
	Microsecond = &Function{name: "MICROSECOND", takes: takesTimes(intType, 1, timeType), bind: microsecond}
	DayOfWeek   = &Function{name: "DAYOFWEEK", takes: takesTimes(intType, 1, timeType), fails: true, bind: ofDays(func(days int64) int32 { return int32(weekday(days, true)) + 1 })}
	Weekday     = &Function{name: "WEEKDAY", takes: takesTimes(intType, 1, timeType), fails: true, bind: ofDays(func(days int64) int32 { return int32(weekday(days, false)) })}
	DayOfYear   = &Function{name: "DAYOFYEAR", takes: takesTimes(intType, 1, timeType), fails: true, bind: ofDays(dayOfYear)}
	WeekOfYear  = &Function{name: "WEEKOFYEAR", takes: takesTimes(intType, 1, timeType), fails: true, bind: ofDays(func(days int64) int32 {
		_, week := weekOf(days, 3)
		return int32(week)
	})}
	// Week is WEEK(time [, mode]), YearWeek YEARWEEK(time [, mode]); the mode is 0 to 7, and NULL is 0.
	Week     = &Function{name: "WEEK", takes: takesTimes(intType, 1, timeType, longType), nulls: true, fails: true, bind: week(false)}
	YearWeek = &Function{name: "YEARWEEK", takes: takesTimes(intType, 1, timeType, longType), nulls: true, fails: true, bind: week(true)}
	// ToDays counts days from the year 0.
	ToDays    = &Function{name: "TO_DAYS", takes: takesTimes(longType, 1, timeType), fails: true, bind: toDays}
	LastDay   = &Function{name: "LAST_DAY", takes: takesTimes(dateType, 1, timeType), fails: true, bind: lastDay}
	DayName   = &Function{name: "DAYNAME", takes: takesTimes(textType, 1, timeType), fails: true, bind: name(func(days int64) string { return time.Weekday(weekday(days, true)).String() })}
	MonthName = &Function{name: "MONTHNAME", takes: takesTimes(textType, 1, timeType), fails: true, bind: name(func(days int64) string {
		_, month, _ := batch.CivilFromDays(days)
		return time.Month(month).String()
	})}
	// DateDiff is the days from its second argument to its first.
	DateDiff = &Function{name: "DATEDIFF", takes: takesTimes(longType, 2, timeType, timeType), bind: dateDiff}
	// MakeDate is MAKEDATE(year, day of the year): NULL outside of the years to 9999. A year of two digits is one of 1970 to 2069.
	MakeDate = &Function{name: "MAKEDATE", takes: takes(dateType, 2, longType, longType), bind: makeDate}
	// DateFormat is DATE_FORMAT(time, format).
	DateFormat = &Function{name: "DATE_FORMAT", takes: takesTimes(textType, 2, timeType, textType), bind: dateFormat}
)

// zeroDate is what MySQL says of 0000-00-00 where there must be a day.
var zeroDate = Warning{Code: 1292, Message: "Incorrect datetime value: '0000-00-00'"}

// daysOf are the days since 1970-01-01 of a vector of dates or timestamps.
func daysOf(v *batch.Vector) func(i int) int64 {
	if v.Type.Kind == batch.Date {
		values := v.I32
		return func(i int) int64 { return int64(values[i]) }
	}
	values := v.I64
	return func(i int) int64 { return floorDiv(values[i], microsPerDay) }
}

// microsOf are the microseconds since 1970-01-01.
func microsOf(v *batch.Vector) func(i int) int64 {
	if v.Type.Kind == batch.Date {
		values := v.I32
		return func(i int) int64 { return int64(values[i]) * microsPerDay }
	}
	values := v.I64
	return func(i int) int64 { return values[i] }
}

func microsecond(f *frame) valueFunc {
	out, at := f.out.I32, microsOf(f.args[0])
	return func(i int) bool {
		micros := at(i)
		out[i] = int32(micros - floorDiv(micros, microsPerSecond)*microsPerSecond)
		return true
	}
}

// ofDays is a part of a day; rows of one day often come together.
func ofDays(part func(days int64) int32) func(*frame) valueFunc {
	return func(f *frame) valueFunc {
		out, days := f.out.I32, daysOf(f.args[0])
		last, value := zeroDay, int32(0)
		return func(i int) bool {
			if d := days(i); d != last {
				last, value = d, part(d)
			}
			out[i] = value
			return last != zeroDay || f.noDay()
		}
	}
}

// noDay warns of 0000-00-00, which has no value.
func (f *frame) noDay() bool {
	f.found.warn(zeroDate)
	return false
}

// weekday counts from Monday, or from Sunday.
func weekday(days int64, fromSunday bool) int64 {
	days += 3
	if fromSunday {
		days++
	}
	return days - floorDiv(days, 7)*7
}

func dayOfYear(days int64) int32 {
	year, _, _ := batch.CivilFromDays(days)
	return int32(days-batch.DaysFromCivil(year, 1, 1)) + 1
}

// The bits of a mode of WEEK, of which MySQL turns the last where weeks begin on Sunday.
const (
	weekFromMonday = 1 << iota
	weekOfYear     // weeks are 1 to 53, of the year before or the next one too
	weekFirstDay   // the first week is that of the first Sunday or Monday, else the one with four days
)

// weekOf is the week of a day by MySQL's rules, and the year that it is of.
func weekOf(days, mode int64) (year, week int64) {
	fromMonday, ofYear, firstDay := mode&weekFromMonday != 0, mode&weekOfYear != 0, mode&weekFirstDay != 0
	firstDay = firstDay == fromMonday
	late := func(weekday int64) bool { return firstDay && weekday != 0 || !firstDay && weekday >= 4 }
	year, month, day := batch.CivilFromDays(days)
	first := batch.DaysFromCivil(year, 1, 1)
	at := weekday(first, !fromMonday)
	if month == 1 && int64(day) <= 7-at {
		if !ofYear && late(at) {
			return year, 0
		}
		ofYear = true
		year--
		n := daysInYear(year)
		first -= n
		at = (at + 53*7 - n) % 7
	}
	n := days - first + at
	if late(at) {
		n -= 7
	}
	if ofYear && n >= 52*7 && !late((at+daysInYear(year))%7) {
		return year + 1, 1
	}
	return year, n/7 + 1
}

// daysInYear is MySQL's: the year 0 has no leap day.
func daysInYear(year int64) int64 {
	if year != 0 && batch.DaysIn(year, 2) == 29 {
		return 366
	}
	return 365
}

func week(withYear bool) func(*frame) valueFunc {
	return func(f *frame) valueFunc {
		out, days := f.out.I32, daysOf(f.args[0])
		var modes []int64
		if len(f.args) > 1 {
			modes = f.args[1].I64
		}
		return func(i int) bool {
			if f.args[0].IsNull(i) {
				return false
			}
			mode, day := int64(0), days(i)
			if modes != nil && !f.args[1].IsNull(i) {
				mode = modes[i]
			}
			if day == zeroDay {
				return f.noDay()
			}
			if withYear {
				year, week := weekOf(day, mode|weekOfYear)
				out[i] = int32(year*100 + week)
			} else {
				_, week := weekOf(day, mode)
				out[i] = int32(week)
			}
			return true
		}
	}
}

var (
	// yearZero is 0000-01-00, from which TO_DAYS counts; it counts 365 days for the year 0.
	yearZero = batch.DaysFromCivil(1, 1, 1) - 366
	// marchZero is 0000-03-01: the day before it, which other calendars have, is not counted.
	marchZero = batch.DaysFromCivil(0, 3, 1)
)

func toDays(f *frame) valueFunc {
	out, days := f.out.I64, daysOf(f.args[0])
	return func(i int) bool {
		day := days(i)
		if day == zeroDay {
			return f.noDay()
		}
		if out[i] = day - yearZero; day < marchZero {
			out[i]++
		}
		return true
	}
}

func lastDay(f *frame) valueFunc {
	out, days := f.out.I32, daysOf(f.args[0])
	return func(i int) bool {
		day := days(i)
		if day == zeroDay {
			return f.noDay()
		}
		year, month, _ := batch.CivilFromDays(day)
		out[i] = int32(batch.DaysFromCivil(year, month, batch.DaysIn(year, month)))
		return true
	}
}

func name(of func(days int64) string) func(*frame) valueFunc {
	return func(f *frame) valueFunc {
		days := daysOf(f.args[0])
		return func(i int) bool {
			day := days(i)
			if day == zeroDay {
				return f.noDay()
			}
			f.out.Bytes = append(f.out.Bytes, of(day)...)
			return true
		}
	}
}

func dateDiff(f *frame) valueFunc {
	out, l, r := f.out.I64, daysOf(f.args[0]), daysOf(f.args[1])
	return func(i int) bool {
		out[i] = l(i) - r(i)
		return true
	}
}

// endOfDays is the first day behind the years that MySQL has, firstDay the first of them.
var firstDay, endOfDays = batch.DaysFromCivil(0, 1, 1), batch.DaysFromCivil(10_000, 1, 1)

func makeDate(f *frame) valueFunc {
	out, years, days := f.out.I32, f.args[0].I64, f.args[1].I64
	return func(i int) bool {
		year, day := years[i], days[i]
		switch {
		case day < 1 || year < 0 || year > 9999 || day > endOfDays-firstDay:
			return false
		case year < 70:
			year += 2000
		case year < 100:
			year += 1900
		}
		at := batch.DaysFromCivil(year, 1, 1) + day - 1
		out[i] = int32(at)
		return at < endOfDays
	}
}
