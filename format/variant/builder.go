package variant

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// Builder makes a variant from typed parts, one call a part: a value, or BeginArray, its values and EndArray, or BeginObject, Key and a
// value for each field, and EndObject. A mistake in that order is reported by Finish. The zero Builder is ready; Reset makes it ready
// again and keeps its memory.
//
// Integers and decimals take the fewest bytes that hold them; short strings the short form. Names get their ids as they come.
type Builder struct {
	names  []string
	ids    map[string]uint32
	seed   []byte // the metadata that the first names came with
	seeded int    // how many those are

	buf    []byte
	open   []level // the objects and arrays that are not ended
	fields []child // of all open levels, those of the innermost last
	head   []byte
	meta   []byte
	err    error
}

type level struct {
	object bool
	start  int  // where its values begin in buf
	first  int  // its first in fields
	keyed  bool // Key has been called, its value not yet
}

type child struct {
	id     uint32
	offset int
}

// Reset makes the builder empty, without names.
func (b *Builder) Reset() { b.reset(0) }

// ResetTo makes the builder empty but for the names of a metadata, which keep their ids: for a variant whose parts refer to it. Names that
// are new come behind them.
func (b *Builder) ResetTo(metadata []byte) error {
	if b.seed != nil && bytes.Equal(b.seed, metadata) {
		b.reset(b.seeded)
		return nil
	}
	b.reset(0)
	m, err := ParseMetadata(metadata)
	if err != nil {
		return err
	}
	for i := range m.Len() {
		name, err := m.Name(i)
		if err != nil {
			b.reset(0)
			return err
		}
		if _, twice := b.ids[string(name)]; !twice {
			b.ids[string(name)] = uint32(i)
		}
		b.names = append(b.names, string(name))
	}
	b.seed, b.seeded = append([]byte{}, metadata...), len(b.names)
	return nil
}

// reset keeps the first names.
func (b *Builder) reset(keep int) {
	if b.ids == nil {
		b.ids = map[string]uint32{}
	}
	if keep == 0 {
		b.seed, b.seeded = nil, 0
		clear(b.ids)
	}
	for _, name := range b.names[keep:] {
		delete(b.ids, name)
	}
	b.names, b.buf, b.open, b.fields, b.err = b.names[:keep], b.buf[:0], b.open[:0], b.fields[:0], nil
}

// Err returns the first mistake since the last Reset.
func (b *Builder) Err() error { return b.err }

// Finish returns the variant, which aliases the builder's memory until the next Reset.
func (b *Builder) Finish() (metadata, value []byte, err error) {
	if len(b.open) > 0 || len(b.buf) == 0 {
		b.fail("the value is not complete")
	}
	if b.err != nil {
		return nil, nil, b.err
	}
	return b.metadata(), b.buf, nil
}

func (b *Builder) metadata() []byte {
	if b.seed != nil && len(b.names) == b.seeded {
		return b.seed
	}
	length := 0
	for _, name := range b.names {
		length += len(name)
	}
	size := bytesFor(max(length, len(b.names)))
	b.meta = append(b.meta[:0], version|byte(size-1)<<6)
	b.meta = appendUint(b.meta, len(b.names), size)
	at := 0
	for _, name := range b.names {
		b.meta = appendUint(b.meta, at, size)
		at += len(name)
	}
	b.meta = appendUint(b.meta, at, size)
	for _, name := range b.names {
		b.meta = append(b.meta, name...)
	}
	return b.meta
}

// bytesFor returns how many bytes a number takes, 1 to 4.
func bytesFor(n int) int {
	switch {
	case n < 1<<8:
		return 1
	case n < 1<<16:
		return 2
	case n < 1<<24:
		return 3
	}
	return 4
}

func appendUint(dst []byte, n, size int) []byte {
	for range size {
		dst, n = append(dst, byte(n)), n>>8
	}
	return dst
}

func (b *Builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("build variant: "+format, args...)
	}
}

// begin notes that a value comes next in the innermost level.
func (b *Builder) begin() {
	if len(b.open) == 0 {
		if len(b.buf) > 0 {
			b.fail("more than one value")
		}
		return
	}
	top := &b.open[len(b.open)-1]
	switch {
	case !top.object:
		b.fields = append(b.fields, child{offset: len(b.buf) - top.start})
	case !top.keyed:
		b.fail("a value without a key")
	}
	top.keyed = false
}

// primitive begins a value of a primitive type.
func (b *Builder) primitive(typ byte) {
	b.begin()
	b.buf = append(b.buf, typ<<2) // the low bits of a primitive are 0
}

// Null adds the variant's own null.
func (b *Builder) Null() { b.primitive(typeNull) }

// Bool adds true or false.
func (b *Builder) Bool(x bool) {
	if x {
		b.primitive(typeTrue)
	} else {
		b.primitive(typeFalse)
	}
}

// Int adds an integer.
func (b *Builder) Int(x int64) {
	switch {
	case x == int64(int8(x)):
		b.primitive(typeInt8)
		b.buf = append(b.buf, byte(x))
	case x == int64(int16(x)):
		b.primitive(typeInt16)
		b.buf = binary.LittleEndian.AppendUint16(b.buf, uint16(x))
	case x == int64(int32(x)):
		b.primitive(typeInt32)
		b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(x))
	default:
		b.long(typeInt64, x)
	}
}

func (b *Builder) long(typ byte, x int64) {
	b.primitive(typ)
	b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(x))
}

// Float32 adds a FLOAT.
func (b *Builder) Float32(x float32) {
	b.primitive(typeFloat)
	b.buf = binary.LittleEndian.AppendUint32(b.buf, math.Float32bits(x))
}

// Float64 adds a DOUBLE.
func (b *Builder) Float64(x float64) { b.long(typeDouble, int64(math.Float64bits(x))) }

// Decimal adds unscaled / 10^scale; both have at most 38 digits.
func (b *Builder) Decimal(unscaled decimal128.Num, scale uint8) {
	if scale > maxDigits || !unscaled.FitsInPrecision(maxDigits) {
		b.fail("a decimal of more than %d digits", maxDigits)
		return
	}
	low := unscaled.LowBits()
	switch {
	case unscaled.FitsInPrecision(9):
		b.primitive(typeDecimal4)
		b.buf = binary.LittleEndian.AppendUint32(append(b.buf, scale), uint32(low))
	case unscaled.FitsInPrecision(18):
		b.primitive(typeDecimal8)
		b.buf = binary.LittleEndian.AppendUint64(append(b.buf, scale), low)
	default:
		b.primitive(typeDecimal16)
		b.buf = binary.LittleEndian.AppendUint64(append(b.buf, scale), low)
		b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(unscaled.HighBits()))
	}
}

// Date adds a date, in days since 1970-01-01.
func (b *Builder) Date(days int32) {
	b.primitive(typeDate)
	b.buf = binary.LittleEndian.AppendUint32(b.buf, uint32(days))
}

// Moment adds a Time, Timestamp, TimestampNTZ, Nanos or NanosNTZ, in the unit of its kind.
func (b *Builder) Moment(kind Kind, x int64) {
	switch kind {
	case Time:
		b.long(typeTime, x)
	case Timestamp:
		b.long(typeTimestamp, x)
	case TimestampNTZ:
		b.long(typeTimestampNTZ, x)
	case Nanos:
		b.long(typeNanos, x)
	case NanosNTZ:
		b.long(typeNanosNTZ, x)
	default:
		b.fail("kind %d is no moment", kind)
	}
}

// maxShort is the length of the longest short string, in bytes.
const maxShort = 63

// String adds a text in UTF-8.
func (b *Builder) String(x []byte) {
	if len(x) > maxShort {
		b.sized(typeString, x)
		return
	}
	b.begin()
	b.buf = append(append(b.buf, byte(len(x))<<2|basicShortString), x...)
}

// Binary adds bytes.
func (b *Builder) Binary(x []byte) { b.sized(typeBinary, x) }

func (b *Builder) sized(typ byte, x []byte) {
	if len(x) > math.MaxInt32 {
		b.fail("a value of %d bytes", len(x))
		return
	}
	b.primitive(typ)
	b.buf = append(binary.LittleEndian.AppendUint32(b.buf, uint32(len(x))), x...)
}

// UUID adds the 16 bytes of a UUID.
func (b *Builder) UUID(x [16]byte) {
	b.primitive(typeUUID)
	b.buf = append(b.buf, x[:]...)
}

// Value adds a value whose metadata the builder was reset to.
func (b *Builder) Value(v Value) {
	b.begin()
	b.buf = append(b.buf, v.raw...)
}

// Fields adds the fields of an object, whose metadata the builder was reset to, to the object that is open.
func (b *Builder) Fields(object Value) error {
	for i := range object.Len() {
		name, v, err := object.Field(i)
		if err != nil {
			return err
		}
		b.Key(name)
		b.Value(v)
	}
	return nil
}

// BeginArray begins an array.
func (b *Builder) BeginArray() { b.beginLevel(false) }

// BeginObject begins an object.
func (b *Builder) BeginObject() { b.beginLevel(true) }

func (b *Builder) beginLevel(object bool) {
	b.begin()
	if len(b.open) >= MaxDepth {
		b.fail("more than %d levels", MaxDepth)
	}
	b.open = append(b.open, level{object: object, start: len(b.buf), first: len(b.fields)})
}

// Key names the field whose value comes next.
func (b *Builder) Key(name []byte) {
	if len(b.open) == 0 || !b.open[len(b.open)-1].object || b.open[len(b.open)-1].keyed {
		b.fail("key %q in the wrong place", name)
		return
	}
	id, known := b.ids[string(name)]
	if !known {
		if b.ids == nil {
			b.ids = map[string]uint32{}
		}
		id = uint32(len(b.names))
		b.names = append(b.names, string(name))
		b.ids[b.names[id]] = id
	}
	top := &b.open[len(b.open)-1]
	top.keyed = true
	b.fields = append(b.fields, child{id: id, offset: len(b.buf) - top.start})
}

// EndArray ends the array that was begun last.
func (b *Builder) EndArray() { b.endLevel(false) }

// EndObject ends the object that was begun last. Its fields may have come in any order; a name twice is an error.
func (b *Builder) EndObject() { b.endLevel(true) }

// endLevel puts the header in front of the values.
func (b *Builder) endLevel(object bool) {
	if len(b.open) == 0 || b.open[len(b.open)-1].object != object || b.open[len(b.open)-1].keyed {
		b.fail("an object or array ended in the wrong place")
		return
	}
	top := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	children := b.fields[top.first:]
	b.fields = b.fields[:top.first]
	size := len(b.buf) - top.start
	if size > math.MaxInt32 {
		b.fail("a value of %d bytes", size)
		return
	}
	if object {
		b.sortFields(children)
	}
	header := b.header(object, children, size)
	b.buf = slices.Insert(b.buf, top.start, header...)
}

func (b *Builder) header(object bool, children []child, size int) []byte {
	wide, count, large, ids := bytesFor(size), 1, byte(0), 0
	if len(children) > math.MaxUint8 {
		count, large = 4, 1
	}
	header := b.head[:0]
	if object {
		for _, c := range children {
			ids = max(ids, bytesFor(int(c.id)))
		}
		ids = max(ids, 1)
		header = append(header, (large<<4|byte(ids-1)<<2|byte(wide-1))<<2|basicObject)
	} else {
		header = append(header, (large<<2|byte(wide-1))<<2|basicArray)
	}
	header = appendUint(header, len(children), count)
	if object {
		for _, c := range children {
			header = appendUint(header, int(c.id), ids)
		}
	}
	for _, c := range children {
		header = appendUint(header, c.offset, wide)
	}
	b.head = appendUint(header, size, wide)
	return b.head
}

// sortFields orders the fields by name, as the encoding wants them.
func (b *Builder) sortFields(fields []child) {
	slices.SortFunc(fields, func(x, y child) int {
		return cmp.Or(strings.Compare(b.names[x.id], b.names[y.id]), cmp.Compare(x.offset, y.offset))
	})
	for i := 1; i < len(fields); i++ {
		if name := b.names[fields[i].id]; name == b.names[fields[i-1].id] {
			b.fail("field %q twice in one object", name)
		}
	}
}
