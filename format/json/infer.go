package json

import (
	"fmt"
	"io"
	"strings"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/format/jsontext"
)

// maxFields bounds how many columns and fields are inferred: files with more have keys that are data.
const maxFields = 20480

// Inference gathers what the files that Infer looked at say of their columns. The zero value is ready to use.
type Inference struct {
	// MaxBytes is how much of each file is looked at; 0: all of it.
	MaxBytes int64

	root      inferred
	malformed *format.RowError // the first malformed record of a file that has no other
	fields    int
	lex       jsontext.Lexer
	opts      *Options
	times     *format.Times
}

// class is what values have in common, as JsonInferSchema has it.
type class uint8

const (
	nullClass class = iota // nothing but null and empty strings so far
	boolClass
	longClass
	decimalClass // whole numbers too long for a long; with PrefersDecimal also numbers with a point
	doubleClass
	timestampClass
	stringClass
	structClass
	listClass
)

type inferred struct {
	class            class
	precision, scale int // of decimalClass
	fields           []*inferredField
	at               map[string]*inferredField // by name
	element          *inferred
}

type inferredField struct {
	name string
	inferred
}

// Infer looks at one file and merges what it finds into the inference: a column has the type that holds the values of all files.
// Malformed records are passed over, but for a *format.RecordError with mode FAILFAST. Errors: *format.Error too, and those of r.
func Infer(r io.Reader, opts Options, into *Inference) error {
	var err error
	if into.times, err = opts.Times(); err != nil {
		return err
	}
	into.opts, into.lex = &opts, opts.lexer()
	root, b, err := newRoot(&batch.Schema{}, true)
	if err != nil {
		return err
	}
	p := newParser(r, &opts, root, b)
	var seen int64
	var malformed *format.RowError
	sound := false
	for into.MaxBytes == 0 || seen < into.MaxBytes {
		if err := p.next(blockRows); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		for i, rec := range p.recs {
			seen += int64(rec.end - rec.start)
			if rec.malformed == "" {
				sound = true
				into.value(&into.root, p.in.Buf[:rec.end], int(rec.start))
				continue
			}
			if malformed == nil {
				malformed = &format.RowError{Line: p.lineOf(i), Message: p.fault(i)}
			}
			if opts.Mode == format.FailFast {
				return &format.RecordError{Row: *malformed}
			}
		}
		if into.fields > maxFields {
			return &format.Error{Message: fmt.Sprintf("the records have more than %d different keys: keys that are data, such as ids, need a schema that has a MAP<STRING, ...> in their place", maxFields)}
		}
	}
	if !sound && malformed != nil && into.malformed == nil {
		into.malformed = malformed
	}
	return nil
}

// Schema is the merged schema in the order in which columns were first met, all nullable. It is an error where no record was sound,
// and where names of columns or fields differ by case alone.
func (in *Inference) Schema() (*batch.Schema, error) {
	if in.root.class == nullClass && in.malformed != nil {
		return nil, &format.Error{Line: in.malformed.Line, Message: in.malformed.Message + "; is this a JSON file? One with documents of several lines needs multiLine => true"}
	}
	fields, err := in.root.schema("", in.opts)
	return batch.NewSchema(fields...), err
}

// schema is the fields of a record or struct.
func (c *inferred) schema(path string, opts *Options) ([]batch.Field, error) {
	var fields []batch.Field
	folded := map[string]string{}
	for _, f := range c.fields {
		if f.class == nullClass && opts.DropFieldIfAllNull {
			continue
		}
		lower := strings.ToLower(f.name)
		if other, twice := folded[lower]; twice {
			return nil, &format.Error{Message: fmt.Sprintf("[COLUMN_ALREADY_EXISTS] the records have the keys %q and %q, and names of columns must differ by more than case: "+
				"readerCaseSensitive => false reads both as one column, or give a schema", path+other, path+f.name)}
		}
		folded[lower] = f.name
		typ, err := f.batchType(path+f.name, opts)
		if err != nil {
			return nil, err
		}
		fields = append(fields, batch.Field{Name: f.name, Type: typ, Nullable: true})
	}
	return fields, nil
}

func (c *inferred) batchType(path string, opts *Options) (batch.Type, error) {
	if !opts.InferTypes { // of the whole column
		return batch.Type{Kind: batch.String}, nil
	}
	switch c.class {
	case boolClass:
		return batch.Type{Kind: batch.Bool}, nil
	case longClass:
		return batch.Type{Kind: batch.Int64}, nil
	case decimalClass:
		return batch.DecimalOf(uint8(c.precision), uint8(c.scale)), nil
	case doubleClass:
		return batch.Type{Kind: batch.Float64}, nil
	case timestampClass:
		return batch.Type{Kind: batch.Timestamp}, nil
	case structClass:
		if fields, err := c.schema(path+".", opts); err != nil || len(fields) > 0 {
			return batch.StructOf(fields...), err
		}
	case listClass:
		element, err := c.element.batchType(path, opts)
		return batch.ListOf(batch.Field{Type: element, Nullable: true}), err
	}
	return batch.Type{Kind: batch.String}, nil
}

// value merges the sound value at text[i], and returns the position behind it.
func (in *Inference) value(c *inferred, text []byte, i int) int {
	switch text[i] {
	case '{':
		return in.object(c, text, i)
	case '[':
		return in.array(c, text, i)
	}
	end := in.lex.Scalar(text, i)
	if token := text[i:end]; token[0] != 'n' && c.class != stringClass {
		in.scalar(c, token)
	}
	return end
}

func (in *Inference) object(c *inferred, text []byte, i int) int {
	c.merge(inferred{class: structClass})
	i = jsontext.Space(text, i+1)
	for text[i] != '}' {
		value, closed := in.lex.Key(text, i)
		if c.class == structClass {
			i = in.value(&in.field(c, text[i+1:closed-1]).inferred, text, value)
		} else {
			i = in.lex.Value(text, value)
		}
		if i = jsontext.Space(text, i); text[i] == ',' {
			i = jsontext.Space(text, i+1)
		}
	}
	return i + 1
}

// field is the field of a key, whose text between the quotes is raw.
func (in *Inference) field(c *inferred, raw []byte) *inferredField {
	if f := c.at[string(raw)]; f != nil {
		return f
	}
	plain, _ := jsontext.Unescape(nil, raw)
	name := string(format.AppendUTF8(nil, plain))
	key := name
	if !in.opts.CaseSensitive {
		key = strings.ToLower(name)
	}
	f := c.at[key]
	if f == nil {
		if c.at == nil {
			c.at = map[string]*inferredField{}
		}
		f = &inferredField{name: name}
		c.at[key] = f
		c.fields = append(c.fields, f)
		in.fields++
	}
	return f
}

func (in *Inference) array(c *inferred, text []byte, i int) int {
	c.merge(inferred{class: listClass})
	if c.element == nil {
		c.element = &inferred{}
	}
	i = jsontext.Space(text, i+1)
	for text[i] != ']' {
		if c.class == listClass {
			i = in.value(c.element, text, i)
		} else {
			i = in.lex.Value(text, i)
		}
		if i = jsontext.Space(text, i); text[i] == ',' {
			i = jsontext.Space(text, i+1)
		}
	}
	return i + 1
}

// scalar merges a value that is no object, no array and not null.
func (in *Inference) scalar(c *inferred, token []byte) {
	switch {
	case isQuoted(token):
		in.text(c, token[1:len(token)-1])
	case in.opts.PrimitivesAsString:
		c.merge(inferred{class: stringClass})
	case token[0] == 't', token[0] == 'f':
		c.merge(inferred{class: boolClass})
	default:
		c.merge(in.number(token))
	}
}

// text merges a string; an empty one says nothing.
func (in *Inference) text(c *inferred, content []byte) {
	if len(content) == 0 {
		return
	}
	found := inferred{class: stringClass}
	if in.opts.PrefersDecimal {
		if d, ok := decimalClassOf(content); ok {
			found = d
		}
	}
	if found.class == stringClass && in.opts.InferTimestamp {
		if _, ok := in.times.Timestamp(content); ok {
			found.class = timestampClass
		}
	}
	c.merge(found)
}

// number is the class of a number.
func (in *Inference) number(token []byte) inferred {
	if _, ok := format.ParseInt(token); ok {
		return inferred{class: longClass}
	}
	_, whole := jsontext.Number(token, 0)
	if whole || in.opts.PrefersDecimal {
		if d, ok := decimalClassOf(token); ok {
			return d
		}
	}
	return inferred{class: doubleClass}
}

// decimalClassOf is the decimal that has just the digits of a number, if one has.
func decimalClassOf(text []byte) (inferred, bool) {
	end, _ := jsontext.Number(text, 0)
	if end != len(text) {
		return inferred{}, false
	}
	precision, scale, ok := batch.DecimalDigits(text)
	if !ok || precision > batch.MaxPrecision {
		return inferred{}, false
	}
	return inferred{class: decimalClass, precision: precision, scale: scale}, true
}

// longPrecision is that of the decimal which Spark takes for a long's.
const longPrecision = 20

// merge widens to what holds both: numbers to numbers; all else that differs becomes a string.
func (c *inferred) merge(found inferred) {
	switch {
	case c.class == nullClass:
		*c = found
	case found.class == nullClass, c.class == stringClass:
	case c.class == found.class && c.class != decimalClass:
	case c.numeric() && found.numeric():
		c.mergeNumbers(found)
	default:
		*c = inferred{class: stringClass}
	}
}

func (c *inferred) numeric() bool { return c.class >= longClass && c.class <= doubleClass }

// mergeNumbers finds the decimal that holds both, or a double where none does.
func (c *inferred) mergeNumbers(found inferred) {
	if c.class == doubleClass || found.class == doubleClass {
		*c = inferred{class: doubleClass}
		return
	}
	a, b := c.asDecimal(), found.asDecimal()
	scale := max(a.scale, b.scale)
	precision := max(a.precision-a.scale, b.precision-b.scale) + scale
	if precision > batch.MaxPrecision {
		*c = inferred{class: doubleClass}
		return
	}
	*c = inferred{class: decimalClass, precision: precision, scale: scale}
}

func (c *inferred) asDecimal() inferred {
	if c.class == longClass {
		return inferred{class: decimalClass, precision: longPrecision}
	}
	return *c
}
