package sqlext

import (
	"strings"
	"unicode/utf8"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"
)

// maxNear is how much of the statement MySQL shows in a syntax error, in bytes.
const maxNear = 80

func syntaxError(sql string, at int, expected string) *SyntaxError {
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

// FromVitess turns an error of the vitess parser about sql into MySQL's form. It reports false when err is no syntax error.
func FromVitess(sql string, err error) (*SyntaxError, bool) {
	at, ok := vitessPosition(sql, err)
	if !ok {
		return nil, false
	}
	return syntaxError(sql, at, ""), true
}

// vitessPosition returns where the token begins that the vitess parser stopped at.
func vitessPosition(sql string, err error) (int, bool) {
	syntax, ok := vterrors.AsSyntaxError(err)
	if !ok {
		return 0, false
	}
	// Position counts from 1 and is one past the token: that of the character read ahead.
	end := syntax.Position - 1
	l := newLexer(sql)
	for {
		t := l.next()
		if t.kind == tokEOF || t.end >= end {
			return t.start, true
		}
	}
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
