package format

import (
	"bytes"
	"fmt"
	"strconv"

	"lakesql/batch"
)

// Misfit says that a text is no value of a type.
func (t *Times) Misfit(text []byte, typ batch.Type) string {
	if isWholeNumber(text) && isInteger(typ.Kind) {
		return fmt.Sprintf("%s does not fit into %s", Quote(text), t.Wanted(typ))
	}
	return fmt.Sprintf("%s is no %s", Quote(text), t.Wanted(typ))
}

func isInteger(k batch.Kind) bool {
	return k == batch.Int8 || k == batch.Int16 || k == batch.Int32 || k == batch.Int64
}

// isWholeNumber says whether the text has nothing but digits behind a sign, of whatever size.
func isWholeNumber(text []byte) bool {
	digits := bytes.TrimLeft(text, "+-")
	return len(digits) > 0 && len(text)-len(digits) <= 1 && len(bytes.TrimLeft(digits, "0123456789")) == 0
}

// Quote shows a field in a message, cut where it is long.
func Quote(text []byte) string {
	const shown = 64
	if len(text) <= shown {
		return strconv.Quote(string(text))
	}
	return strconv.Quote(string(text[:shown])) + fmt.Sprintf("... (%d bytes)", len(text))
}
