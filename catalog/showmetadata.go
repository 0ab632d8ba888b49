package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/sqlext"
)

// shownColumn is a column of a SHOW statement, and the one of information_schema that it shows.
type shownColumn struct{ name, of string }

// metadataForms are the tables of information_schema that forms of SHOW show, and their columns; "": there is nothing to be shown.
var metadataForms = map[string]struct {
	table   string
	columns []shownColumn
}{
	"DATABASES": {"SCHEMATA", []shownColumn{{"Database", "SCHEMA_NAME"}}},
	"TABLE STATUS": {"TABLES", []shownColumn{
		{"Name", "TABLE_NAME"}, {"Engine", "ENGINE"}, {"Version", "VERSION"}, {"Row_format", "ROW_FORMAT"}, {"Rows", "TABLE_ROWS"}, {"Avg_row_length", "AVG_ROW_LENGTH"},
		{"Data_length", "DATA_LENGTH"}, {"Max_data_length", "MAX_DATA_LENGTH"}, {"Index_length", "INDEX_LENGTH"}, {"Data_free", "DATA_FREE"}, {"Auto_increment", "AUTO_INCREMENT"},
		{"Create_time", "CREATE_TIME"}, {"Update_time", "UPDATE_TIME"}, {"Check_time", "CHECK_TIME"}, {"Collation", "TABLE_COLLATION"}, {"Checksum", "CHECKSUM"},
		{"Create_options", "CREATE_OPTIONS"}, {"Comment", "TABLE_COMMENT"},
	}},
	"INDEX": {"STATISTICS", []shownColumn{
		{"Table", "TABLE_NAME"}, {"Non_unique", "NON_UNIQUE"}, {"Key_name", "INDEX_NAME"}, {"Seq_in_index", "SEQ_IN_INDEX"}, {"Column_name", "COLUMN_NAME"}, {"Collation", "COLLATION"},
		{"Cardinality", "CARDINALITY"}, {"Sub_part", "SUB_PART"}, {"Packed", "PACKED"}, {"Null", "NULLABLE"}, {"Index_type", "INDEX_TYPE"}, {"Comment", "COMMENT"},
		{"Index_comment", "INDEX_COMMENT"}, {"Visible", "IS_VISIBLE"}, {"Expression", "EXPRESSION"},
	}},
	"PLUGINS": {"PLUGINS", []shownColumn{{"Name", "PLUGIN_NAME"}, {"Status", "PLUGIN_STATUS"}, {"Type", "PLUGIN_TYPE"}, {"Library", "PLUGIN_LIBRARY"}, {"License", "PLUGIN_LICENSE"}}},
	"ENGINES": {"ENGINES", []shownColumn{
		{"Engine", "ENGINE"}, {"Support", "SUPPORT"}, {"Comment", "COMMENT"}, {"Transactions", "TRANSACTIONS"}, {"XA", "XA"}, {"Savepoints", "SAVEPOINTS"},
	}},
}

// openTablesSchema is that of SHOW OPEN TABLES, which lists none: no table is kept open by name.
var openTablesSchema = sql.Schema{{Name: "Database", Type: textType}, {Name: "Table", Type: textType}, {Name: "In_use", Type: types.Int64}, {Name: "Name_locked", Type: types.Int64}}

// showMetadata is a SHOW of what information_schema has, under the names that it has there.
func (c *Catalog) showMetadata(s *sqlext.ShowMetadata) action {
	name := "SHOW " + s.What
	if s.What == "OPEN TABLES" {
		return query(name, openTablesSchema, func(ctx *sql.Context) ([]sql.Row, error) { return c.filtered(ctx, openTablesSchema, nil, s) })
	}
	form := metadataForms[s.What]
	schemas, _ := schemasOf(informationSchemaTables)
	of := schemas[form.table]
	positions := make([]int, len(form.columns))
	schema := make(sql.Schema, len(form.columns))
	for i, column := range form.columns {
		positions[i] = of.IndexOfColName(column.of)
		shown := *of[positions[i]]
		shown.Name, shown.Source = column.name, ""
		if column.name == "Database" && s.Like != nil {
			shown.Name = "Database (" + s.Like.Text + ")"
		}
		schema[i] = &shown
	}
	return query(name, schema, func(ctx *sql.Context) ([]sql.Row, error) {
		want, err := c.wantedBy(ctx, s)
		if err != nil {
			return nil, err
		}
		t := newInfoTable(c, form.table, of, infoLists[form.table])
		all, err := t.make(ctx, want)
		if err != nil {
			return nil, err
		}
		return c.filtered(ctx, schema, columnsAt(all, positions), s)
	})
}

// wantedBy is which tables a SHOW is about. A database or table that is not there, or that the user may not know of, is an error.
func (c *Catalog) wantedBy(ctx *sql.Context, s *sqlext.ShowMetadata) (wanted, error) {
	exactly := func(name string) func(string) bool { return func(n string) bool { return strings.EqualFold(n, name) } }
	name := s.Database
	switch s.What {
	case "INDEX":
		name = s.Table.Database
	case "TABLE STATUS":
	default:
		return wanted{}, nil
	}
	if name == "" {
		name = ctx.GetCurrentDatabase()
	}
	if name == "" {
		return wanted{}, sql.ErrNoDatabaseSelected.New()
	}
	db, err := c.engine.Analyzer.Catalog.Database(ctx, name)
	if err != nil {
		return wanted{}, err
	}
	if s.What != "INDEX" {
		return wanted{database: exactly(name)}, nil
	}
	tables, err := c.list(ctx, c.viewer(ctx), wanted{exactly(db.Name()), exactly(s.Table.Name)})
	if err == nil && len(tables) == 0 {
		noTable(ctx, db.Name(), s.Table.Name)
		err = sql.ErrTableNotFound.New(s.Table.Name)
	}
	return wanted{exactly(db.Name()), exactly(s.Table.Name)}, err
}

// filtered are the rows that LIKE, which is about the first column, or WHERE leaves.
func (c *Catalog) filtered(ctx *sql.Context, schema sql.Schema, rows []sql.Row, s *sqlext.ShowMetadata) ([]sql.Row, error) {
	filter := s.Where
	if s.Like != nil {
		filter = sqlext.QuoteName(schema[0].Name) + " LIKE " + s.Like.String()
	}
	if filter == "" {
		return rows, nil
	}
	return c.filterRows(ctx, schema, slices.Clip(rows), filter)
}
