package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// converter turns n values of a page, without the nulls, into a plain vector of the wanted type. The vector may alias the page's memory, or
// it is scratch, refilled.
type converter func(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error)

// converterFor returns how a column is read as the wanted type, or an error that wraps ErrType or ErrUnsupported.
// Besides the same type it knows the widenings of Delta's type widening feature.
func converterFor(l *leaf, want batch.Type) (converter, error) {
	if l.problem != "" {
		return nil, fmt.Errorf("%w: %s", ErrUnsupported, l.problem)
	}
	var c converter
	switch want.Kind {
	case batch.Bool:
		c = boolConverter(l)
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64:
		c = intConverter(l, want)
	case batch.Float32, batch.Float64:
		c = floatConverter(l, want)
	case batch.Date:
		if l.typ.Kind == batch.Date {
			c = aliasInt32
		}
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

// need checks that the page has as many values as it says.
func need(have, n int) error {
	if have < n {
		return damaged("a page says %d values and has %d", n, have)
	}
	return nil
}

func boolConverter(l *leaf) converter {
	if l.typ.Kind != batch.Bool {
		return nil
	}
	return func(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
		bits := values.Boolean()
		if err := need(len(bits)*8, n); err != nil {
			return nil, err
		}
		for i := range n {
			scratch.Bools = append(scratch.Bools, bits[i>>3]>>(uint(i)&7)&1 != 0)
		}
		scratch.Len = n
		return scratch, nil
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
	case want.Kind == batch.Int64 && l.physical == format.Int64:
		return aliasInt64
	case l.physical != format.Int32:
		return nil
	case want.Kind == batch.Int32 && !(l.unsigned && l.typ.Kind == batch.Int64):
		return aliasInt32
	}
	at := func(x int32) int64 { return int64(x) }
	if l.unsigned {
		at = func(x int32) int64 { return int64(uint32(x)) }
	}
	return func(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
		xs := values.Int32()
		if err := need(len(xs), n); err != nil {
			return nil, err
		}
		for _, x := range xs[:n] {
			if !appendInt(scratch, at(x)) {
				return nil, fmt.Errorf("%w: %d does not fit %s", ErrType, at(x), want)
			}
		}
		return scratch, nil
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

func aliasInt32(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
	xs := values.Int32()
	if err := need(len(xs), n); err != nil {
		return nil, err
	}
	return &batch.Vector{Type: scratch.Type, Len: n, I32: xs[:n]}, nil
}

func aliasInt64(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
	xs := values.Int64()
	if err := need(len(xs), n); err != nil {
		return nil, err
	}
	return &batch.Vector{Type: scratch.Type, Len: n, I64: xs[:n]}, nil
}

func floatConverter(l *leaf, want batch.Type) converter {
	switch {
	case l.typ.Kind == batch.Float32 && want.Kind == batch.Float32:
		return func(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
			xs := values.Float()
			if err := need(len(xs), n); err != nil {
				return nil, err
			}
			return &batch.Vector{Type: want, Len: n, F32: xs[:n]}, nil
		}
	case l.typ.Kind == batch.Float64 && want.Kind == batch.Float64:
		return func(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
			xs := values.Double()
			if err := need(len(xs), n); err != nil {
				return nil, err
			}
			return &batch.Vector{Type: want, Len: n, F64: xs[:n]}, nil
		}
	case l.typ.Kind == batch.Float32 && want.Kind == batch.Float64:
		return func(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
			return toFloat64(values.Float(), n, scratch)
		}
	case isInt(l.typ.Kind) && l.physical == format.Int32 && !l.unsigned && want.Kind == batch.Float64:
		return func(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
			return toFloat64(values.Int32(), n, scratch)
		}
	}
	return nil
}

func toFloat64[T float32 | int32](xs []T, n int, scratch *batch.Vector) (*batch.Vector, error) {
	if err := need(len(xs), n); err != nil {
		return nil, err
	}
	for _, x := range xs[:n] {
		scratch.F64 = append(scratch.F64, float64(x))
	}
	scratch.Len = n
	return scratch, nil
}

// timestampConverter takes the table's word for whether the values are instants: writers differ in the annotation, not in the bytes.
func timestampConverter(l *leaf, want batch.Type) converter {
	switch {
	case l.typ.Kind == batch.Date && want.Kind == batch.TimestampNTZ:
		return func(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
			days := values.Int32()
			if err := need(len(days), n); err != nil {
				return nil, err
			}
			for _, d := range days[:n] {
				us, ok := scaleUp(int64(d), batch.MicrosPerDay)
				if !ok {
					return nil, fmt.Errorf("%w: day %d does not fit %s", ErrType, d, want)
				}
				scratch.AppendInt64(us)
			}
			return scratch, nil
		}
	case l.typ.Kind != batch.Timestamp && l.typ.Kind != batch.TimestampNTZ:
		return nil
	case l.physical == format.Int96:
		return convertInt96
	case l.unit == unitMicros:
		return aliasInt64
	}
	nanos := l.unit == unitNanos
	return func(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
		xs := values.Int64()
		if err := need(len(xs), n); err != nil {
			return nil, err
		}
		for _, x := range xs[:n] {
			us, ok := toMicros(x, nanos)
			if !ok {
				return nil, fmt.Errorf("%w: %d milliseconds do not fit %s", ErrType, x, want)
			}
			scratch.AppendInt64(us)
		}
		return scratch, nil
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

// convertInt96 reads eight bytes of nanoseconds in the day and four of the Julian day number.
func convertInt96(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
	xs := values.Int96()
	if err := need(len(xs), n); err != nil {
		return nil, err
	}
	for _, x := range xs[:n] {
		us, ok := int96Micros(x)
		if !ok {
			return nil, fmt.Errorf("%w: the INT96 value %v does not fit %s", ErrType, x, scratch.Type)
		}
		scratch.AppendInt64(us)
	}
	return scratch, nil
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
		return convertFixed
	}
	if l.physical != format.ByteArray || l.typ.Kind == batch.Decimal {
		return nil
	}
	return func(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
		data, offsets, err := byteArrays(values, n)
		if err != nil {
			return nil, err
		}
		return &batch.Vector{Type: want, Len: n, Off: offsets, Bytes: data}, nil
	}
}

// byteArrays checks the offsets of a page, so that no later step can leave its bounds.
func byteArrays(values encoding.Values, n int) (data []byte, offsets []int32, err error) {
	data, raw := values.ByteArray()
	if n == 0 {
		return nil, []int32{0}, nil
	}
	if err := need(len(raw)-1, n); err != nil {
		return nil, nil, err
	}
	offsets = unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(raw))), n+1)
	last := offsets[0]
	for _, off := range offsets[1:] {
		if off < last {
			return nil, nil, damaged("the offsets of a page fall from %d to %d", last, off)
		}
		last = off
	}
	if offsets[0] < 0 || int(last) > len(data) {
		return nil, nil, damaged("a page has %d bytes of strings, its offsets end at %d", len(data), last)
	}
	return data, offsets, nil
}

func convertFixed(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
	data, size := values.FixedLenByteArray()
	if err := need(len(data), n*size); err != nil {
		return nil, err
	}
	for i := range n {
		scratch.AppendBytes(data[i*size : (i+1)*size])
	}
	return scratch, nil
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
	if up == 0 && want.Layout() == batch.LayoutI64 && l.physical == format.Int64 && from.Precision <= want.Precision {
		return aliasInt64
	}
	each := decimalsOf(l)
	return func(values encoding.Values, n int, scratch *batch.Vector) (*batch.Vector, error) {
		err := each(values, n, func(x decimal128.Num) error {
			scaled, ok := rescale(x, up, want.Precision)
			if !ok {
				return fmt.Errorf("%w: %s does not fit %s", ErrType, batch.AppendDecimal(nil, x, from.Scale), want)
			}
			scratch.AppendDecimal(scaled)
			return nil
		})
		return scratch, err
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

// decimalsOf returns a loop over the unscaled values of a page.
func decimalsOf(l *leaf) func(encoding.Values, int, func(decimal128.Num) error) error {
	at := func(values encoding.Values, n int) (func(i int) (decimal128.Num, error), error) {
		switch l.physical {
		case format.Int32:
			xs := values.Int32()
			return func(i int) (decimal128.Num, error) {
				if l.unsigned {
					return decimal128.FromI64(int64(uint32(xs[i]))), nil
				}
				return decimal128.FromI64(int64(xs[i])), nil
			}, need(len(xs), n)
		case format.Int64:
			xs := values.Int64()
			return func(i int) (decimal128.Num, error) { return decimal128.FromI64(xs[i]), nil }, need(len(xs), n)
		case format.FixedLenByteArray:
			data, size := values.FixedLenByteArray()
			return func(i int) (decimal128.Num, error) { return bigEndian(data[i*size : (i+1)*size]) }, need(len(data), n*size)
		}
		data, offsets, err := byteArrays(values, n)
		return func(i int) (decimal128.Num, error) { return bigEndian(data[offsets[i]:offsets[i+1]]) }, err
	}
	return func(values encoding.Values, n int, yield func(decimal128.Num) error) error {
		get, err := at(values, n)
		if err != nil {
			return err
		}
		for i := range n {
			x, err := get(i)
			if err != nil {
				return err
			}
			if err := yield(x); err != nil {
				return err
			}
		}
		return nil
	}
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
