package batch

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// The Append methods add one row to a plain vector of the layout that their name says. Appending to a vector of another layout or to a
// dictionary vector is a fault of the program and leaves a vector whose lengths disagree.

// AppendNull adds a null row to a plain or a dictionary vector.
func (v *Vector) AppendNull() { v.AppendNulls(1) }

// AppendNulls adds n null rows to a plain or a dictionary vector. The values below them are zero.
func (v *Vector) AppendNulls(n int) {
	if n == 0 {
		return
	}
	if v.Valid == nil {
		v.Valid = NewBitmap(v.Len)
	}
	v.Valid = v.Valid.Grow(v.Len + n)
	v.Len += n
	if v.Dict != nil {
		v.Codes = appendZeros(v.Codes, n)
		return
	}
	switch v.Type.Layout() {
	case LayoutBools:
		v.Bools = appendZeros(v.Bools, n)
	case LayoutI8:
		v.I8 = appendZeros(v.I8, n)
	case LayoutI16:
		v.I16 = appendZeros(v.I16, n)
	case LayoutI32:
		v.I32 = appendZeros(v.I32, n)
	case LayoutI64:
		v.I64 = appendZeros(v.I64, n)
	case LayoutF32:
		v.F32 = appendZeros(v.F32, n)
	case LayoutF64:
		v.F64 = appendZeros(v.F64, n)
	case LayoutDec:
		v.Dec = appendZeros(v.Dec, n)
	case LayoutBytes:
		for range n {
			v.Off = append(v.Off, int32(len(v.Bytes)))
		}
	case LayoutStruct:
		for _, child := range v.Children {
			child.AppendNulls(n)
		}
	case LayoutList:
		for range n {
			v.Off = append(v.Off, Offset(v.Children[0].Len))
		}
	}
}

// appendZeros appends n zero values.
func appendZeros[T any](s []T, n int) []T { return append(s, make([]T, n)...) }

// grew counts one more row, which is valid.
func (v *Vector) grew() {
	if v.Valid != nil {
		v.Valid = v.Valid.Grow(v.Len + 1)
		v.Valid.Set(v.Len)
	}
	v.Len++
}

// AppendBool adds a row to a Bool vector.
func (v *Vector) AppendBool(x bool) { v.Bools = append(v.Bools, x); v.grew() }

// AppendInt8 adds a row to an Int8 vector.
func (v *Vector) AppendInt8(x int8) { v.I8 = append(v.I8, x); v.grew() }

// AppendInt16 adds a row to an Int16 vector.
func (v *Vector) AppendInt16(x int16) { v.I16 = append(v.I16, x); v.grew() }

// AppendInt32 adds a row to an Int32 or Date vector.
func (v *Vector) AppendInt32(x int32) { v.I32 = append(v.I32, x); v.grew() }

// AppendInt64 adds a row to an Int64, Timestamp, TimestampNTZ vector, or the unscaled value to a Decimal vector of the layout LayoutI64.
func (v *Vector) AppendInt64(x int64) { v.I64 = append(v.I64, x); v.grew() }

// AppendFloat32 adds a row to a Float32 vector.
func (v *Vector) AppendFloat32(x float32) { v.F32 = append(v.F32, x); v.grew() }

// AppendFloat64 adds a row to a Float64 vector.
func (v *Vector) AppendFloat64(x float64) { v.F64 = append(v.F64, x); v.grew() }

// AppendDecimal adds an unscaled value to a Decimal vector of either layout. The caller has checked that it fits the precision.
func (v *Vector) AppendDecimal(x decimal128.Num) {
	if v.Type.Layout() == LayoutI64 {
		v.I64 = append(v.I64, int64(x.LowBits()))
	} else {
		v.Dec = append(v.Dec, x)
	}
	v.grew()
}

// AppendBytes adds a row to a String or Binary vector; x is copied. It panics when the vector's bytes would pass 2 GiB:
// producers cut their batches long before.
func (v *Vector) AppendBytes(x []byte) {
	v.Bytes = append(v.Bytes, x...)
	v.closeBytes()
}

// AppendString adds a row to a String or Binary vector, as AppendBytes does.
func (v *Vector) AppendString(x string) {
	v.Bytes = append(v.Bytes, x...)
	v.closeBytes()
}

// closeBytes ends the row whose bytes have just been appended.
func (v *Vector) closeBytes() {
	v.Off = append(v.Off, Offset(len(v.Bytes)))
	v.grew()
}

// EndRow adds a row to a nested vector whose children have been given the row's values: one to each child of a struct or
// variant, any number to the elements of a list, as many values as keys to a map.
func (v *Vector) EndRow() {
	if v.Type.Layout() == LayoutList {
		v.Off = append(v.Off, Offset(v.Children[0].Len))
	}
	v.grew()
}

// EndRows counts n more rows, whose values have been appended to the vector's fields, a zero for each of those in nulls: positions
// among the n, ascending.
func (v *Vector) EndRows(n int, nulls []int32) {
	before := v.Len
	v.Len += n
	if len(nulls) == 0 && v.Valid == nil {
		return
	}
	if v.Valid == nil {
		v.Valid = NewBitmap(before)
	}
	v.Valid = v.Valid.Grow(v.Len)
	v.Valid.SetRange(before, v.Len)
	for _, row := range nulls {
		v.Valid.Clear(before + int(row))
	}
}

// Offset is a position in Bytes or in the elements as Off has it. It panics beyond 2 GiB, as AppendBytes does.
func Offset(n int) int32 {
	if n > math.MaxInt32 {
		panic(fmt.Sprintf("batch: %d bytes or elements in one vector; the limit is %d", n, math.MaxInt32))
	}
	return int32(n)
}
