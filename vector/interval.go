package vector

import (
	"lakesql/batch"
)

// unit is a unit of intervals: so many months, or so many microseconds.
type unit struct{ months, micros int64 }

var units = map[string]unit{
	"YEAR": {months: 12}, "QUARTER": {months: 3}, "MONTH": {months: 1}, "WEEK": {micros: 7 * microsPerDay}, "DAY": {micros: microsPerDay}, "HOUR": {micros: 3600 * microsPerSecond},
	"MINUTE": {micros: 60 * microsPerSecond}, "SECOND": {micros: microsPerSecond}, "MICROSECOND": {micros: 1},
}

// ofDay says whether the unit leaves the time of the day.
func (u unit) ofDay() bool { return u.months > 0 || u.micros%microsPerDay == 0 }

// Shift is time + INTERVAL n unit, or with back time - INTERVAL n unit, for the arguments time and n; false where the unit is none of one number. A date stays
// one where the unit leaves the time of the day. Of a time outside of the years that MySQL has, which is NULL, overflow is said.
func Shift(name string, back bool, overflow Warning) (*Function, bool) {
	u, ok := units[name]
	if !ok {
		return nil, false
	}
	of := takesTimes(timeType, 2, timeType, longType)
	takes := func(args []Expr) ([]batch.Type, batch.Type, bool) {
		params, result, ok := of(args)
		if ok && u.ofDay() || ok && params[0].Kind != batch.Date {
			result = params[0]
		}
		return params, result, ok
	}
	return &Function{name: "INTERVAL", takes: takes, fails: true, stops: 1, bind: func(f *frame) valueFunc { return u.shift(f, back, overflow) }}, true
}

func (u unit) shift(f *frame, back bool, overflow Warning) valueFunc {
	ns, at := f.args[1].I64, microsOf(f.args[0])
	return func(i int) bool {
		micros, ok := u.move(at(i), ns[i], back)
		switch {
		case !ok:
			f.found.warn(overflow)
		case f.out.Type.Kind == batch.Date:
			f.out.I32[i] = int32(floorDiv(micros, microsPerDay))
		default:
			f.out.I64[i] = micros
		}
		return ok
	}
}

// move is a time moved by n units; false where it is of none of the years 0 to 9999. A day that its month does not have becomes the last one.
func (u unit) move(micros, n int64, back bool) (int64, bool) {
	size := u.micros
	if u.months > 0 {
		size = u.months * 28 * microsPerDay
	}
	if most := (endOfDays - firstDay) * microsPerDay / size; n > most || n < -most {
		return 0, false
	}
	if back {
		n = -n
	}
	if u.months == 0 {
		micros += n * u.micros
	} else {
		days := floorDiv(micros, microsPerDay)
		year, month, day := batch.CivilFromDays(days)
		months := year*12 + int64(month-1) + n*u.months
		year = floorDiv(months, 12)
		month = int(months-year*12) + 1
		micros += (batch.DaysFromCivil(year, month, min(day, batch.DaysIn(year, month))) - days) * microsPerDay
	}
	return micros, firstDay*microsPerDay <= micros && micros < endOfDays*microsPerDay
}

// TimestampDiff is TIMESTAMPDIFF(unit, from, to): the whole units from one time to another. false where there is no such unit.
func TimestampDiff(name string) (*Function, bool) {
	u, ok := units[name]
	return &Function{name: "TIMESTAMPDIFF", takes: takesTimes(longType, 2, timeType, timeType), stops: 1, bind: func(f *frame) valueFunc {
		out, from, to := f.out.I64, microsOf(f.args[0]), microsOf(f.args[1])
		return func(i int) bool {
			if u.months > 0 {
				out[i] = wholeMonths(from(i), to(i)) / u.months
			} else {
				out[i] = (to(i) - from(i)) / u.micros
			}
			return true
		}
	}}, ok
}

// wholeMonths are the months from one time to another that are over.
func wholeMonths(from, to int64) int64 {
	if from > to {
		return -wholeMonths(to, from)
	}
	begin, end := momentOf(from), momentOf(to)
	months := (end.year-begin.year)*12 + int64(end.month-begin.month)
	if begin.day > end.day || begin.day == end.day && from-begin.days*microsPerDay > to-end.days*microsPerDay {
		months--
	}
	return months
}

// extracted are the units of EXTRACT that are put together from several parts, and MICROSECOND.
var extracted = map[string]func(m moment) int64{
	"MICROSECOND":        func(m moment) int64 { return int64(m.micro) },
	"YEAR_MONTH":         func(m moment) int64 { return m.year*100 + int64(m.month) },
	"DAY_HOUR":           func(m moment) int64 { return int64(m.day)*100 + int64(m.hour) },
	"DAY_MINUTE":         func(m moment) int64 { return int64(m.day)*1_00_00 + m.clock()/100 },
	"DAY_SECOND":         func(m moment) int64 { return int64(m.day)*1_00_00_00 + m.clock() },
	"DAY_MICROSECOND":    func(m moment) int64 { return (int64(m.day)*1_00_00_00+m.clock())*1_000_000 + int64(m.micro) },
	"HOUR_MINUTE":        func(m moment) int64 { return m.clock() / 100 },
	"HOUR_SECOND":        func(m moment) int64 { return m.clock() },
	"HOUR_MICROSECOND":   func(m moment) int64 { return m.clock()*1_000_000 + int64(m.micro) },
	"MINUTE_SECOND":      func(m moment) int64 { return m.clock() % 1_00_00 },
	"MINUTE_MICROSECOND": func(m moment) int64 { return m.clock()%1_00_00*1_000_000 + int64(m.micro) },
	"SECOND_MICROSECOND": func(m moment) int64 { return int64(m.second)*1_000_000 + int64(m.micro) },
}

// clock is hhmmss as a number.
func (m *moment) clock() int64 { return int64(m.hour*1_00_00 + m.minute*1_00 + m.second) }

// Extract is EXTRACT(unit FROM time) for a unit of several parts or MICROSECOND; false where it is none.
func Extract(name string) (*Function, bool) {
	part, ok := extracted[name]
	return &Function{name: "EXTRACT", takes: takesTimes(longType, 1, timeType), fails: true, bind: func(f *frame) valueFunc {
		out, at := f.out.I64, microsOf(f.args[0])
		return func(i int) bool {
			micros := at(i)
			if micros == zeroDay*microsPerDay {
				return f.noDay()
			}
			out[i] = part(momentOf(micros))
			return true
		}
	}}, ok
}
