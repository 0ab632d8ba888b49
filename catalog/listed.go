package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// listed is a table or view as metadata lists it: one of the lake, one that the server makes, or a view.
type listed struct {
	database, name string
	table          *table // of the lake
	system         sql.Table
	view           *sql.ViewDefinition
}

// wanted says which tables metadata is asked for; a nil function is all.
type wanted struct{ database, table func(name string) bool }

func (w wanted) hasDatabase(name string) bool { return w.database == nil || w.database(name) }
func (w wanted) hasTable(name string) bool    { return w.table == nil || w.table(name) }

// shownDatabases are the names of the databases that the viewer sees, sorted.
func (c *Catalog) shownDatabases(ctx *sql.Context, v viewer) ([]string, error) {
	s, err := c.ledger.read(ctx)
	if err != nil {
		return nil, err
	}
	names, err := c.databaseNames(ctx, s)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, system := systemDatabases[strings.ToLower(name)]; return system })
	names = append(names, sql.InformationSchemaDatabaseName, "mysql")
	names = slices.AppendSeq(names, maps.Keys(systemDatabases))
	names = slices.DeleteFunc(names, func(name string) bool { return !v.database(name) })
	slices.Sort(names)
	return names, nil
}

// list are the wanted tables and views that the viewer sees, by database and name. A table of the lake that cannot be read must not take all the
// others from a BI tool: it is left out, with a warning.
func (c *Catalog) list(ctx *sql.Context, v viewer, want wanted) ([]listed, error) {
	databases, err := c.shownDatabases(ctx, v)
	if err != nil {
		return nil, err
	}
	var out []listed
	for _, database := range databases {
		if !want.hasDatabase(database) {
			continue
		}
		tables, err := c.listDatabase(ctx, database, func(name string) bool { return want.hasTable(name) && v.table(database, name) })
		if err != nil {
			return nil, err
		}
		slices.SortFunc(tables, func(a, b listed) int { return cmp.Compare(a.name, b.name) })
		out = append(out, tables...)
	}
	return out, nil
}

func (c *Catalog) listDatabase(ctx *sql.Context, name string, has func(table string) bool) ([]listed, error) {
	switch strings.ToLower(name) {
	case sql.InformationSchemaDatabaseName:
		return listSystem(ctx, c.engine.Analyzer.Catalog.InfoSchema, has)
	case "mysql":
		own, err := listSystem(ctx, mysqlTables, has)
		if err != nil {
			return nil, err
		}
		grants, err := listSystem(ctx, c.engine.Analyzer.Catalog.MySQLDb, func(name string) bool { return mysqlTableMakers[name] == nil && has(name) })
		return append(own, grants...), err
	}
	if d, ok := systemDatabases[strings.ToLower(name)]; ok {
		return listSystem(ctx, d, has)
	}
	return c.listLake(ctx, database{c: c, name: name}, has)
}

func listSystem(ctx *sql.Context, d sql.Database, has func(table string) bool) ([]listed, error) {
	names, err := d.GetTableNames(ctx)
	if err != nil {
		return nil, err
	}
	database := d.Name()
	if database == mysqlTablesName {
		database = "mysql"
	}
	var out []listed
	for _, name := range names {
		if !has(name) {
			continue
		}
		t, ok, err := d.GetTableInsensitive(ctx, name)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, listed{database: database, name: name, system: t})
		}
	}
	return out, nil
}

func (c *Catalog) listLake(ctx *sql.Context, d database, has func(table string) bool) ([]listed, error) {
	state, err := c.ledger.read(ctx)
	if err != nil {
		return nil, err
	}
	registered, folders, err := c.possibleTables(ctx, state, d.name)
	if err != nil {
		return nil, err
	}
	var out []listed
	for i, name := range append(registered, folders...) {
		if !has(name) {
			continue
		}
		if i >= len(registered) {
			if _, ok, err := c.inFolder(ctx, state, d.name, name); !ok && err == nil {
				continue // no table
			}
		}
		t, ok, err := d.GetTableInsensitive(ctx, name)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			ctx.Warn(warningUnreadable, "table %s.%s is left out: %s", d.name, name, err)
		}
		if ok {
			out = append(out, listed{database: d.name, name: name, table: t.(*table)})
		}
	}
	views, err := d.AllViews(ctx)
	for _, view := range views {
		if has(view.Name) {
			out = append(out, listed{database: d.name, name: view.Name, view: &view})
		}
	}
	return out, err
}
