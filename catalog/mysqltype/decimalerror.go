package mysqltype

import (
	"fmt"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// The numbers of MySQL's errors and warnings for what a column has no place for.
const (
	OutOfRange  = 1264 // a number that is too large
	Truncated   = 1265 // more than the column takes
	WrongNumber = 1366 // a text that is no number
	tooLong     = 1406 // a text or bytes
	wrongJSON   = 3140 // a text that is no JSON
)

// DecimalError says that a value is none that a DECIMAL column can hold.
type DecimalError struct {
	Value  any
	Beyond bool   // it is a number, and too large
	Begins bool   // it is a text that begins with a number
	Column string // or "" for none
	Row    int64  // from 1
}

func (e *DecimalError) Error() string {
	text := "Out of range value"
	if !e.Beyond {
		shown := e.Value
		if bytes, ok := shown.([]byte); ok {
			shown = string(bytes)
		}
		text = fmt.Sprintf("Incorrect decimal value: '%s'", ShownText(fmt.Sprint(shown)))
	}
	if e.Column == "" {
		return text
	}
	return fmt.Sprintf("%s for column '%s' at row %d", text, e.Column, e.Row)
}

// Number is that of MySQL's error.
func (e *DecimalError) Number() int {
	if e.Beyond {
		return OutOfRange
	}
	return WrongNumber
}

// Warn is what becomes of the error with IGNORE: a note where the column takes the number that the text begins with.
func (e *DecimalError) Warn(ctx *sql.Context) {
	if e.Begins {
		ctx.Session.Warn(&sql.Warning{Level: "Note", Code: Truncated, Message: fmt.Sprintf("Data truncated for column '%s' at row %d", e.Column, e.Row)})
		return
	}
	ctx.Warn(e.Number(), "%s", e.Error())
}

// IntoDecimal is a value as a DECIMAL column holds it. With a DecimalError comes the nearest one: the limit for what is too large, and the number that a text begins with.
func IntoDecimal(ctx *sql.Context, t sql.DecimalType, v any) (any, error) {
	n, whole, err := exactly(ctx, v)
	wrong := &DecimalError{Value: v}
	switch {
	case err != nil:
		return nil, err
	case n == nil || n.Form == apd.NaN:
		return t.Zero(), wrong
	case n.Form == apd.Infinite:
		wrong.Beyond = true
		return DecimalLimit(t, n.Negative), wrong
	}
	converted, inRange, err := t.Convert(ctx, n)
	switch {
	case err != nil || inRange != sql.InRange:
		wrong.Beyond = whole
		return DecimalLimit(t, n.Negative), wrong
	case !whole:
		wrong.Begins = true
		return converted, wrong
	}
	return converted, nil
}

// exactly is a value as a number, and of a text the one that it begins with, if any; whole: nothing stands behind it.
func exactly(ctx *sql.Context, v any) (n *apd.Decimal, whole bool, err error) {
	v, err = Scalar(ctx, v)
	if err != nil {
		return nil, false, err
	}
	if text, ok := v.(string); ok {
		n, whole = DecimalOf(text)
		return n, whole, nil
	}
	n, err = types.InternalDecimalType.ConvertToDecimal(v)
	return n, true, err
}

// Scalar is what a document that is a scalar holds, bytes as a text, and any other value as it is.
func Scalar(ctx *sql.Context, v any) (any, error) {
	switch v := v.(type) {
	case []byte:
		return string(v), nil
	case sql.JSONWrapper:
		return v.ToInterface(ctx)
	}
	return v, nil
}
