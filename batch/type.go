package batch

import "encoding/json"

// Kind is the physical and logical kind of a column.
type Kind uint8

// The kinds and the field of Vector that holds their values.
const (
	Invalid      Kind = iota
	Bool              // Bools
	Int8              // I8
	Int16             // I16
	Int32             // I32
	Int64             // I64
	Float32           // F32
	Float64           // F64
	Decimal           // I64 (unscaled) where Precision <= 18, else Dec
	Date              // I32: days since 1970-01-01, proleptic Gregorian
	Timestamp         // I64: microseconds since 1970-01-01T00:00:00Z, an instant
	TimestampNTZ      // I64: microseconds since 1970-01-01T00:00:00, a wall clock without a zone
	String            // Off, Bytes: UTF-8
	Binary            // Off, Bytes
	Struct            // Children: one a field, each as long as the vector
	List              // Off, Children: {elements}
	Map               // Off, Children: {keys, values}
	Variant           // Children: {metadata, value}, the two parts of Parquet's variant encoding; see format/variant
	Void              // nothing: every row is null
)

// Type is a column's type. Types are comparable with ==; a nested one is made by StructOf, ListOf or MapOf, and equal when all that it
// holds is equal: names, types, nullability and metadata.
type Type struct {
	Kind      Kind
	Precision uint8  // Decimal only, 1 to 38
	Scale     uint8  // Decimal only, 0 to Precision
	shape     *shape // Struct, List and Map only: the children, interned
}

// MaxInt64Precision is the largest precision whose unscaled decimals fit an int64.
const MaxInt64Precision = 18

// Field is a named, typed column of a schema.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	Metadata map[string]string // Delta's column metadata, values as raw JSON
}

// MetadataText is the value of a key of the metadata that is a text; "" where it is none.
func (f Field) MetadataText(key string) string {
	var text string
	if raw := f.Metadata[key]; raw == "" || json.Unmarshal([]byte(raw), &text) != nil {
		return ""
	}
	return text
}

// Layout names the field of Vector that holds a plain vector's values.
type Layout uint8

// The layouts, named after Vector's fields.
const (
	LayoutNone   Layout = iota // the type is invalid
	LayoutBools                // Bools
	LayoutI8                   // I8
	LayoutI16                  // I16
	LayoutI32                  // I32
	LayoutI64                  // I64
	LayoutF32                  // F32
	LayoutF64                  // F64
	LayoutDec                  // Dec
	LayoutBytes                // Off and Bytes
	LayoutStruct               // Children
	LayoutList                 // Off and Children
	LayoutVoid                 // Len alone
)

// Layout returns where a plain vector of this type keeps its values.
func (t Type) Layout() Layout {
	switch t.Kind {
	case Bool:
		return LayoutBools
	case Int8:
		return LayoutI8
	case Int16:
		return LayoutI16
	case Int32, Date:
		return LayoutI32
	case Int64, Timestamp, TimestampNTZ:
		return LayoutI64
	case Float32:
		return LayoutF32
	case Float64:
		return LayoutF64
	case Decimal:
		if t.Precision <= MaxInt64Precision {
			return LayoutI64
		}
		return LayoutDec
	case String, Binary:
		return LayoutBytes
	case Struct, Variant:
		return LayoutStruct
	case List, Map:
		return LayoutList
	case Void:
		return LayoutVoid
	}
	return LayoutNone
}

// Schema is the ordered list of a batch's columns.
type Schema struct {
	Fields []Field
}
