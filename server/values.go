package server

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// appendFunc appends a value's text, or reports that it does not know the Go type.
type appendFunc func(dst []byte, value any) ([]byte, bool)

// appender returns the short way from a column's values to text; nil: there is only the type's own.
func appender(ctx *sql.Context, t sql.Type, decimals uint32) appendFunc {
	switch t.Type() {
	case sqltypes.Int8, sqltypes.Int16, sqltypes.Int24, sqltypes.Int32, sqltypes.Int64,
		sqltypes.Uint8, sqltypes.Uint16, sqltypes.Uint24, sqltypes.Uint32, sqltypes.Uint64:
		if types.IsNumber(t) {
			return appendInteger
		}
	case sqltypes.Float32, sqltypes.Float64:
		return appendFloat
	case sqltypes.Date:
		return func(dst []byte, value any) ([]byte, bool) { return appendEarly(dst, value, time.DateOnly) }
	case sqltypes.Datetime, sqltypes.Timestamp:
		if moment, ok := t.(sql.DatetimeType); ok {
			layout := time.DateTime
			if n := moment.Precision(); n > 0 {
				layout += "." + strings.Repeat("0", n)
			}
			return func(dst []byte, value any) ([]byte, bool) { return appendEarly(dst, value, layout) }
		}
	case sqltypes.Time:
		return func(dst []byte, value any) ([]byte, bool) { return appendTime(dst, value, int(decimals)) }
	case sqltypes.VarChar, sqltypes.Text:
		if isPlainText(ctx, t) {
			return appendText
		}
	}
	return nil
}

// appendTime writes a TIME with as many digits behind the second as its column has: those of GMS's have six.
func appendTime(dst []byte, value any, decimals int) ([]byte, bool) {
	span, ok := value.(types.Timespan)
	if !ok {
		return dst, false
	}
	dst = span.AppendBytes(dst)
	if decimals == 0 {
		return dst[:len(dst)-1-timeDecimals], true
	}
	return dst[:len(dst)-timeDecimals+min(decimals, timeDecimals)], true
}

// isPlainText says whether a text goes to the client as it is.
func isPlainText(ctx *sql.Context, t sql.Type) bool {
	text, ok := t.(sql.StringType)
	return ok && isUTF8(text.Collation().CharacterSet()) && resultsAreUTF8(ctx)
}

func resultsAreUTF8(ctx *sql.Context) bool {
	results := ctx.GetCharacterSetResults()
	return results == sql.CharacterSet_Unspecified || results == sql.CharacterSet_binary || isUTF8(results)
}

func isUTF8(c sql.CharacterSetID) bool { return c == sql.CharacterSet_utf8mb4 }

func appendInteger(dst []byte, value any) ([]byte, bool) {
	switch v := value.(type) {
	case int64:
		return strconv.AppendInt(dst, v, 10), true
	case int32:
		return strconv.AppendInt(dst, int64(v), 10), true
	case int16:
		return strconv.AppendInt(dst, int64(v), 10), true
	case int8:
		return strconv.AppendInt(dst, int64(v), 10), true
	case uint64:
		return strconv.AppendUint(dst, v, 10), true
	case uint32:
		return strconv.AppendUint(dst, uint64(v), 10), true
	case uint16:
		return strconv.AppendUint(dst, uint64(v), 10), true
	case uint8:
		return strconv.AppendUint(dst, uint64(v), 10), true
	}
	return dst, false
}

func appendText(dst []byte, value any) ([]byte, bool) {
	text, ok := value.(string)
	if !ok {
		return dst, false
	}
	return append(dst, text...), true
}

// appendEarly writes the years 1 to 999 with four digits, as MySQL does. The type's own way leaves out the zeros before them.
func appendEarly(dst []byte, value any, layout string) ([]byte, bool) {
	at, ok := value.(time.Time)
	if !ok || at.Year() < 1 || at.Year() > 999 {
		return dst, false
	}
	return at.AppendFormat(dst, layout), true
}

// appendFloat writes the shortest text that reads back as the same number, with an exponent where MySQL has one.
func appendFloat(dst []byte, value any) ([]byte, bool) {
	switch v := value.(type) {
	case float64:
		return appendReal(dst, v, 64), true
	case float32:
		return appendReal(dst, float64(v), 32), true
	}
	return dst, false
}

// maxPlainPoint is how far from the first digit the decimal point may be, either way, in a number without an exponent: MySQL's
// DBL_DIG. 100000000000000 is plain and 1e15 is not; 0.000000000000001 is plain and 1e-16 is not.
const maxPlainPoint = 15

func appendReal(dst []byte, v float64, bits int) []byte {
	switch { // MySQL has neither: these are the words that Java's, Go's and Python's clients read
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	case v == 0:
		return strconv.AppendFloat(dst, v, 'g', -1, bits)
	}
	if plain, ok := appendShort(dst, v, bits); ok {
		return plain
	}
	var scratch [32]byte
	text := strconv.AppendFloat(scratch[:0], v, 'e', -1, bits)
	mark := len(text) - 1
	for text[mark] != 'e' {
		mark--
	}
	exponent, err := strconv.Atoi(string(text[mark+1:]))
	if err != nil { // AppendFloat writes a number there
		panic(err)
	}
	if point := exponent + 1; point > maxPlainPoint || point <= -maxPlainPoint {
		return strconv.AppendInt(append(dst, text[:mark+1]...), int64(exponent), 10)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, bits)
}

// maxShort bounds the digits of a number by which appendShort knows a double: of decimals with so many digits no two are the same double.
const maxShort = 1e15

// appendShort writes a double that is a number with at most two digits behind the point, as amounts are. Where the division gives the same double, no
// other decimal of 15 digits does, so that this is the shortest text.
func appendShort(dst []byte, v float64, bits int) ([]byte, bool) {
	cents := math.RoundToEven(v * 100)
	if bits != 64 || math.Abs(cents) >= maxShort || math.Abs(cents) < 1 || cents/100 != v {
		return dst, false
	}
	n := int64(cents)
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	whole, part := n/100, byte(n%100)
	dst = strconv.AppendInt(dst, whole, 10)
	if part == 0 {
		return dst, true
	}
	dst = append(dst, '.', '0'+part/10)
	if part%10 != 0 {
		dst = append(dst, '0'+part%10)
	}
	return dst, true
}
