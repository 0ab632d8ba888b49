package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// systemDatabase is a database of MySQL's that tools read: its tables are computed.
type systemDatabase struct {
	noRoutines
	noViews
	name   string
	tables map[string]func(database, name string) sql.Table // by name in lower case
}

var (
	_ sql.Database         = systemDatabase{}
	_ sql.CollatedDatabase = systemDatabase{}
	_ sql.EventDatabase    = systemDatabase{}
	_ sql.ViewDatabase     = systemDatabase{}
)

// systemDatabases are those beside information_schema and mysql, which GMS has, by name.
var systemDatabases = map[string]systemDatabase{
	"performance_schema": {name: "performance_schema", tables: performanceTables},
	"sys":                {name: "sys", tables: sysTables},
}

// mysqlTables are tables of the database mysql that GMS does not have. The parser writes their names so.
var mysqlTables = systemDatabase{name: mysqlTablesName, tables: mysqlTableMakers}

// mysqlTablesName is a name that no folder of the lake can have.
const mysqlTablesName = "mysql/tables"

// Name is the database's name.
func (d systemDatabase) Name() string { return d.name }

// GetCollation is the default one.
func (systemDatabase) GetCollation(*sql.Context) sql.CollationID { return sql.Collation_Default }

// SetCollation is refused as MySQL does.
func (d systemDatabase) SetCollation(*sql.Context, sql.CollationID) error {
	return sql.ErrDatabaseAccessDeniedForUser.New("every user", d.name)
}

// GetTableInsensitive returns a table by name, in any case.
func (d systemDatabase) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	name = strings.ToLower(name)
	table, ok := d.tables[name]
	if !ok {
		noTable(ctx, d.name, name)
		return nil, false, nil
	}
	return table(d.name, name), true, nil
}

// GetTableNames lists the tables.
func (d systemDatabase) GetTableNames(*sql.Context) ([]string, error) {
	names := make([]string, 0, len(d.tables))
	for name := range d.tables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// computes makes the table with the columns, one row for each that list gives, for the maps of systemDatabases.
func computes[T any](columns []computedColumn[T], list func(*sql.Context) ([]T, error)) func(database, name string) sql.Table {
	return func(database, name string) sql.Table { return computed(database, name, columns, list) }
}
