package server

import (
	"fmt"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// countMarks counts the parameters of a statement: the question marks that are no part of a string, a quoted name or a comment.
func countMarks(statement string) int {
	tokens := sqlparser.NewStringTokenizer(statement)
	marks := 0
	for {
		before := tokens.Position
		kind, text := tokens.Scan()
		switch {
		case kind == 0, kind == sqlparser.LEX_ERROR && tokens.Position == before:
			return marks
		case kind == sqlparser.VALUE_ARG && string(text) == fmt.Sprintf(":v%d", marks+1):
			marks++
		}
	}
}

// isBlank tells whether nothing but blanks, comments and semicolons is left of a text.
func isBlank(text string) bool {
	tokens := sqlparser.NewStringTokenizer(text)
	for {
		switch kind, _ := tokens.Scan(); kind {
		case 0:
			return true
		case ';', sqlparser.COMMENT:
		default:
			return false
		}
	}
}

// isComment tells whether a text in which there is no statement is a comment: that does nothing, where no text at all is an error.
func isComment(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && text[0] != ';'
}
