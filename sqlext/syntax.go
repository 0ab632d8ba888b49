package sqlext

import (
	"strings"
	"unicode/utf8"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"
)

// maxNear is how much of the statement MySQL shows in a syntax error, in bytes.
const maxNear = 80

// SyntaxErrorAt returns the error of a statement that does not follow the grammar from the byte at on; expected may be empty.
func SyntaxErrorAt(sql string, at int, expected string) *SyntaxError {
	near := sql[at:]
	if len(near) > maxNear {
		cut := maxNear
		for cut > 0 && !utf8.RuneStart(near[cut]) {
			cut--
		}
		near = near[:cut]
	}
	return &SyntaxError{Near: near, Line: 1 + strings.Count(sql[:at], "\n"), Expected: expected}
}

// FromVitess turns a syntax error of the vitess parser into MySQL's form. It reports false when err is none, or does not
// have the statement.
func FromVitess(err error) (*SyntaxError, bool) {
	syntax, ok := vterrors.AsSyntaxError(err)
	if !ok || syntax.Statement == "" {
		return nil, false
	}
	at := vitessPosition(syntax.Statement, syntax)
	text := syntax.Statement[:at] + AsWritten(syntax.Statement[at:])
	return SyntaxErrorAt(text, len(text)-len(strings.TrimLeft(text[at:], " \t\r\n")), ""), true
}

// vitessPosition returns where the token begins that the vitess parser stopped at, or the end of a statement that ended too early.
func vitessPosition(sql string, err vterrors.SyntaxError) int {
	// Position counts from 1 and is one past the token: that of the character read ahead.
	end := err.Position - 1
	l := newLexer(sql)
	for {
		switch t := l.next(); {
		case t.kind != tokEOF && t.end < end:
		case t.kind != tokBad && endsEarly(sql, err.Position):
			return len(sql)
		default:
			return t.start
		}
	}
}

// endsEarly reports whether something is missing at the end of the statement. vitess' position does not tell its last token from
// the end behind it; with one more word behind the statement it does.
func endsEarly(sql string, position int) bool {
	rest := strings.TrimRight(sql, " \t\r\n;")
	if position <= len(rest) {
		return false
	}
	_, err := sqlparser.Parse(rest + " x")
	syntax, ok := vterrors.AsSyntaxError(err)
	return !ok || syntax.Position > len(rest)+1
}

// isPlainName reports whether name needs no quotes: vitess sees one plain identifier.
func isPlainName(name string) bool {
	if name == "" || name[0] == '@' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || c == '$' || !isLetter(c) && !isDigit(c) {
			return false
		}
	}
	if isDigit(name[0]) {
		return false
	}
	return !isKeyword(name)
}

// isKeyword reports whether vitess takes the word for a keyword, reserved or not.
func isKeyword(word string) bool {
	kind, _ := sqlparser.NewStringTokenizer(word).Scan()
	return kind != sqlparser.ID
}
