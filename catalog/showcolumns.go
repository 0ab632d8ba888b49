package catalog

import (
	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/catalog/compile"
)

// fullColumns are the columns of information_schema.COLUMNS that SHOW FULL COLUMNS shows, and without FULL all but those of onlyFull.
var (
	fullColumns = []string{"COLUMN_NAME", "COLUMN_TYPE", "COLLATION_NAME", "IS_NULLABLE", "COLUMN_KEY", "COLUMN_DEFAULT", "EXTRA", "PRIVILEGES", "COLUMN_COMMENT"}
	onlyFull    = map[string]bool{"COLLATION_NAME": true, "PRIVILEGES": true, "COLUMN_COMMENT": true}
)

var (
	_ compile.Columned = (*table)(nil)
	_ compile.Columned = (*computedTable)(nil)
)

// ShowColumns are the table's columns as SHOW COLUMNS shows them.
func (t *table) ShowColumns(ctx *sql.Context, full bool) ([]sql.Row, error) {
	schema := columnsSchema()
	rows, err := t.c.described.columns(ctx, schema, t, columnNaming{t.database, t.name, t.c.viewer(ctx).onColumns(t.database, t.name)})
	return shownColumns(schema, rows, full), err
}

// ShowColumns are the table's columns as SHOW COLUMNS shows them: nobody may more than read what the server makes.
func (t *computedTable) ShowColumns(ctx *sql.Context, full bool) ([]sql.Row, error) {
	schema := columnsSchema()
	rows, err := columnRows(ctx, schema, columnNaming{t.database, t.name, "select"}, t.schema, nil, nil)
	return shownColumns(schema, rows, full), err
}

// columnsSchema is that of information_schema.COLUMNS.
func columnsSchema() sql.Schema {
	schemas, _ := schemasOf(informationSchemaTables)
	return schemas["COLUMNS"]
}

func shownColumns(schema sql.Schema, columns []sql.Row, full bool) []sql.Row {
	var positions []int
	for _, name := range fullColumns {
		if full || !onlyFull[name] {
			positions = append(positions, schema.IndexOfColName(name))
		}
	}
	return columnsAt(columns, positions)
}

// columnsAt returns rows with the values at some positions.
func columnsAt(rows []sql.Row, positions []int) []sql.Row {
	out := make([]sql.Row, len(rows))
	for i, row := range rows {
		out[i] = make(sql.Row, len(positions))
		for j, at := range positions {
			out[i][j] = row[at]
		}
	}
	return out
}
