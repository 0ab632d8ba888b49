package batch

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONError says which part of a JSON text is no value of the type that was wanted.
type JSONError struct {
	Path  string // such as $.orders[3].price
	Found string
	Want  string
}

func (e *JSONError) Error() string {
	return "read JSON at " + e.Path + ": found " + e.Found + ", expected " + e.Want
}

// jsonWant names what was expected where that is no type.
type jsonWant string

func (w jsonWant) String() string { return string(w) }

// jsonScanner reads a JSON text (RFC 8259) from left to right and knows where in it, as a path, it stands.
type jsonScanner struct {
	text []byte
	pos  int
	path []jsonStep
}

// jsonStep is a field's name, or an element's position when name is nil.
type jsonStep struct {
	name  []byte
	index int
}

// peek skips blanks and returns the byte that comes next, 0 at the end.
func (s *jsonScanner) peek() byte {
	for ; s.pos < len(s.text); s.pos++ {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// take skips the byte c if it comes next.
func (s *jsonScanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.pos++
	return true
}

// wrong is an error that names what comes next in the text.
func (s *jsonScanner) wrong(want fmt.Stringer) error {
	return s.found(s.next(), want)
}

func (s *jsonScanner) found(found string, want fmt.Stringer) error {
	path := []byte("$")
	for _, step := range s.path {
		if step.name == nil {
			path = append(strconv.AppendInt(append(path, '['), int64(step.index), 10), ']')
			continue
		}
		if path = append(path, '.'); isWord(string(step.name)) {
			path = append(path, step.name...)
		} else {
			path = appendJSONString(path, step.name)
		}
	}
	return &JSONError{Path: string(path), Found: found, Want: want.String()}
}

// next describes what comes next, without reading it.
func (s *jsonScanner) next() string {
	switch c := s.peek(); {
	case c == 0 && s.pos >= len(s.text):
		return "the end of the text"
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	default:
		rest := s.text[s.pos:]
		end := len(rest)
		for i, c := range rest {
			if i > 0 && (c == ',' || c == '}' || c == ']' || c == '\n') {
				end = i
				break
			}
		}
		if end > maxQuoted {
			return strconv.Quote(string(rest[:maxQuoted])) + "..."
		}
		return strconv.Quote(string(rest[:end]))
	}
}

// end checks that nothing but blanks is left.
func (s *jsonScanner) end() error {
	if s.peek() != 0 || s.pos < len(s.text) {
		return s.wrong(jsonWant("the end of the text"))
	}
	return nil
}

// word reads true, false or null.
func (s *jsonScanner) word(w string) bool {
	s.peek()
	if rest := s.text[s.pos:]; len(rest) < len(w) || string(rest[:len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

// number reads a number and says whether it is written as an integer.
func (s *jsonScanner) number(want fmt.Stringer) (text []byte, integer bool, err error) {
	s.peek()
	start, at := s.pos, s.pos
	digits := func() bool {
		from := at
		for at < len(s.text) && s.text[at]-'0' <= 9 {
			at++
		}
		return at > from
	}
	is := func(set string) bool { return at < len(s.text) && strings.IndexByte(set, s.text[at]) >= 0 }
	if is("-") {
		at++
	}
	ok := true
	if is("0") {
		at++
	} else {
		ok = digits()
	}
	integer = true
	if ok && is(".") {
		at++
		ok, integer = digits(), false
	}
	if ok && is("eE") {
		at++
		if is("+-") {
			at++
		}
		ok, integer = digits(), false
	}
	if !ok {
		return nil, false, s.wrong(want)
	}
	s.pos = at
	return s.text[start:at], integer, nil
}

// str reads a string and returns what it stands for, which may alias the text.
func (s *jsonScanner) str(want fmt.Stringer) ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.wrong(want)
	}
	start := s.pos + 1
	for at := start; at < len(s.text); at++ {
		switch c := s.text[at]; {
		case c == '"':
			s.pos = at + 1
			if raw := s.text[start:at]; utf8.Valid(raw) {
				return raw, nil
			}
			return nil, s.found("a string that is not UTF-8", want)
		case c == '\\':
			return s.escaped(start, at, want)
		case c < ' ':
			return nil, s.found("a control character in a string", want)
		}
	}
	return nil, s.found("a string without its end", want)
}

// escaped reads on, from position at, a string that began at start and has escapes.
func (s *jsonScanner) escaped(start, at int, want fmt.Stringer) ([]byte, error) {
	out := append([]byte{}, s.text[start:at]...)
	for at < len(s.text) {
		c := s.text[at]
		at++
		switch {
		case c == '"':
			s.pos = at
			if utf8.Valid(out) {
				return out, nil
			}
			return nil, s.found("a string that is not UTF-8", want)
		case c < ' ':
			return nil, s.found("a control character in a string", want)
		case c != '\\':
			out = append(out, c)
			continue
		}
		r, size := unescape(s.text[at:])
		if size == 0 {
			return nil, s.found("a bad escape in a string", want)
		}
		out = utf8.AppendRune(out, r)
		at += size
	}
	return nil, s.found("a string without its end", want)
}

// unescape reads what stands behind a backslash and returns its length, 0 when it is no escape.
func unescape(text []byte) (r rune, size int) {
	if len(text) == 0 {
		return 0, 0
	}
	const letters, means = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(letters, text[0]); i >= 0 {
		return rune(means[i]), 1
	}
	r, ok := hexRune(text)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 5
	}
	if len(text) < 11 || text[5] != '\\' {
		return 0, 0
	}
	low, ok := hexRune(text[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 11
}

// hexRune reads u and four hexadecimal digits.
func hexRune(text []byte) (rune, bool) {
	if len(text) < 5 || text[0] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[1:5]), 16, 16)
	return rune(n), err == nil
}

// object reads an object: field is called with each name, in order, and reads the value.
func (s *jsonScanner) object(want fmt.Stringer, field func(name []byte) error) error {
	if !s.take('{') {
		return s.wrong(want)
	}
	if s.take('}') {
		return nil
	}
	for {
		name, err := s.str(jsonWant("a field's name"))
		if err != nil {
			return err
		}
		s.path = append(s.path, jsonStep{name: name})
		if !s.take(':') {
			return s.wrong(jsonWant("a colon"))
		}
		if err := field(name); err != nil {
			return err
		}
		s.path = s.path[:len(s.path)-1]
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return s.wrong(jsonWant("a comma or }"))
		}
	}
}

// array reads an array: element is called to read each value.
func (s *jsonScanner) array(want fmt.Stringer, element func() error) error {
	if !s.take('[') {
		return s.wrong(want)
	}
	if s.take(']') {
		return nil
	}
	s.path = append(s.path, jsonStep{})
	for {
		if err := element(); err != nil {
			return err
		}
		if s.take(']') {
			break
		}
		if !s.take(',') {
			return s.wrong(jsonWant("a comma or ]"))
		}
		s.path[len(s.path)-1].index++
	}
	s.path = s.path[:len(s.path)-1]
	return nil
}
