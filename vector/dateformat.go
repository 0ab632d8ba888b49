package vector

import (
	"strconv"
	"time"

	"lakesql/batch"
)

// moment is a time in its parts.
type moment struct {
	days                 int64 // since 1970-01-01
	year                 int64
	month, day           int
	hour, minute, second int
	micro                int
}

func momentOf(micros int64) moment {
	days := floorDiv(micros, microsPerDay)
	rest := micros - days*microsPerDay
	seconds := int(rest / microsPerSecond)
	m := moment{days: days, hour: seconds / 3600, minute: seconds / 60 % 60, second: seconds % 60, micro: int(rest % microsPerSecond)}
	m.year, m.month, m.day = batch.CivilFromDays(days)
	return m
}

func dateFormat(f *frame) valueFunc {
	at, formats := microsOf(f.args[0]), f.args[1]
	return func(i int) bool {
		m := momentOf(at(i))
		f.out.Bytes = m.appendFormat(f.out.Bytes, formats.BytesAt(i))
		return true
	}
}

// appendFormat writes the time as a format of DATE_FORMAT says; a letter that means nothing stands for itself.
func (m *moment) appendFormat(dst, format []byte) []byte {
	for at := 0; at < len(format); at++ {
		if format[at] != '%' || at+1 == len(format) {
			dst = append(dst, format[at])
			continue
		}
		at++
		dst = m.appendPart(dst, format[at])
	}
	return dst
}

func (m *moment) appendPart(dst []byte, letter byte) []byte {
	switch letter {
	case 'Y':
		return appendDigits(dst, m.year, 4)
	case 'y':
		return appendDigits(dst, m.year%100, 2)
	case 'm':
		return appendDigits(dst, int64(m.month), 2)
	case 'c':
		return appendDigits(dst, int64(m.month), 1)
	case 'M':
		return append(dst, time.Month(m.month).String()...)
	case 'b':
		return append(dst, time.Month(m.month).String()[:3]...)
	case 'd':
		return appendDigits(dst, int64(m.day), 2)
	case 'e':
		return appendDigits(dst, int64(m.day), 1)
	case 'D':
		return append(appendDigits(dst, int64(m.day), 1), ordinalEnd(m.day)...)
	case 'j':
		return appendDigits(dst, m.days-batch.DaysFromCivil(m.year, 1, 1)+1, 3)
	case 'W':
		return append(dst, time.Weekday(weekday(m.days, true)).String()...)
	case 'a':
		return append(dst, time.Weekday(weekday(m.days, true)).String()[:3]...)
	case 'w':
		return appendDigits(dst, weekday(m.days, true), 1)
	case 'U', 'u', 'V', 'v', 'X', 'x':
		return m.appendWeek(dst, letter)
	}
	return m.appendClock(dst, letter)
}

// appendWeek writes the week, or the year that it is of.
func (m *moment) appendWeek(dst []byte, letter byte) []byte {
	mode := map[byte]int64{'U': 0, 'u': 1, 'V': 2, 'v': 3, 'X': 2, 'x': 3}[letter]
	year, week := weekOf(m.days, mode)
	if letter == 'X' || letter == 'x' {
		return appendDigits(dst, year, 4)
	}
	return appendDigits(dst, week, 2)
}

func (m *moment) appendClock(dst []byte, letter byte) []byte {
	half := (m.hour+11)%12 + 1
	switch letter {
	case 'H':
		return appendDigits(dst, int64(m.hour), 2)
	case 'k':
		return appendDigits(dst, int64(m.hour), 1)
	case 'h', 'I':
		return appendDigits(dst, int64(half), 2)
	case 'l':
		return appendDigits(dst, int64(half), 1)
	case 'i':
		return appendDigits(dst, int64(m.minute), 2)
	case 'S', 's':
		return appendDigits(dst, int64(m.second), 2)
	case 'f':
		return appendDigits(dst, int64(m.micro), 6)
	case 'p':
		return append(dst, [...]string{"AM", "PM"}[m.hour/12]...)
	case 'T':
		return m.appendFormat(dst, []byte("%H:%i:%S"))
	case 'r':
		return m.appendFormat(dst, []byte("%I:%i:%S %p"))
	}
	return append(dst, letter)
}

// appendDigits writes a number with so many digits or more.
func appendDigits(dst []byte, n int64, digits int) []byte {
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	for limit := int64(10); digits > 1; digits, limit = digits-1, limit*10 {
		if n < limit {
			dst = append(dst, "00000"[:digits-1]...)
			break
		}
	}
	return strconv.AppendInt(dst, n, 10)
}

// ordinalEnd is the end of 1st, 2nd, 3rd, 4th.
func ordinalEnd(n int) string {
	if n/10 == 1 {
		return "th"
	}
	switch n % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	}
	return "th"
}
