package jsontext

import (
	"encoding/binary"
	"math/bits"
)

// MaxDepth is how deep arrays and objects may be nested in one another; encoding/json has the same bound.
const MaxDepth = 10_000

const (
	lowBits     = 0x0101010101010101
	highBits    = 0x8080808080808080
	backslashes = '\\' * lowBits
	blanks      = ' ' * lowBits
)

// Lexer says what is taken for JSON. The zero value takes what RFC 8259 does.
type Lexer struct {
	SingleQuotes bool // 'text' is a string, too
	NonNumeric   bool // NaN, Infinity, +Infinity, -Infinity, +INF and -INF are numbers, too
}

// Space returns the position of the first byte from pos on that is no white space.
func Space(text []byte, pos int) int {
	for pos < len(text) {
		switch text[pos] {
		case ' ', '\n', '\r', '\t':
			pos++
		default:
			return pos
		}
	}
	return pos
}

// String returns the position behind the string whose opening quote, of whichever kind, is text[pos], and whether it has escapes.
func String(text []byte, pos int) (end int, escaped bool) {
	quote := text[pos]
	quotes := uint64(quote) * lowBits
	for i := pos + 1; ; {
		for i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			q, b := w^quotes, w^backslashes
			// The lowest bit that is set is that of a quote, a backslash or a control character; bits above it may be wrong.
			found := ((q-lowBits)&^q | (b-lowBits)&^b | (w-blanks)&^w) & highBits
			if found != 0 {
				i += bits.TrailingZeros64(found) >> 3
				break
			}
			i += 8
		}
		for i < len(text) && text[i] != quote && text[i] != '\\' && text[i] >= ' ' {
			i++
		}
		switch {
		case i >= len(text):
			return ^len(text), false
		case text[i] == quote:
			return i + 1, escaped
		case text[i] != '\\':
			return ^i, false
		}
		n := escapeLength(text[i+1:])
		if n == 0 {
			return ^i, false
		}
		escaped = true
		i += 1 + n
	}
}

// escapeLength is the number of bytes of an escape behind its backslash; 0 when it is none.
func escapeLength(rest []byte) int {
	if len(rest) == 0 {
		return 0
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(rest) < 5 {
			return 0
		}
		for _, b := range rest[1:5] {
			if unhex(b) > 15 {
				return 0
			}
		}
		return 5
	}
	return 0
}

// Number returns the position behind the number at text[pos], and whether it is written without a point and an exponent.
func Number(text []byte, pos int) (end int, integer bool) {
	i := pos
	if i < len(text) && text[i] == '-' {
		i++
	}
	start := i
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	if i == start || text[start] == '0' && i > start+1 {
		return ^min(start, len(text)), false
	}
	if i >= len(text) || text[i] != '.' && text[i]|0x20 != 'e' {
		return i, true
	}
	if text[i] == '.' {
		point := i + 1
		for i = point; i < len(text) && text[i]-'0' <= 9; {
			i++
		}
		if i == point {
			return ^i, false
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		exponent := i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		if i == exponent {
			return ^i, false
		}
	}
	return i, false
}

// Value returns the position behind the value, of any kind, that begins at text[pos].
func (l Lexer) Value(text []byte, pos int) int { return l.value(text, pos, 0) }

func (l Lexer) value(text []byte, pos, depth int) int {
	if pos >= len(text) {
		return ^len(text)
	}
	switch c := text[pos]; c {
	case '"':
		end, _ := String(text, pos)
		return end
	case '{', '[':
		if depth >= MaxDepth {
			return ^pos
		}
		if c == '{' {
			return l.object(text, pos, depth+1)
		}
		return l.array(text, pos, depth+1)
	default:
		return l.Scalar(text, pos)
	}
}

// Scalar returns the position behind the value at text[pos], which is no object and no array.
func (l Lexer) Scalar(text []byte, pos int) int {
	if pos >= len(text) {
		return ^len(text)
	}
	switch c := text[pos]; {
	case c == '"', c == '\'' && l.SingleQuotes:
		end, _ := String(text, pos)
		return end
	case c == 't':
		return word(text, pos, "true")
	case c == 'f':
		return word(text, pos, "false")
	case c == 'n':
		return word(text, pos, "null")
	case l.NonNumeric && (c == 'N' || c == 'I' || c == '+' || c == '-' && pos+1 < len(text) && text[pos+1] == 'I'):
		return nonNumeric(text, pos)
	}
	end, _ := Number(text, pos)
	return end
}

func word(text []byte, pos int, w string) int {
	if len(text)-pos >= len(w) && string(text[pos:pos+len(w)]) == w {
		return pos + len(w)
	}
	return ^pos
}

func nonNumeric(text []byte, pos int) int {
	for _, w := range [...]string{"NaN", "Infinity", "+Infinity", "-Infinity", "+INF", "-INF"} {
		if end := word(text, pos, w); end > 0 {
			return end
		}
	}
	return ^pos
}

func (l Lexer) object(text []byte, pos, depth int) int {
	pos = Space(text, pos+1)
	if pos < len(text) && text[pos] == '}' {
		return pos + 1
	}
	for {
		end, _ := l.Key(text, pos)
		if end < 0 {
			return end
		}
		if pos = l.value(text, end, depth); pos < 0 {
			return pos
		}
		if pos = Space(text, pos); pos >= len(text) {
			return ^len(text)
		}
		switch text[pos] {
		case ',':
			pos = Space(text, pos+1)
		case '}':
			return pos + 1
		default:
			return ^pos
		}
	}
}

// Key returns the position of the value whose key begins at text[pos], and that behind the key's closing quote.
func (l Lexer) Key(text []byte, pos int) (value, closed int) {
	if pos >= len(text) {
		return ^len(text), 0
	}
	if c := text[pos]; c != '"' && (c != '\'' || !l.SingleQuotes) {
		return ^pos, 0
	}
	closed, _ = String(text, pos)
	if closed < 0 {
		return closed, 0
	}
	if pos = Space(text, closed); pos >= len(text) || text[pos] != ':' {
		return ^pos, 0
	}
	return Space(text, pos+1), closed
}

func (l Lexer) array(text []byte, pos, depth int) int {
	pos = Space(text, pos+1)
	if pos < len(text) && text[pos] == ']' {
		return pos + 1
	}
	for {
		if pos = l.value(text, pos, depth); pos < 0 {
			return pos
		}
		if pos = Space(text, pos); pos >= len(text) {
			return ^len(text)
		}
		switch text[pos] {
		case ',':
			pos = Space(text, pos+1)
		case ']':
			return pos + 1
		default:
			return ^pos
		}
	}
}

// Closing returns the position behind the bracket that closes the one at text[pos], whatever lies between but strings; ^len(text)
// where there is none.
func (l Lexer) Closing(text []byte, pos int) int {
	depth := 0
	for i := pos; i < len(text); i++ {
		switch c := text[i]; c {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			if c == '\'' && !l.SingleQuotes {
				continue
			}
			if end, _ := String(text, i); end > 0 {
				i = end - 1
			}
		}
	}
	return ^len(text)
}
