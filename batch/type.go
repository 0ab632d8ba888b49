package batch

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
)

// Type is a column's type. Types are comparable with ==.
type Type struct {
	Kind      Kind
	Precision uint8 // Decimal only, 1 to 38
	Scale     uint8 // Decimal only, 0 to Precision
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

// Schema is the ordered list of a batch's columns.
type Schema struct {
	Fields []Field
}
