package json

import (
	"lakesql/format"
	"lakesql/format/jsontext"
)

// Options are the rules of reading JSON. Start from DefaultOptions: the zero value is not usable.
type Options struct {
	format.TextOptions // MultiLine: documents of any number of lines, one after the other or in an array

	PrimitivesAsString     bool // inference takes numbers and booleans for strings
	PrefersDecimal         bool // inference takes numbers with a point for decimals where they fit
	InferTimestamp         bool // inference tries strings as timestamps
	DropFieldIfAllNull     bool // inference leaves out what has no value but null; otherwise it is a string
	CaseSensitive          bool // of columns and fields; false: a key in another case is a column's too
	AllowSingleQuotes      bool // 'text' is a string, too
	AllowNonNumericNumbers bool // NaN and infinities, with quotes and without, are floating point numbers
}

// DefaultOptions returns Spark's defaults.
func DefaultOptions() Options {
	return Options{TextOptions: format.DefaultTextOptions(), CaseSensitive: true, AllowSingleQuotes: true, AllowNonNumericNumbers: true}
}

func (o *Options) lexer() jsontext.Lexer {
	return jsontext.Lexer{SingleQuotes: o.AllowSingleQuotes, NonNumeric: o.AllowNonNumericNumbers}
}
