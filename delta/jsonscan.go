package delta

import (
	"errors"
	"fmt"
	"strconv"

	"lakesql/format/jsontext"
)

// jsonScanner reads one JSON text from front to back without copies; reading JSON is most of opening a long log. It takes
// exactly what encoding/json takes for JSON. The first error stays, and moves the position to the end.
//
// At a value, exactly one of the methods that consume it is called: fields, bytes, string, int, bool, raw or skip.
type jsonScanner struct {
	text  []byte
	pos   int
	depth int
	err   error
}

var errNotJSON = errors.New("not JSON")

// validJSON tells whether text is one JSON value.
func validJSON(text []byte) bool {
	s := jsonScanner{text: text}
	s.space()
	s.skip()
	return s.end() == nil
}

// end checks that nothing follows, and returns the first error.
func (s *jsonScanner) end() error {
	s.space()
	if s.pos < len(s.text) {
		s.fail(errNotJSON)
	}
	return s.err
}

func (s *jsonScanner) fail(err error) {
	if s.err == nil {
		s.err = err
	}
	s.pos = len(s.text)
}

// expected fails because the value at hand is not what its place wants.
func (s *jsonScanner) expected(what string) {
	if raw := s.raw(); s.err == nil {
		s.fail(fmt.Errorf("%s is expected, not %.40s", what, raw))
	}
}

// peek is the next byte; 0, which is never legal outside of strings, at the end.
func (s *jsonScanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func (s *jsonScanner) take(b byte) bool {
	if s.peek() != b {
		return false
	}
	s.pos++
	return true
}

func (s *jsonScanner) space() { s.pos = jsontext.Space(s.text, s.pos) }

// fields yields the keys of the object at hand, but for those whose value is null. The loop consumes each value. An error in
// one gets its key in front.
func (s *jsonScanner) fields(yield func(key []byte) bool) {
	if s.peek() != '{' {
		s.expected("an object")
		return
	}
	for ok := s.enter('}'); ok; ok = s.more('}') {
		key := s.key()
		if s.peek() == 'n' {
			s.skip()
			continue
		}
		sound := s.err == nil
		if !yield(key) {
			return
		}
		if sound && s.err != nil && s.err != errNotJSON {
			s.err = fmt.Errorf("%s: %w", key, s.err)
		}
	}
}

// key reads a key and moves to its value.
func (s *jsonScanner) key() []byte {
	if s.peek() != '"' {
		s.fail(errNotJSON)
		return nil
	}
	key := s.quoted()
	s.space()
	if !s.take(':') {
		s.fail(errNotJSON)
	}
	s.space()
	return key
}

// enter steps into a container; false when there is nothing in it.
func (s *jsonScanner) enter(end byte) bool {
	if s.depth++; s.depth > jsontext.MaxDepth {
		s.fail(errNotJSON)
	}
	s.pos = min(s.pos+1, len(s.text))
	s.space()
	if s.take(end) {
		s.depth--
		return false
	}
	return s.err == nil
}

// more steps to a container's next member; false behind its end, or after an error.
func (s *jsonScanner) more(end byte) bool {
	s.space()
	if s.take(',') {
		s.space()
		return true
	}
	s.depth--
	if !s.take(end) {
		s.fail(errNotJSON)
	}
	return false
}

// skip passes over a value of any kind.
func (s *jsonScanner) skip() {
	switch b := s.peek(); b {
	case '"':
		s.passString()
	case '{':
		for ok := s.enter('}'); ok; ok = s.more('}') {
			s.key()
			s.skip()
		}
	case '[':
		for ok := s.enter(']'); ok; ok = s.more(']') {
			s.skip()
		}
	case 't':
		s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		s.passNumber()
	}
}

// raw is the text of a value of any kind.
func (s *jsonScanner) raw() []byte {
	start := s.pos
	s.skip()
	return s.text[start:s.pos]
}

func (s *jsonScanner) word(w string) {
	if len(s.text)-s.pos < len(w) || string(s.text[s.pos:s.pos+len(w)]) != w {
		s.fail(errNotJSON)
		return
	}
	s.pos += len(w)
}

func (s *jsonScanner) bool() bool {
	b := s.peek()
	if b != 't' && b != 'f' {
		s.expected("true or false")
		return false
	}
	s.skip()
	return b == 't'
}

// int is a number without a fraction that fits into 64 bits.
func (s *jsonScanner) int() int64 {
	if b := s.peek(); b != '-' && (b < '0' || b > '9') {
		s.expected("a number")
		return 0
	}
	start := s.pos
	s.passNumber()
	if s.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(string(s.text[start:s.pos]), 10, 64)
	if err != nil {
		s.fail(err)
	}
	return n
}

func (s *jsonScanner) intPointer() *int64 {
	n := s.int()
	return &n
}

func (s *jsonScanner) passNumber() {
	end, _ := jsontext.Number(s.text, s.pos)
	if end < 0 {
		s.fail(errNotJSON)
		return
	}
	s.pos = end
}

func (s *jsonScanner) string() string { return string(s.bytes()) }

// bytes is a string's content: a view of the JSON where nothing is escaped.
func (s *jsonScanner) bytes() []byte {
	if s.peek() != '"' {
		s.expected("a string")
		return nil
	}
	return s.quoted()
}

// quoted reads a string whose opening quote is at hand.
func (s *jsonScanner) quoted() []byte {
	start := s.pos + 1
	escapes := s.passString()
	if s.err != nil {
		return nil
	}
	raw := s.text[start : s.pos-1]
	if !escapes {
		return raw
	}
	return unescape(raw)
}

// stringMap reads an object of strings; entries that are null are left out.
func (s *jsonScanner) stringMap() map[string]string {
	var out map[string]string
	for key := range s.fields {
		if out == nil {
			out = make(map[string]string)
		}
		out[string(key)] = s.string()
	}
	return out
}

func (s *jsonScanner) passString() (escapes bool) {
	end := -1
	if s.pos < len(s.text) {
		end, escapes = jsontext.String(s.text, s.pos)
	}
	if end < 0 {
		s.fail(errNotJSON)
		return false
	}
	s.pos = end
	return escapes
}

// unescape decodes the content of a valid string. Half of a surrogate pair becomes U+FFFD, as in encoding/json.
func unescape(raw []byte) []byte {
	out, _ := jsontext.Unescape(make([]byte, 0, len(raw)), raw)
	return out
}
