package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/sqlext"
)

// CreateStatement is a CREATE TABLE that makes such a table here. It is laid out line by line as MySQL's, which clients take apart;
// what MySQL does not have stands behind the table's options.
func (t *table) CreateStatement(*sql.Context) string {
	meta := t.snap.Metadata()
	lines := t.columnLines()
	lines = append(lines, keyLines(meta.Configuration)...)
	for _, k := range slices.Sorted(maps.Keys(meta.Configuration)) {
		if name, ok := strings.CutPrefix(k, delta.ConstraintPrefix); ok {
			lines = append(lines, fmt.Sprintf("  CONSTRAINT %s CHECK (%s)", quoted(name), meta.Configuration[k]))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (\n%s\n) ENGINE=DELTA DEFAULT CHARSET=%s COLLATE=%s",
		quoted(t.name), strings.Join(lines, ",\n"), t.Collation().CharacterSet(), t.Collation())
	if meta.Description != "" {
		fmt.Fprintf(&b, " COMMENT='%s'", sql.EscapeSpecialCharactersInComment(meta.Description))
	}
	if len(meta.PartitionColumns) > 0 {
		fmt.Fprintf(&b, " PARTITIONED BY (%s)", quotedList(meta.PartitionColumns))
	}
	if columns, err := t.snap.ClusteringColumns(); err == nil && len(columns) > 0 { // a damaged domain is DESCRIBE DETAIL's to report
		paths := make([]string, len(columns))
		for i, path := range columns {
			paths[i] = strings.ReplaceAll(quotedList(path), ", ", ".")
		}
		fmt.Fprintf(&b, " CLUSTER BY (%s)", strings.Join(paths, ", "))
	}
	if t.location != "" {
		fmt.Fprintf(&b, " LOCATION %s", sqlext.QuoteString(t.location))
	}
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(meta.Configuration)) {
		if !delta.KeptByTable(k) && keyNames[k] == "" {
			pairs = append(pairs, sqlext.QuoteString(k)+" = "+sqlext.QuoteString(meta.Configuration[k]))
		}
	}
	if len(pairs) > 0 {
		fmt.Fprintf(&b, " TBLPROPERTIES (%s)", strings.Join(pairs, ", "))
	}
	return b.String()
}

func quoted(name string) string { return sql.DefaultMySQLSchemaFormatter.QuoteIdentifier(name) }

func quotedList(names []string) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = quoted(n)
	}
	return strings.Join(all, ", ")
}

func (t *table) columnLines() []string {
	var lines []string
	fields := t.snap.Schema().Fields
	for i, c := range mysqltype.Schema(t.snap.Schema(), t.database, t.name) {
		text, delta := t.typeText(c.Type, fields[i])
		line := "  " + quoted(c.Name) + " " + text
		if !c.Nullable {
			line += " NOT NULL"
		}
		line += ruleClause(fields[i])
		if c.Comment != "" {
			line += " COMMENT '" + sql.EscapeSpecialCharactersInComment(c.Comment) + "'"
		}
		lines = append(lines, line+delta)
	}
	return lines
}

// typeText is a column's type as MySQL has it, which is what clients read, and behind the definition what it is to Delta where MySQL has no such type.
func (t *table) typeText(typ sql.Type, f batch.Field) (text, delta string) {
	if only, ok := mysqltype.DeltaOnly(f.Type); ok {
		clause, ok := sqlext.DeltaType(only)
		if !ok {
			return only, ""
		}
		delta = " " + clause
	}
	if c, ok := typ.(sql.TypeWithCollation); ok {
		return c.StringWithTableCollation(t.Collation()), delta
	}
	return typ.String(), delta
}

// ruleClause is what a column does by itself, as it is written.
func ruleClause(f batch.Field) string {
	switch {
	case isGenerated(f):
		return " GENERATED ALWAYS AS (" + f.MetadataText(delta.GenerationKey) + ")"
	case isIdentity(f):
		always := "BY DEFAULT"
		if f.Metadata[delta.IdentityExplicit] == "false" {
			always = "ALWAYS"
		}
		return fmt.Sprintf(" GENERATED %s AS IDENTITY (START WITH %s INCREMENT BY %s)", always, f.Metadata[delta.IdentityStart], f.Metadata[delta.IdentityStep])
	case f.Metadata[delta.DefaultKey] != "":
		return " DEFAULT " + defaultClause(f.MetadataText(delta.DefaultKey))
	}
	return ""
}

// defaultClause is a default as it can stand behind DEFAULT: what is more than a value or a function is in parentheses.
func defaultClause(text string) string {
	e, err := sqlext.SparkExpression(text)
	if err != nil {
		return text
	}
	switch e.(type) {
	case *ast.SQLVal, *ast.NullVal, ast.BoolVal, *ast.FuncExpr, *ast.ParenExpr:
		return text
	}
	return "(" + text + ")"
}

// keyLines are the keys that are kept as information.
func keyLines(properties map[string]string) []string {
	var lines []string
	columns := func(text string) string { return quotedList(strings.Split(text, ", ")) }
	if text := properties[primaryKeyProperty]; text != "" {
		lines = append(lines, "  PRIMARY KEY ("+columns(text)+")")
	}
	if text := properties[uniqueKeysProperty]; text != "" {
		for _, key := range strings.Split(text, "; ") {
			lines = append(lines, "  UNIQUE KEY ("+columns(key)+")")
		}
	}
	if text := properties[foreignKeysProperty]; text != "" {
		for _, key := range strings.Split(text, "; ") {
			lines = append(lines, "  "+key)
		}
	}
	return lines
}
