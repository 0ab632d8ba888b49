package catalog

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// informationSchemaTables says what columns the tables of MySQL's information_schema have: a name, and below it a line a column.
//
//go:embed information_schema.txt
var informationSchemaTables string

// schemasOf reads such a text: the columns of each table, by its name, and the names in order. A text that cannot be read is a fault of the program.
func schemasOf(text string) (schemas map[string]sql.Schema, names []string) {
	schemas = make(map[string]sql.Schema)
	table := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch column, indented := strings.CutPrefix(line, "  "); {
		case line == "" || strings.HasPrefix(line, "#"):
		case indented:
			name, typ, _ := strings.Cut(column, " ")
			typ, notNull := strings.CutSuffix(typ, " NOT NULL")
			schemas[table] = append(schemas[table], &sql.Column{Name: name, Type: mysqlType(typ), Nullable: !notNull, Source: strings.ToLower(table)})
		default:
			table = line
			names = append(names, table)
		}
	}
	return schemas, names
}

// plainTypes are the types that have no arguments.
var plainTypes = map[string]sql.Type{
	"int": types.Int32, "smallint unsigned": types.Uint16, "int unsigned": types.Uint32, "bigint": types.Int64, "bigint unsigned": types.Uint64, "float": types.Float32, "double": types.Float64, "blob": types.Blob, "json": types.JSON,
	"datetime": types.Datetime, "timestamp": types.Timestamp, "timestamp(6)": types.MustCreateDatetimeType(sqltypes.Timestamp, 6), "time(6)": types.Time, "mediumblob": types.MediumBlob, "tinyint(1)": types.Boolean, "text": infoText(types.TextBlobMax),
	"mediumtext": infoText(types.MediumTextBlobMax), "longtext": infoText(types.LongTextBlobMax),
}

// infoText is a TEXT of so many bytes that compares as information_schema does.
func infoText(bytes int64) sql.Type {
	return types.MustCreateString(sqltypes.Text, bytes/sql.Collation_Information_Schema_Default.CharacterSet().MaxLength(), sql.Collation_Information_Schema_Default)
}

// mysqlType is the type that a text spells.
func mysqlType(text string) sql.Type {
	if t, ok := plainTypes[text]; ok {
		return t
	}
	name, arguments, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	list := strings.Split(arguments, ",")
	const collation = sql.Collation_Information_Schema_Default
	switch name {
	case "enum", "set":
		for i, e := range list {
			list[i] = strings.Trim(e, "'")
		}
		if name == "set" {
			return types.MustCreateSetType(list, collation)
		}
		return types.MustCreateEnumType(list, collation)
	case "decimal":
		return types.MustCreateDecimalType(uint8(typeLength(text, list[0])), uint8(typeLength(text, list[1])))
	case "varchar":
		return types.MustCreateString(sqltypes.VarChar, typeLength(text, list[0]), collation)
	case "char":
		return types.MustCreateString(sqltypes.Char, typeLength(text, list[0]), collation)
	case "binary":
		return types.MustCreateBinary(sqltypes.Binary, typeLength(text, list[0]))
	case "varbinary":
		return types.MustCreateBinary(sqltypes.VarBinary, typeLength(text, list[0]))
	}
	panic("unknown type " + text)
}

func typeLength(typ, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("type %s: %v", typ, err))
	}
	return n
}
