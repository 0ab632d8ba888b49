package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// converter appends values, none of them null, to a plain vector of the wanted type that has no nulls.
type converter func(dst *batch.Vector, values *raw) error

// converterFor returns how a column is read as the wanted type, or an error that wraps ErrType or ErrUnsupported.
// Besides the same type it knows the widenings of Delta's type widening feature.
func converterFor(l *leaf, want batch.Type) (converter, error) {
	if l.problem != "" {
		return nil, fmt.Errorf("%w: %s", ErrUnsupported, l.problem)
	}
	if l.isLike(want) {
		return copyValues, nil
	}
	var c converter
	switch want.Kind {
	case batch.Bool:
		c = boolConverter(l)
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64:
		c = intConverter(l, want)
	case batch.Float32, batch.Float64:
		c = floatConverter(l, want)
	case batch.Timestamp, batch.TimestampNTZ:
		c = timestampConverter(l, want)
	case batch.Decimal:
		c = decimalConverter(l, want)
	case batch.String, batch.Binary:
		c = bytesConverter(l, want)
	}
	if c == nil {
		return nil, fmt.Errorf("%w: the file has %s, the table says %s", ErrType, l.typ, want)
	}
	return c, nil
}

func boolConverter(l *leaf) converter {
	if l.typ.Kind != batch.Bool {
		return nil
	}
	return func(dst *batch.Vector, values *raw) error {
		dst.Bools = append(dst.Bools, values.bools...)
		dst.Len += values.n
		return nil
	}
}

// isInt says whether the kind is a signed integer.
func isInt(k batch.Kind) bool { return k >= batch.Int8 && k <= batch.Int64 }

// intConverter reads integers of the wanted width or a smaller one. A wider column is read too as long as its values fit: Delta's byte and
// short columns are INT32 in files of writers that leave out the annotation.
func intConverter(l *leaf, want batch.Type) converter {
	switch {
	case !isInt(l.typ.Kind):
		return nil
	case l.physical != format.Int32:
		return nil
	}
	at := func(x int32) int64 { return int64(x) }
	if l.unsigned {
		at = func(x int32) int64 { return int64(uint32(x)) }
	}
	return func(dst *batch.Vector, values *raw) error {
		for _, x := range values.i32 {
			if !appendInt(dst, at(x)) {
				return fmt.Errorf("%w: %d does not fit %s", ErrType, at(x), want)
			}
		}
		return nil
	}
}

// appendInt appends a number to a vector of an integer kind, if it fits.
func appendInt(v *batch.Vector, x int64) bool {
	switch v.Type.Kind {
	case batch.Int8:
		v.AppendInt8(int8(x))
		return x == int64(int8(x))
	case batch.Int16:
		v.AppendInt16(int16(x))
		return x == int64(int16(x))
	case batch.Int32:
		v.AppendInt32(int32(x))
		return x == int64(int32(x))
	}
	v.AppendInt64(x)
	return true
}

// isLike says whether the file has the column's values as a plain vector of the wanted type has them.
func (l *leaf) isLike(want batch.Type) bool {
	switch want.Kind {
	case batch.Int32:
		return l.physical == format.Int32 && isInt(l.typ.Kind) && !(l.unsigned && l.typ.Kind == batch.Int64)
	case batch.Int64:
		return l.physical == format.Int64 && isInt(l.typ.Kind)
	case batch.Date, batch.Float32, batch.Float64:
		return l.typ.Kind == want.Kind
	case batch.Timestamp, batch.TimestampNTZ:
		return l.physical == format.Int64 && (l.typ.Kind == batch.Timestamp || l.typ.Kind == batch.TimestampNTZ) && l.unit == unitMicros
	case batch.Decimal:
		return l.physical == format.Int64 && l.typ.Kind == batch.Decimal && want.Layout() == batch.LayoutI64 && l.typ.Scale == want.Scale && l.typ.Precision <= want.Precision
	}
	return false
}

// copyValues is the converter of a column that isLike the wanted type.
func copyValues(dst *batch.Vector, values *raw) error {
	switch dst.Type.Layout() {
	case batch.LayoutI32:
		dst.I32 = append(dst.I32, values.i32...)
	case batch.LayoutI64:
		dst.I64 = append(dst.I64, values.i64...)
	case batch.LayoutF32:
		dst.F32 = append(dst.F32, values.f32...)
	case batch.LayoutF64:
		dst.F64 = append(dst.F64, values.f64...)
	}
	dst.Len += values.n
	return nil
}

// viewOfValues makes into a vector of the values of such a column that shares their memory.
func viewOfValues(into *batch.Vector, t batch.Type, values *raw) {
	*into = batch.Vector{Type: t, Len: values.n, I32: slices.Clip(values.i32), I64: slices.Clip(values.i64), F32: slices.Clip(values.f32), F64: slices.Clip(values.f64)}
}

func floatConverter(l *leaf, want batch.Type) converter {
	switch {
	case l.typ.Kind == batch.Float32 && want.Kind == batch.Float64:
		return func(dst *batch.Vector, values *raw) error { return appendFloat64s(dst, values.f32) }
	case isInt(l.typ.Kind) && l.physical == format.Int32 && !l.unsigned && want.Kind == batch.Float64:
		return func(dst *batch.Vector, values *raw) error { return appendFloat64s(dst, values.i32) }
	}
	return nil
}

func appendFloat64s[T float32 | int32](dst *batch.Vector, xs []T) error {
	for _, x := range xs {
		dst.F64 = append(dst.F64, float64(x))
	}
	dst.Len += len(xs)
	return nil
}

// timestampConverter takes the table's word for whether the values are instants: writers differ in the annotation, not in the bytes.
func timestampConverter(l *leaf, want batch.Type) converter {
	switch {
	case l.typ.Kind == batch.Date && want.Kind == batch.TimestampNTZ:
		return func(dst *batch.Vector, values *raw) error {
			for _, d := range values.i32 {
				us, ok := scaleUp(int64(d), batch.MicrosPerDay)
				if !ok {
					return fmt.Errorf("%w: day %d does not fit %s", ErrType, d, want)
				}
				dst.AppendInt64(us)
			}
			return nil
		}
	case l.typ.Kind != batch.Timestamp && l.typ.Kind != batch.TimestampNTZ:
		return nil
	case l.physical == format.Int96:
		return appendInt96s
	}
	nanos := l.unit == unitNanos
	return func(dst *batch.Vector, values *raw) error {
		for _, x := range values.i64 {
			us, ok := toMicros(x, nanos)
			if !ok {
				return fmt.Errorf("%w: %d milliseconds do not fit %s", ErrType, x, want)
			}
			dst.AppendInt64(us)
		}
		return nil
	}
}

// toMicros converts nanoseconds, rounding down, or milliseconds.
func toMicros(x int64, nanos bool) (us int64, ok bool) {
	if nanos {
		us = x / 1000
		if x%1000 < 0 {
			us--
		}
		return us, true
	}
	return scaleUp(x, 1000)
}

func scaleUp(x, factor int64) (int64, bool) {
	return x * factor, x <= math.MaxInt64/factor && x >= math.MinInt64/factor
}

// julianEpoch is the Julian day number of 1970-01-01, from which INT96 timestamps count.
const julianEpoch = 2_440_588

// appendInt96s reads eight bytes of nanoseconds in the day and four of the Julian day number.
func appendInt96s(dst *batch.Vector, values *raw) error {
	for _, x := range values.i96 {
		us, ok := int96Micros(x)
		if !ok {
			return fmt.Errorf("%w: the INT96 value %v does not fit %s", ErrType, x, dst.Type)
		}
		dst.AppendInt64(us)
	}
	return nil
}

func int96Micros(x deprecated.Int96) (int64, bool) {
	nanos := int64(uint64(x[1])<<32 | uint64(x[0]))
	ofDay, _ := toMicros(nanos, true)
	days := int64(int32(x[2])) - julianEpoch
	us, ok := scaleUp(days, batch.MicrosPerDay)
	sum := us + ofDay
	return sum, ok && (sum > us) == (ofDay > 0)
}

// bytesConverter keeps the page's bytes. A column without annotation is taken for text when the table says so.
func bytesConverter(l *leaf, want batch.Type) converter {
	if l.physical == format.FixedLenByteArray && want.Kind == batch.Binary && l.typ.Kind == batch.Binary {
		return appendFixed
	}
	if l.physical != format.ByteArray || l.typ.Kind == batch.Decimal {
		return nil
	}
	return appendStrings
}

func appendStrings(dst *batch.Vector, values *raw) error {
	if values.n == 0 {
		return nil
	}
	if err := roomFor(dst, int(values.to[values.n-1]-values.from[0])); err != nil {
		return err
	}
	text, off := dst.Bytes, slices.Grow(dst.Off, values.n)
	for i, from := range values.from {
		text = append(text, values.bytes[from:values.to[i]]...)
		off = append(off, int32(len(text)))
	}
	dst.Bytes, dst.Off = text, off
	dst.Len += values.n
	return nil
}

// roomFor makes room for at most so many bytes of strings.
func roomFor(dst *batch.Vector, n int) error {
	if len(dst.Bytes)+n > maxVectorBytes {
		return fmt.Errorf("%w: more than %d bytes of strings in one batch", ErrUnsupported, maxVectorBytes)
	}
	dst.Bytes = slices.Grow(dst.Bytes, n)
	return nil
}

func appendFixed(dst *batch.Vector, values *raw) error {
	if err := roomFor(dst, len(values.fixed)); err != nil {
		return err
	}
	for i := range values.n {
		dst.AppendBytes(values.value(i))
	}
	return nil
}

// decimalConverter reads decimals in any physical form, and integers as decimals, into the wanted precision and scale.
func decimalConverter(l *leaf, want batch.Type) converter {
	from := l.typ
	switch from.Kind {
	case batch.Decimal:
	case batch.Int8, batch.Int16, batch.Int32:
		from = batch.DecimalOf(10, 0)
	case batch.Int64:
		from = batch.DecimalOf(20, 0)
	default:
		return nil
	}
	if want.Scale < from.Scale {
		return nil
	}
	up := int(want.Scale - from.Scale)
	appendOne := func(dst *batch.Vector, x decimal128.Num) error {
		scaled, ok := rescale(x, up, want.Precision)
		if !ok {
			return fmt.Errorf("%w: %s does not fit %s", ErrType, batch.AppendDecimal(nil, x, from.Scale), want)
		}
		dst.AppendDecimal(scaled)
		return nil
	}
	return func(dst *batch.Vector, values *raw) error {
		for i := range values.n {
			var x decimal128.Num
			var err error
			switch l.physical {
			case format.Int32:
				x = decimal128.FromI64(int64(values.i32[i]))
				if l.unsigned {
					x = decimal128.FromI64(int64(uint32(values.i32[i])))
				}
			case format.Int64:
				x = decimal128.FromI64(values.i64[i])
			default:
				x, err = bigEndian(values.value(i))
			}
			if err == nil {
				err = appendOne(dst, x)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// rescale multiplies by 10^up; ok is false when the result has more than precision digits.
func rescale(x decimal128.Num, up int, precision uint8) (decimal128.Num, bool) {
	if int(precision)-up < 0 || x != (decimal128.Num{}) && (int(precision) == up || !x.FitsInPrecision(int32(int(precision)-up))) {
		return x, false
	}
	if up > 0 {
		x = x.IncreaseScaleBy(int32(up))
	}
	return x, true
}

// bigEndian reads a two's complement number of any length whose value fits 128 bits.
func bigEndian(data []byte) (decimal128.Num, error) {
	fill := byte(0)
	if len(data) > 0 && data[0]&0x80 != 0 {
		fill = 0xff
	}
	for len(data) > 16 {
		if data[0] != fill || (data[1]^fill)&0x80 != 0 {
			return decimal128.Num{}, damaged("a decimal of %d bytes is out of range", len(data))
		}
		data = data[1:]
	}
	var wide [16]byte
	for i := range 16 - len(data) {
		wide[i] = fill
	}
	copy(wide[16-len(data):], data)
	return decimal128.New(int64(binary.BigEndian.Uint64(wide[:8])), binary.BigEndian.Uint64(wide[8:])), nil
}
