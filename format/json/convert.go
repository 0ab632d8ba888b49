package json

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"unicode/utf8"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/format/jsontext"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// fill appends a node's values of the whole block to a vector, and notes what did not convert.
func (r *Reader) fill(n *node, b *block, v *batch.Vector) {
	switch n.typ.Kind {
	case batch.Bool:
		v.Bools = fill(r, n, b, v, v.Bools, parseBool)
	case batch.Int8:
		v.I8 = fill(r, n, b, v, v.I8, narrowInt[int8])
	case batch.Int16:
		v.I16 = fill(r, n, b, v, v.I16, narrowInt[int16])
	case batch.Int32:
		v.I32 = fill(r, n, b, v, v.I32, narrowInt[int32])
	case batch.Int64:
		v.I64 = fill(r, n, b, v, v.I64, format.ParseInt)
	case batch.Float32:
		v.F32 = fill(r, n, b, v, v.F32, func(text []byte) (float32, bool) {
			x, ok := r.float(text, 32)
			return float32(x), ok
		})
	case batch.Float64:
		v.F64 = fill(r, n, b, v, v.F64, func(text []byte) (float64, bool) { return r.float(text, 64) })
	case batch.Decimal:
		r.fillDecimal(n, b, v)
	case batch.Date:
		v.I32 = fill(r, n, b, v, v.I32, quoted(r.times.Date))
	case batch.Timestamp:
		v.I64 = fill(r, n, b, v, v.I64, r.timestamp)
	case batch.TimestampNTZ:
		v.I64 = fill(r, n, b, v, v.I64, quoted(r.times.WallClock))
	case batch.String:
		r.fillText(n, b, v)
	case batch.Binary:
		r.fillBinary(n, b, v)
	case batch.Struct:
		r.fillStruct(n, b, v)
	case batch.List:
		r.fillList(n, b, v)
	case batch.Map:
		r.fillMap(n, b, v)
	case batch.Variant:
		r.fillVariant(n, b, v)
	case batch.Void:
		for row := range b.rows {
			if text := r.token(b, row, n.slot); text != nil {
				r.bad(n, b.record(row), text)
			}
		}
		v.AppendNulls(b.rows)
	}
}

// token is the text of a value; nil where it is missing or null.
func (r *Reader) token(b *block, row, slot int) []byte {
	t := b.tokens[row*b.width+slot]
	n := t.len &^ hasEscapes
	if n == 0 || r.parse.in.Buf[t.off] == 'n' {
		return nil
	}
	return r.parse.in.Buf[t.off : t.off+n]
}

// fill appends one value a row to out; nulls get a zero.
func fill[T any](r *Reader, n *node, b *block, v *batch.Vector, out []T, parse func([]byte) (T, bool)) []T {
	var zero T
	buf, nulls := r.parse.in.Buf, r.nulls[:0]
	at := n.slot
	for row := range b.rows {
		t := b.tokens[at]
		at += b.width
		length := t.len &^ hasEscapes
		if length == 0 || buf[t.off] == 'n' {
			nulls = append(nulls, int32(row))
			out = append(out, zero)
			continue
		}
		text := buf[t.off : t.off+length]
		if t.len&hasEscapes != 0 {
			text = r.unescaped(text)
		}
		x, ok := parse(text)
		if !ok {
			r.bad(n, b.record(row), text)
			nulls = append(nulls, int32(row))
			x = zero
		}
		out = append(out, x)
	}
	r.nulls = nulls
	v.EndRows(b.rows, nulls)
	return out
}

// unescaped is a string in quotes without its escapes.
func (r *Reader) unescaped(text []byte) []byte {
	r.text, _ = jsontext.Unescape(append(r.text[:0], '"'), text[1:len(text)-1])
	r.text = append(r.text, '"')
	return r.text
}

// bad notes a value that is not of its type.
func (r *Reader) bad(n *node, record int, text []byte) {
	if r.rescue != nil {
		r.rescue.misfit(record, n)
		return
	}
	r.rejects.Add(record, n.path, func() string { return r.misfit(n, text) })
}

func (r *Reader) misfit(n *node, text []byte) string {
	switch {
	case text[0] == '{' && n.typ.Kind != batch.Variant:
		return fmt.Sprintf("an object is no %s", r.times.Wanted(n.typ))
	case text[0] == '[' && n.typ.Kind != batch.Variant:
		return fmt.Sprintf("an array is no %s", r.times.Wanted(n.typ))
	case isQuoted(text):
		return fmt.Sprintf("the string %s is no %s", format.Quote(text[1:len(text)-1]), r.times.Wanted(n.typ))
	}
	return r.times.Misfit(text, n.typ)
}

func isQuoted(text []byte) bool { return text[0] == '"' || text[0] == '\'' }

// quoted makes of a parser of texts one of strings in quotes.
func quoted[T any](parse func([]byte) (T, bool)) func([]byte) (T, bool) {
	return func(text []byte) (x T, ok bool) {
		if !isQuoted(text) {
			return x, false
		}
		return parse(text[1 : len(text)-1])
	}
}

func parseBool(text []byte) (value, ok bool) {
	switch text[0] {
	case 't':
		return true, true
	case 'f':
		return false, true
	}
	return false, false
}

func narrowInt[T int8 | int16 | int32](text []byte) (T, bool) {
	x, ok := format.ParseInt(text)
	return T(x), ok && int64(T(x)) == x
}

// float reads a number, or one of the names of those that JSON has none for.
func (r *Reader) float(text []byte, bits int) (float64, bool) {
	switch {
	case text[0]-'0' <= 9, text[0] == '-' && len(text) > 1 && text[1] != 'I':
		return format.ParseFloat(text, bits)
	case isQuoted(text):
		text = text[1 : len(text)-1]
	}
	if !r.opts.AllowNonNumericNumbers {
		return 0, false
	}
	switch string(text) {
	case "NaN":
		return math.NaN(), true
	case "Infinity", "+Infinity", "+INF":
		return math.Inf(1), true
	case "-Infinity", "-INF":
		return math.Inf(-1), true
	}
	return 0, false
}

// timestamp reads a string, or as Spark does whole seconds since 1970.
func (r *Reader) timestamp(text []byte) (int64, bool) {
	if isQuoted(text) {
		return r.times.Timestamp(text[1 : len(text)-1])
	}
	seconds, ok := format.ParseInt(text)
	us := seconds * batch.MicrosPerSecond
	return us, ok && us/batch.MicrosPerSecond == seconds
}

// decimal reads a number, or a string that has one.
func decimal(text []byte, precision, scale uint8) (decimal128.Num, bool) {
	if isQuoted(text) {
		text = text[1 : len(text)-1]
	}
	x, err := batch.ParseDecimalRounded(text, precision, scale)
	return x, err == nil
}

func (r *Reader) fillDecimal(n *node, b *block, v *batch.Vector) {
	p, scale := n.typ.Precision, n.typ.Scale
	if n.typ.Layout() == batch.LayoutDec {
		v.Dec = fill(r, n, b, v, v.Dec, func(text []byte) (decimal128.Num, bool) { return decimal(text, p, scale) })
		return
	}
	v.I64 = fill(r, n, b, v, v.I64, func(text []byte) (int64, bool) {
		if x, ok := format.ParseSmallDecimal(text, p, scale); ok {
			return x, true
		}
		x, ok := decimal(text, p, scale)
		return int64(x.LowBits()), ok
	})
}

// fillText takes strings as they are, and of anything else the text that the file has.
func (r *Reader) fillText(n *node, b *block, v *batch.Vector) {
	buf, nulls := r.parse.in.Buf, r.nulls[:0]
	off, out := v.Off, v.Bytes
	at := n.slot
	for row := range b.rows {
		t := b.tokens[at]
		at += b.width
		length := t.len &^ hasEscapes
		switch {
		case length == 0 || buf[t.off] == 'n':
			nulls = append(nulls, int32(row))
		case buf[t.off] == '"' && t.len&hasEscapes == 0 && r.valid:
			out = append(out, buf[t.off+1:t.off+length-1]...)
		default:
			out = r.appendText(n, b.record(row), out, t)
		}
		off = append(off, int32(len(out)))
	}
	r.nulls = nulls
	v.Off, v.Bytes = off, out
	v.EndRows(b.rows, nulls)
}

func (r *Reader) appendText(n *node, record int, out []byte, t token) []byte {
	text := r.parse.in.Buf[t.off : t.off+t.len&^hasEscapes]
	if isQuoted(text) {
		text = text[1 : len(text)-1]
	}
	if !r.valid && !utf8.Valid(text) {
		r.rejects.Add(record, n.path, func() string {
			return fmt.Sprintf("%s is no UTF-8; such bytes are read as U+FFFD", format.Quote(text))
		})
		text = format.AppendUTF8(nil, text)
	}
	if t.len&hasEscapes != 0 {
		out, _ = jsontext.Unescape(out, text)
		return out
	}
	return append(out, text...)
}

// fillBinary reads base64.
func (r *Reader) fillBinary(n *node, b *block, v *batch.Vector) {
	for row := range b.rows {
		text := r.token(b, row, n.slot)
		if text == nil {
			v.AppendNull()
			continue
		}
		if b.tokens[row*b.width+n.slot].len&hasEscapes != 0 {
			text = r.unescaped(text)
		}
		if !isQuoted(text) {
			r.bad(n, b.record(row), text)
			v.AppendNull()
			continue
		}
		decoded, err := base64.StdEncoding.AppendDecode(nil, text[1:len(text)-1])
		if err != nil {
			r.bad(n, b.record(row), text)
			v.AppendNull()
			continue
		}
		v.AppendBytes(decoded)
	}
}

func (r *Reader) fillVariant(n *node, b *block, v *batch.Vector) {
	for row := range b.rows {
		t := b.tokens[row*b.width+n.slot]
		if t.len == 0 {
			v.AppendNull()
			continue
		}
		text := r.parse.in.Buf[t.off : t.off+t.len&^hasEscapes]
		if err := v.AppendFromJSON(text); err != nil {
			r.rejects.Add(b.record(row), n.path, err.Error)
			v.AppendNull()
		}
	}
}

func (r *Reader) fillStruct(n *node, b *block, v *batch.Vector) {
	nulls := r.brackets(n, b, '{')
	v.EndRows(b.rows, nulls)
	for i, field := range n.fields {
		r.fill(field, b, v.Children[i])
	}
}

// brackets is the rows whose value is no object or array, as open says; those that have another value are noted, and what they
// have is forgotten.
func (r *Reader) brackets(n *node, b *block, open byte) []int32 {
	nulls := r.nulls[:0]
	for row := range b.rows {
		text := r.token(b, row, n.slot)
		if text != nil && text[0] == open {
			continue
		}
		nulls = append(nulls, int32(row))
		if text != nil {
			r.bad(n, b.record(row), text)
			b.tokens[row*b.width+n.slot] = token{}
		}
	}
	r.nulls = nulls
	return nulls
}

func (r *Reader) fillList(n *node, b *block, v *batch.Vector) {
	inner := n.inner
	inner.reset()
	before := v.Children[0].Len
	v.EndRows(b.rows, r.brackets(n, b, '['))
	for row := range b.rows {
		if text := r.token(b, row, n.slot); text != nil {
			r.elements(n, b.record(row), b.tokens[row*b.width+n.slot])
		}
		v.Off = append(v.Off, batch.Offset(before+inner.rows))
	}
	r.fill(n.value, inner, v.Children[0])
}

// elements takes an array, which is sound, apart into rows of the node's inner block.
func (r *Reader) elements(n *node, record int, t token) {
	defer r.rescueUnknown(n, record)
	text := r.parse.in.Buf[:t.off+t.len]
	i := jsontext.Space(text, int(t.off)+1)
	for text[i] != ']' {
		row := n.inner.newRow()
		n.inner.records = append(n.inner.records, int32(record))
		if i = jsontext.Space(text, r.parse.value(n.value, text, i, row)); text[i] == ',' {
			i = jsontext.Space(text, i+1)
		}
	}
}

func (r *Reader) fillMap(n *node, b *block, v *batch.Vector) {
	inner := n.inner
	inner.reset()
	before := v.Children[0].Len
	v.EndRows(b.rows, r.brackets(n, b, '{'))
	for row := range b.rows {
		if text := r.token(b, row, n.slot); text != nil {
			r.entries(n, b.record(row), b.tokens[row*b.width+n.slot])
		}
		v.Off = append(v.Off, batch.Offset(before+inner.rows))
	}
	r.fillText(&node{path: n.path}, inner, v.Children[0])
	r.fill(n.value, inner, v.Children[1])
}

// entries takes an object, which is sound, apart into rows of the node's inner block. Of a key that is there twice the last value
// counts.
func (r *Reader) entries(n *node, record int, t token) {
	defer r.rescueUnknown(n, record)
	text := r.parse.in.Buf[:t.off+t.len]
	first := n.inner.rows
	var seen map[string]int
	i := jsontext.Space(text, int(t.off)+1)
	for text[i] != '}' {
		value, closed := r.parse.lex.Key(text, i)
		name := text[i+1 : closed-1]
		key := token{off: uint32(i), len: uint32(closed - i)}
		if bytes.IndexByte(name, '\\') >= 0 {
			key.len |= hasEscapes
			name, _ = jsontext.Unescape(nil, name)
		}
		if seen == nil {
			seen = map[string]int{}
		}
		at, twice := seen[string(name)]
		if !twice {
			at = n.inner.rows - first
			seen[string(name)] = at
			n.inner.newRow()
			n.inner.records = append(n.inner.records, int32(record))
		}
		row := n.inner.tokens[(first+at)*n.inner.width:][:n.inner.width]
		clear(row)
		row[0] = key
		if i = jsontext.Space(text, r.parse.value(n.value, text, value, row)); text[i] == ',' {
			i = jsontext.Space(text, i+1)
		}
	}
}
