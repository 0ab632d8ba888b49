package batch

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"lakesql/format/variant"
)

// AppendFromJSON adds a row that is written as AppendJSON writes it, with blanks, and a struct's fields in any order and of any case. A field that
// is not there is null, one that the struct does not have is an error, as is a name twice. A number is taken where it is exactly a value of
// the type: 1.0 and 1e2 are integers, 0 and 1 are booleans. The JSON null is a null row, but the variant's own null in a variant. An error is
// a *JSONError and leaves the vector as it was.
func (v *Vector) AppendFromJSON(text []byte) error {
	r := jsonReader{jsonScanner{text: text}}
	before := v.Len
	err := r.into(v)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		v.Truncate(before)
	}
	return err
}

// jsonReader turns JSON into rows.
type jsonReader struct{ jsonScanner }

// into adds the value that comes next to v. After an error the lengths of v and its children may disagree.
func (r *jsonReader) into(v *Vector) error {
	if v.Dict != nil {
		*v = *v.Decode()
	}
	want := &v.Type
	if v.Type.Kind == Variant {
		return r.intoVariant(v)
	}
	if r.peek() == 'n' && r.word("null") {
		v.AppendNull()
		return nil
	}
	switch v.Type.Kind {
	case Bool:
		return r.intoBool(v)
	case Int8, Int16, Int32, Int64:
		return r.intoInteger(v, want)
	case Float32, Float64:
		return r.intoFloat(v, want)
	case Decimal:
		text, _, err := r.number(want)
		if err != nil {
			return err
		}
		n, err := ParseDecimal(text, v.Type.Precision, v.Type.Scale)
		if err != nil {
			return r.reject(text, want, err)
		}
		v.AppendDecimal(n)
		return nil
	case Struct:
		return r.intoStruct(v, want)
	case List:
		if err := r.array(want, func() error { return r.into(v.Children[0]) }); err != nil {
			return err
		}
		v.EndRow()
		return nil
	case Map:
		return r.intoMap(v, want)
	case Void:
		return r.wrong(jsonWant("null"))
	}
	text, err := r.str(want)
	if err != nil {
		return err
	}
	return r.intoText(v, text, want)
}

// reject is the error for a text of the right form that is no value of the type.
func (r *jsonReader) reject(text []byte, want fmt.Stringer, err error) error {
	if len(text) > maxQuoted {
		text = text[:maxQuoted]
	}
	found := string(text)
	for _, reason := range []error{ErrOutOfRange, ErrInexact, ErrSyntax} {
		if errors.Is(err, reason) {
			found += " (" + reason.Error() + ")"
		}
	}
	return r.found(found, want)
}

// intoText adds what a string stands for.
func (r *jsonReader) intoText(v *Vector, text []byte, want fmt.Stringer) error {
	var err error
	switch v.Type.Kind {
	case String:
		v.AppendBytes(text)
	case Binary:
		start := len(v.Bytes)
		if v.Bytes, err = base64.StdEncoding.AppendDecode(v.Bytes, text); err != nil {
			v.Bytes = v.Bytes[:start]
			return r.reject(text, jsonWant("base64"), ErrSyntax)
		}
		v.closeBytes()
	case Date:
		var days int32
		if days, err = ParseDate(text); err == nil {
			v.AppendInt32(days)
		}
	case Timestamp:
		var us int64
		if us, err = ParseTimestamp(text, nil); err == nil {
			v.AppendInt64(us)
		}
	case TimestampNTZ:
		var us int64
		if us, err = ParseTimestampNTZ(text); err == nil {
			v.AppendInt64(us)
		}
	}
	if err != nil {
		return r.reject([]byte(strconv.Quote(string(text))), want, err)
	}
	return nil
}

func (r *jsonReader) intoBool(v *Vector) error {
	switch {
	case r.word("true"), r.word("1"):
		v.AppendBool(true)
	case r.word("false"), r.word("0"):
		v.AppendBool(false)
	default:
		return r.wrong(jsonWant("true or false"))
	}
	return nil
}

func (r *jsonReader) intoInteger(v *Vector, want fmt.Stringer) error {
	text, integer, err := r.number(want)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if !integer {
		var d int64
		d, err = exactInteger(text)
		n = d
	}
	if err == nil && !fitsInteger(n, v.Type.Kind) {
		err = ErrOutOfRange
	}
	if errors.Is(err, strconv.ErrRange) {
		err = ErrOutOfRange
	}
	if err != nil {
		return r.reject(text, want, err)
	}
	switch v.Type.Kind {
	case Int8:
		v.AppendInt8(int8(n))
	case Int16:
		v.AppendInt16(int16(n))
	case Int32:
		v.AppendInt32(int32(n))
	default:
		v.AppendInt64(n)
	}
	return nil
}

// fitsInteger says whether n is a value of an integer kind.
func fitsInteger(n int64, kind Kind) bool {
	switch kind {
	case Int8:
		return n == int64(int8(n))
	case Int16:
		return n == int64(int16(n))
	case Int32:
		return n == int64(int32(n))
	}
	return true
}

// exactInteger reads a number with a point or exponent that is an integer all the same.
func exactInteger(text []byte) (int64, error) {
	d, err := ParseDecimal(text, MaxInt64Precision+1, 0)
	if err != nil {
		return 0, err
	}
	n := int64(d.LowBits())
	if high := d.HighBits(); high != n>>63 {
		return 0, ErrOutOfRange
	}
	return n, nil
}

func (r *jsonReader) intoFloat(v *Vector, want fmt.Stringer) error {
	bits := 64
	if v.Type.Kind == Float32 {
		bits = 32
	}
	var text []byte
	var err error
	if r.peek() == '"' {
		if text, err = r.str(want); err != nil {
			return err
		}
		switch string(text) {
		case "NaN", "Infinity", "-Infinity":
		default:
			return r.found(strconv.Quote(string(text)), want)
		}
	} else if text, _, err = r.number(want); err != nil {
		return err
	}
	x, err := strconv.ParseFloat(string(text), bits)
	if err != nil {
		return r.reject(text, want, ErrOutOfRange)
	}
	if bits == 32 {
		v.AppendFloat32(float32(x))
	} else {
		v.AppendFloat64(x)
	}
	return nil
}

func (r *jsonReader) intoStruct(v *Vector, want fmt.Stringer) error {
	fields := v.Type.Fields()
	err := r.object(want, func(name []byte) error {
		i := fieldIndex(fields, string(name))
		if i < 0 {
			return r.found("a field that is not in the type", want)
		}
		if v.Children[i].Len > v.Len {
			return r.found("a field twice", want)
		}
		return r.into(v.Children[i])
	})
	if err != nil {
		return err
	}
	for _, child := range v.Children {
		if child.Len == v.Len {
			child.AppendNull()
		}
	}
	v.EndRow()
	return nil
}

// fieldIndex finds a field by its name, or else by its name in another case; -1 if there is none.
func fieldIndex(fields []Field, name string) int {
	folded := -1
	for i := range fields {
		if fields[i].Name == name {
			return i
		}
		if folded < 0 && strings.EqualFold(fields[i].Name, name) {
			folded = i
		}
	}
	return folded
}

func (r *jsonReader) intoMap(v *Vector, want fmt.Stringer) error {
	keys, values := v.Children[0], v.Children[1]
	seen := map[string]bool{}
	err := r.object(want, func(name []byte) error {
		if seen[string(name)] {
			return r.found("a key twice", want)
		}
		seen[string(name)] = true
		if err := r.intoKey(keys, name); err != nil {
			return err
		}
		return r.into(values)
	})
	if err != nil {
		return err
	}
	v.EndRow()
	return nil
}

// intoKey adds a map's key: the text of a string, date, timestamp or binary, the JSON of any other type.
func (r *jsonReader) intoKey(keys *Vector, name []byte) error {
	want := jsonWant(keys.Type.String() + " as the key")
	switch keys.Type.Kind {
	case String, Binary, Date, Timestamp, TimestampNTZ:
		if keys.Dict != nil {
			*keys = *keys.Decode()
		}
		return r.intoText(keys, name, want)
	}
	key := jsonReader{jsonScanner{text: name, path: r.path}}
	before := keys.NullCount()
	err := key.into(keys)
	if err == nil {
		err = key.end()
	}
	if err == nil && keys.NullCount() > before {
		err = r.found("null", want)
	}
	return err
}

// builders are kept for their memory.
var builders = sync.Pool{New: func() any { return new(variant.Builder) }}

func (r *jsonReader) intoVariant(v *Vector) error {
	b := builders.Get().(*variant.Builder)
	defer builders.Put(b)
	b.Reset()
	if err := r.buildVariant(b); err != nil {
		return err
	}
	metadata, value, err := b.Finish()
	if err != nil {
		return err
	}
	v.Children[0].AppendBytes(metadata)
	v.Children[1].AppendBytes(value)
	v.EndRow()
	return nil
}

// built says what the builder does not take.
func (r *jsonReader) built(b *variant.Builder) error {
	if err := b.Err(); err != nil {
		return r.found(err.Error(), jsonWant("a value that a variant can hold"))
	}
	return nil
}

// buildVariant adds the value that comes next. An integer that fits 64 bits is one, other numbers without an exponent are decimals if 38 digits
// hold them, and what is left is a double: the types that Spark's parse_json gives them.
func (r *jsonReader) buildVariant(b *variant.Builder) error {
	const want = jsonWant("a JSON value")
	if len(r.path) > variant.MaxDepth {
		return r.found("more levels", jsonWant(strconv.Itoa(variant.MaxDepth)+" at the most"))
	}
	switch r.peek() {
	case '{':
		b.BeginObject()
		err := r.object(want, func(name []byte) error {
			b.Key(name)
			return r.buildVariant(b)
		})
		if err != nil {
			return err
		}
		b.EndObject()
		return r.built(b)
	case '[':
		b.BeginArray()
		if err := r.array(want, func() error { return r.buildVariant(b) }); err != nil {
			return err
		}
		b.EndArray()
		return r.built(b)
	case '"':
		text, err := r.str(want)
		b.String(text)
		return err
	}
	switch {
	case r.word("null"):
		b.Null()
	case r.word("true"):
		b.Bool(true)
	case r.word("false"):
		b.Bool(false)
	default:
		return r.buildNumber(b)
	}
	return nil
}

func (r *jsonReader) buildNumber(b *variant.Builder) error {
	text, integer, err := r.number(jsonWant("a JSON value"))
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); integer && err == nil {
		b.Int(n)
		return nil
	}
	if d, ok := splitDecimal(text); ok && d.exponent == 0 && len(d.fraction) <= MaxPrecision {
		n, err := ParseDecimal(text, MaxPrecision, uint8(len(d.fraction)))
		if negativeZero := d.negative && n.Sign() == 0; err == nil && !negativeZero { // a decimal has only one zero
			b.Decimal(n, uint8(len(d.fraction)))
			return nil
		}
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return r.reject(text, jsonWant("a number that a double can hold"), ErrOutOfRange)
	}
	b.Float64(x)
	return nil
}
