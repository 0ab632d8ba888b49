package batch

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"lakesql/format/variant"
)

// AppendJSON appends row i as JSON without blanks. A struct is an object with all its fields in order, null ones too; a list is an array; a map is
// an object whose keys are the keys' texts. Numbers are numbers, decimals with all their digits, and a float that JSON has no number for
// is "NaN", "Infinity" or "-Infinity". A date is "yyyy-MM-dd", a timestamp "yyyy-MM-dd HH:mm:ss[.ffffff]" in UTC, binary is base64. A variant is
// its value's JSON by the same rules; it panics on one that variant.Check refuses, which no producer lets into a batch.
func (v *Vector) AppendJSON(dst []byte, row int) []byte {
	if v.IsNull(row) {
		return append(dst, "null"...)
	}
	if v.Dict != nil {
		return v.Dict.AppendJSON(dst, int(v.Codes[row]))
	}
	switch v.Type.Kind {
	case Float32:
		return appendJSONFloat(dst, float64(v.F32[row]), 32)
	case Float64:
		return appendJSONFloat(dst, v.F64[row], 64)
	case Date, Timestamp, TimestampNTZ:
		return append(v.AppendText(append(dst, '"'), row), '"')
	case String:
		return AppendJSONString(dst, v.BytesAt(row))
	case Binary:
		return appendJSONBinary(dst, v.BytesAt(row))
	case Struct:
		return v.appendJSONStruct(dst, row)
	case List:
		return v.appendJSONList(dst, row)
	case Map:
		return v.appendJSONMap(dst, row)
	case Variant:
		value, err := variant.Parse(v.Children[0].BytesAt(row), v.Children[1].BytesAt(row))
		if err != nil {
			panic(fmt.Sprintf("batch: %v", err))
		}
		return appendJSONVariant(dst, value)
	}
	return v.AppendText(dst, row)
}

func (v *Vector) appendJSONStruct(dst []byte, row int) []byte {
	dst = append(dst, '{')
	for i, f := range v.Type.Fields() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendJSONString(dst, []byte(f.Name)), ':')
		dst = v.Children[i].AppendJSON(dst, row)
	}
	return append(dst, '}')
}

func (v *Vector) appendJSONList(dst []byte, row int) []byte {
	dst = append(dst, '[')
	for i := v.Off[row]; i < v.Off[row+1]; i++ {
		if i > v.Off[row] {
			dst = append(dst, ',')
		}
		dst = v.Children[0].AppendJSON(dst, int(i))
	}
	return append(dst, ']')
}

func (v *Vector) appendJSONMap(dst []byte, row int) []byte {
	dst = append(dst, '{')
	var key []byte
	for i := v.Off[row]; i < v.Off[row+1]; i++ {
		if i > v.Off[row] {
			dst = append(dst, ',')
		}
		if key = v.Children[0].AppendJSON(key[:0], int(i)); key[0] == '"' {
			dst = append(dst, key...)
		} else {
			dst = AppendJSONString(dst, key)
		}
		dst = v.Children[1].AppendJSON(append(dst, ':'), int(i))
	}
	return append(dst, '}')
}

// appendJSONVariant panics where the variant is damaged.
func appendJSONVariant(dst []byte, v variant.Value) []byte {
	switch v.Kind() {
	case variant.Null:
		return append(dst, "null"...)
	case variant.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case variant.Int:
		return strconv.AppendInt(dst, v.Int(), 10)
	case variant.Float32:
		return appendJSONFloat(dst, v.Float(), 32)
	case variant.Float64:
		return appendJSONFloat(dst, v.Float(), 64)
	case variant.Decimal:
		unscaled, scale := v.Decimal()
		return AppendDecimal(dst, unscaled, scale)
	case variant.String:
		return AppendJSONString(dst, v.Bytes())
	case variant.Binary:
		return appendJSONBinary(dst, v.Bytes())
	case variant.Object, variant.Array:
		return appendJSONVariants(dst, v)
	}
	return append(appendVariantText(append(dst, '"'), v), '"')
}

// appendJSONVariants appends an object or array.
func appendJSONVariants(dst []byte, v variant.Value) []byte {
	object := v.Kind() == variant.Object
	brackets := "[]"
	if object {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var child variant.Value
		var err error
		if object {
			var name []byte
			name, child, err = v.Field(i)
			dst = append(AppendJSONString(dst, name), ':')
		} else {
			child, err = v.Element(i)
		}
		if err != nil {
			panic(fmt.Sprintf("batch: %v", err))
		}
		dst = appendJSONVariant(dst, child)
	}
	return append(dst, brackets[1])
}

// appendVariantText appends a date, a time or a UUID.
func appendVariantText(dst []byte, v variant.Value) []byte {
	switch v.Kind() {
	case variant.Date:
		return AppendDate(dst, int32(v.Int()))
	case variant.Time:
		at := len(dst)
		dst = AppendTimestamp(dst, v.Int())
		return append(dst[:at], dst[at+len("1970-01-01 "):]...)
	case variant.Timestamp, variant.TimestampNTZ:
		return AppendTimestamp(dst, v.Int())
	case variant.Nanos, variant.NanosNTZ:
		return appendNanos(dst, v.Int())
	case variant.UUID:
		id := v.Bytes()
		return fmt.Appendf(dst, "%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	}
	panic(fmt.Sprintf("batch: text of a variant of kind %d", v.Kind()))
}

// appendNanos appends nanoseconds since 1970-01-01T00:00:00 as AppendTimestamp writes microseconds, with nine digits where six do not do.
func appendNanos(dst []byte, ns int64) []byte {
	us := floorDiv(ns, 1000)
	rest := int(ns - us*1000)
	dst = AppendTimestamp(dst, us)
	if rest == 0 {
		return dst
	}
	if us%MicrosPerSecond == 0 {
		dst = append(dst, ".000000"...)
	}
	return appendTwo(append(dst, byte('0'+rest/100)), rest%100)
}

// appendJSONFloat appends the fewest digits that read back as the same value, with a point or an exponent.
func appendJSONFloat(dst []byte, x float64, bits int) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, `"NaN"`...)
	case math.IsInf(x, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(x, -1):
		return append(dst, `"-Infinity"`...)
	}
	at := len(dst)
	dst = strconv.AppendFloat(dst, x, 'g', -1, bits)
	for _, c := range dst[at:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

func appendJSONBinary(dst, x []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), x), '"')
}

// AppendJSONString appends a text as JSON, in quotes. What is not UTF-8 becomes U+FFFD.
func AppendJSONString(dst, x []byte) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(x); {
		if c := x[i]; c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				dst = appendEscape(append(dst, x[start:i]...), c)
				start = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(x[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(append(dst, x[start:i]...), "\uFFFD"...)
			start = i + 1
		}
		i += size
	}
	return append(append(dst, x[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
