package batch

import (
	"math"
	"strconv"
	"time"
)

// Microseconds in larger units of time.
const (
	MicrosPerSecond = 1_000_000
	MicrosPerDay    = 86_400 * MicrosPerSecond
)

// maxYearDigits bounds the digits of a year, as Spark does.
const maxYearDigits = 7

// DaysFromCivil returns the days since 1970-01-01 of a date of the proleptic Gregorian calendar, in which a year 0 precedes year 1.
// The month is 1 to 12; the day may be any number.
func DaysFromCivil(year int64, month, day int) int64 {
	if month <= 2 { // years are counted from March, so that the leap day is the last
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	yearOfEra := year - era*400
	dayOfYear := int64((153*(month-3)+2)/5 + day - 1)
	return era*daysPerEra + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - daysToEpoch
}

const (
	daysPerEra  = 146_097 // of 400 years
	daysToEpoch = 719_468 // from 0000-03-01 to 1970-01-01
)

// CivilFromDays is the inverse of DaysFromCivil.
func CivilFromDays(days int64) (year int64, month, day int) {
	days += daysToEpoch
	era := floorDiv(days, daysPerEra)
	dayOfEra := days - era*daysPerEra
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := int(dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100))
	shifted := (5*dayOfYear + 2) / 153
	year, month, day = era*400+yearOfEra, shifted+3, dayOfYear-(153*shifted+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

// DaysIn returns the number of days of a month.
func DaysIn(year int64, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// ParseDate reads [+-]yyyy-[m]m-[d]d with 4 to 7 digits of year, proleptic Gregorian.
func ParseDate(text []byte) (int32, error) {
	p := textParser{text: text}
	days, err := p.date()
	if err == nil && p.pos != len(text) {
		err = ErrSyntax
	}
	if err != nil {
		return 0, parseError(text, "date", err)
	}
	return int32(days), nil
}

// ParseTimestamp reads a date as ParseDate does, alone or followed by a blank or T and hh:mm[:ss[.digits]], and then perhaps a zone: Z, UTC,
// GMT, +hh, +hh:mm or +hhmm. It returns microseconds since 1970-01-01T00:00:00Z; digits beyond the sixth are cut off, as Spark does.
// A text without a zone is wall clock time in loc (nil: UTC), where a time that a clock change skips moves on by the gap and one that
// comes twice is the earlier. For a TimestampNTZ, pass nil and refuse zones with ParseTimestampNTZ.
func ParseTimestamp(text []byte, loc *time.Location) (int64, error) {
	us, err := parseTimestamp(text, loc, true)
	if err != nil {
		return 0, parseError(text, "timestamp", err)
	}
	return us, nil
}

// ParseTimestampNTZ reads what ParseTimestamp reads, but without a zone.
func ParseTimestampNTZ(text []byte) (int64, error) {
	us, err := parseTimestamp(text, nil, false)
	if err != nil {
		return 0, parseError(text, "timestamp_ntz", err)
	}
	return us, nil
}

func parseTimestamp(text []byte, loc *time.Location, zones bool) (int64, error) {
	p := textParser{text: text}
	days, err := p.date()
	if err != nil {
		return 0, err
	}
	var micros int64
	offset, zoned := int64(0), false
	if p.skipAny(" Tt") {
		if micros, err = p.clock(); err != nil {
			return 0, err
		}
		if p.pos < len(text) && zones {
			p.skipAny(" ")
			if offset, err = p.zone(); err != nil {
				return 0, err
			}
			zoned = true
		}
	}
	if p.pos != len(text) {
		return 0, ErrSyntax
	}
	seconds := days*86_400 + micros/MicrosPerSecond - offset
	if !zoned && loc != nil && loc != time.UTC {
		seconds = fromWallClock(seconds, loc)
	}
	if limit := int64(math.MaxInt64/MicrosPerSecond) - 1; seconds > limit || seconds < -limit {
		return 0, ErrOutOfRange
	}
	return seconds*MicrosPerSecond + micros%MicrosPerSecond, nil
}

// fromWallClock turns seconds of a wall clock into those of UTC by java.time's rules for gaps and overlaps.
func fromWallClock(wall int64, loc *time.Location) int64 {
	offsetAt := func(unix int64) int64 {
		_, off := time.Unix(unix, 0).In(loc).Zone()
		return int64(off)
	}
	before, after := offsetAt(wall-86_400), offsetAt(wall+86_400)
	if offsetAt(wall-before) != before && offsetAt(wall-after) == after {
		return wall - after
	}
	return wall - before
}

// AppendDate appends a date as yyyy-MM-dd; years beyond 9999 have a plus sign, negative ones a minus, as java.time writes them.
func AppendDate(dst []byte, days int32) []byte { return appendDate(dst, int64(days)) }

func appendDate(dst []byte, days int64) []byte {
	year, month, day := CivilFromDays(days)
	switch {
	case year > 9999:
		dst = append(dst, '+')
	case year < 0:
		dst, year = append(dst, '-'), -year
	}
	if year < 1000 {
		dst = append(dst, "000"[:4-len(strconv.Itoa(int(year)))]...)
	}
	dst = strconv.AppendInt(dst, year, 10)
	dst = appendTwo(append(dst, '-'), month)
	return appendTwo(append(dst, '-'), day)
}

// AppendTimestamp appends microseconds since 1970-01-01T00:00:00 as yyyy-MM-dd HH:mm:ss, with six digits behind a point unless they are all zero.
func AppendTimestamp(dst []byte, us int64) []byte {
	days := floorDiv(us, MicrosPerDay)
	rest := us - days*MicrosPerDay
	seconds, micros := int(rest/MicrosPerSecond), int(rest%MicrosPerSecond)
	dst = appendTwo(append(appendDate(dst, days), ' '), seconds/3600)
	dst = appendTwo(append(dst, ':'), seconds/60%60)
	dst = appendTwo(append(dst, ':'), seconds%60)
	if micros == 0 {
		return dst
	}
	dst = appendTwo(append(dst, '.'), micros/10_000)
	return appendTwo(appendTwo(dst, micros/100%100), micros%100)
}

func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// textParser reads the parts of a date or timestamp from left to right.
type textParser struct {
	text []byte
	pos  int
}

// number reads low to high digits.
func (p *textParser) number(low, high int) (int, bool) {
	n, start := 0, p.pos
	for p.pos < len(p.text) && p.pos-start < high && p.text[p.pos]-'0' <= 9 {
		n = n*10 + int(p.text[p.pos]-'0')
		p.pos++
	}
	return n, p.pos-start >= low
}

// skipAny skips one byte if it is one of set.
func (p *textParser) skipAny(set string) bool {
	if p.pos < len(p.text) {
		for i := range len(set) {
			if p.text[p.pos] == set[i] {
				p.pos++
				return true
			}
		}
	}
	return false
}

// date reads a date and returns its days since 1970-01-01.
func (p *textParser) date() (int64, error) {
	negative := p.skipAny("-")
	if !negative {
		p.skipAny("+")
	}
	y, ok1 := p.number(4, maxYearDigits)
	dash1 := p.skipAny("-")
	month, ok2 := p.number(1, 2)
	dash2 := p.skipAny("-")
	day, ok3 := p.number(1, 2)
	if !ok1 || !ok2 || !ok3 || !dash1 || !dash2 {
		return 0, ErrSyntax
	}
	year := int64(y)
	if negative {
		year = -year
	}
	if month < 1 || month > 12 || day < 1 || day > DaysIn(year, month) {
		return 0, ErrOutOfRange
	}
	days := DaysFromCivil(year, month, day)
	if days != int64(int32(days)) {
		return 0, ErrOutOfRange
	}
	return days, nil
}

// clock reads hh:mm[:ss[.digits]] and returns microseconds since midnight.
func (p *textParser) clock() (int64, error) {
	hour, ok1 := p.number(1, 2)
	colon := p.skipAny(":")
	minute, ok2 := p.number(1, 2)
	if !ok1 || !ok2 || !colon {
		return 0, ErrSyntax
	}
	second, micros := 0, 0
	if p.skipAny(":") {
		var ok bool
		if second, ok = p.number(1, 2); !ok {
			return 0, ErrSyntax
		}
		if p.skipAny(".") {
			if micros, ok = p.fraction(); !ok {
				return 0, ErrSyntax
			}
		}
	}
	if hour > 23 || minute > 59 || second > 59 {
		return 0, ErrOutOfRange
	}
	return int64(hour*3600+minute*60+second)*MicrosPerSecond + int64(micros), nil
}

// fraction reads digits behind the point as microseconds.
func (p *textParser) fraction() (int, bool) {
	start := p.pos
	micros, ok := p.number(1, 6)
	for i := p.pos - start; i < 6; i++ {
		micros *= 10
	}
	for p.pos < len(p.text) && p.text[p.pos]-'0' <= 9 {
		p.pos++
	}
	return micros, ok
}

// maxZoneHours is the largest offset from UTC that java.time knows.
const maxZoneHours = 18

// zone reads a zone and returns its offset east of UTC in seconds.
func (p *textParser) zone() (int64, error) {
	switch rest := string(p.text[p.pos:]); rest {
	case "Z", "z", "UTC", "GMT":
		p.pos = len(p.text)
		return 0, nil
	}
	negative := p.skipAny("-")
	if !negative && !p.skipAny("+") {
		return 0, ErrSyntax
	}
	hours, ok := p.number(1, 2)
	minutes := 0
	if ok && p.pos < len(p.text) {
		p.skipAny(":")
		minutes, ok = p.number(2, 2)
	}
	if !ok {
		return 0, ErrSyntax
	}
	offset := int64(hours*3600 + minutes*60)
	if minutes > 59 || offset > maxZoneHours*3600 {
		return 0, ErrOutOfRange
	}
	if negative {
		offset = -offset
	}
	return offset, nil
}
