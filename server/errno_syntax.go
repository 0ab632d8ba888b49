package server

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/dolthub/vitess/go/vt/vterrors"
)

// nearBytes is how much of a statement MySQL shows in a syntax error.
const nearBytes = 80

// vitessSyntax is how vitess words a syntax error. The position is where its tokenizer stood, one past the token that did not fit.
var vitessSyntax = regexp.MustCompile(`(?s)^syntax error at position (\d+)(?: near '(.*)')?$`)

// syntaxError rebuilds vitess' syntax errors in MySQL's words; nil for other errors.
func syntaxError(err error) *mysql.SQLError {
	statement := ""
	if e, ok := vterrors.AsSyntaxError(err); ok {
		err, statement = e, e.Statement
	}
	m := vitessSyntax.FindStringSubmatch(err.Error())
	if m == nil {
		return nil
	}
	position, convErr := strconv.Atoi(m[1])
	if convErr != nil {
		return nil
	}
	near, line := locate(statement, position, m[2])
	return mysql.NewSQLError(mysql.ERParseError, mysql.SSClientError, "%s", syntaxText(near, line))
}

// locate finds the text from the token that did not fit, and its line.
func locate(statement string, position int, token string) (near string, line int) {
	if statement == "" {
		return token, 1
	}
	at := tokenEndingAt(statement, position)
	if at < 0 { // vitess looked ahead: the token that it names is the best guess
		at = max(strings.LastIndex(statement[:min(max(position, 0), len(statement))], token), 0)
	}
	if atEnd(statement, position) {
		at = len(statement)
	}
	return clip(statement[at:]), 1 + strings.Count(statement[:at], "\n")
}

// tokenEndingAt returns where the token begins behind which vitess' tokenizer stood at the position; -1: there is none. The
// tokenizer has always read one character more than its token.
func tokenEndingAt(statement string, position int) int {
	tokens := sqlparser.NewStringTokenizer(statement)
	for {
		before := max(tokens.Position-1, 0)
		kind, _ := tokens.Scan()
		switch {
		case tokens.Position == position && before < len(statement):
			blanks := len(statement[before:]) - len(strings.TrimLeft(statement[before:], " \t\r\n"))
			return before + blanks
		case kind == 0, tokens.Position > position:
			return -1
		}
	}
}

// atEnd tells whether the statement ended too early: then vitess names its last token, and MySQL an empty text. vitess' position does
// not tell the last token from the end behind it; with one more word behind the statement it does.
func atEnd(statement string, position int) bool {
	rest := strings.TrimRight(statement, " \t\r\n;")
	if position <= len(rest) {
		return false
	}
	_, err := sqlparser.Parse(rest + " x")
	e, ok := vterrors.AsSyntaxError(err)
	return !ok || e.Position > len(rest)+1
}

func clip(text string) string {
	if len(text) <= nearBytes {
		return text
	}
	cut := nearBytes
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}
