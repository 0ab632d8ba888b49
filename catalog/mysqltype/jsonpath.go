package mysqltype

import (
	"encoding/json"
	"strconv"
	"strings"
)

// lookup finds the text at a path of names and positions, such as $.a."b c"[2], in a JSON text. What is no array is its own element 0. ok is
// false for any other path and for a text that is not whole: those are left to who takes the text apart.
func lookup(text []byte, path string) (part []byte, found, ok bool) {
	path, ok = strings.CutPrefix(path, "$")
	if !ok {
		return nil, false, false
	}
	s := textScanner{text: text, end: len(text)}
	for s.blanks(); path != ""; s.blanks() {
		name, index, rest, ok := leg(path)
		if !ok {
			return nil, false, false
		}
		path = rest
		switch {
		case s.peek() == 0:
			return nil, false, false
		case index < 0 && s.peek() != '{':
			return nil, false, true
		case index < 0:
			found, ok = s.field(name)
		case s.peek() != '[':
			found = index == 0
		default:
			found, ok = s.element(index)
		}
		if !ok || !found {
			return nil, false, ok
		}
	}
	start := s.at
	if !s.skip() {
		return nil, false, false
	}
	return text[start:s.at:s.at], true, true
}

// leg takes .name, ."name" or [index] off the front of a path; index is -1 for a name.
func leg(path string) (name string, index int, rest string, ok bool) {
	if inner, isIndex := strings.CutPrefix(path, "["); isIndex {
		digits, rest, closed := strings.Cut(inner, "]")
		n, err := strconv.ParseUint(digits, 10, 31)
		return "", int(n), rest, closed && err == nil
	}
	path, ok = strings.CutPrefix(path, ".")
	if !ok {
		return "", 0, "", false
	}
	if strings.HasPrefix(path, `"`) {
		end := strings.IndexByte(path[1:], '"') + 1
		if end <= 1 || strings.IndexByte(path[:end], '\\') >= 0 {
			return "", 0, "", false
		}
		return path[1:end], -1, path[end+1:], true
	}
	end := strings.IndexFunc(path, func(r rune) bool {
		return r != '_' && r != '$' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if end < 0 {
		end = len(path)
	}
	if end == 0 || end < len(path) && path[end] != '.' && path[end] != '[' {
		return "", 0, "", false
	}
	return path[:end], -1, path[end:], true
}

// textScanner goes over a JSON text without checking all of it.
type textScanner struct {
	text    []byte
	at, end int
}

func (s *textScanner) peek() byte {
	if s.at < s.end {
		return s.text[s.at]
	}
	return 0
}

func (s *textScanner) blanks() {
	for s.at < s.end && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// skip goes over a value.
func (s *textScanner) skip() bool {
	s.blanks()
	depth := 0
	for start := s.at; s.at < s.end; {
		switch c := s.text[s.at]; c {
		case '"':
			if !s.skipString() {
				return false
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth == 0 {
				return s.at > start
			}
			depth--
			s.at++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return s.at > start
			}
			s.at++
			continue
		default:
			s.at++
			continue
		}
		if depth == 0 {
			return true
		}
	}
	return depth == 0
}

func (s *textScanner) skipString() bool {
	for s.at++; s.at < s.end; s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return true
		}
	}
	return false
}

// field goes to the value of the last field of that name, as the one that counts.
func (s *textScanner) field(name string) (found, ok bool) {
	at := 0
	s.at++
	for s.blanks(); s.peek() != '}'; s.blanks() {
		start := s.at
		if s.peek() != '"' || !s.skipString() {
			return false, false
		}
		key := s.text[start:s.at]
		if s.blanks(); s.peek() != ':' {
			return false, false
		}
		s.at++
		s.blanks()
		if isKey(key, name) {
			at, found = s.at, true
		}
		if !s.skip() || !s.comma('}') {
			return false, false
		}
	}
	if found {
		s.at = at
	}
	return found, true
}

// isKey compares a string of a JSON text, with its quotes, with a name.
func isKey(key []byte, name string) bool {
	for _, c := range key {
		if c == '\\' {
			var plain string
			return json.Unmarshal(key, &plain) == nil && plain == name
		}
	}
	return string(key[1:len(key)-1]) == name
}

// element goes to the value at a position of an array.
func (s *textScanner) element(index int) (found, ok bool) {
	s.at++
	for s.blanks(); s.peek() != ']'; s.blanks() {
		if index == 0 {
			return true, true
		}
		index--
		if !s.skip() || !s.comma(']') {
			return false, false
		}
	}
	return false, true
}

// comma goes over the comma behind a value, unless the last one is reached.
func (s *textScanner) comma(last byte) bool {
	s.blanks()
	if s.peek() == ',' {
		s.at++
		return true
	}
	return s.peek() == last
}
