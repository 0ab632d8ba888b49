package mysqltype

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
)

// How MySQL lets the literals of dates and times be written: with any punctuation between the numbers of a day, or with none.
const (
	day    = `^\s*(?P<year>\d{1,4})[[:punct:]](?P<month>\d{1,2})[[:punct:]](?P<day>\d{1,2})`
	digits = `^\s*(?P<year>\d{4}|\d\d)(?P<month>\d\d)(?P<day>\d\d)`
	point  = `(?:\.(?P<fraction>\d*))?`
	zone   = `(?P<zone>[+-]\d\d:\d\d)?\s*$`
)

var (
	dateForms      = forms(day+`\s*$`, digits+`\s*$`)
	timestampForms = forms(
		day+`(?:T|\s+)(?P<hour>\d{1,2})(?:[[:punct:]](?P<minute>\d{1,2})(?:[[:punct:]](?P<second>\d{1,2})`+point+`)?)?`+zone,
		digits+`T?(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)`+point+zone,
	)
)

func forms(texts ...string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(texts))
	for i, t := range texts {
		out[i] = regexp.MustCompile(t)
	}
	return out
}

// DateLiteral is the day of DATE 'text'; false: MySQL does not take it for one.
func DateLiteral(text string) (time.Time, bool) {
	p := literalParts(dateForms, text)
	if p == nil {
		return time.Time{}, false
	}
	return p.date()
}

// TimestampLiteral is the moment of TIMESTAMP 'text', how many digits it has behind the point, and the time zone at its end, which may be "".
func TimestampLiteral(text string) (at time.Time, digits int, zone string, ok bool) {
	p := literalParts(timestampForms, text)
	if p == nil {
		return time.Time{}, 0, "", false
	}
	day, ok := p.date()
	micros, digits, valid := p.clock()
	return day.Add(time.Duration(micros) * time.Microsecond), digits, p["zone"], ok && valid
}

// parts are the numbers of a literal, by name.
type parts map[string]string

// literalParts is nil where a text has none of the forms.
func literalParts(forms []*regexp.Regexp, text string) parts {
	for _, form := range forms {
		found := form.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		out := make(parts)
		for i, name := range form.SubexpNames() {
			if name != "" {
				out[name] = found[i]
			}
		}
		return out
	}
	return nil
}

// number is 0 for what is not there.
func (p parts) number(name string) int {
	n, _ := strconv.Atoi(p[name])
	return n
}

// date is the day; a year of two digits is one from 1970 on.
func (p parts) date() (time.Time, bool) {
	year, month, day := p.number("year"), p.number("month"), p.number("day")
	if len(p["year"]) == 2 {
		year += 1900
		if year < 1970 {
			year += 100
		}
	}
	if month < 1 || month > 12 || day < 1 || day > batch.DaysIn(int64(year), month) {
		return time.Time{}, false
	}
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC), true
}

// clock is the time of day in microseconds, rounded, and how many digits of a second were written, of which six count.
func (p parts) clock() (micros int64, digits int, ok bool) {
	hour, minute, second := p.number("hour"), p.number("minute"), p.number("second")
	fraction := (p["fraction"] + strings.Repeat("0", types.MaxDatetimePrecision+1))[:types.MaxDatetimePrecision+1]
	n, _ := strconv.ParseInt(fraction, 10, 64)
	micros = int64(hour*3600+minute*60+second)*1e6 + (n+5)/10
	return micros, min(len(p["fraction"]), types.MaxDatetimePrecision), hour <= 23 && minute <= 59 && second <= 59
}
