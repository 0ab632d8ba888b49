package sqlext

import "strings"

// Bare is the text of an expression as Rewrite found it: without the comma of a list before it, and without blanks and comments on both sides.
func Bare(text string) string {
	l := newLexer(text)
	first := l.next()
	if first.punct(",") {
		first = l.next()
	}
	last := first
	for t := first; t.kind != tokEOF; t = l.next() {
		if t.kind == tokBad { // a text that lost its quotes may be anything
			return text
		}
		last = t
	}
	return AsWritten(text[first.start:last.end])
}

// FirstText is the first of the texts that stand beside each other ('a' 'b'), decoded. ok is false where a text begins with none.
func FirstText(text string) (first string, ok bool) {
	text = strings.TrimLeft(text, " \t\r\n")
	if text == "" || text[0] != '\'' && text[0] != '"' {
		return "", false
	}
	part, _, ok := newLexer(text).onePart(0)
	return string(part), ok
}
