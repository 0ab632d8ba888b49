package batch

import (
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// arrowZone is the zone that marks an Arrow timestamp as an instant.
const arrowZone = "UTC"

// ToArrow returns the selected rows as an Arrow record. It shares the batch's memory where Arrow's layout is the same, which is everywhere
// but for booleans, decimals of up to MaxInt64Precision digits (Arrow has 128 bits) and slices; so the record lives no longer
// than the batch. Dictionary vectors become dictionary arrays with uint32 indices.
func ToArrow(b *Batch) (arrow.Record, error) {
	b = b.Compact()
	fields := make([]arrow.Field, len(b.Cols))
	cols := make([]arrow.Array, len(b.Cols))
	for i, c := range b.Cols {
		f := b.Schema.Fields[i]
		arr, err := c.toArrow()
		if err != nil {
			return nil, fmt.Errorf("convert column %s to arrow: %w", f.Name, err)
		}
		cols[i] = arr
		fields[i] = arrow.Field{Name: f.Name, Type: arr.DataType(), Nullable: f.Nullable}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(b.Len)), nil
}

// arrowType returns the Arrow type of a plain column of type t.
func arrowType(t Type) (arrow.DataType, error) {
	switch t.Kind {
	case Bool:
		return arrow.FixedWidthTypes.Boolean, nil
	case Int8:
		return arrow.PrimitiveTypes.Int8, nil
	case Int16:
		return arrow.PrimitiveTypes.Int16, nil
	case Int32:
		return arrow.PrimitiveTypes.Int32, nil
	case Int64:
		return arrow.PrimitiveTypes.Int64, nil
	case Float32:
		return arrow.PrimitiveTypes.Float32, nil
	case Float64:
		return arrow.PrimitiveTypes.Float64, nil
	case Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}, nil
	case Date:
		return arrow.FixedWidthTypes.Date32, nil
	case Timestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: arrowZone}, nil
	case TimestampNTZ:
		return &arrow.TimestampType{Unit: arrow.Microsecond}, nil
	case String:
		return arrow.BinaryTypes.String, nil
	case Binary:
		return arrow.BinaryTypes.Binary, nil
	}
	return nil, fmt.Errorf("arrow has no %s", t)
}

func (v *Vector) toArrow() (arrow.Array, error) {
	typ, err := arrowType(v.Type)
	if err != nil {
		return nil, err
	}
	validity := (*memory.Buffer)(nil)
	if v.Valid != nil {
		validity = memory.NewBufferBytes(bytesOf(v.Valid))
	}
	if v.Dict != nil {
		dict, err := v.Dict.toArrow()
		if err != nil {
			return nil, err
		}
		typ = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: typ}
		buffers := []*memory.Buffer{validity, memory.NewBufferBytes(bytesOf(v.Codes))}
		return array.MakeFromData(array.NewDataWithDictionary(typ, v.Len, buffers, v.NullCount(), 0, dict.Data().(*array.Data))), nil
	}
	buffers := append([]*memory.Buffer{validity}, v.valueBuffers()...)
	return array.MakeFromData(array.NewData(typ, v.Len, buffers, nil, v.NullCount(), 0)), nil
}

// valueBuffers returns Arrow's buffers behind the validity.
func (v *Vector) valueBuffers() []*memory.Buffer {
	var data []byte
	switch v.Type.Layout() {
	case LayoutBools:
		data = packBools(v.Bools[:v.Len])
	case LayoutI8:
		data = bytesOf(v.I8)
	case LayoutI16:
		data = bytesOf(v.I16)
	case LayoutI32:
		data = bytesOf(v.I32)
	case LayoutI64:
		if v.Type.Kind == Decimal {
			data = bytesOf(widenDecimals(v.I64[:v.Len]))
		} else {
			data = bytesOf(v.I64)
		}
	case LayoutF32:
		data = bytesOf(v.F32)
	case LayoutF64:
		data = bytesOf(v.F64)
	case LayoutDec:
		data = bytesOf(v.Dec)
	case LayoutBytes:
		return []*memory.Buffer{memory.NewBufferBytes(bytesOf(v.Off)), memory.NewBufferBytes(v.Bytes)}
	}
	return []*memory.Buffer{memory.NewBufferBytes(data)}
}

func packBools(values []bool) []byte {
	bits := make(Bitmap, bitmapWords(len(values)))
	for i, x := range values {
		if x {
			bits.Set(i)
		}
	}
	return bytesOf(bits)
}

func widenDecimals(values []int64) []decimal128.Num {
	out := make([]decimal128.Num, len(values))
	for i, x := range values {
		out[i] = decimal128.FromI64(x)
	}
	return out
}

// bytesOf views a slice of fixed-width values as bytes in memory order, which is Arrow's on a little-endian machine.
func bytesOf[S ~[]T, T any](s S) []byte {
	if len(s) == 0 {
		return nil
	}
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(one)))
}
