package csv

import (
	"fmt"
	"math"
	"unicode/utf8"

	"lakesql/batch"
	"lakesql/format"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// converter turns texts into values of the schema's types. It is Options compiled.
type converter struct {
	nullValue   string
	emptyValue  []byte
	nan         string
	positiveInf string
	negativeInf string
	*format.Times
}

func newConverter(o *Options) (*converter, error) {
	times, err := o.Times()
	if err != nil {
		return nil, err
	}
	return &converter{
		nullValue: o.NullValue, emptyValue: []byte(o.EmptyValue), nan: o.NaNValue, positiveInf: o.PositiveInf, negativeInf: o.NegativeInf, Times: times,
	}, nil
}

func (c *converter) float64(text []byte) (float64, bool) {
	if x, ok := format.ParseFloat(text, 64); ok {
		return x, true
	}
	return c.specialFloat(text)
}

func (c *converter) float32(text []byte) (float32, bool) {
	x, ok := format.ParseFloat(text, 32)
	if !ok {
		x, ok = c.specialFloat(text)
	}
	return float32(x), ok
}

// specialFloat knows the names that the options give to numbers.
func (c *converter) specialFloat(text []byte) (float64, bool) {
	switch string(text) {
	case c.nan:
		return math.NaN(), true
	case c.positiveInf:
		return math.Inf(1), true
	case c.negativeInf:
		return math.Inf(-1), true
	}
	return 0, false
}

// isNull says whether a field is NULL; otherwise it returns its text.
func (c *converter) isNull(s *scanner, f field) ([]byte, bool) {
	var text []byte
	switch f.len {
	case 0:
		return nil, true
	case isQuoted:
		text = c.emptyValue
	default:
		text = s.text(f)
	}
	return text, string(text) == c.nullValue
}

// column is one column of the schema while a batch is filled.
type column struct {
	batch.Field
	source int // position in the record; -1: none
	vec    *batch.Vector
}

// fill appends the block's values of one column to its vector and notes what did not convert.
func (r *Reader) fill(i int, validUTF8 bool) {
	c := &r.cols[i]
	v, conv := c.vec, r.conv
	if c.source < 0 {
		v.AppendNulls(len(r.scan.recs))
		return
	}
	switch c.Type.Kind {
	case batch.Bool:
		v.Bools = fill(r, i, v.Bools, format.ParseBool)
	case batch.Int8:
		v.I8 = fill(r, i, v.I8, narrowInt[int8])
	case batch.Int16:
		v.I16 = fill(r, i, v.I16, narrowInt[int16])
	case batch.Int32:
		v.I32 = fill(r, i, v.I32, narrowInt[int32])
	case batch.Int64:
		v.I64 = fill(r, i, v.I64, format.ParseInt)
	case batch.Float32:
		v.F32 = fill(r, i, v.F32, conv.float32)
	case batch.Float64:
		v.F64 = fill(r, i, v.F64, conv.float64)
	case batch.Decimal:
		r.fillDecimal(i)
	case batch.Date:
		v.I32 = fill(r, i, v.I32, conv.Date)
	case batch.Timestamp:
		v.I64 = fill(r, i, v.I64, conv.Timestamp)
	case batch.TimestampNTZ:
		v.I64 = fill(r, i, v.I64, conv.WallClock)
	case batch.String, batch.Binary:
		r.fillText(i, validUTF8 || c.Type.Kind == batch.Binary)
	}
}

func narrowInt[T int8 | int16 | int32](text []byte) (T, bool) {
	x, ok := format.ParseInt(text)
	return T(x), ok && int64(T(x)) == x
}

// fill appends one value a record to out; nulls get a zero.
func fill[T any](r *Reader, i int, out []T, parse func([]byte) (T, bool)) []T {
	s, c := r.scan, &r.cols[i]
	var zero T
	nulls := r.nulls[:0]
	at, width := c.source, s.width
	for row := range s.recs {
		text, null := r.conv.isNull(s, s.fields[at])
		at += width
		if null {
			nulls = append(nulls, int32(row))
			out = append(out, zero)
			continue
		}
		x, ok := parse(text)
		if !ok {
			r.bad(row, i, text)
			nulls = append(nulls, int32(row))
			x = zero
		}
		out = append(out, x)
	}
	r.nulls = nulls
	c.vec.EndRows(len(s.recs), nulls)
	return out
}

func (r *Reader) fillDecimal(i int) {
	c := &r.cols[i]
	v, p, scale := c.vec, c.Type.Precision, c.Type.Scale
	if c.Type.Layout() == batch.LayoutDec {
		v.Dec = fill(r, i, v.Dec, func(text []byte) (decimal128.Num, bool) {
			x, err := batch.ParseDecimalRounded(text, p, scale)
			return x, err == nil
		})
		return
	}
	v.I64 = fill(r, i, v.I64, func(text []byte) (int64, bool) {
		if x, ok := format.ParseSmallDecimal(text, p, scale); ok {
			return x, true
		}
		x, err := batch.ParseDecimalRounded(text, p, scale)
		return int64(x.LowBits()), err == nil
	})
}

func (r *Reader) fillText(i int, valid bool) {
	s, c := r.scan, &r.cols[i]
	v := c.vec
	off, out := v.Off, v.Bytes
	nulls := r.nulls[:0]
	at := c.source
	for row := range s.recs {
		text, null := r.conv.isNull(s, s.fields[at])
		at += s.width
		switch {
		case null:
			nulls = append(nulls, int32(row))
		case valid || utf8.Valid(text):
			out = append(out, text...)
		default:
			r.rejects.Add(row, c.Name, func() string {
				return fmt.Sprintf("%s is no UTF-8; such bytes are read as U+FFFD", format.Quote(text))
			})
			out = format.AppendUTF8(out, text)
		}
		off = append(off, int32(len(out)))
	}
	v.Off, v.Bytes = off, out
	r.nulls = nulls
	v.EndRows(len(s.recs), nulls)
}

// bad notes a field that did not convert.
func (r *Reader) bad(row, i int, text []byte) {
	f := r.cols[i].Field
	if r.rescue != nil {
		r.rescue.Text(row, f.Name, text)
		return
	}
	r.rejects.Add(row, f.Name, func() string { return r.conv.Misfit(text, f.Type) })
}
