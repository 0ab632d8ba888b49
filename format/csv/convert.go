package csv

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"lakesql/batch"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// converter turns texts into values of the schema's types. It is Options compiled.
type converter struct {
	nullValue   string
	emptyValue  []byte
	nan         string
	positiveInf string
	negativeInf string
	loc         *time.Location
	utc         bool
	dates       *pattern // nil: ISO
	timestamps  *pattern // nil: ISO
	wallClocks  *pattern // nil: ISO
}

func newConverter(o *Options) (*converter, error) {
	c := &converter{
		nullValue: o.NullValue, emptyValue: []byte(o.EmptyValue),
		nan: o.NaNValue, positiveInf: o.PositiveInf, negativeInf: o.NegativeInf, loc: o.location(), utc: isUTC(o.Location),
	}
	for _, p := range []struct {
		option, text string
		to           **pattern
	}{
		{"dateFormat", o.DateFormat, &c.dates},
		{"timestampFormat", o.TimestampFormat, &c.timestamps},
		{"timestampNTZFormat", o.TimestampNTZFormat, &c.wallClocks},
	} {
		if p.text == "" {
			continue
		}
		compiled, err := compilePattern(p.option, p.text)
		if err != nil {
			return nil, err
		}
		*p.to = compiled
	}
	return c, nil
}

func (c *converter) date(text []byte) (int32, bool) {
	if c.dates != nil {
		return c.dates.date(text)
	}
	if d, ok := quickDate(text); ok {
		return d, true
	}
	d, err := batch.ParseDate(text)
	return d, err == nil
}

func (c *converter) timestamp(text []byte) (int64, bool) {
	if c.timestamps != nil {
		return c.timestamps.timestamp(text, c.loc)
	}
	if c.utc {
		if us, ok := quickTimestamp(text); ok {
			return us, true
		}
	}
	us, err := batch.ParseTimestamp(text, c.loc)
	return us, err == nil
}

func (c *converter) wallClock(text []byte) (int64, bool) {
	if c.wallClocks != nil {
		return c.wallClocks.wallTimestamp(text)
	}
	if us, ok := quickTimestamp(text); ok {
		return us, true
	}
	us, err := batch.ParseTimestampNTZ(text)
	return us, err == nil
}

func (c *converter) float64(text []byte) (float64, bool) {
	if x, ok := parseFloat(text, 64); ok {
		return x, true
	}
	return c.specialFloat(text)
}

func (c *converter) float32(text []byte) (float32, bool) {
	x, ok := parseFloat(text, 32)
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

// issue is one thing wrong in a block.
type issue struct {
	row    int32 // of the block
	column int32 // of the schema; -1: the whole record
	reason string
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
		v.Bools = fill(r, i, v.Bools, parseBool)
	case batch.Int8:
		v.I8 = fill(r, i, v.I8, narrowInt[int8])
	case batch.Int16:
		v.I16 = fill(r, i, v.I16, narrowInt[int16])
	case batch.Int32:
		v.I32 = fill(r, i, v.I32, narrowInt[int32])
	case batch.Int64:
		v.I64 = fill(r, i, v.I64, parseInt)
	case batch.Float32:
		v.F32 = fill(r, i, v.F32, conv.float32)
	case batch.Float64:
		v.F64 = fill(r, i, v.F64, conv.float64)
	case batch.Decimal:
		r.fillDecimal(i)
	case batch.Date:
		v.I32 = fill(r, i, v.I32, conv.date)
	case batch.Timestamp:
		v.I64 = fill(r, i, v.I64, conv.timestamp)
	case batch.TimestampNTZ:
		v.I64 = fill(r, i, v.I64, conv.wallClock)
	case batch.String, batch.Binary:
		r.fillText(i, validUTF8 || c.Type.Kind == batch.Binary)
	}
}

func narrowInt[T int8 | int16 | int32](text []byte) (T, bool) {
	x, ok := parseInt(text)
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
	r.grow(c.vec, nulls)
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
		if x, ok := parseSmallDecimal(text, p, scale); ok {
			return x, true
		}
		x, err := batch.ParseDecimalRounded(text, p, scale)
		return int64(x.LowBits()), err == nil
	})
}

// replacement stands for bytes that are no UTF-8.
var replacement = []byte("\uFFFD")

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
			r.issue(row, i, func() string {
				return fmt.Sprintf("%s is no UTF-8; such bytes are read as U+FFFD", quoteText(text))
			})
			out = append(out, bytes.ToValidUTF8(text, replacement)...)
		}
		off = append(off, int32(len(out)))
	}
	v.Off, v.Bytes = off, out
	r.grow(v, nulls)
}

// grow counts the block's rows, of which those in nulls are null.
func (r *Reader) grow(v *batch.Vector, nulls []int32) {
	before, n := v.Len, len(r.scan.recs)
	v.Len += n
	r.nulls = nulls
	if len(nulls) == 0 && v.Valid == nil {
		return
	}
	if v.Valid == nil {
		v.Valid = batch.NewBitmap(before)
	}
	for len(v.Valid) < (v.Len+63)/64 {
		v.Valid = append(v.Valid, 0)
	}
	v.Valid.SetRange(before, v.Len)
	for _, row := range nulls {
		v.Valid.Clear(before + int(row))
	}
}

// bad notes a field that did not convert.
func (r *Reader) bad(row, i int, text []byte) {
	r.issue(row, i, func() string {
		f := r.cols[i].Field
		want := f.Type.String()
		switch {
		case f.Type.Kind == batch.Date && r.conv.dates != nil:
			want += fmt.Sprintf(" by dateFormat '%s'", r.conv.dates.text)
		case f.Type.Kind == batch.Timestamp && r.conv.timestamps != nil:
			want += fmt.Sprintf(" by timestampFormat '%s'", r.conv.timestamps.text)
		case f.Type.Kind == batch.TimestampNTZ && r.conv.wallClocks != nil:
			want += fmt.Sprintf(" by timestampNTZFormat '%s'", r.conv.wallClocks.text)
		}
		if isWholeNumber(text) && isInteger(f.Type.Kind) {
			return fmt.Sprintf("%s does not fit into %s", quoteText(text), want)
		}
		return fmt.Sprintf("%s is no %s", quoteText(text), want)
	})
}

func isInteger(k batch.Kind) bool {
	return k == batch.Int8 || k == batch.Int16 || k == batch.Int32 || k == batch.Int64
}

// isWholeNumber says whether the text has nothing but digits behind a sign, of whatever size.
func isWholeNumber(text []byte) bool {
	digits := bytes.TrimLeft(text, "+-")
	return len(digits) > 0 && len(text)-len(digits) <= 1 && len(bytes.TrimLeft(digits, "0123456789")) == 0
}

// quoteText shows a field in a message, cut where it is long.
func quoteText(text []byte) string {
	const shown = 64
	if len(text) <= shown {
		return strconv.Quote(string(text))
	}
	return strconv.Quote(string(text[:shown])) + fmt.Sprintf("... (%d bytes)", len(text))
}
