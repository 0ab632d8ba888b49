package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/catalog/mysqltype"
	"lakesql/sqlext"
)

// CreateStatement is a CREATE TABLE that makes such a table here. It is laid out line by line as MySQL's, which clients take apart;
// what MySQL does not have stands behind the table's options.
func (t *table) CreateStatement(*sql.Context) string {
	meta := t.snap.Metadata()
	formatter := sql.DefaultMySQLSchemaFormatter
	var columns []string
	for i, c := range mysqltype.Schema(t.snap.Schema(), t.database, t.name) {
		if text, ok := mysqltype.DeltaOnly(t.snap.Schema().Fields[i].Type); ok {
			c.Type = spelled{sqlType: c.Type, text: text}
		}
		columns = append(columns, formatter.GenerateCreateTableColumnDefinition(c, "", "", t.Collation()))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (\n%s\n) ENGINE=DELTA DEFAULT CHARSET=%s COLLATE=%s",
		formatter.QuoteIdentifier(t.name), strings.Join(columns, ",\n"), t.Collation().CharacterSet(), t.Collation())
	if meta.Description != "" {
		fmt.Fprintf(&b, " COMMENT='%s'", sql.EscapeSpecialCharactersInComment(meta.Description))
	}
	if len(meta.PartitionColumns) > 0 {
		quoted := make([]string, len(meta.PartitionColumns))
		for i, n := range meta.PartitionColumns {
			quoted[i] = formatter.QuoteIdentifier(n)
		}
		fmt.Fprintf(&b, " PARTITIONED BY (%s)", strings.Join(quoted, ", "))
	}
	if t.location != "" {
		fmt.Fprintf(&b, " LOCATION %s", sqlext.QuoteString(t.location))
	}
	if len(meta.Configuration) > 0 {
		var pairs []string
		for _, k := range slices.Sorted(maps.Keys(meta.Configuration)) {
			pairs = append(pairs, sqlext.QuoteString(k)+" = "+sqlext.QuoteString(meta.Configuration[k]))
		}
		fmt.Fprintf(&b, " TBLPROPERTIES (%s)", strings.Join(pairs, ", "))
	}
	return b.String()
}

type sqlType = sql.Type

// spelled is a type by another name.
type spelled struct {
	sqlType
	text string
}

func (s spelled) String() string { return s.text }
