package server

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"lakesql/batch"
)

// cell appends the value of a column in a row; false: it is none that the column's short way knows. The row is not null.
type cell func(dst []byte, row int) ([]byte, bool)

// days since 1970-01-01 of 0001-01-01 and of 9999-12-31: MySQL's text of these dates is that of batch.
const (
	firstPlainDay = -719_162
	lastPlainDay  = 2_932_896
)

// textCell is the short way from a vector to the text of a column; nil: there is only that of a boxed value.
func textCell(ctx *sql.Context, t sql.Type, v *batch.Vector) cell {
	if v.Dict != nil {
		return coded(textCell(ctx, t, v.Dict), v.Codes)
	}
	switch t.Type() {
	case sqltypes.Int8, sqltypes.Int16, sqltypes.Int32, sqltypes.Int64:
		if at := integers(v); at != nil && types.IsNumber(t) {
			return func(dst []byte, row int) ([]byte, bool) { return strconv.AppendInt(dst, at(row), 10), true }
		}
	case sqltypes.Float32:
		if v.Type.Kind == batch.Float32 {
			return func(dst []byte, row int) ([]byte, bool) { return appendReal(dst, float64(v.F32[row]), 32), true }
		}
	case sqltypes.Float64:
		if v.Type.Kind == batch.Float64 {
			return func(dst []byte, row int) ([]byte, bool) { return appendReal(dst, v.F64[row], 64), true }
		}
	case sqltypes.Decimal:
		if d, ok := t.(sql.DecimalType); ok && v.Type.Kind == batch.Decimal && d.Scale() == v.Type.Scale {
			return decimalText(v)
		}
	case sqltypes.Date:
		if v.Type.Kind == batch.Date {
			return func(dst []byte, row int) ([]byte, bool) { return appendPlainDate(dst, int64(v.I32[row])) }
		}
	case sqltypes.Datetime:
		if d, ok := t.(sql.DatetimeType); ok && (v.Type.Kind == batch.Timestamp || v.Type.Kind == batch.TimestampNTZ) {
			return datetimeText(v, d.Precision())
		}
	case sqltypes.VarChar, sqltypes.Text:
		if isPlainText(ctx, t) && v.Type.Kind == batch.String {
			return bytesText(v)
		}
	case sqltypes.Blob:
		if v.Type.Kind == batch.Binary {
			return bytesText(v)
		}
	}
	return nil
}

// coded reads a dictionary's values by their codes.
func coded(distinct cell, codes []uint32) cell {
	if distinct == nil {
		return nil
	}
	return func(dst []byte, row int) ([]byte, bool) { return distinct(dst, int(codes[row])) }
}

// integers reads a vector of truths or whole numbers; nil: it is none.
func integers(v *batch.Vector) func(row int) int64 {
	switch v.Type.Kind {
	case batch.Bool:
		return func(row int) int64 {
			if v.Bools[row] {
				return 1
			}
			return 0
		}
	case batch.Int8:
		return func(row int) int64 { return int64(v.I8[row]) }
	case batch.Int16:
		return func(row int) int64 { return int64(v.I16[row]) }
	case batch.Int32:
		return func(row int) int64 { return int64(v.I32[row]) }
	case batch.Int64:
		return func(row int) int64 { return v.I64[row] }
	}
	return nil
}

func decimalText(v *batch.Vector) cell {
	scale := v.Type.Scale
	if v.Type.Layout() == batch.LayoutI64 {
		return func(dst []byte, row int) ([]byte, bool) {
			return batch.AppendDecimal(dst, decimal128.FromI64(v.I64[row]), scale), true
		}
	}
	return func(dst []byte, row int) ([]byte, bool) { return batch.AppendDecimal(dst, v.Dec[row], scale), true }
}

func bytesText(v *batch.Vector) cell {
	return func(dst []byte, row int) ([]byte, bool) {
		return append(dst, v.Bytes[v.Off[row]:v.Off[row+1]]...), true
	}
}

func appendPlainDate(dst []byte, days int64) ([]byte, bool) {
	if days < firstPlainDay || days > lastPlainDay {
		return dst, false
	}
	return batch.AppendDate(dst, int32(days)), true
}

// microDigits are the digits of a microsecond.
const microDigits = 6

// datetimeText writes moments that need no rounding to the column's digits after the second.
func datetimeText(v *batch.Vector, precision int) cell {
	unit := int64(1)
	for range microDigits - precision {
		unit *= 10
	}
	return func(dst []byte, row int) ([]byte, bool) {
		us := v.I64[row]
		if us%unit != 0 || us < firstPlainDay*batch.MicrosPerDay || us >= (lastPlainDay+1)*batch.MicrosPerDay {
			return dst, false
		}
		at := len(dst)
		dst = batch.AppendTimestamp(dst, us)
		whole := at + len("2006-01-02 15:04:05")
		if len(dst) > whole {
			return dst[:whole+1+precision], true
		}
		if precision > 0 {
			dst = append(append(dst, '.'), "000000"[:precision]...)
		}
		return dst, true
	}
}

// binaryCell is the value as the binary protocol has it, where that is not the text behind its length; nil: it is that.
func binaryCell(sent querypb.Type, v *batch.Vector) cell {
	if v.Dict != nil {
		return coded(binaryCell(sent, v.Dict), v.Codes)
	}
	order := binary.LittleEndian
	switch sent {
	case sqltypes.Int8:
		if at := integers(v); at != nil {
			return func(dst []byte, row int) ([]byte, bool) { return append(dst, byte(at(row))), true }
		}
	case sqltypes.Int16:
		if at := integers(v); at != nil {
			return func(dst []byte, row int) ([]byte, bool) { return order.AppendUint16(dst, uint16(at(row))), true }
		}
	case sqltypes.Int32:
		if at := integers(v); at != nil {
			return func(dst []byte, row int) ([]byte, bool) { return order.AppendUint32(dst, uint32(at(row))), true }
		}
	case sqltypes.Int64:
		if at := integers(v); at != nil {
			return func(dst []byte, row int) ([]byte, bool) { return order.AppendUint64(dst, uint64(at(row))), true }
		}
	case sqltypes.Float32:
		if v.Type.Kind == batch.Float32 {
			return func(dst []byte, row int) ([]byte, bool) {
				return order.AppendUint32(dst, math.Float32bits(float32(oneNaN(float64(v.F32[row]))))), true
			}
		}
	case sqltypes.Float64:
		if v.Type.Kind == batch.Float64 {
			return func(dst []byte, row int) ([]byte, bool) {
				return order.AppendUint64(dst, math.Float64bits(oneNaN(v.F64[row]))), true
			}
		}
	}
	return nil
}

// oneNaN is a number whose bits are those of any that reads the same.
func oneNaN(x float64) float64 {
	if math.IsNaN(x) {
		return math.NaN()
	}
	return x
}

// binaryMoment turns the text of a DATE or DATETIME, which begins at from, into its bytes in the binary protocol: a length, the year in two bytes, and a
// byte for each part down to the second; microseconds in four. The length says which parts there are, zero or not, as in every row that this server sends.
func binaryMoment(dst []byte, from int) []byte {
	var text [26]byte
	n := copy(text[:], dst[from:])
	two := func(at int) byte { return (text[at]-'0')*10 + text[at+1] - '0' }
	year := uint16(two(0))*100 + uint16(two(2))
	dst = append(dst[:from], 4, byte(year), byte(year>>8), two(5), two(8))
	if n == len("2006-01-02") {
		return dst
	}
	dst = append(dst, two(11), two(14), two(17))
	dst[from] = 7
	if n == len("2006-01-02 15:04:05") {
		return dst
	}
	var micros uint32
	for i := range microDigits {
		micros *= 10
		if at := len("2006-01-02 15:04:05.") + i; at < n {
			micros += uint32(text[at] - '0')
		}
	}
	dst[from] = 11
	return binary.LittleEndian.AppendUint32(dst, micros)
}
