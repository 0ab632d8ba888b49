package avro

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
	"lakesql/format"
)

// A MalformedError is what is wrong with a value.
type MalformedError struct {
	Column string // "" where it is none's
	At     int    // the byte behind which reading ended
	Err    error
}

func (e *MalformedError) Error() string { return fmt.Sprintf("%v (behind byte %d)", e.Err, e.At) }

// Unwrap returns the cause.
func (e *MalformedError) Unwrap() error { return e.Err }

var (
	errShort = errors.New("the value ends in the middle")
	errLong  = errors.New("a number has more bytes than its type")
)

// Append adds the row of a value to vectors of the schema's columns. On an error, which is a *MalformedError, no row is added.
func (s *Schema) Append(cols []*batch.Vector, value []byte) error {
	before := cols[0].Len
	c := &cursor{data: value, left: len(value) + freeItems}
	err := s.append(c, cols)
	if err == nil && c.at < len(value) {
		err = fmt.Errorf("the value goes on for %d bytes behind what the schema says", len(value)-c.at)
	}
	if err == nil {
		return nil
	}
	for _, col := range cols {
		col.Truncate(before)
	}
	bad := &MalformedError{At: c.at, Err: err}
	var field *fieldError
	if errors.As(err, &field) {
		bad.Column = field.name
		bad.Err = field.err
	}
	return bad
}

func (s *Schema) append(c *cursor, cols []*batch.Vector) error {
	if s.null != noNull {
		at, err := c.long()
		if err != nil {
			return err
		}
		if at < 0 || at > 1 {
			return fmt.Errorf("a union of 2 types has no type %d", at)
		}
		if nullable(at) == s.null {
			for _, col := range cols {
				col.AppendNull()
			}
			return nil
		}
	}
	if s.record {
		return s.read(c, &batch.Vector{Type: s.top, Children: cols})
	}
	return s.read(c, cols[0])
}

// freeItems is how many items that take no bytes, such as nulls, a value may have besides one a byte.
const freeItems = 1 << 16

// cursor goes through a value.
type cursor struct {
	data []byte
	at   int
	left int // items of arrays and maps that may still come
}

// reader adds what is at the cursor to a vector. On an error the vector may have part of it.
type reader func(c *cursor, v *batch.Vector) error

// fieldError names the field at the top of which a value is malformed, and the others in its error.
type fieldError struct {
	name string
	err  error
}

func (e *fieldError) Error() string { return fmt.Sprintf("field %s: %v", e.name, e.err) }

// long is a whole number, in as few bytes as it needs.
func (c *cursor) long() (int64, error) {
	x, n := binary.Varint(c.data[c.at:])
	if n == 0 {
		return 0, errShort
	}
	if n < 0 {
		return 0, errLong
	}
	c.at += n
	return x, nil
}

func (c *cursor) int() (int32, error) {
	x, err := c.long()
	if err == nil && int64(int32(x)) != x {
		err = fmt.Errorf("%d is no int", x)
	}
	return int32(x), err
}

func (c *cursor) take(n int64) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("a length is %d", n)
	}
	if n > int64(len(c.data)-c.at) {
		return nil, errShort
	}
	c.at += int(n)
	return c.data[c.at-int(n) : c.at], nil
}

// behindNumber is the size of bytes that stand behind their number.
const behindNumber = -1

// bytes are so many bytes.
func (c *cursor) bytes(size int) ([]byte, error) {
	n := int64(size)
	if size == behindNumber {
		var err error
		if n, err = c.long(); err != nil {
			return nil, err
		}
	}
	return c.take(n)
}

func (c *cursor) float() (float32, error) {
	b, err := c.take(4)
	if err != nil {
		return 0, err
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b)), nil
}

// items calls read for each item of an array or map: they come in blocks, of which the last has none.
func (c *cursor) items(read func() error) error {
	for {
		n, err := c.long()
		if err != nil || n == 0 {
			return err
		}
		if n < 0 { // then the block's size follows, for those who pass over it
			if n == math.MinInt64 {
				return errLong
			}
			n = -n
			if _, err := c.long(); err != nil {
				return err
			}
		}
		if n > int64(c.left) {
			return fmt.Errorf("a block of %d items is longer than the value", n)
		}
		c.left -= int(n)
		for range n {
			if err := read(); err != nil {
				return err
			}
		}
	}
}

func readNull(_ *cursor, v *batch.Vector) error { v.AppendNull(); return nil }

func readBool(c *cursor, v *batch.Vector) error {
	b, err := c.take(1)
	if err != nil {
		return err
	}
	if b[0] > 1 {
		return fmt.Errorf("a boolean is %d", b[0])
	}
	v.AppendBool(b[0] == 1)
	return nil
}

func readInt(c *cursor, v *batch.Vector) error {
	x, err := c.int()
	if err == nil {
		v.AppendInt32(x)
	}
	return err
}

func readIntAsLong(c *cursor, v *batch.Vector) error {
	x, err := c.int()
	if err == nil {
		v.AppendInt64(int64(x))
	}
	return err
}

// readLong reads longs that count so many of the column's unit.
func readLong(unit int64) reader {
	return func(c *cursor, v *batch.Vector) error {
		x, err := c.long()
		if err != nil {
			return err
		}
		if x > math.MaxInt64/unit || x < math.MinInt64/unit {
			return fmt.Errorf("the time %d is beyond what a column has", x)
		}
		v.AppendInt64(x * unit)
		return nil
	}
}

func readFloat(c *cursor, v *batch.Vector) error {
	x, err := c.float()
	if err == nil {
		v.AppendFloat32(x)
	}
	return err
}

func readFloatAsDouble(c *cursor, v *batch.Vector) error {
	x, err := c.float()
	if err == nil {
		v.AppendFloat64(float64(x))
	}
	return err
}

func readDouble(c *cursor, v *batch.Vector) error {
	b, err := c.take(8)
	if err == nil {
		v.AppendFloat64(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return err
}

func readString(c *cursor, v *batch.Vector) error {
	b, err := c.bytes(behindNumber)
	if err == nil && !utf8.Valid(b) {
		b = format.AppendUTF8(nil, b)
	}
	if err == nil {
		v.AppendBytes(b)
	}
	return err
}

func readBytes(size int) reader {
	return func(c *cursor, v *batch.Vector) error {
		b, err := c.bytes(size)
		if err == nil {
			v.AppendBytes(b)
		}
		return err
	}
}

func readEnum(symbols []string) reader {
	return func(c *cursor, v *batch.Vector) error {
		at, err := c.int()
		if err != nil {
			return err
		}
		if at < 0 || int(at) >= len(symbols) {
			return fmt.Errorf("an enum of %d symbols has no symbol %d", len(symbols), at)
		}
		v.AppendString(symbols[at])
		return nil
	}
}

// readDecimal reads the digits of decimals.
func readDecimal(size int) reader {
	return func(c *cursor, v *batch.Vector) error {
		b, err := c.bytes(size)
		if err != nil {
			return err
		}
		x, ok := unscaled(b)
		if !ok || !x.FitsInPrecision(int32(v.Type.Precision)) {
			return fmt.Errorf("the digits 0x%X are more than a %s has", b, v.Type)
		}
		v.AppendDecimal(x)
		return nil
	}
}

// unscaled is a whole number of two's complement, its highest byte first; false where it has more than 128 bits.
func unscaled(b []byte) (decimal128.Num, bool) {
	if len(b) == 0 {
		return decimal128.Num{}, true
	}
	sign := byte(0)
	if b[0]&0x80 != 0 {
		sign = 0xFF
	}
	for len(b) > 16 {
		if b[0] != sign || b[1]&0x80 != sign&0x80 {
			return decimal128.Num{}, false
		}
		b = b[1:]
	}
	whole := [16]byte(slices.Concat(slices.Repeat([]byte{sign}, 16-len(b)), b))
	return decimal128.New(int64(binary.BigEndian.Uint64(whole[:8])), binary.BigEndian.Uint64(whole[8:])), true
}

func readList(item reader) reader {
	return func(c *cursor, v *batch.Vector) error {
		if err := c.items(func() error { return item(c, v.Children[0]) }); err != nil {
			return err
		}
		v.EndRow()
		return nil
	}
}

func readMap(value reader) reader {
	return func(c *cursor, v *batch.Vector) error {
		err := c.items(func() error {
			if err := readString(c, v.Children[0]); err != nil {
				return err
			}
			return value(c, v.Children[1])
		})
		if err != nil {
			return err
		}
		v.EndRow()
		return nil
	}
}

func readRecord(fields []batch.Field, readers []reader) reader {
	return func(c *cursor, v *batch.Vector) error {
		for i, read := range readers {
			if err := read(c, v.Children[i]); err != nil {
				return &fieldError{fields[i].Name, err}
			}
		}
		v.EndRow()
		return nil
	}
}

// branch is one type of a union, and the field of the struct that it becomes; -1 is null.
type branch struct {
	read  reader
	field int
}

func (c *cursor) branch(branches []branch) (branch, error) {
	at, err := c.long()
	if err != nil {
		return branch{}, err
	}
	if at < 0 || at >= int64(len(branches)) {
		return branch{}, fmt.Errorf("a union of %d types has no type %d", len(branches), at)
	}
	return branches[at], nil
}

// readBranch reads a union whose branches are all of one column, or null.
func readBranch(branches []branch) reader {
	return func(c *cursor, v *batch.Vector) error {
		b, err := c.branch(branches)
		switch {
		case err != nil:
			return err
		case b.field < 0:
			v.AppendNull()
			return nil
		}
		return b.read(c, v)
	}
}

// readMember reads a union as a struct.
func readMember(branches []branch) reader {
	return func(c *cursor, v *batch.Vector) error {
		b, err := c.branch(branches)
		switch {
		case err != nil:
			return err
		case b.field < 0:
			v.AppendNull()
			return nil
		}
		for i, child := range v.Children {
			if i != b.field {
				child.AppendNull()
			}
		}
		if err := b.read(c, v.Children[b.field]); err != nil {
			return err
		}
		v.EndRow()
		return nil
	}
}
