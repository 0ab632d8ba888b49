package batch

import (
	"errors"
	"strconv"
)

// Why a text is no value of a type. Errors of the parsers wrap one of these.
var (
	ErrSyntax     = errors.New("not of the right form")
	ErrOutOfRange = errors.New("out of the type's range")
	ErrInexact    = errors.New("has more digits than the type's scale")
)

// maxQuoted is how much of a text an error shows, in bytes.
const maxQuoted = 64

// ParseError says which text could not be read as which type, and why.
type ParseError struct {
	Text string // at most maxQuoted bytes of it
	Type string // what was wanted, such as decimal(10,2)
	Err  error  // ErrSyntax, ErrOutOfRange or ErrInexact
}

func (e *ParseError) Error() string {
	return "read " + strconv.Quote(e.Text) + " as " + e.Type + ": " + e.Err.Error()
}

func (e *ParseError) Unwrap() error { return e.Err }

// parseError wraps the reason; it cuts long texts.
func parseError(text []byte, typ string, err error) error {
	if len(text) > maxQuoted {
		text = text[:maxQuoted]
	}
	return &ParseError{Text: string(text), Type: typ, Err: err}
}
