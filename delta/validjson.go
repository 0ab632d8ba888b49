package delta

// validJSON tells whether text is one JSON value. encoding/json.Valid says the same at a fifth of the speed, which is
// most of the time of opening a long log; jsonparser alone takes many a damaged line for a good one.
func validJSON(text []byte) bool {
	c := jsonChecker{text: text}
	c.space()
	if !c.value(0) {
		return false
	}
	c.space()
	return c.pos == len(text)
}

// maxJSONDepth is encoding/json's bound on nesting.
const maxJSONDepth = 10_000

type jsonChecker struct {
	text []byte
	pos  int
}

// peek is the next byte, or 0 at the end; 0 is never legal outside.
func (c *jsonChecker) peek() byte {
	if c.pos < len(c.text) {
		return c.text[c.pos]
	}
	return 0
}

func (c *jsonChecker) take(b byte) bool {
	if c.peek() != b {
		return false
	}
	c.pos++
	return true
}

func (c *jsonChecker) space() {
	for c.pos < len(c.text) {
		switch c.text[c.pos] {
		case ' ', '\t', '\r', '\n':
			c.pos++
		default:
			return
		}
	}
}

func (c *jsonChecker) value(depth int) bool {
	switch b := c.peek(); {
	case b == '"':
		return c.string()
	case b == '{':
		return c.container(depth, '}', true)
	case b == '[':
		return c.container(depth, ']', false)
	case b == 't':
		return c.word("true")
	case b == 'f':
		return c.word("false")
	case b == 'n':
		return c.word("null")
	}
	return c.number()
}

func (c *jsonChecker) container(depth int, end byte, keys bool) bool {
	if depth >= maxJSONDepth {
		return false
	}
	c.pos++
	c.space()
	if c.take(end) {
		return true
	}
	for {
		if keys {
			if c.peek() != '"' || !c.string() {
				return false
			}
			c.space()
			if !c.take(':') {
				return false
			}
			c.space()
		}
		if !c.value(depth + 1) {
			return false
		}
		c.space()
		if c.take(end) {
			return true
		}
		if !c.take(',') {
			return false
		}
		c.space()
	}
}

func (c *jsonChecker) word(w string) bool {
	if len(c.text)-c.pos < len(w) || string(c.text[c.pos:c.pos+len(w)]) != w {
		return false
	}
	c.pos += len(w)
	return true
}

func (c *jsonChecker) string() bool {
	i := c.pos + 1
	for ; i < len(c.text); i++ {
		switch b := c.text[i]; {
		case b == '"':
			c.pos = i + 1
			return true
		case b < 0x20:
			return false
		case b == '\\':
			n := escapeLength(c.text[i+1:])
			if n == 0 {
				return false
			}
			i += n
		}
	}
	return false
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
			if _, ok := unhex(b); !ok {
				return 0
			}
		}
		return 5
	}
	return 0
}

func (c *jsonChecker) digits() bool {
	start := c.pos
	for b := c.peek(); '0' <= b && b <= '9'; b = c.peek() {
		c.pos++
	}
	return c.pos > start
}

func (c *jsonChecker) number() bool {
	c.take('-')
	if !c.take('0') && !c.digits() {
		return false
	}
	if c.take('.') && !c.digits() {
		return false
	}
	if c.take('e') || c.take('E') {
		if !c.take('+') {
			c.take('-')
		}
		return c.digits()
	}
	return true
}
