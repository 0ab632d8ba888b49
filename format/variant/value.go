package variant

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// Kind is what a value is. Numbers of different width are of one kind, as the encoding wants them to be treated alike.
type Kind uint8

// The kinds and the methods that read them.
const (
	Null         Kind = iota
	Bool              // Bool
	Int               // Int
	Float32           // Float
	Float64           // Float
	Decimal           // Decimal
	Date              // Int: days since 1970-01-01
	Time              // Int: microseconds since midnight
	Timestamp         // Int: microseconds since 1970-01-01T00:00:00Z, an instant
	TimestampNTZ      // Int: microseconds, a wall clock
	Nanos             // Int: nanoseconds since 1970-01-01T00:00:00Z, an instant
	NanosNTZ          // Int: nanoseconds, a wall clock
	Binary            // Bytes
	String            // Bytes: UTF-8
	UUID              // Bytes: 16 of them
	Object            // Len, Field
	Array             // Len, Element
)

// Value is one value of a variant. It aliases the bytes that it was parsed from.
type Value struct {
	kind Kind
	n    int    // Object, Array: the number of children
	wide int    // bytes of an offset of a child
	ids  []byte // Object: the field ids
	idw  int    // bytes of a field id
	offs []byte // Object, Array: n+1 offsets into data
	data []byte // the plain value's bytes, or the children's
	raw  []byte // the whole value
	meta Metadata
}

// Parse reads the outermost value of a variant. What lies in it is only read, and checked, by Field and Element; bytes behind the
// value are ignored.
func Parse(metadata, value []byte) (Value, error) {
	m, err := ParseMetadata(metadata)
	if err != nil {
		return Value{}, err
	}
	return m.Parse(value)
}

// Basic types, the two low bits of a value's first byte.
const (
	basicPrimitive = iota
	basicShortString
	basicObject
	basicArray
)

// Parse reads the value at the beginning of b, whose field names these are.
func (m Metadata) Parse(b []byte) (Value, error) {
	if len(b) == 0 {
		return Value{}, damaged("value of no bytes")
	}
	header := int(b[0] >> 2)
	switch b[0] & 3 {
	case basicShortString:
		return m.plain(String, b, 1, header)
	case basicObject:
		return m.nested(Object, b, header&3+1, header>>2&3+1, header>>4&1 != 0)
	case basicArray:
		return m.nested(Array, b, header&3+1, 0, header>>2&1 != 0)
	}
	if header >= len(primitives) {
		return Value{}, damaged("value of the unknown type %d", header)
	}
	p := primitives[header]
	size := p.size
	if p.kind == Binary || p.kind == String {
		if len(b) < 1+4 {
			return Value{}, damaged("text or binary of %d bytes without its length", len(b))
		}
		return m.plain(p.kind, b, 1+4, int(binary.LittleEndian.Uint32(b[1:])))
	}
	v, err := m.plain(p.kind, b, 1, size)
	switch {
	case err != nil:
	case p.kind == Decimal:
		err = v.checkDecimal()
	case p.kind == Time && (v.Int() < 0 || v.Int() >= microsPerDay):
		err = damaged("time of %d microseconds since midnight", v.Int())
	}
	return v, err
}

const microsPerDay = 24 * 60 * 60 * 1_000_000

// primitives are the primitive types by their number.
var primitives = [...]struct {
	kind Kind
	size int // bytes behind the header
}{
	{Null, 0}, {Bool, 0}, {Bool, 0}, {Int, 1}, {Int, 2}, {Int, 4}, {Int, 8}, {Float64, 8}, {Decimal, 1 + 4}, {Decimal, 1 + 8}, {Decimal, 1 + 16},
	{Date, 4}, {Timestamp, 8}, {TimestampNTZ, 8}, {Float32, 4}, {Binary, 0}, {String, 0}, {Time, 8}, {Nanos, 8}, {NanosNTZ, 8}, {UUID, 16},
}

// The numbers of the primitive types that Builder writes.
const (
	typeNull, typeTrue, typeFalse               = 0, 1, 2
	typeInt8, typeInt16, typeInt32, typeInt64   = 3, 4, 5, 6
	typeDouble                                  = 7
	typeDecimal4, typeDecimal8, typeDecimal16   = 8, 9, 10
	typeDate, typeTimestamp, typeTimestampNTZ   = 11, 12, 13
	typeFloat, typeBinary, typeString           = 14, 15, 16
	typeTime, typeNanos, typeNanosNTZ, typeUUID = 17, 18, 19, 20
)

// plain is a value whose size bytes begin at position at.
func (m Metadata) plain(kind Kind, b []byte, at, size int) (Value, error) {
	if size > len(b)-at {
		return Value{}, damaged("value of %d bytes in %d", size, len(b)-at)
	}
	return Value{kind: kind, data: b[at : at+size], raw: b[:at+size], meta: m}, nil
}

// nested is an object or array with offsets of wide bytes and field ids of idw.
func (m Metadata) nested(kind Kind, b []byte, wide, idw int, large bool) (Value, error) {
	v := Value{kind: kind, wide: wide, idw: idw, meta: m}
	count := 1
	if large {
		count = 4
	}
	at := 1 + count
	if len(b) < at {
		return Value{}, damaged("object or array of %d bytes", len(b))
	}
	v.n = readUint(b[1:], 0, count)
	values := at + v.n*idw + (v.n+1)*wide
	if values > len(b) {
		return Value{}, damaged("object or array of %d bytes with %d values", len(b), v.n)
	}
	v.ids, v.offs = b[at:at+v.n*idw], b[at+v.n*idw:values]
	size := readUint(v.offs, v.n, wide)
	if size > len(b)-values {
		return Value{}, damaged("object or array of %d bytes whose values take %d", len(b)-values, size)
	}
	v.data, v.raw = b[values:values+size], b[:values+size]
	return v, nil
}

// Kind returns what the value is.
func (v Value) Kind() Kind { return v.kind }

// Bool returns the value of a Bool.
func (v Value) Bool() bool { return v.raw[0]>>2 == typeTrue }

// Int returns the value of an Int, or that of a date or time in its unit.
func (v Value) Int() int64 {
	switch len(v.data) {
	case 1:
		return int64(int8(v.data[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(v.data)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(v.data)))
	}
	return int64(binary.LittleEndian.Uint64(v.data))
}

// Float returns the value of a Float32 or Float64.
func (v Value) Float() float64 {
	if v.kind == Float32 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v.data)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v.data))
}

// maxDigits is the largest precision and scale of a decimal.
const maxDigits = 38

// Decimal returns the unscaled value of a Decimal and its scale, 0 to 38.
func (v Value) Decimal() (unscaled decimal128.Num, scale uint8) {
	digits := v.data[1:]
	switch len(digits) {
	case 4:
		unscaled = decimal128.FromI64(int64(int32(binary.LittleEndian.Uint32(digits))))
	case 8:
		unscaled = decimal128.FromI64(int64(binary.LittleEndian.Uint64(digits)))
	default:
		unscaled = decimal128.New(int64(binary.LittleEndian.Uint64(digits[8:])), binary.LittleEndian.Uint64(digits))
	}
	return unscaled, v.data[0]
}

func (v Value) checkDecimal() error {
	unscaled, scale := v.Decimal()
	if scale > maxDigits || !unscaled.FitsInPrecision(maxDigits) {
		return damaged("decimal of more than %d digits", maxDigits)
	}
	return nil
}

// Bytes returns the bytes of a String, Binary or UUID.
func (v Value) Bytes() []byte { return v.data }

// Len returns the number of values in an Object or Array.
func (v Value) Len() int { return v.n }

// Element returns the i-th value of an Array.
func (v Value) Element(i int) (Value, error) {
	at := readUint(v.offs, i, v.wide)
	if at > len(v.data) {
		return Value{}, damaged("value at byte %d of %d", at, len(v.data))
	}
	return v.meta.Parse(v.data[at:])
}

// Field returns the name and value of the i-th field of an Object, in the order of the names.
func (v Value) Field(i int) (name []byte, field Value, err error) {
	if name, err = v.meta.Name(readUint(v.ids, i, v.idw)); err != nil {
		return nil, Value{}, err
	}
	field, err = v.Element(i)
	return name, field, err
}
