package batch

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxPrecision is the largest precision of a decimal, in digits.
const MaxPrecision = 38

// kindNames are the names that Delta's schema JSON uses ("Primitive Types" of the Delta protocol).
var kindNames = map[Kind]string{
	Bool: "boolean", Int8: "byte", Int16: "short", Int32: "integer", Int64: "long", Float32: "float", Float64: "double",
	Decimal: "decimal", Date: "date", Timestamp: "timestamp", TimestampNTZ: "timestamp_ntz", String: "string", Binary: "binary",
	Struct: "struct", List: "array", Map: "map", Variant: "variant", Void: "void",
}

// kindsByName also knows the spellings of Spark's SQL.
var kindsByName = map[string]Kind{
	"boolean": Bool, "bool": Bool,
	"byte": Int8, "tinyint": Int8,
	"short": Int16, "smallint": Int16,
	"integer": Int32, "int": Int32,
	"long": Int64, "bigint": Int64,
	"float": Float32, "real": Float32,
	"double": Float64,
	"date":   Date,
	"string": String, "binary": Binary,
	"timestamp": Timestamp, "timestamp_ltz": Timestamp, "timestamp_ntz": TimestampNTZ,
	"decimal": Decimal, "dec": Decimal, "numeric": Decimal,
	"variant": Variant, "void": Void,
	"struct": Struct, "array": List, "map": Map,
}

// DecimalOf returns the type decimal(precision, scale).
func DecimalOf(precision, scale uint8) Type {
	return Type{Kind: Decimal, Precision: precision, Scale: scale}
}

// sqlNames are the names within a nested type where Spark's SQL has another than Delta's schema.
var sqlNames = map[Kind]string{Int8: "tinyint", Int16: "smallint", Int32: "int", Int64: "bigint"}

// String returns Delta's name of a flat type (long, decimal(10,2), timestamp_ntz) and Spark's SQL for a nested one:
// struct<a:int,b:array<string>>, map<string,bigint>, with "not null" behind a struct's field that is.
func (t Type) String() string {
	if t.Kind == Invalid || kindNames[t.Kind] == "" {
		return fmt.Sprintf("invalid type (kind %d)", t.Kind)
	}
	if t.shape == nil && t.Kind != Decimal {
		return kindNames[t.Kind]
	}
	var b strings.Builder
	t.appendSQL(&b)
	return b.String()
}

// appendSQL appends the type as a nested type spells it.
func (t Type) appendSQL(b *strings.Builder) {
	name := kindNames[t.Kind]
	if sql, ok := sqlNames[t.Kind]; ok {
		name = sql
	}
	b.WriteString(name)
	if t.Kind == Decimal {
		fmt.Fprintf(b, "(%d,%d)", t.Precision, t.Scale)
	}
	if t.shape == nil {
		return
	}
	b.WriteByte('<')
	for i, f := range t.shape.fields {
		if i > 0 {
			b.WriteByte(',')
		}
		if t.Kind == Struct {
			name := f.Name
			if !isWord(name) {
				name = "`" + strings.ReplaceAll(name, "`", "``") + "`"
			}
			b.WriteString(name + ":")
		}
		f.Type.appendSQL(b)
		if t.Kind == Struct && !f.Nullable {
			b.WriteString(" not null")
		}
	}
	b.WriteByte('>')
}

// isWord says whether a name needs no quotes: letters without accents, digits and underscores, no digit in front.
func isWord(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', i > 0 && c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return name != ""
}

// parseDecimalArgs reads what stands behind the opening parenthesis of a decimal type.
func parseDecimalArgs(text, args string) (Type, error) {
	inner, closed := strings.CutSuffix(strings.TrimSpace(args), ")")
	precText, scaleText, hasScale := strings.Cut(inner, ",")
	if !hasScale {
		scaleText = "0"
	}
	precision, err1 := strconv.ParseUint(strings.TrimSpace(precText), 10, 8)
	scale, err2 := strconv.ParseUint(strings.TrimSpace(scaleText), 10, 8)
	if !closed || err1 != nil || err2 != nil {
		return Type{}, fmt.Errorf("bad decimal type %q: write decimal(precision, scale), such as decimal(10,2)", text)
	}
	if precision < 1 || precision > MaxPrecision || scale > precision {
		return Type{}, fmt.Errorf("bad decimal type %q: the precision must be 1 to %d and the scale 0 to the precision", text, MaxPrecision)
	}
	return DecimalOf(uint8(precision), uint8(scale)), nil
}
