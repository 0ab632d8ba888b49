package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/stream"
)

// infoSchema is information_schema: MySQL's tables, and those about streams.
type infoSchema struct {
	systemDatabase
}

// newInfoSchema makes the database. engine is GMS's, which has the rows of some tables: those about itself, and those about accounts.
func newInfoSchema(c *Catalog, engine sql.Database) infoSchema {
	const database = sql.InformationSchemaDatabaseName
	schemas, names := schemasOf(informationSchemaTables)
	tables := map[string]func(database, name string) sql.Table{
		"STREAMS":         computes(statusColumns, func(ctx *sql.Context) ([]stream.Status, error) { return c.visibleStreams(ctx), nil }),
		"STREAM_PROGRESS": computes(progressColumns, everyStream(c, c.progressRows)),
		"STREAM_FILES":    computes(fileColumns, everyStream(c, c.fileRows)),
		"STREAM_ERRORS":   computes(errorColumns, everyStream(c, c.errorRows)),
	}
	for _, name := range names {
		list := infoLists[name]
		if slices.Contains(enginesOwn, name) {
			list = fromEngine(engine, name)
		}
		tables[name] = func(string, string) sql.Table { return newInfoTable(c, name, schemas[name], list) }
	}
	return infoSchema{systemDatabase{name: database, tables: tables}}
}

// enginesOwn are the tables whose rows GMS has.
var enginesOwn = []string{"KEYWORDS", "SCHEMA_PRIVILEGES", "ST_SPATIAL_REFERENCE_SYSTEMS", "ST_UNITS_OF_MEASURE", "TABLE_PRIVILEGES", "USER_ATTRIBUTES", "USER_PRIVILEGES"}

// fromEngine are GMS's rows of a table.
func fromEngine(engine sql.Database, name string) func(r *infoRows) error {
	return func(r *infoRows) error {
		t, _, err := engine.GetTableInsensitive(r.ctx, name)
		if err != nil {
			return err
		}
		if in, ok := t.(sql.CatalogTable); ok {
			t = in.AssignCatalog(r.c.engine.Analyzer.Catalog)
		}
		r.c.viewer(r.ctx) // GMS reads the privileges that the session was found to have
		iter, err := t.PartitionRows(r.ctx, onePartition(r.ctx, t))
		if err != nil {
			return err
		}
		rows, err := sql.RowIterToRows(r.ctx, iter)
		for _, row := range rows {
			if name == "TABLE_PRIVILEGES" && everybodys(row[2], row[3]) {
				continue
			}
			if err := r.add(row...); err != nil {
				return err
			}
		}
		return err
	}
}

// everybodys says whether a privilege on a table is one that all have, and that nobody granted.
func everybodys(database, table any) bool {
	_, open := performanceTables[fmt.Sprint(table)]
	return database == "performance_schema" && open
}

// onePartition is the partition of a table that has one.
func onePartition(ctx *sql.Context, t sql.Table) sql.Partition {
	partitions, err := t.Partitions(ctx)
	if err != nil {
		return wholeTable{}
	}
	p, err := partitions.Next(ctx)
	if err != nil {
		return wholeTable{}
	}
	return p
}

// GetTableInsensitive returns a table by name, in any case.
func (d infoSchema) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	table, ok := d.tables[strings.ToUpper(name)]
	if !ok {
		noTable(ctx, d.name, name)
		return nil, false, nil
	}
	return table(d.name, strings.ToLower(name)), true, nil
}

// everyStream collects what one stream has over all streams.
func everyStream[T any](c *Catalog, of func(context.Context, stream.Status, int) ([]T, error)) func(*sql.Context) ([]T, error) {
	return func(ctx *sql.Context) ([]T, error) {
		var out []T
		for _, s := range c.visibleStreams(ctx) {
			items, err := of(ctx, s, 0)
			if err != nil {
				err = oneOfMany(ctx, err)
			}
			if err != nil {
				return nil, err
			}
			out = append(out, items...)
		}
		return out, nil
	}
}
