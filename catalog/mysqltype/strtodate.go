package mysqltype

import (
	"strconv"
	"strings"
	"time"

	"lakesql/batch"
)

// DateFormatted is what STR_TO_DATE finds in a text by a format; exact is false where something is left of the text, ok where the text has not the format. A format that goes on where the
// text ends is as good as one that ends there. Parts that the format does not have are 0.
func DateFormatted(text, format string) (c Civil, exact, ok bool) {
	p := formatScanner{text: text, week: -1, weekYear: -1}
	if !p.scan(format) || !p.finish() {
		return c, false, false
	}
	c = Civil{Year: p.year, Month: p.month, Day: p.day}
	c.Clock = int64((p.hour*60+p.minute)*60+p.second)*batch.MicrosPerSecond + int64(p.micros)
	return c, strings.TrimSpace(p.text) == "", true
}

// FormatParts tells whether a format has a date, a time, and parts of a second.
func FormatParts(format string) (date, clock, fraction bool) {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		date = date || strings.IndexByte("abcdDejmMUuvVwWXxyY", format[i]) >= 0
		clock = clock || strings.IndexByte("HhIiklprsSTf", format[i]) >= 0
		fraction = fraction || format[i] == 'f'
	}
	return date, clock, fraction
}

// formatScanner reads a text by a format.
type formatScanner struct {
	text string // what is left

	year, month, day, hour, minute, second, micros int

	halves             bool // hours of 1 to 12
	afternoon          bool
	weekday, yearday   int // from 1; 0: none
	week, weekYear     int // less than 0: none
	fromSunday, strict bool
	yearFromSunday     bool
}

// scan reads as long as there are both.
func (p *formatScanner) scan(format string) bool {
	for i := 0; i < len(format) && p.text != ""; i++ {
		p.text = strings.TrimLeft(p.text, " \t\n\v\f\r")
		switch {
		case p.text == "":
		case format[i] == '%' && i+1 < len(format):
			if i++; !p.part(format[i]) {
				return false
			}
		case strings.IndexByte(" \t\n\v\f\r", format[i]) >= 0:
		case p.text[0] != format[i]:
			return false
		default:
			p.text = p.text[1:]
		}
	}
	return true
}

// part reads what a letter of the format stands for.
func (p *formatScanner) part(letter byte) bool {
	switch letter {
	case 'Y', 'y':
		width := map[byte]int{'Y': 4, 'y': 2}[letter]
		before := len(p.text)
		ok := p.number(&p.year, width)
		if before-len(p.text) <= 2 {
			p.year = ofCentury(p.year)
		}
		return ok
	case 'm', 'c':
		return p.number(&p.month, 2)
	case 'M':
		return p.name(&p.month, 12, func(i int) string { return time.Month(i).String() })
	case 'b':
		return p.name(&p.month, 12, func(i int) string { return time.Month(i).String()[:3] })
	case 'd', 'e':
		return p.number(&p.day, 2)
	case 'D':
		ok := p.number(&p.day, 2)
		p.text = p.text[min(2, len(p.text)):]
		return ok
	case 'h', 'I', 'l':
		p.halves = true
		return p.number(&p.hour, 2)
	case 'k', 'H':
		return p.number(&p.hour, 2)
	case 'i':
		return p.number(&p.minute, 2)
	case 's', 'S':
		return p.number(&p.second, 2)
	case 'f':
		return p.fraction()
	case 'p':
		return p.half()
	case 'W':
		return p.name(&p.weekday, 7, func(i int) string { return time.Weekday(i % 7).String() })
	case 'a':
		return p.name(&p.weekday, 7, func(i int) string { return time.Weekday(i % 7).String()[:3] })
	case 'w':
		ok := p.number(&p.weekday, 1) && p.weekday < 7
		if p.weekday == 0 {
			p.weekday = 7
		}
		return ok
	case 'j':
		return p.number(&p.yearday, 3)
	case 'V', 'U', 'v', 'u':
		p.fromSunday, p.strict = letter == 'V' || letter == 'U', letter == 'V' || letter == 'v'
		return p.number(&p.week, 2) && p.week <= 53 && (p.week > 0 || !p.strict)
	case 'X', 'x':
		p.yearFromSunday = letter == 'X'
		return p.number(&p.weekYear, 4)
	case 'r':
		return p.scan("%I:%i:%S %p")
	case 'T':
		return p.scan("%H:%i:%S")
	case '.':
		p.text = strings.TrimLeftFunc(p.text, func(r rune) bool { return r < 0x80 && isPunctuation(byte(r)) })
	case '@':
		p.text = strings.TrimLeftFunc(p.text, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' })
	case '#':
		p.text = strings.TrimLeft(p.text, decimalDigits)
	default:
		return false
	}
	return true
}

// number reads up to so many digits, and one at least.
func (p *formatScanner) number(into *int, width int) bool {
	n := leading(p.text, decimalDigits, width)
	v, err := strconv.Atoi(p.text[:n])
	*into, p.text = v, p.text[n:]
	return err == nil
}

func (p *formatScanner) fraction() bool {
	n := leading(p.text, decimalDigits, 6)
	v, err := strconv.Atoi((p.text[:n] + "000000")[:6])
	p.micros, p.text = v, p.text[n:]
	return err == nil && n > 0
}

// half reads AM or PM.
func (p *formatScanner) half() bool {
	if len(p.text) < 2 || !p.halves {
		return false
	}
	word := strings.ToUpper(p.text[:2])
	p.afternoon, p.text = word == "PM", p.text[2:]
	return word == "AM" || word == "PM"
}

// name reads one of the names of 1 to n.
func (p *formatScanner) name(into *int, n int, of func(int) string) bool {
	for i := 1; i <= n; i++ {
		if name := of(i); len(p.text) >= len(name) && strings.EqualFold(p.text[:len(name)], name) {
			*into, p.text = i, p.text[len(name):]
			return true
		}
	}
	return false
}

// ofCentury is a year of two digits as one of 1970 to 2069.
func ofCentury(year int) int {
	if year < 70 {
		return year + 2000
	}
	return year + 1900
}

// finish is false where the parts are no date and time. A day of a year or of a week names month and day.
func (p *formatScanner) finish() bool {
	if p.halves {
		if p.hour < 1 || p.hour > 12 {
			return false
		}
		if p.hour %= 12; p.afternoon {
			p.hour += 12
		}
	}
	if p.yearday > 0 {
		p.set(time.Date(p.year, 1, p.yearday, 0, 0, 0, 0, time.UTC))
	}
	if p.week >= 0 && p.weekday > 0 && !p.setWeek() {
		return false
	}
	return p.year <= 9999 && p.month <= 12 && p.day <= 31 && p.hour <= 23 && p.minute <= 59 && p.second <= 59
}

func (p *formatScanner) set(at time.Time) {
	p.year, p.month, p.day = at.Year(), int(at.Month()), at.Day()
}

// setWeek takes the date off a week and its day.
func (p *formatScanner) setWeek() bool {
	if p.strict != (p.weekYear >= 0) || p.strict && p.yearFromSunday != p.fromSunday {
		return false
	}
	year := p.year
	if p.strict {
		year = p.weekYear
	}
	first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	var days int
	if p.fromSunday {
		begin := int(first.Weekday())
		days = (p.week-1)*7 + p.weekday%7 - begin
		if begin != 0 {
			days += 7
		}
	} else {
		begin := (int(first.Weekday()) + 6) % 7
		days = (p.week-1)*7 + p.weekday - 1 - begin
		if begin > 3 {
			days += 7
		}
	}
	p.set(first.AddDate(0, 0, days))
	return true
}
