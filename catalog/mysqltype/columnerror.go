package mysqltype

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// ColumnError says that a value is none that a column can hold, in MySQL's words. Errors of dates and of DECIMALs have types of their own.
type ColumnError struct {
	Number int // of MySQL's error
	Text   string
}

func (e *ColumnError) Error() string { return e.Text }

// NewColumnError is of a value that a column refused with cause in a row, which is counted from 1. Another cause than that of a value is returned as it is.
func NewColumnError(column *sql.Column, row int64, v any, cause error) error {
	where := fmt.Sprintf("for column '%s' at row %d", column.Name, row)
	switch {
	case sql.ErrValueOutOfRange.Is(cause):
		return &ColumnError{OutOfRange, "Out of range value " + where}
	case types.ErrLengthBeyondLimit.Is(cause):
		return &ColumnError{tooLong, "Data too long " + where}
	case sql.ErrInvalidJson.Is(cause):
		return &ColumnError{wrongJSON, fmt.Sprintf("%s in value for column '%s'.", cause, tableColumn(column))}
	case sql.ErrTruncatedIncorrect.Is(cause) || sql.ErrInvalidValue.Is(cause):
		if n, _ := DecimalOf(fmt.Sprint(v)); n != nil && types.IsInteger(column.Type) {
			return &ColumnError{Truncated, "Data truncated " + where}
		}
		kind := "integer"
		if types.IsFloat(column.Type) {
			kind = strings.ToUpper(column.Type.String())
		}
		return &ColumnError{WrongNumber, fmt.Sprintf("Incorrect %s value: '%s' %s", kind, ShownText(fmt.Sprint(v)), where)}
	}
	return cause
}

func tableColumn(column *sql.Column) string {
	if column.Source == "" {
		return column.Name
	}
	return column.Source + "." + column.Name
}
