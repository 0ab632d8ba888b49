package sqlext

import (
	"math"
	"strings"
)

// grammarCalls are the functions whose arguments MySQL's grammar counts, with how many they take: another number is an error of syntax.
var grammarCalls = map[string]count{
	"IF": {3, 3}, "LEFT": {2, 2}, "RIGHT": {2, 2}, "SUBSTRING": {2, 3}, "SUBSTR": {2, 3}, "MID": {2, 3}, "COALESCE": {1, math.MaxInt}, "MOD": {2, 2}, "REPEAT": {2, 2}, "REPLACE": {3, 3}, "TRUNCATE": {2, 2},
	"MAX": {1, 1}, "MIN": {1, 1}, "SUM": {1, 1}, "AVG": {1, 1}, "STD": {1, 1}, "STDDEV": {1, 1}, "VARIANCE": {1, 1}, "YEAR": {1, 1}, "MONTH": {1, 1}, "DAY": {1, 1}, "HOUR": {1, 1}, "MINUTE": {1, 1},
	"SECOND": {1, 1}, "DATE": {1, 1}, "TIME": {1, 1}, "WEEK": {1, 2}, "ASCII": {1, 1}, "REVERSE": {1, 1}, "QUARTER": {1, 1}, "MICROSECOND": {1, 1}, "TIMESTAMP": {1, 2}, "COUNT": {1, 1},
	"FORMAT": {2, 3}, "INSERT": {4, 4}, "ADDDATE": {2, 2}, "SUBDATE": {2, 2}, "DATE_ADD": {2, 2}, "DATE_SUB": {2, 2}, "USER": {}, "DATABASE": {}, "SCHEMA": {}, "CURDATE": {}, "CURRENT_DATE": {}, "UTC_DATE": {}, "ROW_COUNT": {},
}

// count is how many arguments a function takes.
type count struct{ least, most int }

// wrongAt is where, in the text, the arguments that begin with the first of the tokens are too few or too many; -1 where they are neither.
func (c count) wrongAt(tokens []token) int {
	if len(tokens) == 0 || !tokens[0].punct("(") {
		return -1
	}
	depth, arguments := 0, 1
	for i, t := range tokens {
		switch {
		case t.punct("("):
			depth++
		case t.punct(")") && depth > 1:
			depth--
		case t.punct(")"):
			if i == 1 {
				arguments = 0
			}
			if arguments < c.least {
				return t.start
			}
			return -1
		case t.punct(",") && depth == 1:
			if arguments++; arguments > c.most {
				return t.start
			}
		}
		if i == 1 && c.most == 0 && !t.punct(")") {
			return t.start
		}
	}
	return -1
}

// WrongCall is the error of syntax that a call of a function with too few or too many arguments is to MySQL; nil where it is another error.
func WrongCall(sql, function string) *SyntaxError {
	takes, ok := grammarCalls[strings.ToUpper(function)]
	if !ok {
		return nil
	}
	tokens := allTokens(sql)
	for i, t := range tokens {
		if !t.is(function) {
			continue
		}
		if at := takes.wrongAt(tokens[i+1:]); at >= 0 {
			return SyntaxErrorAt(sql, at, "")
		}
	}
	return nil
}

// UnknownWord is the error of syntax at a word that stands where the grammar wants another one; nil where the text has it not.
func UnknownWord(sql, word string) *SyntaxError {
	for _, t := range allTokens(sql) {
		if t.is(word) {
			return SyntaxErrorAt(sql, t.start, "")
		}
	}
	return nil
}

// StrayMark is the error of syntax at a parameter's mark in a text that is not prepared; nil where there is none.
func StrayMark(sql string) *SyntaxError {
	for _, t := range allTokens(sql) {
		if t.kind == tokParam {
			return SyntaxErrorAt(sql, t.start, "")
		}
	}
	return nil
}
