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
// than the batch. Dictionary vectors become dictionary arrays with uint32 indices; a variant becomes a struct of its two parts, which the
// field's metadata marks as Arrow's canonical extension of that name.
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
		fields[i] = arrowField(f, arr.DataType())
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(b.Len)), nil
}

// Arrow's field metadata that names an extension type.
const (
	arrowExtensionKey = "ARROW:extension:name"
	arrowVariant      = "arrow.parquet.variant"
)

// arrowField is the field of an array of that type.
func arrowField(f Field, typ arrow.DataType) arrow.Field {
	out := arrow.Field{Name: f.Name, Type: typ, Nullable: f.Nullable}
	if f.Type.Kind == Variant {
		out.Metadata = arrow.NewMetadata([]string{arrowExtensionKey}, []string{arrowVariant})
	}
	return out
}

// arrowType returns the Arrow type of a plain column of the flat type t.
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
	case Void:
		return arrow.Null, nil
	}
	return nil, fmt.Errorf("arrow has no %s", t)
}

func (v *Vector) toArrow() (arrow.Array, error) {
	validity := (*memory.Buffer)(nil)
	if v.Valid != nil && v.Type.Kind != Void {
		validity = memory.NewBufferBytes(bytesOf(v.Valid))
	}
	if layout := v.Type.Layout(); layout == LayoutStruct || layout == LayoutList {
		return v.nestedToArrow(validity)
	}
	typ, err := arrowType(v.Type)
	if err != nil {
		return nil, err
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

func (v *Vector) nestedToArrow(validity *memory.Buffer) (arrow.Array, error) {
	fields := make([]arrow.Field, len(v.Children))
	children := make([]arrow.ArrayData, len(v.Children))
	for i, child := range v.Children {
		arr, err := child.toArrow()
		if err != nil {
			return nil, err
		}
		children[i] = arr.Data()
		fields[i] = arrowField(v.Type.Fields()[i], arr.DataType())
	}
	offsets := memory.NewBufferBytes(bytesOf(v.Off))
	switch v.Type.Kind {
	case List:
		typ := arrow.ListOfField(fields[0])
		return array.MakeFromData(array.NewData(typ, v.Len, []*memory.Buffer{validity, offsets}, children, v.NullCount(), 0)), nil
	case Map:
		typ := arrow.MapOfWithMetadata(fields[0].Type, fields[0].Metadata, fields[1].Type, fields[1].Metadata)
		typ.SetItemNullable(fields[1].Nullable)
		entries := array.NewData(typ.Elem(), v.Children[0].Len, []*memory.Buffer{nil}, children, 0, 0)
		return array.MakeFromData(array.NewData(typ, v.Len, []*memory.Buffer{validity, offsets}, []arrow.ArrayData{entries}, v.NullCount(), 0)), nil
	}
	typ := arrow.StructOf(fields...)
	return array.MakeFromData(array.NewData(typ, v.Len, []*memory.Buffer{validity}, children, v.NullCount(), 0)), nil
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
