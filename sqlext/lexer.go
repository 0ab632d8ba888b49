package sqlext

import (
	"math"
	"strings"
)

type tokenKind uint8

const (
	tokEOF    tokenKind = iota
	tokWord             // an unquoted word: keyword, name, @variable; text as written
	tokQuoted           // `name`; text decoded
	tokString           // 'text' or "text", adjacent ones joined; text decoded
	tokNumber           // text as written
	tokParam            // ?
	tokPunct            // one character, or one of the operators that vitess knows
	tokBad              // what no token begins with, or a quote or comment without an end
)

type token struct {
	kind       tokenKind
	start, end int // in the text
	text       string
	param      int // tokParam: its index in the text
}

// is reports whether t is the unquoted word, in any case.
func (t token) is(word string) bool { return t.kind == tokWord && strings.EqualFold(t.text, word) }

func (t token) punct(text string) bool { return t.kind == tokPunct && t.text == text }

// span is a piece of the text.
type span struct{ start, end int }

// lexer cuts a text into the tokens that the vitess tokenizer finds in it. Unlike vitess it takes letters beyond ASCII and $ as
// parts of words, and leaves the pairs that vitess joins (FOR VERSION, NOT ENFORCED) apart.
type lexer struct {
	sql     string
	pos     int
	limit   int // the end of the executable comment that pos is in, or of the text
	resume  int // where to go on after limit
	params  int
	name    int    // where the word or quoted name before ends: a '.' right there begins no number
	account bool   //  an '@' right here belongs to an account name: 'u'@'h'
	markers []span // the "/*!80000" and "*/" of executable comments so far, and all of foreign
	foreign []span // executable comments of MariaDB or of a newer MySQL so far
}

func newLexer(sql string) *lexer {
	return &lexer{sql: sql, limit: len(sql), resume: len(sql), name: -1}
}

// next returns the next token; at the end of the text tokEOF, again and again.
func (l *lexer) next() token {
	account := l.account && l.at(0) == '@'
	l.account = false
	if l.skip() {
		return l.token(tokBad, l.pos, l.end())
	}
	start := l.pos
	if start == len(l.sql) {
		return token{kind: tokEOF, start: start, end: start}
	}
	c := l.sql[start]
	switch {
	case account:
		return l.token(tokPunct, start, start+1)
	case (c == 'x' || c == 'X' || c == 'b' || c == 'B') && l.at(1) == '\'':
		return l.hexOrBits()
	case isLetter(c) || c == '@':
		return l.word()
	case isDigit(c), c == '.' && isDigit(l.at(1)) && start != l.name:
		return l.number()
	case c == '\'' || c == '"':
		return l.str()
	case c == '`':
		return l.quoted()
	case c == '?':
		t := l.token(tokParam, start, start+1)
		t.param = l.params
		l.params++
		return t
	}
	for _, op := range operators {
		if strings.HasPrefix(l.sql[start:l.limit], op) {
			return l.token(tokPunct, start, start+len(op))
		}
	}
	if strings.IndexByte("=,()+*%^~&|./-<>!:;", c) >= 0 {
		return l.token(tokPunct, start, start+1)
	}
	return l.token(tokBad, start, start+1)
}

// operators are the tokens of several characters, longer ones before their prefixes.
var operators = []string{"->>", "->", "<=>", "<>", "<<", "<=", ">=", ">>", "!=", "&&", "||", ":="}

// end is the end of all text, for a token that no end was found for.
func (l *lexer) end() int {
	l.limit, l.resume = len(l.sql), len(l.sql)
	return len(l.sql)
}

func (l *lexer) at(i int) byte {
	if l.pos+i < l.limit {
		return l.sql[l.pos+i]
	}
	return 0
}

func (l *lexer) token(kind tokenKind, start, end int) token {
	l.pos = end
	if kind == tokWord || kind == tokQuoted {
		l.name = end
	}
	return token{kind: kind, start: start, end: end, text: l.sql[start:end]}
}

// skip goes over blanks and comments and into executable comments. It reports a comment that does not end.
func (l *lexer) skip() (bad bool) {
	for {
		for l.pos < l.limit && strings.IndexByte(" \t\r\n", l.sql[l.pos]) >= 0 {
			l.pos++
		}
		rest := l.sql[l.pos:l.limit]
		switch {
		case rest == "" && l.limit < len(l.sql):
			l.markers = append(l.markers, span{l.limit, l.resume})
			l.pos, l.limit, l.resume = l.resume, len(l.sql), len(l.sql)
		case strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '), strings.HasPrefix(rest, "#"), strings.HasPrefix(rest, "//"):
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				l.pos += i + 1
			} else {
				l.pos = l.limit
			}
		case strings.HasPrefix(rest, "/*"):
			i := strings.Index(rest[2:], "*/")
			if i < 0 {
				return true
			}
			end := l.pos + 2 + i
			inner, version, ok := executable(l.sql[l.pos:end])
			ours := version == deltaVersion && strings.HasPrefix(l.sql[l.pos+inner:end], deltaType+" ")
			if version > mysqlVersion && !ours {
				l.markers, l.foreign = append(l.markers, span{l.pos, end + 2}), append(l.foreign, span{l.pos, end + 2})
			} else if ok && l.limit == len(l.sql) {
				l.markers = append(l.markers, span{l.pos, l.pos + inner})
				l.pos, l.limit, l.resume = l.pos+inner, end, end+2
				continue
			}
			l.pos = end + 2
		default:
			return false
		}
	}
}

// mysqlVersion is the MySQL that we say to be: executable comments of a newer one are comments.
const mysqlVersion = 80045

// A column's DELTA TYPE stands in an executable comment of this version, as SHOW CREATE TABLE writes it: no MySQL reads it.
const (
	deltaVersion = 999999
	deltaType    = "DELTA TYPE"
)

// executable returns where the SQL begins in an executable comment that is given without its end, behind /*! and the version, and that version.
// That of MariaDB's, /*M!, is newer than any of MySQL's.
func executable(comment string) (inner, version int, ok bool) {
	if strings.HasPrefix(comment, "/*M!") {
		return 0, math.MaxInt, false
	} else if !strings.HasPrefix(comment, "/*!") {
		return 0, 0, false
	}
	const start = 3
	digits := start
	for digits < len(comment) && isDigit(comment[digits]) && digits-start < 6 {
		version = version*10 + int(comment[digits]-'0')
		digits++
	}
	switch n := digits - start; {
	case n == 6 && !(digits < len(comment) && isSpace(comment[digits])):
		version /= 10
		digits-- // five digits are the version, the sixth belongs to the SQL
	case n > 0 && n < 5:
		return 0, 0, false // vitess takes it for a plain comment
	}
	for digits < len(comment) && isSpace(comment[digits]) {
		digits++
	}
	return digits, version, digits < len(comment)
}

func (l *lexer) word() token {
	start := l.pos
	i := start + 1
	system := l.sql[start] == '@' && l.at(1) == '@'
	if system {
		i++
	}
	for i < l.limit && (isLetter(l.sql[i]) || isDigit(l.sql[i]) || system && strings.IndexByte(".'\"`", l.sql[i]) >= 0) {
		i++
	}
	if l.sql[start] == '@' && i < l.limit && l.sql[i] == '`' {
		if n := strings.IndexByte(l.sql[i+1:l.limit], '`'); n >= 0 {
			i += n + 2
		}
	}
	return l.accountName(l.token(tokWord, start, i))
}

func (l *lexer) accountName(t token) token {
	l.account = true
	return t
}

func (l *lexer) hexOrBits() token {
	start := l.pos
	i := start + 2
	for i < l.limit && (isDigit(l.sql[i]) || isHexLetter(l.sql[i])) {
		i++
	}
	if i < l.limit && l.sql[i] == '\'' {
		return l.token(tokNumber, start, i+1)
	}
	return l.token(tokBad, start, i)
}

func (l *lexer) number() token {
	start := l.pos
	i, dot := start, false
	digits := func(ok func(byte) bool) {
		for i < l.limit && ok(l.sql[i]) {
			i++
		}
	}
	hex := l.at(0) == '0' && (l.at(1) == 'x' || l.at(1) == 'X')
	if hex {
		i += 2
		digits(func(c byte) bool { return isDigit(c) || isHexLetter(c) })
	} else {
		digits(isDigit)
		if i < l.limit && l.sql[i] == '.' {
			dot = true
			i++
			digits(isDigit)
		}
		if i < l.limit && (l.sql[i] == 'e' || l.sql[i] == 'E') {
			i++
			if i < l.limit && (l.sql[i] == '+' || l.sql[i] == '-') {
				i++
			}
			digits(isDigit)
		}
	}
	if i == l.limit || !isLetter(l.sql[i]) {
		return l.token(tokNumber, start, i)
	}
	if dot {
		return l.token(tokBad, start, i)
	}
	for i < l.limit && (isLetter(l.sql[i]) || isDigit(l.sql[i])) {
		i++
	}
	return l.accountName(l.token(tokWord, start, i)) // a name that begins with digits
}

// quoted lexes a name in backquotes.
func (l *lexer) quoted() token {
	start := l.pos
	for i := start + 1; i < l.limit; i++ {
		if l.sql[i] != '`' {
			continue
		}
		if i+1 < l.limit && l.sql[i+1] == '`' {
			i++
			continue
		}
		t := l.token(tokQuoted, start, i+1)
		t.text = strings.ReplaceAll(l.sql[start+1:i], "``", "`")
		return l.accountName(t)
	}
	return l.token(tokBad, start, l.end())
}

// str lexes a string literal and those that follow it with nothing but blanks between, which SQL joins.
func (l *lexer) str() token {
	start := l.pos
	var text []byte
	for end := start; ; {
		part, after, ok := l.onePart(end)
		if !ok {
			return l.token(tokBad, start, l.end())
		}
		text = append(text, part...)
		end = after
		for end < l.limit && strings.IndexByte(" \t\r\n", l.sql[end]) >= 0 {
			end++
		}
		if end == l.limit || l.sql[end] != '\'' && l.sql[end] != '"' {
			t := l.token(tokString, start, after)
			t.text = string(text)
			return l.accountName(t)
		}
	}
}

func (l *lexer) onePart(start int) (text []byte, end int, ok bool) {
	quote := l.sql[start]
	for i := start + 1; i < l.limit; i++ {
		switch c := l.sql[i]; {
		case c == '\\':
			i++
			if i == l.limit {
				return nil, 0, false
			}
			if c := l.sql[i]; c == '%' || c == '_' { // keep the backslash, for LIKE
				text = append(text, '\\', c)
			} else {
				text = append(text, unescape(c))
			}
		case c == quote && i+1 < l.limit && l.sql[i+1] == quote:
			i++
			text = append(text, quote)
		case c == quote:
			return text, i + 1, true
		default:
			text = append(text, c)
		}
	}
	return nil, 0, false
}

// unescape is the character that \c stands for.
func unescape(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26
	default:
		return c
	}
}

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}

func isHexLetter(c byte) bool { return 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
