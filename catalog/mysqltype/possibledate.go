package mysqltype

import "lakesql/batch"

// ImpossibleDate tells whether a text has the form of a date, and of a time perhaps, but names a day or hour that is not, such as 2024-02-30. GMS takes
// the longest beginning of such a text that is a date, here 2024-02-3.
func ImpossibleDate(text string) bool {
	s := dateScanner{text: text}
	s.spaces()
	year, ok1 := s.number(4)
	month, ok2 := s.after(2)
	day, ok3 := s.after(2)
	if !ok1 || !ok2 || !ok3 || year == 0 && month == 0 && day == 0 {
		return false
	}
	if month < 1 || month > 12 || day < 1 || day > batch.DaysIn(int64(year), month) {
		return true
	}
	hour, ok1 := s.after(2)
	minute, ok2 := s.after(2)
	if !ok1 || !ok2 {
		return false
	}
	second, _ := s.after(2)
	return hour > 23 || minute > 59 || second > 59
}

// dateScanner reads the numbers of a text.
type dateScanner struct {
	text string
	pos  int
}

func (s *dateScanner) spaces() {
	for s.pos < len(s.text) && s.text[s.pos] == ' ' {
		s.pos++
	}
}

// number reads up to n digits; false where there are none, or more.
func (s *dateScanner) number(n int) (int, bool) {
	v, start := 0, s.pos
	for s.pos < len(s.text) && s.text[s.pos]-'0' <= 9 {
		if s.pos-start < n {
			v = v*10 + int(s.text[s.pos]-'0')
		}
		s.pos++
	}
	return v, s.pos > start && s.pos-start <= n
}

// after reads the number behind one separator.
func (s *dateScanner) after(n int) (int, bool) {
	if s.pos >= len(s.text) || s.text[s.pos]-'0' <= 9 {
		return 0, false
	}
	s.pos++
	return s.number(n)
}
