package mysqltype

import (
	"bytes"
	"time"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/cockroachdb/apd/v3"

	"lakesql/batch"
)

// Shown says whether MySQL can show a date or time: years 0 to 9999.
func Shown(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// Getter reads one row of a column as a row value.
type Getter func(row int) any

// NewGetter makes the reader of column f's vector. Dates and times may lie outside of what Shown allows. A getter is valid as long as the
// vector is; the values that it returned are valid for ever.
func NewGetter(f batch.Field, v *batch.Vector) Getter {
	get := plainGetter(f, v)
	if v.Dict != nil {
		get = dictionaryGetter(f, v)
	}
	if v.Valid == nil {
		return get
	}
	valid := v.Valid
	return func(row int) any {
		if valid[row>>6]&(1<<(uint(row)&63)) == 0 {
			return nil
		}
		return get(row)
	}
}

// dictionaryGetter boxes each distinct value once.
func dictionaryGetter(f batch.Field, v *batch.Vector) Getter {
	plain, codes := plainGetter(f, v.Dict), v.Codes
	boxed := make([]any, v.Dict.Len)
	return func(row int) any {
		code := codes[row]
		if boxed[code] == nil {
			boxed[code] = plain(int(code))
		}
		return boxed[code]
	}
}

func plainGetter(f batch.Field, v *batch.Vector) Getter {
	if v.Dict != nil {
		return nil
	}
	if isJSON(f) {
		return documentGetter(v)
	}
	switch v.Type.Kind {
	case batch.Bool:
		return func(row int) any {
			if v.Bools[row] {
				return int8(1)
			}
			return int8(0)
		}
	case batch.Int8:
		return func(row int) any { return v.I8[row] }
	case batch.Int16:
		return func(row int) any { return v.I16[row] }
	case batch.Int32:
		return func(row int) any { return v.I32[row] }
	case batch.Int64:
		return func(row int) any { return v.I64[row] }
	case batch.Float32:
		return func(row int) any { return v.F32[row] }
	case batch.Float64:
		return func(row int) any { return v.F64[row] }
	case batch.Decimal:
		return decimalGetter(v)
	case batch.Date:
		return func(row int) any { return time.Unix(int64(v.I32[row])*86400, 0).UTC() }
	case batch.Timestamp, batch.TimestampNTZ:
		return func(row int) any { return time.UnixMicro(v.I64[row]).UTC() }
	case batch.Binary:
		return func(row int) any { return append([]byte{}, v.Bytes[v.Off[row]:v.Off[row+1]]...) }
	case batch.Void:
		return func(int) any { return nil }
	default:
		first := v.Off[0]
		text := string(v.Bytes[first:v.Off[v.Len]]) // one copy for all rows: the vector is reused by its producer
		return func(row int) any { return text[v.Off[row]-first : v.Off[row+1]-first] }
	}
}

// documentGetter gives the JSON of what is nested, and the text of a string as the document that it is.
func documentGetter(v *batch.Vector) Getter {
	switch v.Type.Kind {
	case batch.String:
		return func(row int) any { return NewDocument(bytes.Clone(v.BytesAt(row))) }
	case batch.Variant:
		return func(row int) any {
			d := NewDocument(v.AppendJSON(nil, row))
			d.metadata, d.variant = bytes.Clone(v.Children[0].BytesAt(row)), bytes.Clone(v.Children[1].BytesAt(row))
			return d
		}
	}
	return func(row int) any { return NewDocument(v.AppendJSON(nil, row)) }
}

func decimalGetter(v *batch.Vector) Getter {
	exponent := -int32(v.Type.Scale)
	if v.Type.Precision <= batch.MaxInt64Precision {
		return func(row int) any { return apd.New(v.I64[row], exponent) }
	}
	return func(row int) any { return toAPD(v.Dec[row], exponent) }
}

func toAPD(n decimal128.Num, exponent int32) *apd.Decimal {
	d := &apd.Decimal{Exponent: exponent, Negative: n.Sign() < 0}
	d.Coeff.SetMathBigInt(n.Abs().BigInt())
	return d
}

// fromAPD is a number that has so many digits behind the point; false where it has another number of them, or too many in all.
func fromAPD(d *apd.Decimal, scale uint8) (decimal128.Num, bool) {
	n := d.Coeff.MathBigInt()
	if d.Form != apd.Finite || d.Exponent != -int32(scale) || n.BitLen() > 127 {
		return decimal128.Num{}, false
	}
	out := decimal128.FromBigInt(n)
	if d.Negative {
		out = out.Negate()
	}
	return out, true
}

// AppendComputed appends a DECIMAL that an expression has computed. It may have a digit more than its type, as in MySQL, where ROUND(99, -1) is a DECIMAL(2). False: it is
// no DECIMAL of the vector's scale.
func AppendComputed(out *batch.Vector, v any) bool {
	d, ok := v.(*apd.Decimal)
	if !ok || out.Type.Kind != batch.Decimal {
		return false
	}
	n, ok := fromAPD(d, out.Type.Scale)
	if ok {
		out.AppendDecimal(n)
	}
	return ok
}
