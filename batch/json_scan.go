package batch

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"lakesql/format/jsontext"
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
	if s.pos = jsontext.Space(s.text, s.pos); s.pos < len(s.text) {
		return s.text[s.pos]
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
			path = AppendJSONString(path, step.name)
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
	end, integer := jsontext.Number(s.text, s.pos)
	if end < 0 {
		return nil, false, s.wrong(want)
	}
	text = s.text[s.pos:end]
	s.pos = end
	return text, integer, nil
}

// str reads a string and returns what it stands for, which may alias the text.
func (s *jsonScanner) str(want fmt.Stringer) ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.wrong(want)
	}
	end, escapes := jsontext.String(s.text, s.pos)
	if end < 0 {
		return nil, s.found(brokenString(s.text[^end:]), want)
	}
	out, whole := s.text[s.pos+1:end-1], true
	if escapes {
		out, whole = jsontext.Unescape(nil, out)
	}
	switch {
	case !whole:
		return nil, s.found("a bad escape in a string", want)
	case !utf8.Valid(out):
		return nil, s.found("a string that is not UTF-8", want)
	}
	s.pos = end
	return out, nil
}

// brokenString says why a string does not go on.
func brokenString(rest []byte) string {
	switch {
	case len(rest) == 0:
		return "a string without its end"
	case rest[0] == '\\':
		return "a bad escape in a string"
	}
	return "a control character in a string"
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
