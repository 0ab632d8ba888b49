package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/sqlext"
)

// sqlSchema is a table's columns as GMS sees them. It fills in defaults itself; generated and identity columns are NULL until the rows are
// written, so they take NULL here whatever the table says.
func sqlSchema(s *batch.Schema, database, table string) sql.Schema {
	out := mysqltype.Schema(s, database, table)
	for i, f := range s.Fields {
		switch c := out[i]; {
		case isGenerated(f):
			c.Nullable, c.Extra = true, "STORED GENERATED"
		case isIdentity(f):
			c.Nullable, c.Extra = true, "auto_increment"
		case f.Metadata[delta.DefaultKey] != "":
			c.Default = sqlDefault(f.MetadataText(delta.DefaultKey))
		}
	}
	return out
}

// sqlDefault is a DEFAULT as GMS resolves it when a statement needs it. One that cannot be read is none: whoever leaves the column out is told by
// the writer.
func sqlDefault(text string) *sql.ColumnDefaultValue {
	e, err := sqlext.SparkExpression(text)
	if err != nil {
		return nil
	}
	switch e.(type) {
	case *ast.SQLVal, *ast.NullVal, ast.BoolVal, *ast.ParenExpr:
		return sql.NewUnresolvedColumnDefaultValue(ast.String(e))
	}
	return sql.NewUnresolvedColumnDefaultValue("(" + ast.String(e) + ")")
}
