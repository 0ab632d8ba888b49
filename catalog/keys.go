package catalog

import (
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Our own properties of a table: keys as information.
const (
	primaryKeyProperty  = "lakesql.primaryKey"
	uniqueKeysProperty  = "lakesql.uniqueKeys"
	foreignKeysProperty = "lakesql.foreignKeys"
)

var keyNames = map[string]string{
	primaryKeyProperty: "PRIMARY KEY", uniqueKeysProperty: "UNIQUE KEY", foreignKeysProperty: "FOREIGN KEY",
}

// The values of ast.ColumnKeyOption, which vitess does not export.
const (
	columnKeyPrimary   ast.ColumnKeyOption = 1
	columnKeyUnique    ast.ColumnKeyOption = 3
	columnKeyUniqueKey ast.ColumnKeyOption = 4
)

// takeKeys takes the keys out of a CREATE TABLE, as properties: GMS's planner would trust them. Primary key columns stay NOT NULL. indexes are the columns
// of each KEY that is nothing but an index.
func takeKeys(ddl *ast.DDL) (keys map[string]string, indexes []string) {
	found := make(map[string][]string)
	if ddl.TableSpec == nil {
		return nil, nil
	}
	notNull := make(map[string]bool)
	for _, col := range ddl.TableSpec.Columns {
		switch col.Type.KeyOpt {
		case columnKeyPrimary:
			found[primaryKeyProperty] = append(found[primaryKeyProperty], col.Name.String())
			notNull[col.Name.Lowered()] = true
		case columnKeyUnique, columnKeyUniqueKey:
			found[uniqueKeysProperty] = append(found[uniqueKeysProperty], col.Name.String())
		}
		col.Type.KeyOpt = 0
		if col.Type.ForeignKeyDef != nil {
			col.Type.ForeignKeyDef.Source = ast.Columns{col.Name}
			found[foreignKeysProperty] = append(found[foreignKeysProperty], ast.String(col.Type.ForeignKeyDef))
			col.Type.ForeignKeyDef = nil
		}
	}
	indexes = takeIndexes(ddl.TableSpec, found, notNull)
	for _, col := range ddl.TableSpec.Columns {
		if notNull[col.Name.Lowered()] {
			col.Type.NotNull, col.Type.Null = true, false
		}
	}
	keys = make(map[string]string, len(found))
	for property, list := range found {
		keys[property] = strings.Join(list, "; ")
	}
	return keys, indexes
}

// takeIndexes takes the keys that stand behind the columns.
func takeIndexes(spec *ast.TableSpec, found map[string][]string, notNull map[string]bool) (plain []string) {
	for _, index := range spec.Indexes {
		var columns []string
		for _, f := range index.Fields {
			columns = append(columns, f.Column.String())
			if index.Info.Primary {
				notNull[f.Column.Lowered()] = true
			}
		}
		switch {
		case index.Info.Primary:
			found[primaryKeyProperty] = append(found[primaryKeyProperty], strings.Join(columns, ", "))
		case index.Info.Unique:
			found[uniqueKeysProperty] = append(found[uniqueKeysProperty], strings.Join(columns, ", "))
		default:
			plain = append(plain, strings.Join(columns, ", "))
		}
	}
	spec.Indexes = nil
	var kept []*ast.ConstraintDefinition
	for _, constraint := range spec.Constraints {
		if _, ok := constraint.Details.(*ast.ForeignKeyDefinition); ok {
			found[foreignKeysProperty] = append(found[foreignKeysProperty], ast.String(constraint))
			continue
		}
		kept = append(kept, constraint)
	}
	spec.Constraints = kept
	return plain
}
