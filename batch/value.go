package batch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// Entry is a key of a map and its value.
type Entry struct{ Key, Value any }

// Value returns row i for tests and slow paths: nil for null, else bool, int8, int16, int32 (also Date), int64 (also the timestamps),
// float32, float64, decimal128.Num (unscaled, whatever the layout), string, a copied []byte, a []any with the children of a Struct or Variant or
// the elements of a List, or a []Entry.
func (v *Vector) Value(i int) any {
	if v.IsNull(i) {
		return nil
	}
	if v.Dict != nil {
		return v.Dict.Value(int(v.Codes[i]))
	}
	switch v.Type.Kind {
	case Decimal:
		return v.DecimalAt(i)
	case String:
		return string(v.BytesAt(i))
	case Binary:
		return append([]byte{}, v.BytesAt(i)...)
	case Struct, Variant:
		row := make([]any, len(v.Children))
		for c, child := range v.Children {
			row[c] = child.Value(i)
		}
		return row
	case List:
		row := make([]any, 0, v.Off[i+1]-v.Off[i])
		for at := v.Off[i]; at < v.Off[i+1]; at++ {
			row = append(row, v.Children[0].Value(int(at)))
		}
		return row
	case Map:
		row := make([]Entry, 0, v.Off[i+1]-v.Off[i])
		for at := v.Off[i]; at < v.Off[i+1]; at++ {
			row = append(row, Entry{v.Children[0].Value(int(at)), v.Children[1].Value(int(at))})
		}
		return row
	}
	switch v.Type.Layout() {
	case LayoutBools:
		return v.Bools[i]
	case LayoutI8:
		return v.I8[i]
	case LayoutI16:
		return v.I16[i]
	case LayoutI32:
		return v.I32[i]
	case LayoutI64:
		return v.I64[i]
	case LayoutF32:
		return v.F32[i]
	case LayoutF64:
		return v.F64[i]
	}
	panic(fmt.Sprintf("batch: value of %s", v.Type))
}

// JSON is the text of a value, which AppendValue takes as AppendFromJSON does.
type JSON []byte

// AppendValue adds a row of exactly the Go type that Value returns, or a JSON, or nil for null. Decimals must fit the precision. A dictionary vector
// becomes plain. On an error no row is added.
func (v *Vector) AppendValue(x any) error {
	if v.Dict != nil {
		*v = *v.Decode()
	}
	if x == nil {
		v.AppendNull()
		return nil
	}
	layout, kind := v.Type.Layout(), v.Type.Kind
	switch x := x.(type) {
	case bool:
		if layout == LayoutBools {
			v.AppendBool(x)
			return nil
		}
	case int8:
		if layout == LayoutI8 {
			v.AppendInt8(x)
			return nil
		}
	case int16:
		if layout == LayoutI16 {
			v.AppendInt16(x)
			return nil
		}
	case int32:
		if layout == LayoutI32 {
			v.AppendInt32(x)
			return nil
		}
	case int64:
		if layout == LayoutI64 && kind != Decimal {
			v.AppendInt64(x)
			return nil
		}
	case float32:
		if layout == LayoutF32 {
			v.AppendFloat32(x)
			return nil
		}
	case float64:
		if layout == LayoutF64 {
			v.AppendFloat64(x)
			return nil
		}
	case decimal128.Num:
		if kind == Decimal {
			return v.appendChecked(x)
		}
	case string:
		if kind == String {
			v.AppendString(x)
			return nil
		}
	case []byte:
		if kind == Binary {
			v.AppendBytes(x)
			return nil
		}
	case JSON:
		return v.AppendFromJSON(x)
	case []any:
		if layout == LayoutStruct && len(x) == len(v.Children) || kind == List {
			return v.appendChildren(x)
		}
	case []Entry:
		if kind == Map {
			return v.appendEntries(x)
		}
	}
	return fmt.Errorf("append %T to a vector of %s", x, v.Type)
}

// appendChildren adds a row of a struct, variant or list.
func (v *Vector) appendChildren(values []any) error {
	for i, x := range values {
		child := v.Children[0]
		if v.Type.Kind != List {
			child = v.Children[i]
		}
		if err := child.AppendValue(x); err != nil {
			v.Truncate(v.Len)
			return err
		}
	}
	v.EndRow()
	return nil
}

func (v *Vector) appendEntries(entries []Entry) error {
	for _, e := range entries {
		err := v.Children[0].AppendValue(e.Key)
		if err == nil {
			err = v.Children[1].AppendValue(e.Value)
		}
		if err != nil {
			v.Truncate(v.Len)
			return err
		}
	}
	v.EndRow()
	return nil
}

func (v *Vector) appendChecked(x decimal128.Num) error {
	if !x.FitsInPrecision(int32(v.Type.Precision)) {
		return fmt.Errorf("append %s to a vector of %s: %w", AppendDecimal(nil, x, v.Type.Scale), v.Type, ErrOutOfRange)
	}
	v.AppendDecimal(x)
	return nil
}

// AppendText appends row i as text: NULL, true, -12, 1.50, 2024-02-29, 2024-02-29 12:00:00.500000, the string itself,
// 0xCAFE for Binary, JSON for what is nested. Floats have the fewest digits that read back as the same value.
func (v *Vector) AppendText(dst []byte, i int) []byte {
	if v.IsNull(i) {
		return append(dst, "NULL"...)
	}
	if v.Dict != nil {
		return v.Dict.AppendText(dst, int(v.Codes[i]))
	}
	switch v.Type.Kind {
	case Bool:
		return strconv.AppendBool(dst, v.Bools[i])
	case Int8:
		return strconv.AppendInt(dst, int64(v.I8[i]), 10)
	case Int16:
		return strconv.AppendInt(dst, int64(v.I16[i]), 10)
	case Int32:
		return strconv.AppendInt(dst, int64(v.I32[i]), 10)
	case Int64:
		return strconv.AppendInt(dst, v.I64[i], 10)
	case Float32:
		return strconv.AppendFloat(dst, float64(v.F32[i]), 'g', -1, 32)
	case Float64:
		return strconv.AppendFloat(dst, v.F64[i], 'g', -1, 64)
	case Decimal:
		return AppendDecimal(dst, v.DecimalAt(i), v.Type.Scale)
	case Date:
		return AppendDate(dst, v.I32[i])
	case Timestamp, TimestampNTZ:
		return AppendTimestamp(dst, v.I64[i])
	case String:
		return append(dst, v.BytesAt(i)...)
	case Binary:
		return fmt.Appendf(dst, "0x%X", v.BytesAt(i))
	case Struct, List, Map, Variant:
		return v.AppendJSON(dst, i)
	}
	panic(fmt.Sprintf("batch: text of %s", v.Type))
}

// Format returns row i as AppendText writes it.
func (v *Vector) Format(i int) string { return string(v.AppendText(nil, i)) }

// Format renders the selected rows for tests: a line a row, the values separated by " | ".
func (b *Batch) Format() string {
	var out strings.Builder
	for i := range b.Rows() {
		for c, col := range b.Cols {
			if c > 0 {
				out.WriteString(" | ")
			}
			out.WriteString(col.Format(b.Row(i)))
		}
		out.WriteByte('\n')
	}
	return out.String()
}
