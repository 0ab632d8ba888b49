package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/catalog/compile"
)

// infoTable is a table of MySQL's in information_schema: columns from information_schema.txt, and rows that are made when they are read.
type infoTable struct {
	computedTable
	c                         *Catalog
	schemaColumn, tableColumn int // where the rows' database and table are told; -1: the list keeps to neither
	list                      func(r *infoRows) error
}

var (
	_ sql.Table        = (*infoTable)(nil)
	_ compile.Narrowed = (*infoTable)(nil)
)

// infoRows collects the rows of an infoTable for a statement.
type infoRows struct {
	ctx    *sql.Context
	c      *Catalog
	viewer viewer
	want   wanted
	schema sql.Schema
	rows   []sql.Row
}

// add adds a row, its values by position.
func (r *infoRows) add(values ...any) error {
	row, err := rowFor(r.ctx, r.schema, values...)
	r.rows = append(r.rows, row)
	return err
}

// each calls f for the wanted tables and views.
func (r *infoRows) each(f func(t listed) error) error {
	tables, err := r.c.list(r.ctx, r.viewer, r.want)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := f(t); err != nil {
			return err
		}
	}
	return nil
}

func newInfoTable(c *Catalog, name string, schema sql.Schema, list func(r *infoRows) error) *infoTable {
	t := &infoTable{c: c, list: list, schemaColumn: -1, tableColumn: -1}
	if !slices.Contains(enginesOwn, name) {
		column := func(name string) int {
			return slices.IndexFunc(schema, func(c *sql.Column) bool { return c.Name == name })
		}
		t.schemaColumn, t.tableColumn = column("TABLE_SCHEMA"), column("TABLE_NAME")
	}
	t.computedTable = computedTable{database: sql.InformationSchemaDatabaseName, name: strings.ToLower(name), schema: schema}
	t.computedTable.rows = func(ctx *sql.Context) ([]sql.Row, error) { return t.make(ctx, wanted{}) }
	return t
}

func (t *infoTable) make(ctx *sql.Context, want wanted) ([]sql.Row, error) {
	r := &infoRows{ctx: ctx, c: t.c, viewer: t.c.viewer(ctx), want: want, schema: t.schema}
	if t.list == nil {
		return nil, nil
	}
	err := t.list(r)
	return r.rows, err
}

// NarrowedBy is true of the database and the table that rows are of.
func (t *infoTable) NarrowedBy(column int) bool {
	return t.list != nil && (column == t.schemaColumn || column == t.tableColumn)
}

// NarrowedRows are the rows of some databases and tables, and no others.
func (t *infoTable) NarrowedRows(ctx *sql.Context, to map[int][]string) (sql.RowIter, error) {
	var want wanted
	for column, texts := range to {
		typ := t.schema[column].Type
		has := func(name string) bool {
			return slices.ContainsFunc(texts, func(text string) bool {
				order, err := typ.Compare(ctx, name, text)
				return err == nil && order == 0
			})
		}
		if column == t.schemaColumn {
			want.database = has
		} else {
			want.table = has
		}
	}
	rows, err := t.make(ctx, want)
	if err != nil {
		return nil, err
	}
	return &keptRows{rows: rows}, nil
}
