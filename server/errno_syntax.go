package server

import (
	"regexp"
	"strings"

	"github.com/dolthub/vitess/go/mysql"

	"lakesql/sqlext"
)

// vitessSyntax is how vitess words a syntax error: all that is left of one that GMS has wrapped without the statement.
var vitessSyntax = regexp.MustCompile(`(?s)^syntax error at position \d+(?: near '(.*)')?$`)

// syntaxError rebuilds vitess' syntax errors in MySQL's words; nil for other errors.
func syntaxError(err error) *mysql.SQLError {
	if strings.HasPrefix(err.Error(), "max nesting level reached") {
		return mysql.NewSQLError(1436, mysql.SSUnknownSQLState, "The statement is nested too deeply: parentheses and subqueries go a few hundred levels deep")
	}
	syntax, ok := sqlext.FromVitess(err)
	if m := vitessSyntax.FindStringSubmatch(err.Error()); !ok && m != nil {
		syntax, ok = &sqlext.SyntaxError{Near: m[1], Line: 1}, true
	}
	if !ok {
		return nil
	}
	return mysql.NewSQLError(mysql.ERParseError, mysql.SSClientError, "%s", syntax.Error())
}

var (
	wrongCount  = regexp.MustCompile(`^function '(.*)' expected .* arguments, .* received$`)
	unknownUnit = regexp.MustCompile(`^invalid interval unit: (\w+)$`)
	unboundMark = regexp.MustCompile(`^unbound variable "v\d+" in query`)
)

// inGrammar is the error of syntax that another error is to MySQL, whose grammar counts the arguments of some functions, and knows units and where a mark can be; nil for
// other errors.
func inGrammar(text string, err error) error {
	message := firstLine(err.Error())
	var syntax *sqlext.SyntaxError
	if m := wrongCount.FindStringSubmatch(message); m != nil {
		syntax = sqlext.WrongCall(text, m[1])
	} else if m := unknownUnit.FindStringSubmatch(message); m != nil {
		syntax = sqlext.UnknownWord(text, m[1])
	} else if unboundMark.MatchString(message) {
		syntax = sqlext.StrayMark(text)
	}
	if syntax == nil {
		return nil
	}
	return syntax
}
