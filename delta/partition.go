package delta

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"lakesql/batch"
)

// ParsePartitionValue reads the text of a partition value as one row of type t. "" is null for every type. A timestamp
// without a zone is taken as UTC, as Delta's kernels do.
func ParsePartitionValue(text string, t batch.Type) (*batch.Vector, error) {
	v := batch.NewVector(t, 1)
	if text == "" {
		v.AppendNull()
		return v, nil
	}
	if err := appendPartitionValue(v, text); err != nil {
		return nil, fmt.Errorf("%w: partition value %q is not a %s: %w", ErrCorrupt, text, t, err)
	}
	return v, nil
}

func appendPartitionValue(v *batch.Vector, text string) error {
	switch v.Type.Kind {
	case batch.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return err
		}
		v.AppendBool(b)
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64:
		return appendIntegerText(v, text)
	case batch.Float32, batch.Float64:
		return appendFloatText(v, text)
	case batch.Decimal:
		d, err := batch.ParseDecimal([]byte(text), v.Type.Precision, v.Type.Scale)
		if err != nil {
			return err
		}
		v.AppendDecimal(d)
	case batch.Date:
		d, err := batch.ParseDate([]byte(text))
		if err != nil {
			return err
		}
		v.AppendInt32(d)
	case batch.Timestamp:
		us, err := batch.ParseTimestamp([]byte(text), time.UTC)
		if err != nil {
			return err
		}
		v.AppendInt64(us)
	case batch.TimestampNTZ:
		us, err := batch.ParseTimestampNTZ([]byte(strings.TrimSuffix(text, "Z"))) // which some writers put there
		if err != nil {
			return err
		}
		v.AppendInt64(us)
	case batch.Binary:
		return appendLatin1(v, text)
	default:
		v.AppendString(text)
	}
	return nil
}

var integerBits = map[batch.Kind]int{batch.Int8: 8, batch.Int16: 16, batch.Int32: 32, batch.Int64: 64}

func appendIntegerText(v *batch.Vector, text string) error {
	n, err := strconv.ParseInt(text, 10, integerBits[v.Type.Kind])
	if err != nil {
		return err
	}
	switch v.Type.Kind {
	case batch.Int8:
		v.AppendInt8(int8(n))
	case batch.Int16:
		v.AppendInt16(int16(n))
	case batch.Int32:
		v.AppendInt32(int32(n))
	default:
		v.AppendInt64(n)
	}
	return nil
}

func appendFloatText(v *batch.Vector, text string) error {
	bits := 64
	if v.Type.Kind == batch.Float32 {
		bits = 32
	}
	f, err := strconv.ParseFloat(text, bits)
	if err != nil {
		return err
	}
	if bits == 32 {
		v.AppendFloat32(float32(f))
	} else {
		v.AppendFloat64(f)
	}
	return nil
}

// appendLatin1 reads binary partition values: each byte is the character U+0000 to U+00FF.
func appendLatin1(v *batch.Vector, text string) error {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xFF {
			return fmt.Errorf("character %q is not a byte", r)
		}
		out = append(out, byte(r))
	}
	v.AppendBytes(out)
	return nil
}

// formatPartitionValue writes one row as the text of a partition value; ok is false for null, which the empty string and
// empty binary become too, because the protocol cannot tell them from null. Timestamps are written in ISO 8601 with Z.
func formatPartitionValue(v *batch.Vector, row int) (text string, ok bool) {
	if v.IsNull(row) {
		return "", false
	}
	switch v.Type.Kind {
	case batch.Float32:
		return formatFloat(float64(v.F32[row]), 32), true
	case batch.Float64:
		return formatFloat(v.F64[row], 64), true
	case batch.Timestamp:
		return string(appendISO(nil, v.I64[row], 6, "Z")), true
	case batch.Binary:
		b := v.BytesAt(row)
		out := make([]byte, 0, len(b))
		for _, c := range b {
			out = utf8.AppendRune(out, rune(c))
		}
		return string(out), len(out) > 0
	}
	text = v.Format(row)
	return text, text != ""
}

// formatFloat writes a float so that Spark and Java read it back: NaN, Infinity and -Infinity have their Java names.
func formatFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-3 || a >= 1e7) {
		format = 'e'
	}
	s := strconv.FormatFloat(f, format, -1, bits)
	if format == 'f' && math.Trunc(f) == f {
		s += ".0"
	}
	return s
}

// appendISO appends microseconds since the epoch as yyyy-MM-ddTHH:mm:ss.fraction and a zone. The fraction has the given
// number of digits and is cut, not rounded: toward the past.
func appendISO(dst []byte, us int64, digits int, zone string) []byte {
	days := us / batch.MicrosPerDay
	rest := us % batch.MicrosPerDay
	if rest < 0 {
		days, rest = days-1, rest+batch.MicrosPerDay
	}
	dst = append(batch.AppendDate(dst, int32(days)), 'T')
	seconds, micros := rest/batch.MicrosPerSecond, rest%batch.MicrosPerSecond
	dst = fmt.Appendf(dst, "%02d:%02d:%02d.", seconds/3600, seconds/60%60, seconds%60)
	dst = append(dst, fmt.Sprintf("%06d", micros)[:digits]...)
	return append(dst, zone...)
}
