package main

import (
	"github.com/reeflective/readline"

	"lakesql/sqlext"
)

// history is what was typed, for the next time, without the lines that hold a password.
type history struct{ readline.History }

// openHistory reads the file. One that is not there yet is made by the first line.
func openHistory(file string) history {
	kept, _ := readline.NewHistoryFromFile(file) // the error of a file that is not there; other ones come again when it is written
	return history{kept}
}

// Write keeps a line, or several as one.
func (h history) Write(line string) (int, error) {
	if sqlext.Redact(line) != line {
		return h.Len(), nil
	}
	return h.History.Write(line)
}
