package batch

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// FromArrow copies an Arrow record into a batch, so that the record may be released. Dictionaries of strings and binaries are kept;
// timestamps of any unit become microseconds, and one that does not fit is an error. Types that a batch
// has no kind for (unsigned, time, 256-bit decimals) are an error naming the column.
func FromArrow(rec arrow.Record) (*Batch, error) {
	schema := &Schema{Fields: make([]Field, rec.NumCols())}
	cols := make([]*Vector, rec.NumCols())
	for i := range cols {
		f := rec.Schema().Field(i)
		v, err := fromArrow(f, rec.Column(i))
		if err != nil {
			return nil, fmt.Errorf("convert arrow column %s: %w", f.Name, err)
		}
		cols[i] = v
		schema.Fields[i] = Field{Name: f.Name, Type: v.Type, Nullable: f.Nullable}
	}
	return &Batch{Schema: schema, Cols: cols, Len: int(rec.NumRows())}, nil
}

// fromArrowType returns the type that a column of a flat Arrow type gets.
func fromArrowType(t arrow.DataType) (Type, error) {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return Type{Kind: Bool}, nil
	case *arrow.Int8Type:
		return Type{Kind: Int8}, nil
	case *arrow.Int16Type:
		return Type{Kind: Int16}, nil
	case *arrow.Int32Type:
		return Type{Kind: Int32}, nil
	case *arrow.Int64Type:
		return Type{Kind: Int64}, nil
	case *arrow.Float32Type:
		return Type{Kind: Float32}, nil
	case *arrow.Float64Type:
		return Type{Kind: Float64}, nil
	case *arrow.Date32Type:
		return Type{Kind: Date}, nil
	case *arrow.StringType, *arrow.LargeStringType:
		return Type{Kind: String}, nil
	case *arrow.BinaryType, *arrow.LargeBinaryType:
		return Type{Kind: Binary}, nil
	case *arrow.Decimal128Type:
		if t.Precision >= 1 && t.Precision <= MaxPrecision && t.Scale >= 0 && t.Scale <= t.Precision {
			return DecimalOf(uint8(t.Precision), uint8(t.Scale)), nil
		}
	case *arrow.TimestampType:
		if t.TimeZone == "" {
			return Type{Kind: TimestampNTZ}, nil
		}
		return Type{Kind: Timestamp}, nil
	case *arrow.NullType:
		return Type{Kind: Void}, nil
	}
	return Type{}, fmt.Errorf("no column type for arrow's %s", t)
}

func fromArrow(f arrow.Field, arr arrow.Array) (*Vector, error) {
	switch a := arr.(type) {
	case *array.Dictionary:
		return fromArrowDictionary(f, a)
	case *array.Struct:
		return fromArrowStruct(f, a)
	case *array.List, *array.LargeList, *array.FixedSizeList, *array.Map:
		return fromArrowList(a.(array.ListLike))
	}
	t, err := fromArrowType(arr.DataType())
	if err != nil {
		return nil, err
	}
	if t.Kind == Void {
		return NewNulls(t, arr.Len()), nil
	}
	v := NewVector(t, arr.Len())
	switch a := arr.(type) {
	case *array.Boolean:
		for i := range a.Len() {
			v.Bools = append(v.Bools, a.Value(i))
		}
	case *array.Int8:
		v.I8 = append(v.I8, a.Int8Values()...)
	case *array.Int16:
		v.I16 = append(v.I16, a.Int16Values()...)
	case *array.Int32:
		v.I32 = append(v.I32, a.Int32Values()...)
	case *array.Date32:
		for _, d := range a.Date32Values() {
			v.I32 = append(v.I32, int32(d))
		}
	case *array.Int64:
		v.I64 = append(v.I64, a.Int64Values()...)
	case *array.Float32:
		v.F32 = append(v.F32, a.Float32Values()...)
	case *array.Float64:
		v.F64 = append(v.F64, a.Float64Values()...)
	case *array.Decimal128:
		return v, v.takeDecimals(a)
	case *array.Timestamp:
		return v, v.takeTimestamps(a)
	case interface {
		arrow.Array
		Value(int) string
	}:
		for i := range a.Len() {
			v.Bytes = append(v.Bytes, a.Value(i)...)
			v.Off = append(v.Off, checkedOffset(len(v.Bytes)))
		}
	case interface {
		arrow.Array
		Value(int) []byte
	}:
		for i := range a.Len() {
			v.Bytes = append(v.Bytes, a.Value(i)...)
			v.Off = append(v.Off, checkedOffset(len(v.Bytes)))
		}
	}
	v.takeValidity(arr)
	return v, nil
}

// fromArrowStruct also takes a variant, which the field's metadata tells from a struct.
func fromArrowStruct(f arrow.Field, a *array.Struct) (*Vector, error) {
	v := &Vector{Children: make([]*Vector, a.NumField())}
	fields := make([]Field, a.NumField())
	for i, field := range a.DataType().(*arrow.StructType).Fields() {
		child, err := fromArrow(field, a.Field(i))
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", field.Name, err)
		}
		v.Children[i] = child
		fields[i] = Field{Name: field.Name, Type: child.Type, Nullable: field.Nullable}
	}
	v.Type = StructOf(fields...)
	if at := f.Metadata.FindKey(arrowExtensionKey); at >= 0 && f.Metadata.Values()[at] == arrowVariant {
		if v.Type != StructOf(variantFields...) {
			return nil, fmt.Errorf("a variant has the parts %s; found %s", StructOf(variantFields...), v.Type)
		}
		v.Type = Type{Kind: Variant}
	}
	v.takeValidity(a)
	return v, nil
}

// fromArrowList takes a list of any kind or a map.
func fromArrowList(a array.ListLike) (*Vector, error) {
	v := &Vector{Off: make([]int32, 1, a.Len()+1)}
	first, end := int64(0), int64(0) // the elements that the rows have
	if a.Len() > 0 {
		first, _ = a.ValueOffsets(0)
		_, end = a.ValueOffsets(a.Len() - 1)
	}
	for i := range a.Len() {
		_, to := a.ValueOffsets(i)
		v.Off = append(v.Off, checkedOffset(int(to-first)))
	}
	elements := a.ListValues()
	if _, isMap := a.(*array.Map); isMap {
		pairs := elements.(*array.Struct)
		fields := pairs.DataType().(*arrow.StructType).Fields()
		v.Children = make([]*Vector, len(fields))
		for i, f := range fields {
			var err error
			if v.Children[i], err = fromArrowPart(f, pairs.Field(i), first, end); err != nil {
				return nil, err
			}
		}
		v.Type = MapOf(Field{Type: v.Children[0].Type}, Field{Type: v.Children[1].Type, Nullable: fields[1].Nullable})
		v.takeValidity(a)
		return v, nil
	}
	field := a.DataType().(arrow.ListLikeType).ElemField()
	child, err := fromArrowPart(field, elements, first, end)
	if err != nil {
		return nil, err
	}
	v.Children, v.Type = []*Vector{child}, ListOf(Field{Type: child.Type, Nullable: field.Nullable})
	v.takeValidity(a)
	return v, nil
}

// fromArrowPart takes the rows [first, end).
func fromArrowPart(f arrow.Field, arr arrow.Array, first, end int64) (*Vector, error) {
	part := array.NewSlice(arr, first, end)
	defer part.Release()
	v, err := fromArrow(f, part)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return v, nil
}

// takeValidity counts the rows whose values have been appended and takes their nulls.
func (v *Vector) takeValidity(arr arrow.Array) {
	v.Len = arr.Len()
	if arr.NullN() == 0 {
		return
	}
	v.Valid = make(Bitmap, bitmapWords(v.Len))
	for i := range v.Len {
		if arr.IsValid(i) {
			v.Valid.Set(i)
		}
	}
}

func (v *Vector) takeDecimals(a *array.Decimal128) error {
	for i := range a.Len() {
		if a.IsNull(i) {
			v.AppendNull()
		} else if err := v.appendChecked(a.Value(i)); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

func (v *Vector) takeTimestamps(a *array.Timestamp) error {
	unit := a.DataType().(*arrow.TimestampType).Unit
	for i := range a.Len() {
		if a.IsNull(i) {
			v.AppendNull()
			continue
		}
		us, ok := toMicros(int64(a.Value(i)), unit)
		if !ok {
			return fmt.Errorf("row %d: timestamp of %d %s does not fit microseconds", i, int64(a.Value(i)), unit)
		}
		v.AppendInt64(us)
	}
	return nil
}

func toMicros(x int64, unit arrow.TimeUnit) (int64, bool) {
	switch unit {
	case arrow.Second:
		return x * MicrosPerSecond, x >= math.MinInt64/MicrosPerSecond && x <= math.MaxInt64/MicrosPerSecond
	case arrow.Millisecond:
		return x * 1000, x >= math.MinInt64/1000 && x <= math.MaxInt64/1000
	case arrow.Nanosecond:
		return floorDiv(x, 1000), true
	}
	return x, true
}

// fromArrowDictionary keeps the codes of a dictionary of bytes without nulls, and spreads any other.
func fromArrowDictionary(f arrow.Field, d *array.Dictionary) (*Vector, error) {
	dict, err := fromArrow(f, d.Dictionary())
	if err != nil {
		return nil, err
	}
	v := &Vector{Type: dict.Type, Dict: dict, Codes: make([]uint32, d.Len())}
	for i := range v.Codes {
		if d.IsValid(i) {
			v.Codes[i] = uint32(d.GetValueIndex(i))
		}
	}
	v.takeValidity(d)
	if dict.Type.Layout() == LayoutBytes && dict.Valid == nil && dict.Len > 0 {
		return v, nil
	}
	out := NewVector(v.Type, v.Len)
	for i := range v.Codes {
		if v.IsNull(i) || dict.IsNull(int(v.Codes[i])) {
			out.AppendNull()
		} else {
			out.AppendFrom(dict, int(v.Codes[i]))
		}
	}
	return out, nil
}
