package csv

import (
	"io"
	"strings"

	"lakesql/batch"
	"lakesql/format"
)

// Inference gathers what the files that Infer looked at say of their columns. The zero value is ready to use.
type Inference struct {
	// MaxBytes is how much of each file is looked at; 0: all of it.
	MaxBytes int64

	cols []inferred
	at   map[string]int // by lower-case name
}

// class is what the values of a column have in common, in the order in which Spark tries (CSVInferSchema).
type class uint8

const (
	unknownClass class = iota // nothing but NULL so far
	intClass
	longClass
	decimalClass // whole numbers too long for a long
	doubleClass
	dateClass
	timestampClass
	booleanClass
	stringClass
)

type inferred struct {
	name      string
	class     class
	precision uint8 // of decimalClass
}

// Infer looks at one file and merges what it finds into the inference. A column that other files have too, by name in any
// case, gets the type that holds the values of all.
func Infer(r io.Reader, opts Options, into *Inference) error {
	d, err := opts.compile()
	if err != nil {
		return err
	}
	conv, err := newConverter(&opts)
	if err != nil {
		return err
	}
	s := newScanner(r, d)
	names, header, err := readHeader(s, &opts)
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	cols := into.columns(names)
	if !opts.InferTypes {
		for _, c := range cols {
			into.cols[c].class = stringClass
		}
		return nil
	}
	if !opts.Header { // the first record is data
		s.unread(s.recs[0])
	}
	seen := int64(len(header))
	for into.MaxBytes == 0 || seen < into.MaxBytes {
		if err := s.next(blockRows); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for row, rec := range s.recs {
			seen += int64(rec.end - rec.start)
			if opts.Header && string(s.raw(rec)) == header {
				continue
			}
			fields := s.fields[row*s.width : (row+1)*s.width]
			for i, f := range fields {
				into.cols[cols[i]].see(s, f, conv, &opts)
			}
		}
	}
	return nil
}

// columns returns the positions of the named columns, adding those that are new.
func (in *Inference) columns(names []string) []int {
	if in.at == nil {
		in.at = make(map[string]int)
	}
	out := make([]int, len(names))
	for i, name := range names {
		lower := strings.ToLower(name)
		at, ok := in.at[lower]
		if !ok {
			at = len(in.cols)
			in.at[lower] = at
			in.cols = append(in.cols, inferred{name: name})
		}
		out[i] = at
	}
	return out
}

// Schema is the merged schema in the order in which columns were first met. All columns are nullable; one without any
// value is a string.
func (in *Inference) Schema() *batch.Schema {
	schema := &batch.Schema{}
	for _, c := range in.cols {
		schema.Fields = append(schema.Fields, batch.Field{Name: c.name, Type: c.batchType(), Nullable: true})
	}
	return schema
}

func (c *inferred) batchType() batch.Type {
	switch c.class {
	case intClass:
		return batch.Type{Kind: batch.Int32}
	case longClass:
		return batch.Type{Kind: batch.Int64}
	case decimalClass:
		return batch.DecimalOf(c.precision, 0)
	case doubleClass:
		return batch.Type{Kind: batch.Float64}
	case dateClass:
		return batch.Type{Kind: batch.Date}
	case timestampClass:
		return batch.Type{Kind: batch.Timestamp}
	case booleanClass:
		return batch.Type{Kind: batch.Bool}
	}
	return batch.Type{Kind: batch.String}
}

// see merges one value. Knowing that a column is double, there is no point in trying whether a text is an int.
func (c *inferred) see(s *scanner, f field, conv *converter, opts *Options) {
	if c.class == stringClass {
		return
	}
	text, null := conv.isNull(s, f)
	if null || len(text) == 0 {
		return
	}
	found, precision := classify(text, c.class, conv, opts)
	c.merge(found, precision, opts.TimestampFormat == "")
}

// merge widens the column to what holds both. Numbers widen to numbers; dates and timestamps to timestamps, where the
// timestamp format reads dates too; all else becomes a string.
func (c *inferred) merge(found class, precision uint8, datesAreTimestamps bool) {
	switch {
	case c.class == found || c.class == unknownClass:
	case c.class <= doubleClass && found <= doubleClass:
		precision = max(precision, c.decimalPrecision())
		found = max(found, c.class)
	case c.class == dateClass && found == timestampClass && datesAreTimestamps:
	default:
		found = stringClass
	}
	c.class, c.precision = found, max(c.precision, precision)
}

// decimalPrecision is the precision of the decimal that holds the whole numbers seen so far.
func (c *inferred) decimalPrecision() uint8 {
	switch c.class {
	case intClass:
		return 10
	case longClass:
		return 20
	}
	return c.precision
}

// classify finds the narrowest class, not before from, that can hold the text.
func classify(text []byte, from class, conv *converter, opts *Options) (class, uint8) {
	if from <= longClass {
		if x, ok := format.ParseInt(text); ok {
			if int64(int32(x)) == x && from <= intClass {
				return intClass, 0
			}
			return longClass, 0
		}
	}
	if from <= decimalClass {
		if digits := wholeDigits(text); digits > 0 && digits <= batch.MaxPrecision {
			return decimalClass, uint8(digits)
		}
	}
	if from <= doubleClass {
		if _, ok := conv.float64(text); ok {
			return doubleClass, 0
		}
	}
	if from <= dateClass && opts.PreferDate && conv.StrictDate(text) {
		return dateClass, 0
	}
	if from <= timestampClass {
		if _, ok := conv.Timestamp(text); ok {
			return timestampClass, 0
		}
	}
	if from <= booleanClass {
		if _, ok := format.ParseBool(text); ok {
			return booleanClass, 0
		}
	}
	return stringClass, 0
}

// wholeDigits counts the significant digits of [+-]digits; 0 where the text is none.
func wholeDigits(text []byte) int {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	if len(text) == 0 {
		return 0
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0
		}
	}
	for len(text) > 1 && text[0] == '0' {
		text = text[1:]
	}
	return len(text)
}
