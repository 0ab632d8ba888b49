package mysqltype

import (
	"fmt"
	"strings"
)

// JSONFault says what is wrong with a text that is no JSON, and at which byte, in the words of MySQL, whose reader is RapidJSON's:
//
//	"Missing a name for object member." at position 1
//
// It is empty for a text in which no fault is found.
func JSONFault(text string) string {
	r := jsonReader{text: text}
	switch r.space(); {
	case r.at == len(text):
		r.fail("The document is empty.", r.at)
	default:
		if r.value(0); r.fault == "" {
			if r.space(); r.at < len(text) {
				r.fail("The document root must not be followed by other values.", r.at)
			}
		}
	}
	return r.fault
}

// jsonReader reads a text up to its first fault.
type jsonReader struct {
	text  string
	at    int
	fault string
}

// deepest is how many arrays and objects are followed into each other.
const deepest = 10000

func (r *jsonReader) fail(words string, at int) {
	if r.fault == "" {
		r.fault = fmt.Sprintf(`"%s" at position %d`, words, at)
	}
}

// next is the byte to be read; 0 at the end.
func (r *jsonReader) next() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *jsonReader) take(c byte) bool {
	if r.next() != c || r.at == len(r.text) {
		return false
	}
	r.at++
	return true
}

func (r *jsonReader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *jsonReader) value(depth int) {
	switch c := r.next(); {
	case depth > deepest:
		r.fail("The JSON document exceeds the maximum depth.", r.at)
	case c == '{':
		r.list(depth, '}', "Missing a comma or '}' after an object member.", r.member)
	case c == '[':
		r.list(depth, ']', "Missing a comma or ']' after an array element.", r.value)
	case c == '"':
		r.string()
	case c == 'n':
		r.word("null")
	case c == 't':
		r.word("true")
	case c == 'f':
		r.word("false")
	default:
		r.number()
	}
}

// list is an array or an object.
func (r *jsonReader) list(depth int, end byte, noComma string, element func(depth int)) {
	r.at++
	if r.space(); r.take(end) {
		return
	}
	for r.fault == "" {
		element(depth + 1)
		switch r.space(); {
		case r.take(','):
			r.space()
		case r.take(end):
			return
		default:
			r.fail(noComma, r.at)
		}
	}
}

func (r *jsonReader) member(depth int) {
	if r.next() != '"' {
		r.fail("Missing a name for object member.", r.at)
		return
	}
	r.string()
	if r.space(); !r.take(':') {
		r.fail("Missing a colon after a name of object member.", r.at)
		return
	}
	r.space()
	r.value(depth)
}

func (r *jsonReader) word(word string) {
	for i := range len(word) {
		if !r.take(word[i]) {
			r.fail("Invalid value.", r.at)
			return
		}
	}
}

func (r *jsonReader) number() {
	r.take('-')
	if !r.take('0') && !r.digits() {
		r.fail("Invalid value.", r.at)
	}
	if r.take('.') && !r.digits() {
		r.fail("Miss fraction part in number.", r.at)
	}
	if r.take('e') || r.take('E') {
		if !r.take('+') {
			r.take('-')
		}
		if !r.digits() {
			r.fail("Miss exponent in number.", r.at)
		}
	}
}

// digits reads digits, and tells whether there is one.
func (r *jsonReader) digits() bool {
	from := r.at
	for c := r.next(); '0' <= c && c <= '9'; c = r.next() {
		r.at++
	}
	return r.at > from
}

func (r *jsonReader) string() {
	for r.at++; r.fault == ""; r.at++ {
		switch c := r.next(); {
		case c == '"':
			r.at++
			return
		case c == '\\':
			r.escape()
		case r.at >= len(r.text):
			r.fail("Missing a closing quotation mark in string.", r.at)
		case c < ' ':
			r.fail("Invalid encoding in string.", r.at)
		}
	}
}

// escape reads up to the last byte of what a backslash begins.
func (r *jsonReader) escape() {
	from := r.at
	r.at++
	switch c := r.next(); {
	case c == 'u':
		for range 4 {
			r.at++
			if !strings.ContainsRune("0123456789abcdefABCDEF", rune(r.next())) {
				r.fail(`Incorrect hex digit after \u escape in string.`, from)
				return
			}
		}
	case c == 0 || strings.IndexByte(`"\/bfnrt`, c) < 0:
		r.fail("Invalid escape character in string.", from)
	}
}
