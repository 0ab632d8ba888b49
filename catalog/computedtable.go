package catalog

import (
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// computedColumn is one column of a table whose rows the server computes: tables of system databases and SHOW statements share them.
type computedColumn[T any] struct {
	name string // as information_schema has it: in capitals
	typ  sql.Type
	get  func(T) any
}

// schemaOf is the columns under the names of information_schema, or with show as SHOW statements write them: Last_Batch_Id.
func schemaOf[T any](table string, columns []computedColumn[T], show bool) sql.Schema {
	out := make(sql.Schema, len(columns))
	for i, c := range columns {
		name := c.name
		if show {
			name = showName(name)
		}
		out[i] = &sql.Column{Name: name, Type: c.typ, Nullable: true, Source: table}
	}
	return out
}

func showName(name string) string {
	words := strings.Split(strings.ToLower(name), "_")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "_")
}

func rowsOf[T any](columns []computedColumn[T], items []T) []sql.Row {
	out := make([]sql.Row, len(items))
	for i, item := range items {
		out[i] = make(sql.Row, len(columns))
		for j, c := range columns {
			out[i][j] = c.get(item)
		}
	}
	return out
}

// computedTable is a table of a system database. Its rows are made when they are read.
type computedTable struct {
	database, name string
	schema         sql.Schema
	rows           func(*sql.Context) ([]sql.Row, error)
}

var (
	_ sql.Table        = (*computedTable)(nil)
	_ sql.Databaseable = (*computedTable)(nil)
)

// computed is a table with the columns, one row for each that list gives.
func computed[T any](database, name string, columns []computedColumn[T], list func(*sql.Context) ([]T, error)) sql.Table {
	return &computedTable{
		database: database, name: name, schema: schemaOf(name, columns, false),
		rows: func(ctx *sql.Context) ([]sql.Row, error) {
			items, err := list(ctx)
			return rowsOf(columns, items), err
		},
	}
}

// Name is the table's name.
func (t *computedTable) Name() string { return t.name }

// String is the table's name.
func (t *computedTable) String() string { return t.name }

// Database is the name of the table's database.
func (t *computedTable) Database() string { return t.database }

// Schema is the table's columns.
func (t *computedTable) Schema(*sql.Context) sql.Schema { return t.schema }

// Collation is MySQL's of information_schema, which ignores case.
func (t *computedTable) Collation() sql.CollationID { return sql.Collation_Information_Schema_Default }

// Partitions are one.
func (t *computedTable) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(wholeTable{}), nil
}

// PartitionRows makes the rows.
func (t *computedTable) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	rows, err := t.rows(ctx)
	if err != nil {
		return nil, err
	}
	return &keptRows{rows: rows}, nil
}

// keptRows hands out rows that other statements read, too: whoever gets one may not change it.
type keptRows struct {
	rows []sql.Row
	next int
}

// Next returns the next row.
func (k *keptRows) Next(*sql.Context) (sql.Row, error) {
	if k.next == len(k.rows) {
		return nil, io.EOF
	}
	k.next++
	return k.rows[k.next-1], nil
}

// Close has nothing to end.
func (*keptRows) Close(*sql.Context) error { return nil }
