package mysqltype

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/proto/query"

	"lakesql/batch"
	"lakesql/delta"
)

// MaxDecimalPrecision is Delta's and Spark's largest DECIMAL precision; MySQL's is 65.
const MaxDecimalPrecision = 38

// typeKey is the column metadata under which we keep the MySQL type of a column whose Delta type does not say it. Its one value is "json": a
// string that is a JSON document.
const (
	typeKey  = "lakesql.type"
	jsonType = "json"
)

// Computed is the type of a computed column that becomes a table's: a DECIMAL is no wider than Delta's, as with Spark. A value that
// does not fit is an error where it is written.
func Computed(t sql.Type) sql.Type {
	if d, ok := t.(sql.DecimalType); ok && d.Precision() > MaxDecimalPrecision {
		return types.MustCreateColumnDecimalType(MaxDecimalPrecision, min(d.Scale(), MaxDecimalPrecision))
	}
	return t
}

// UnsupportedError says that a MySQL type has no place in a Delta table.
type UnsupportedError struct {
	Type    string // as MySQL spells it
	Instead string // the type to take
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("type %s is not supported in a Delta table; use %s", e.Type, e.Instead)
}

// Of is the MySQL type of a Delta column's type.
func Of(t batch.Type) sql.Type {
	switch t.Kind {
	case batch.Bool:
		return types.Boolean
	case batch.Int8:
		return types.Int8
	case batch.Int16:
		return types.Int16
	case batch.Int32:
		return types.Int32
	case batch.Int64:
		return types.Int64
	case batch.Float32:
		return types.Float32
	case batch.Float64:
		return types.Float64
	case batch.Decimal:
		return types.MustCreateColumnDecimalType(t.Precision, t.Scale)
	case batch.Date:
		return types.Date
	case batch.Timestamp, batch.TimestampNTZ:
		return types.DatetimeMaxPrecision
	case batch.Binary:
		return types.LongBlob
	case batch.Struct, batch.List, batch.Map, batch.Variant:
		return types.JSON
	default: // String, and Void, whose every value is NULL
		return Text
	}
}

// DeltaOnly spells a type that CREATE TABLE takes and MySQL does not have; false for the others, which MySQL's own names say.
func DeltaOnly(t batch.Type) (string, bool) {
	switch t.Kind {
	case batch.Struct, batch.List, batch.Map, batch.Variant, batch.TimestampNTZ:
		return t.String(), true
	}
	return "", false
}

// isJSON says whether a column's values are documents: it is nested, a variant, or a string that was declared JSON.
func isJSON(f batch.Field) bool {
	switch f.Type.Kind {
	case batch.Struct, batch.List, batch.Map, batch.Variant:
		return true
	case batch.String:
		return f.MetadataText(typeKey) == jsonType
	}
	return false
}

// OfField is the MySQL type of a Delta column: Of, or CHAR(n), VARCHAR(n) and JSON where the column was declared so.
func OfField(f batch.Field) sql.Type {
	if isJSON(f) {
		return types.JSON
	}
	if f.Type.Kind == batch.String {
		if t, ok := declaredText(f.MetadataText(delta.CharVarcharKey)); ok {
			return t
		}
	}
	return Of(f.Type)
}

// declaredText reads Spark's text of a declared type, such as varchar(20).
func declaredText(text string) (sql.Type, bool) {
	name, rest, ok := strings.Cut(text, "(")
	if !ok {
		return nil, false
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(rest, ")"), 10, 64)
	if err != nil || n > maxTextLength {
		return nil, false
	}
	base := sqltypes.VarChar
	if name == "char" {
		base = sqltypes.Char
	}
	t, err := types.CreateString(base, n, sql.Collation_Default)
	return t, err == nil
}

// Schema is a Delta schema as columns of the table db.table.
func Schema(s *batch.Schema, db, table string) sql.Schema {
	out := make(sql.Schema, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = &sql.Column{
			Name: f.Name, Type: OfField(f), Nullable: f.Nullable, Source: table, DatabaseSource: db, Comment: f.MetadataText("comment"),
		}
	}
	return out
}

// Field is the Delta column for a column of a CREATE TABLE.
func Field(c *sql.Column) (batch.Field, error) {
	t, err := ToDelta(c.Type)
	if err != nil {
		return batch.Field{}, fmt.Errorf("column %s: %w", c.Name, err)
	}
	f := batch.Field{Name: c.Name, Type: t, Nullable: c.Nullable}
	set := func(key, text string) {
		if f.Metadata == nil {
			f.Metadata = map[string]string{}
		}
		raw, _ := json.Marshal(text) // a string always marshals
		f.Metadata[key] = string(raw)
	}
	if c.Comment != "" {
		set("comment", c.Comment)
	}
	if types.IsJSON(c.Type) {
		set(typeKey, jsonType)
	}
	if _, ours := c.Type.(String); !ours {
		// The length that every string reports is none that was declared.
		if st, ok := c.Type.(sql.StringType); ok && st.MaxCharacterLength() < maxTextLength {
			switch c.Type.Type() {
			case sqltypes.VarChar:
				set(delta.CharVarcharKey, fmt.Sprintf("varchar(%d)", st.MaxCharacterLength()))
			case sqltypes.Char:
				set(delta.CharVarcharKey, fmt.Sprintf("char(%d)", st.MaxCharacterLength()))
			}
		}
	}
	return f, nil
}

// ToDelta is the Delta type that keeps every value of a MySQL type, or an *UnsupportedError.
func ToDelta(t sql.Type) (batch.Type, error) {
	if types.IsBoolean(t) {
		return batch.Type{Kind: batch.Bool}, nil
	}
	if dt, ok := t.(sql.DecimalType); ok {
		if dt.Precision() > MaxDecimalPrecision {
			return batch.Type{}, unsupported(t, fmt.Sprintf("DECIMAL(%d, s), or CAST to it", MaxDecimalPrecision))
		}
		return batch.Type{Kind: batch.Decimal, Precision: dt.Precision(), Scale: dt.Scale()}, nil
	}
	if kind, ok := simpleKinds[t.Type()]; ok {
		return batch.Type{Kind: kind}, nil
	}
	switch t.Type() {
	case sqltypes.Uint64:
		return batch.Type{Kind: batch.Decimal, Precision: 20}, nil
	case sqltypes.Bit:
		if bt, ok := t.(types.BitType); ok && bt.NumberOfBits() == 1 {
			return batch.Type{Kind: batch.Bool}, nil
		}
		return batch.Type{}, unsupported(t, "BIGINT or VARBINARY")
	case sqltypes.Time:
		return batch.Type{}, unsupported(t, "VARCHAR, or BIGINT microseconds")
	case sqltypes.Year:
		return batch.Type{}, unsupported(t, "SMALLINT")
	case sqltypes.Enum, sqltypes.Set:
		return batch.Type{}, unsupported(t, "VARCHAR")
	}
	return batch.Type{}, unsupported(t, "VARBINARY or VARCHAR")
}

var simpleKinds = map[query.Type]batch.Kind{
	sqltypes.Int8: batch.Int8, sqltypes.Int16: batch.Int16, sqltypes.Int24: batch.Int32, sqltypes.Int32: batch.Int32,
	sqltypes.Int64: batch.Int64, sqltypes.Uint8: batch.Int16, sqltypes.Uint16: batch.Int32, sqltypes.Uint24: batch.Int32,
	sqltypes.Uint32: batch.Int64, sqltypes.Float32: batch.Float32, sqltypes.Float64: batch.Float64,
	sqltypes.Date: batch.Date, sqltypes.Datetime: batch.Timestamp, sqltypes.Timestamp: batch.Timestamp,
	sqltypes.Char: batch.String, sqltypes.VarChar: batch.String, sqltypes.Text: batch.String, sqltypes.TypeJSON: batch.String,
	sqltypes.Null: batch.String, sqltypes.Binary: batch.Binary, sqltypes.VarBinary: batch.Binary, sqltypes.Blob: batch.Binary,
}

func unsupported(t sql.Type, instead string) error {
	return &UnsupportedError{Type: strings.ToUpper(t.String()), Instead: instead}
}
