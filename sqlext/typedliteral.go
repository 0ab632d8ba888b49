package sqlext

import "strings"

// LiteralFunction is the function that Rewrite makes of DATE '...' and TIMESTAMP '...', which vitess takes for texts. Its first argument is the word.
const LiteralFunction = "__literal"

// typedLiterals writes literals of dates and times as calls. `AS OF TIMESTAMP '...'` says itself what it is, and variables, which SET sets, hold texts.
func (r *rewriter) typedLiterals() {
	if r.at(0).is("SET") {
		return
	}
	for i, t := range r.tokens {
		value, before := r.at(i+1), r.at(i-1)
		if value.kind != tokString || !isTypeOfLiteral(t) || before.punct(".") || before.is("OF") {
			continue
		}
		between := r.edits.sql[t.end:value.start]
		if strings.TrimSpace(between) != "" || r.edits.sql[value.start] != '\'' {
			continue // a text in double quotes may be an alias
		}
		r.edits.replace(t.start, value.end, LiteralFunction+"("+QuoteString(r.edits.sql[t.start:t.end])+between+","+r.edits.sql[value.start:value.end]+")")
	}
}

// isTypeOfLiteral leaves TIME '...' a text: the type that GMS has for it shows six digits of a second that nobody wrote.
func isTypeOfLiteral(t token) bool { return t.is("DATE") || t.is("TIMESTAMP") }

// mayHaveTypedLiteral is a cheap test: a text in quotes stands behind one of the words.
func mayHaveTypedLiteral(sql string) bool {
	for rest := sql; ; {
		i := strings.IndexByte(rest, '\'')
		if i < 0 {
			return false
		}
		before := strings.TrimRight(rest[:i], " \t\r\n")
		if endsWith(before, "date") || endsWith(before, "timestamp") {
			return true
		}
		rest = rest[i+1:]
	}
}

// endsWith tells whether a text, which does not begin amid a word, ends with a whole word.
func endsWith(text, word string) bool {
	n := len(text) - len(word)
	return n >= 0 && strings.EqualFold(text[n:], word) && (n == 0 || !isLetter(text[n-1]) && !isDigit(text[n-1]))
}
