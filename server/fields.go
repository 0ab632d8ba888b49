package server

import (
	"math"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"lakesql/catalog/resultmeta"
)

// notFixedDecimals is how MySQL writes, in a column's decimals, that a FLOAT or DOUBLE has no fixed number of them.
const notFixedDecimals = 31

// timeDecimals is how many digits after the second GMS keeps in every TIME.
const timeDecimals = 6

// resultFields describes a result's columns as MySQL does: character set 63 (binary) for everything that is no text, the length in
// bytes of the longest text, flags that tell BLOB from TEXT and signed from unsigned. What derived says of a column of an expression goes first, where its
// values can be sent as that.
func resultFields(ctx *sql.Context, schema sql.Schema, derived []resultmeta.Column) []*querypb.Field {
	fields := make([]*querypb.Field, len(schema))
	for i, column := range schema {
		fields[i] = &querypb.Field{
			Name:     column.Name,
			OrgName:  originalName(column),
			Table:    column.Source,
			OrgTable: column.Source,
			Database: column.DatabaseSource,
		}
		if len(derived) == len(schema) && sendable(column.Type, derived[i]) {
			describeDerived(ctx, fields[i], derived[i])
			continue
		}
		fields[i].Type = fieldType(column)
		fields[i].Charset = fieldCharset(ctx, column.Type)
		fields[i].ColumnLength = fieldLength(ctx, column)
		fields[i].Decimals = fieldDecimals(column)
		fields[i].Flags = fieldFlags(column)
	}
	return fields
}

// originalName is the name of a table's column, and empty of an expression.
func originalName(column *sql.Column) string {
	if column.Source == "" {
		return ""
	}
	return column.Name
}

// ofExpression tells whether a column is of an expression whose texts have no length that GMS knows. MySQL knows one, most often a short one, and clients
// handle a LONGTEXT otherwise than a VARCHAR.
func ofExpression(column *sql.Column) bool {
	return column.DatabaseSource == "" && isText(column.Type) && types.IsTextBlob(column.Type)
}

func fieldType(column *sql.Column) querypb.Type {
	if ofExpression(column) {
		return sqltypes.VarChar
	}
	return column.Type.Type()
}

// describeDerived fills a field with what is derived of an expression.
func describeDerived(ctx *sql.Context, f *querypb.Field, c resultmeta.Column) {
	f.Type, f.Decimals = c.Type, c.Decimals
	f.Charset = uint32(sql.Collation_binary)
	length := c.Length
	if isTextOf(c.Type) || c.Type == sqltypes.TypeJSON {
		results := resultsCharset(ctx)
		f.Charset = uint32(results)
		length *= uint64(results.MaxLength())
	}
	f.ColumnLength = uint32(min(length, math.MaxUint32))
	_, ofType := sqltypes.TypeToMySQL(c.Type)
	flags := uint32(ofType) &^ uint32(querypb.MySqlFlag_BINARY_FLAG|querypb.MySqlFlag_BLOB_FLAG)
	set := func(on bool, flag querypb.MySqlFlag) {
		if on {
			flags |= uint32(flag)
		}
	}
	number := sqltypes.IsIntegral(c.Type) || sqltypes.IsFloat(c.Type) || c.Type == sqltypes.Decimal
	set(c.NotNull, querypb.MySqlFlag_NOT_NULL_FLAG)
	set(sqltypes.IsUnsigned(c.Type) || c.Type == sqltypes.Year, querypb.MySqlFlag_UNSIGNED_FLAG)
	set(c.Bytewise || !isTextOf(c.Type) && !(c.Stored && number), querypb.MySqlFlag_BINARY_FLAG)
	set(c.Stored && (c.Type == sqltypes.Text || c.Type == sqltypes.Blob || c.Type == sqltypes.TypeJSON), querypb.MySqlFlag_BLOB_FLAG)
	f.Flags = flags
}

// sendable says whether values of a type can be sent as a column is described: in the binary protocol a value's bytes are those of the column's type.
func sendable(t sql.Type, c resultmeta.Column) bool {
	if !c.Known {
		return false
	}
	from, to := t.Type(), c.Type
	switch {
	case isTextOf(to) || sqltypes.IsBinary(to):
		return true // every value has a text
	case to == sqltypes.Year:
		return sqltypes.IsIntegral(from)
	case sqltypes.IsIntegral(from) && to == sqltypes.Int64:
		return from != sqltypes.Uint64
	case sqltypes.IsIntegral(from) && to == sqltypes.Uint64:
		return sqltypes.IsUnsigned(from)
	case sqltypes.IsSigned(from) && to == sqltypes.Int32:
		return from != sqltypes.Int64
	case sqltypes.IsIntegral(from) && sqltypes.IsIntegral(to):
		return from == to
	case to == sqltypes.Decimal:
		return from == sqltypes.Decimal || sqltypes.IsIntegral(from)
	case to == sqltypes.Float64:
		return sqltypes.IsFloat(from) || from == sqltypes.Decimal || sqltypes.IsIntegral(from)
	case to == sqltypes.Datetime:
		moment, ok := t.(sql.DatetimeType)
		return ok && from != sqltypes.Date && uint32(moment.Precision()) == c.Decimals
	case to == sqltypes.Time:
		return from == to // the digits are cut for it
	}
	return from == to
}

func isText(t sql.Type) bool { return isTextOf(t.Type()) }

func isTextOf(t querypb.Type) bool {
	switch t {
	case sqltypes.VarChar, sqltypes.Char, sqltypes.Text, sqltypes.Enum, sqltypes.Set:
		return true
	}
	return false
}

// resultsCharset is the character set in which the client gets texts.
func resultsCharset(ctx *sql.Context) sql.CharacterSetID {
	if results := ctx.GetCharacterSetResults(); results != sql.CharacterSet_Unspecified {
		return results
	}
	return sql.Collation_Default.CharacterSet()
}

func fieldCharset(ctx *sql.Context, t sql.Type) uint32 {
	if !isText(t) {
		return uint32(sql.Collation_binary)
	}
	if results := ctx.GetCharacterSetResults(); results != sql.CharacterSet_Unspecified {
		return uint32(results)
	}
	if collated, ok := t.(sql.TypeWithCollation); ok {
		return uint32(collated.Collation().CharacterSet())
	}
	return uint32(sql.Collation_Default.CharacterSet())
}

// expressionLength is the length of a text of an expression, in bytes: that of the lake's texts.
const expressionLength = 16383 * 4

func fieldLength(ctx *sql.Context, column *sql.Column) uint32 {
	if ofExpression(column) {
		return expressionLength
	}
	t := column.Type
	switch typ := t.(type) {
	case sql.NumberType:
		if width := typ.DisplayWidth(); width > 0 { // TINYINT(1) is how clients know a BOOLEAN
			return uint32(width)
		}
	case sql.DatetimeType:
		if t.Type() != sqltypes.Date {
			return datetimeLength(typ.Precision())
		}
	}
	return t.MaxTextResponseByteLength(ctx)
}

// datetimeLength is the length of a DATETIME with so many digits after the second.
func datetimeLength(precision int) uint32 {
	if precision == 0 {
		return uint32(len("2006-01-02 15:04:05"))
	}
	return uint32(len("2006-01-02 15:04:05.") + precision)
}

func fieldDecimals(column *sql.Column) uint32 {
	if ofExpression(column) {
		return notFixedDecimals
	}
	t := column.Type
	switch typ := t.(type) {
	case sql.DecimalType:
		return uint32(typ.Scale())
	case sql.DatetimeType:
		return uint32(typ.Precision())
	}
	switch t.Type() {
	case sqltypes.Float32, sqltypes.Float64:
		return notFixedDecimals
	case sqltypes.Time:
		return timeDecimals
	}
	return 0
}

// fieldFlags are those of MySQL, but that a column of an expression is never NOT NULL: GMS says so of many that are NULL over no rows, MAX among them. A number
// is binary in an expression and not in a table: by that Connector/J knows a BOOLEAN from bits.
func fieldFlags(column *sql.Column) uint32 {
	_, ofType := sqltypes.TypeToMySQL(fieldType(column))
	flags := uint32(ofType)
	set := func(on bool, flag querypb.MySqlFlag) {
		if on {
			flags |= uint32(flag)
		}
	}
	ofTable := column.DatabaseSource != ""
	set(ofTable && !column.Nullable, querypb.MySqlFlag_NOT_NULL_FLAG)
	set(column.AutoIncrement, querypb.MySqlFlag_AUTO_INCREMENT_FLAG)
	set(column.PrimaryKey, querypb.MySqlFlag_PRI_KEY_FLAG)
	set(types.IsUnsigned(column.Type), querypb.MySqlFlag_UNSIGNED_FLAG)
	set(!isText(column.Type) && !(ofTable && types.IsNumber(column.Type)), querypb.MySqlFlag_BINARY_FLAG)
	set(types.IsTextBlob(column.Type) && !ofExpression(column) || types.IsJSON(column.Type), querypb.MySqlFlag_BLOB_FLAG)
	return flags
}
