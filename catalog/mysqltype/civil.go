package mysqltype

import (
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
)

// Civil is a date with the time of its day as MySQL reads it off a text or number: the month or day may be 0. Of a TIME the date is 0, and the time of any sign and size.
type Civil struct {
	Year, Month, Day int
	Clock            int64 // microseconds
}

// CivilOf is a moment.
func CivilOf(at time.Time) Civil {
	midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	return Civil{at.Year(), int(at.Month()), at.Day(), at.UTC().Sub(midnight).Microseconds()}
}

// Whole tells whether it names a day.
func (c Civil) Whole() bool { return c.Month > 0 && c.Day > 0 }

// Time is the moment; of a date that is not whole it is none.
func (c Civil) Time() time.Time {
	return time.Date(c.Year, time.Month(c.Month), c.Day, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.Clock) * time.Microsecond)
}

// LongestTime is the greatest TIME, 838:59:59, in microseconds.
const LongestTime = (838*3600 + 59*60 + 59) * batch.MicrosPerSecond

// DateText is what a text is that is read as a date. Month and day may be 0, but not all of the date.
type DateText struct {
	Civil
	HasTime bool
	Exact   bool   // nothing stands behind it
	Zone    string // "+hh:mm" behind the time, or ""
}

// ReadDate is the date, and the time of its day, that a text is: numbers with any punctuation between them, or digits alone, [YY]YYMMDD[hhmmss].
func ReadDate(text string) (d DateText, ok bool) {
	s := dateScanner{text: text}
	s.spaces()
	start := s.pos
	_, digits := s.digits()
	packed := s.pos == len(text) || text[s.pos] == '.' || text[s.pos] == 'T'
	s.pos = start
	var fields [6]int
	count, yearDigits := 0, 4
	if packed {
		if digits != 4 && digits != 8 && digits < 14 {
			yearDigits = 2
		}
		count = s.packedFields(&fields, yearDigits)
	} else {
		count, yearDigits = s.dateFields(&fields)
	}
	if count < 3 || fields == [6]int{} {
		return d, false
	}
	if yearDigits <= 2 {
		fields[0] = ofCentury(fields[0])
	}
	d.Civil = Civil{Year: fields[0], Month: fields[1], Day: fields[2]}
	d.HasTime = count > 3
	if !d.Possible() || fields[3] > 23 || fields[4] > 59 || fields[5] > 59 {
		return d, false
	}
	d.Clock = (int64(fields[3]*60+fields[4])*60+int64(fields[5]))*batch.MicrosPerSecond + s.fraction()
	if d.Year == lastYear && d.Month == 12 && d.Day == 31 && d.Clock == batch.MicrosPerDay {
		return d, false // rounded up beyond all dates
	}
	if zone := s.text[s.pos:]; count == len(fields) && len(zone) == len("+hh:mm") && (zone[0] == '+' || zone[0] == '-') {
		d.Zone, s.pos = zone, len(s.text)
	}
	d.Exact = strings.TrimRight(s.text[s.pos:], " ") == ""
	return d, true
}

// lastYear is the last that a date can have.
const lastYear = 9999

// Possible tells whether there is such a date; its month or day may be 0.
func (c Civil) Possible() bool {
	return c.Year <= lastYear && c.Month <= 12 && c.Day <= 31 && (!c.Whole() || c.Day <= batch.DaysIn(int64(c.Year), c.Month))
}

// packedFields reads the digits of year, month, day, hour, minute and second, and returns how many of them there are.
func (s *dateScanner) packedFields(fields *[6]int, yearDigits int) int {
	width := yearDigits
	for i := range fields {
		if i == 3 && s.pos < len(s.text) && s.text[s.pos] == 'T' {
			s.pos++
		}
		n := 0
		for ; n < width && s.pos < len(s.text) && s.text[s.pos]-'0' <= 9; n++ {
			fields[i] = fields[i]*10 + int(s.text[s.pos]-'0')
			s.pos++
		}
		if n == 0 {
			return i
		}
		width = 2
	}
	return len(fields)
}

// dateFields reads year, month, day, hour, minute and second with punctuation between them, spaces too between day and hour.
func (s *dateScanner) dateFields(fields *[6]int) (count, yearDigits int) {
	for i := range fields {
		v, n := s.digits()
		if n == 0 {
			return i, yearDigits
		}
		fields[i] = int(min(v, 1e6))
		if i == 0 {
			yearDigits = n
		}
		if i == len(fields)-1 {
			break
		}
		if next := s.afterField(i == 2); next < 0 {
			return i + 1, yearDigits
		} else {
			s.pos = next
		}
	}
	return len(fields), yearDigits
}

// afterField is where the next field begins; less than 0 where none does.
func (s *dateScanner) afterField(ofDay bool) int {
	next := s.pos
	if ofDay && next < len(s.text) && s.text[next] == 'T' {
		next++
	} else {
		for next < len(s.text) && (isPunctuation(s.text[next]) || ofDay && s.text[next] == ' ') {
			next++
		}
	}
	if next == s.pos || next == len(s.text) || s.text[next]-'0' > 9 {
		return -1
	}
	return next
}

func isPunctuation(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

// shortestMoment is how many characters a text has at least whose time may stand behind a date.
const shortestMoment = 12

// ReadTime is the TIME that a text is: "[-][days ]h:m[:s][.fraction]", "hmmss[.fraction]", or what stands behind a date, with that date. exact is false where something stands
// behind it, or it is beyond the greatest, which it then is.
func ReadTime(text string) (c Civil, exact, ok bool) {
	text = strings.TrimLeft(text, " \t\n\v\f\r")
	rest, negative := strings.CutPrefix(text, "-")
	if !negative && len(text) >= shortestMoment {
		if d, ok := ReadDate(text); ok && d.HasTime {
			return d.Civil, d.Exact, true
		}
	}
	s := dateScanner{text: rest}
	first, digits := s.digits()
	if digits == 0 {
		return c, false, false
	}
	var days, hours, minutes, seconds int64
	if days, hours = s.daysBefore(first); hours < 0 { // no clock in parts
		seconds, minutes, hours, days = first%100, first/100%100, first/1e4, 0
	} else {
		minutes, seconds = s.part(), s.part()
	}
	fraction := s.fraction()
	if minutes > 59 || seconds > 59 {
		return c, false, false
	}
	exact = strings.TrimRight(s.text[s.pos:], " ") == ""
	if hours = min(hours, 1e6) + 24*min(days, 1e6); hours > 1000 {
		hours = 1000
	}
	c.Clock = ((hours*60+minutes)*60+seconds)*batch.MicrosPerSecond + fraction
	if c.Clock > LongestTime {
		c.Clock, exact = LongestTime, false
	}
	if negative {
		c.Clock = -c.Clock
	}
	return c, exact, true
}

// digits reads a number of any length, of which 18 digits count.
func (s *dateScanner) digits() (v int64, n int) {
	for ; s.pos < len(s.text) && s.text[s.pos]-'0' <= 9; s.pos++ {
		if n++; n <= 18 {
			v = v*10 + int64(s.text[s.pos]-'0')
		}
	}
	return v, n
}

// daysBefore are the days and hours where the number was one of them: before a space and hours, or before a colon; else hours is less than 0.
func (s *dateScanner) daysBefore(number int64) (days, hours int64) {
	start := s.pos
	if s.spaces(); s.pos > start {
		if hours, n := s.digits(); n > 0 {
			return number, hours
		}
		s.pos = start
	}
	if s.pos < len(s.text) && s.text[s.pos] == ':' {
		return 0, number
	}
	return 0, -1
}

// part is the number behind a colon, 0 where there is none.
func (s *dateScanner) part() int64 {
	if s.pos+1 >= len(s.text) || s.text[s.pos] != ':' || s.text[s.pos+1]-'0' > 9 {
		return 0
	}
	s.pos++
	v, _ := s.digits()
	return v
}

// fraction is what stands behind a point, in microseconds, rounded.
func (s *dateScanner) fraction() int64 {
	if s.pos >= len(s.text) || s.text[s.pos] != '.' {
		return 0
	}
	s.pos++
	start := s.pos
	s.digits()
	digits := s.text[start:s.pos]
	micros := int64(0)
	for i := range types.MaxDatetimePrecision {
		micros *= 10
		if i < len(digits) {
			micros += int64(digits[i] - '0')
		}
	}
	if len(digits) > types.MaxDatetimePrecision && digits[types.MaxDatetimePrecision] >= '5' {
		micros++
	}
	return micros
}

// The numbers that MySQL takes for dates: [YY]YYMMDD, and with hhmmss behind.
const (
	lastShort      = 69_12_31   // 2069; what is less is of this century
	firstOfCentury = 70_01_01   // 1970
	lastOfCentury  = 99_12_31   // 1999
	lastDay        = 9999_12_31 // what is more has a time of the day
	clockDigits    = 1_00_00_00 // of hhmmss
	firstMoment    = 10_000_101_000_000
)

// DateOfNumber is the date, and the time of its day, that a number and microseconds are. Month and day may be 0.
func DateOfNumber(n, micros int64) (c Civil, ok bool) {
	day, clock := n, int64(0)
	if n > lastDay {
		day, clock = n/clockDigits, n%clockDigits
		if day < 100 || n < firstMoment && day > lastOfCentury {
			return c, false
		}
	}
	switch {
	case n < 0:
		return c, false
	case day <= lastShort:
		day += 2000_00_00
	case day < firstOfCentury:
		return c, false
	case day <= lastOfCentury:
		day += 1900_00_00
	}
	c = Civil{Year: int(day / 1e4), Month: int(day / 100 % 100), Day: int(day % 100)}
	hour, minute, second := clock/1e4, clock/100%100, clock%100
	if !c.Possible() || hour > 23 || minute > 59 || second > 59 {
		return c, false
	}
	c.Clock = ((hour*60+minute)*60+second)*batch.MicrosPerSecond + micros
	return c, true
}

// lastTime is the greatest number that is a TIME, hhhmmss; from firstLongMoment on it is one with a date before it.
const (
	lastTime        = 838_59_59
	firstLongMoment = 10_000_000_000
)

// TimeOfNumber is the TIME that a number and microseconds, of its sign, are: of one with a date before it, with that date.
func TimeOfNumber(n, micros int64) (c Civil, ok bool) {
	if n >= firstLongMoment {
		return DateOfNumber(n, micros)
	}
	sign, size := int64(1), n
	if n < 0 {
		sign, size = -1, -max(n, -firstLongMoment)
	}
	minute, second := size/100%100, size%100
	if size > lastTime || minute > 59 || second > 59 {
		return c, false
	}
	c.Clock = sign*((size/1e4*60+minute)*60+second)*batch.MicrosPerSecond + micros
	return c, true
}

// WholeAndMicros are the parts of a number, rounded to microseconds; false for what is larger than every date.
func WholeAndMicros(n *apd.Decimal) (whole, micros int64, ok bool) {
	rounded, integer, fraction := new(apd.Decimal), new(apd.Decimal), new(apd.Decimal)
	if _, err := civilContext.Quantize(rounded, n, -types.MaxDatetimePrecision); err != nil {
		return 0, 0, false
	}
	rounded.Modf(integer, fraction)
	fraction.Exponent = 0
	whole, err := integer.Int64()
	if err != nil {
		return 0, 0, false
	}
	micros, err = fraction.Int64()
	return whole, micros, err == nil
}

var civilContext = apd.BaseContext.WithPrecision(100)
