package format

import (
	"fmt"
	"strings"
	"time"

	"lakesql/batch"
)

// pattern is a Java date-time pattern (java.time.format.DateTimeFormatter, as Spark 3 uses it) compiled for parsing.
type pattern struct {
	text  string
	items []patternItem
}

type patternItem struct {
	letter   byte   // the field; 0: literal; '[': optional
	width    int    // letters in the pattern
	adjacent bool   // digits follow at once: a fixed width
	literal  string // of letter 0
	optional []patternItem
}

// moment gathers what a pattern's fields say.
type moment struct {
	year               int64
	month, day         int
	hour, minute, secs int
	micros             int64
	halfDay            int // -1: not given; 0: AM; 1: PM
	zoned              bool
	offset             int64          // seconds east of UTC
	zone               *time.Location // of a named zone
}

// knownLetters are the fields that can be parsed; the others are refused by name.
const knownLetters = "yuMLdHhmsSaXxZzV"

// compilePattern translates a Java pattern. option is the option that it was given for.
func compilePattern(option, text string) (*pattern, error) {
	items, rest, err := compileItems(text, false)
	if err == nil && rest != "" {
		err = fmt.Errorf("there is a ] without a [")
	}
	if err != nil {
		return nil, &Error{Message: fmt.Sprintf("option %s is '%s': %v. Known are y M d H h m s S a X x Z z V, [optional] parts and 'quoted' text", option, text, err)}
	}
	return &pattern{text: text, items: items}, nil
}

func compileItems(text string, nested bool) (items []patternItem, rest string, err error) {
	for text != "" {
		c := text[0]
		switch {
		case c == ']':
			if !nested {
				return nil, text, nil
			}
			return items, text[1:], nil
		case c == '[':
			var inner []patternItem
			if inner, text, err = compileItems(text[1:], true); err != nil {
				return nil, "", err
			}
			items = append(items, patternItem{letter: '[', optional: inner})
		case c == '\'':
			var literal string
			if literal, text, err = quotedLiteral(text[1:]); err != nil {
				return nil, "", err
			}
			items = append(items, patternItem{literal: literal})
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := 1
			for n < len(text) && text[n] == c {
				n++
			}
			if err := checkLetter(c, n); err != nil {
				return nil, "", err
			}
			if k := len(items) - 1; k >= 0 && numeric(items[k]) && numeric(patternItem{letter: c, width: n}) {
				items[k].adjacent = true
			}
			items = append(items, patternItem{letter: c, width: n})
			text = text[n:]
		case strings.IndexByte("{}#", c) >= 0:
			return nil, "", fmt.Errorf("%q is reserved; put it in quotes", c)
		default:
			items = append(items, patternItem{literal: text[:1]})
			text = text[1:]
		}
	}
	if nested {
		return nil, "", fmt.Errorf("there is a [ without a ]")
	}
	return items, "", nil
}

// quotedLiteral reads behind an opening quote up to the closing one; two quotes are one quote.
func quotedLiteral(text string) (literal, rest string, err error) {
	if strings.HasPrefix(text, "'") {
		return "'", text[1:], nil
	}
	for {
		head, tail, ok := strings.Cut(text, "'")
		if !ok {
			return "", "", fmt.Errorf("a quote is not closed")
		}
		literal += head
		if !strings.HasPrefix(tail, "'") {
			return literal, tail, nil
		}
		literal, text = literal+"'", tail[1:]
	}
}

func numeric(it patternItem) bool {
	switch it.letter {
	case 'y', 'u', 'd', 'H', 'h', 'm', 's', 'S':
		return true
	case 'M', 'L':
		return it.width <= 2
	}
	return false
}

func checkLetter(c byte, n int) error {
	limit := 2
	switch c {
	case 'y', 'u':
		limit = 6
	case 'M', 'L', 'z':
		limit = 4
	case 'S':
		limit = 9
	case 'X', 'x':
		limit = 5
	case 'Z':
		limit = 3
	case 'a':
		limit = 1
	}
	if strings.IndexByte(knownLetters, c) < 0 {
		return fmt.Errorf("the letter %q is not supported when reading", c)
	}
	if n > limit {
		return fmt.Errorf("%q has more than %d letters", strings.Repeat(string(c), n), limit)
	}
	return nil
}

// date parses text as a date; a time of day and a zone in the pattern are read and left out.
func (p *pattern) date(text []byte) (int32, bool) {
	m, ok := p.parse(text)
	return int32(batch.DaysFromCivil(m.year, m.month, m.day)), ok
}

// timestamp parses text as an instant; without a zone in the pattern the text is a wall clock in loc.
func (p *pattern) timestamp(text []byte, loc *time.Location) (int64, bool) {
	m, ok := p.parse(text)
	if !ok {
		return 0, false
	}
	wall := m.wallClock()
	switch {
	case m.zone != nil:
		return batch.FromWallClock(wall, m.zone), true
	case m.zoned:
		return wall - m.offset*batch.MicrosPerSecond, true
	}
	return batch.FromWallClock(wall, loc), true
}

// wallTimestamp parses text as a wall clock; a zone in the text is refused.
func (p *pattern) wallTimestamp(text []byte) (int64, bool) {
	m, ok := p.parse(text)
	return m.wallClock(), ok && !m.zoned
}

func (m *moment) wallClock() int64 {
	seconds := batch.DaysFromCivil(m.year, m.month, m.day)*86_400 + int64(m.hour)*3600 + int64(m.minute)*60 + int64(m.secs)
	return seconds*batch.MicrosPerSecond + m.micros
}

func (p *pattern) parse(text []byte) (moment, bool) {
	m := moment{year: 1970, month: 1, day: 1, halfDay: -1}
	rest, ok := m.items(p.items, text)
	if !ok || len(rest) != 0 {
		return m, false
	}
	if m.halfDay >= 0 {
		if m.hour < 1 || m.hour > 12 {
			return m, false
		}
		m.hour = m.hour%12 + 12*m.halfDay
	}
	ok = m.month >= 1 && m.month <= 12 && m.day >= 1 && m.day <= batch.DaysIn(m.year, m.month) &&
		m.hour <= 23 && m.minute <= 59 && m.secs <= 59
	if !ok {
		m.month, m.day = 1, 1
	}
	return m, ok
}

func (m *moment) items(items []patternItem, text []byte) ([]byte, bool) {
	for i := range items {
		it := &items[i]
		switch it.letter {
		case 0:
			if len(text) < len(it.literal) || string(text[:len(it.literal)]) != it.literal {
				return text, false
			}
			text = text[len(it.literal):]
		case '[':
			saved := *m
			if rest, ok := m.items(it.optional, text); ok {
				text = rest
			} else {
				*m = saved
			}
		default:
			rest, ok := m.item(it, text)
			if !ok {
				return text, false
			}
			text = rest
		}
	}
	return text, true
}

func (m *moment) item(it *patternItem, text []byte) ([]byte, bool) {
	switch it.letter {
	case 'y', 'u':
		return m.parseYear(it, text)
	case 'M', 'L':
		if it.width >= 3 {
			return m.parseMonthName(it, text)
		}
	case 'S':
		return m.parseFraction(it, text)
	case 'a':
		return m.parseHalfDay(text)
	case 'X', 'x', 'Z', 'z', 'V':
		return m.parseZone(it, text)
	}
	least, most := it.width, 2
	if it.adjacent {
		most = it.width
	}
	n, rest, ok := digits(text, least, most)
	if !ok {
		return text, false
	}
	switch it.letter {
	case 'M', 'L':
		m.month = n
	case 'd':
		m.day = n
	case 'H', 'h':
		m.hour = n
		if it.letter == 'h' && m.halfDay < 0 {
			m.halfDay = 0
		}
	case 'm':
		m.minute = n
	case 's':
		m.secs = n
	}
	return rest, true
}

// digits reads least to most digits.
func digits(text []byte, least, most int) (n int, rest []byte, ok bool) {
	i := 0
	for i < len(text) && i < most && text[i] >= '0' && text[i] <= '9' {
		n = n*10 + int(text[i]-'0')
		i++
	}
	return n, text[i:], i >= least
}

// parseYear reads a year; two letters stand for the years 2000 to 2099.
func (m *moment) parseYear(it *patternItem, text []byte) ([]byte, bool) {
	least, most := it.width, it.width
	if it.width != 2 && !it.adjacent {
		most = max(it.width, 4)
	}
	n, rest, ok := digits(text, least, most)
	m.year = int64(n)
	if it.width == 2 {
		m.year += 2000
	}
	return rest, ok
}

func (m *moment) parseMonthName(it *patternItem, text []byte) ([]byte, bool) {
	for month := time.January; month <= time.December; month++ {
		name := month.String()
		if it.width == 3 {
			name = name[:3]
		}
		if len(text) >= len(name) && strings.EqualFold(string(text[:len(name)]), name) {
			m.month = int(month)
			return text[len(name):], true
		}
	}
	return text, false
}

// parseFraction reads one to as many digits as the pattern has letters; those beyond microseconds are cut off.
func (m *moment) parseFraction(it *patternItem, text []byte) ([]byte, bool) {
	n, rest, ok := digits(text, 1, it.width)
	m.micros = int64(n)
	for i := len(text) - len(rest); i < 6; i++ {
		m.micros *= 10
	}
	for i := len(text) - len(rest); i > 6; i-- {
		m.micros /= 10
	}
	return rest, ok
}

func (m *moment) parseHalfDay(text []byte) ([]byte, bool) {
	if len(text) < 2 {
		return text, false
	}
	switch {
	case equalFold(text[:2], "am"):
		m.halfDay = 0
	case equalFold(text[:2], "pm"):
		m.halfDay = 1
	default:
		return text, false
	}
	return text[2:], true
}

// parseZone reads an offset (+hh, +hhmm, +hh:mm), Z, or for z and V the name of a zone.
func (m *moment) parseZone(it *patternItem, text []byte) ([]byte, bool) {
	m.zoned = true
	if len(text) > 0 && text[0] == 'Z' && it.letter != 'x' && (len(text) == 1 || !zoneByte(text[1])) {
		return text[1:], true
	}
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		return m.parseOffset(text)
	}
	if it.letter != 'z' && it.letter != 'V' {
		return text, false
	}
	n := 0
	for n < len(text) && zoneByte(text[n]) {
		n++
	}
	loc, err := time.LoadLocation(string(text[:n]))
	if n == 0 || err != nil {
		return text, false
	}
	m.zone = loc
	return text[n:], true
}

func zoneByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_/+-", c) >= 0
}

func (m *moment) parseOffset(text []byte) ([]byte, bool) {
	hours, rest, ok := digits(text[1:], 2, 2)
	minutes := 0
	if ok && len(rest) > 0 {
		after := rest
		if after[0] == ':' {
			after = after[1:]
		}
		if n, r, found := digits(after, 2, 2); found {
			minutes, rest = n, r
		}
	}
	m.offset = int64(hours*3600 + minutes*60)
	if text[0] == '-' {
		m.offset = -m.offset
	}
	return rest, ok && hours <= 18 && minutes <= 59
}
