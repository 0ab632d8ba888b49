package catalog

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// infoLists makes the rows of the tables of information_schema; the others have none, as there is nothing that they tell of: routines, triggers,
// events, foreign keys, tablespaces, InnoDB's inside.
var infoLists = map[string]func(r *infoRows) error{
	"ADMINISTRABLE_ROLE_AUTHORIZATIONS":     listAdministrableRoles,
	"APPLICABLE_ROLES":                      listApplicableRoles,
	"CHARACTER_SETS":                        listCharacterSets,
	"CHECK_CONSTRAINTS":                     listChecks,
	"COLLATIONS":                            listCollations,
	"COLLATION_CHARACTER_SET_APPLICABILITY": listApplicability,
	"COLUMNS":                               listColumns,
	"COLUMNS_EXTENSIONS":                    listColumnExtensions,
	"ENABLED_ROLES":                         listEnabledRoles,
	"ENGINES":                               listEngines,
	"KEY_COLUMN_USAGE":                      listKeyColumns,
	"PARTITIONS":                            listPartitions,
	"PLUGINS":                               listPlugins,
	"PROCESSLIST":                           listProcesses,
	"PROFILING":                             listProfiling,
	"SCHEMATA":                              listSchemata,
	"SCHEMATA_EXTENSIONS":                   listSchemataExtensions,
	"STATISTICS":                            listStatistics,
	"TABLES":                                listTables,
	"TABLES_EXTENSIONS":                     listTableExtensions,
	"TABLE_CONSTRAINTS":                     listConstraints,
	"TABLE_CONSTRAINTS_EXTENSIONS":          listConstraintExtensions,
	"VIEWS":                                 listViews,
	"VIEW_TABLE_USAGE":                      listViewTables,
}

func listSchemata(r *infoRows) error {
	databases, err := r.c.shownDatabases(r.ctx, r.viewer)
	for _, name := range databases {
		charset, collation := collationOfDatabase(name)
		if err := r.add("def", name, charset, collation, nil, "NO"); err != nil {
			return err
		}
	}
	return err
}

func collationOfDatabase(name string) (charset, collation string) {
	c := sql.Collation_Default
	if name == sql.InformationSchemaDatabaseName {
		c = sql.Collation_Information_Schema_Default
	}
	return c.CharacterSet().Name(), c.Name()
}

func listSchemataExtensions(r *infoRows) error {
	databases, err := r.c.shownDatabases(r.ctx, r.viewer)
	for _, name := range databases {
		if err := r.add("def", name, ""); err != nil {
			return err
		}
	}
	return err
}

// storageEngine is what tables say their engine is: the one that tools know to have transactions.
const storageEngine = "InnoDB"

func listEngines(r *infoRows) error {
	if err := r.add(storageEngine, "DEFAULT", "Delta Lake: transactions of one table each, on files", "YES", "NO", "YES"); err != nil {
		return err
	}
	return r.add("PERFORMANCE_SCHEMA", "YES", "Performance Schema", "NO", "NO", "NO")
}

// size is what metadata says of how much is in a table; nil is NULL.
type size struct{ rows, average, bytes, created, updated any }

// sizeOf is what the table's log says. The number of rows is NULL where neither the log nor ANALYZE TABLE has it.
func sizeOf(t *table) size {
	s := size{bytes: t.snap.SizeInBytes()}
	if n, ok := t.exactRows(); ok {
		s.rows, s.average = n, 0
		if n > 0 {
			s.average = t.snap.SizeInBytes() / n
		}
	}
	s.updated = secondsOrNull(t.snap.Timestamp())
	if s.created = secondsOrNull(t.snap.Metadata().CreatedTime); s.created == nil {
		s.created = s.updated
	}
	return s
}

func secondsOrNull(t time.Time) any { return timeOrNull(t.UTC().Truncate(time.Second)) }

func listTables(r *infoRows) error {
	return r.each(func(t listed) error {
		switch {
		case t.view != nil:
			return r.add("def", t.database, t.name, "VIEW", nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, "VIEW")
		case t.system != nil:
			kind, engine := "BASE TABLE", any(storageEngine)
			switch t.database {
			case sql.InformationSchemaDatabaseName:
				kind, engine = "SYSTEM VIEW", nil
			case "performance_schema":
				engine = "PERFORMANCE_SCHEMA"
			}
			return r.add("def", t.database, t.name, kind, engine, 10, nil, 0, 0, 0, 0, 0, 0, nil, nil, nil, nil, t.system.Collation().Name(), nil, "", "")
		}
		s, options := sizeOf(t.table), ""
		if len(t.table.snap.Metadata().PartitionColumns) > 0 {
			options = "partitioned"
		}
		return r.add("def", t.database, t.name, "BASE TABLE", storageEngine, 10, "Dynamic", s.rows, s.average, s.bytes, 0, 0, 0, nil, s.created, s.updated, nil,
			t.table.Collation().Name(), nil, options, t.table.Comment())
	})
}

// listPartitions has a row a table, as MySQL for one that it has not partitioned: folders of a Delta table are no partitions with names.
func listPartitions(r *infoRows) error {
	return r.each(func(t listed) error {
		if t.table == nil {
			return nil
		}
		s := sizeOf(t.table)
		return r.add("def", t.database, t.name, nil, nil, nil, nil, nil, nil, nil, nil, nil, s.rows, s.average, s.bytes, 0, 0, 0, s.created, s.updated, nil, nil, "", nil, nil)
	})
}

func listColumns(r *infoRows) error {
	return r.each(func(t listed) error {
		naming := columnNaming{t.database, t.name, r.viewer.onColumns(t.database, t.name)}
		var rows []sql.Row
		var err error
		switch {
		case t.table != nil:
			rows, err = r.c.described.columns(r.ctx, r.schema, t.table, naming)
		case t.system != nil:
			rows, err = columnRows(r.ctx, r.schema, naming, t.system.Schema(r.ctx), nil, nil)
		default:
			rows, err = columnRows(r.ctx, r.schema, naming, r.c.viewColumns(r.ctx, t), nil, nil)
		}
		r.rows = append(r.rows, rows...)
		return err
	})
}

// viewColumns are the columns of a view; none, with a warning, of a view that is about what is no longer there.
func (c *Catalog) viewColumns(ctx *sql.Context, t listed) sql.Schema {
	b := planbuilder.New(ctx, c.engine.Analyzer.Catalog, nil)
	b.DisableAuth() // CREATE VIEW wants what its reader need not have; tables that he may not see are hidden all the same
	b.SetParserOptions(sql.NewSqlModeFromString(t.view.SqlMode).ParserOptions())
	node, _, _, _, err := b.Parse(t.view.CreateViewStatement, nil, false)
	if create, ok := node.(*plan.CreateView); ok && err == nil {
		return create.TargetSchema()
	}
	ctx.Warn(warningUnreadable, "the columns of view %s.%s are left out: %v", t.database, t.name, err)
	return nil
}

func listColumnExtensions(r *infoRows) error {
	return r.each(func(t listed) error {
		if t.table == nil {
			return nil
		}
		for _, f := range t.table.snap.Schema().Fields {
			if err := r.add("def", t.database, t.name, f.Name, nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func listTableExtensions(r *infoRows) error {
	return r.each(func(t listed) error {
		if t.table == nil {
			return nil
		}
		return r.add("def", t.database, t.name, nil, nil)
	})
}

// constraints calls f for each key, and with check for each CHECK.
func (r *infoRows) constraints(f func(t listed, name, kind, enforced string) error) error {
	return r.each(func(t listed) error {
		if t.table == nil {
			return nil
		}
		for _, k := range keysOf(t.table.snap.Metadata()) {
			kind := "UNIQUE"
			if k.primary {
				kind = "PRIMARY KEY"
			}
			if err := f(t, k.name, kind, "NO"); err != nil {
				return err
			}
		}
		for _, check := range checksOf(t.table.snap.Metadata()) {
			if err := f(t, check.name, "CHECK", "YES"); err != nil {
				return err
			}
		}
		return nil
	})
}

// listConstraints says of keys that they are not enforced.
func listConstraints(r *infoRows) error {
	return r.constraints(func(t listed, name, kind, enforced string) error {
		return r.add("def", t.database, name, t.database, t.name, kind, enforced)
	})
}

func listConstraintExtensions(r *infoRows) error {
	return r.constraints(func(t listed, name, _, _ string) error { return r.add("def", t.database, name, t.name, nil, nil) })
}

func listChecks(r *infoRows) error {
	return r.each(func(t listed) error {
		if t.table == nil {
			return nil
		}
		for _, check := range checksOf(t.table.snap.Metadata()) {
			if err := r.add("def", t.database, check.name, check.clause); err != nil {
				return err
			}
		}
		return nil
	})
}

func listKeyColumns(r *infoRows) error {
	return r.each(func(t listed) error {
		if t.table == nil {
			return nil
		}
		for _, k := range keysOf(t.table.snap.Metadata()) {
			for i, column := range k.columns {
				if err := r.add("def", t.database, k.name, "def", t.database, t.name, column, i+1, nil, nil, nil, nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// listStatistics lists keys as the indexes that MySQL would have for them.
func listStatistics(r *infoRows) error {
	return r.each(func(t listed) error {
		if t.table == nil {
			return nil
		}
		for _, k := range keysOf(t.table.snap.Metadata()) {
			for i, column := range k.columns {
				nullable := ""
				if at := t.table.snap.Schema().Index(column); at >= 0 && t.table.snap.Schema().Fields[at].Nullable {
					nullable = "YES"
				}
				if err := r.add("def", t.database, t.name, 0, t.database, k.name, i+1, column, "A", nil, nil, nil, nullable, "BTREE", "", "not enforced", "YES", nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// parseView parses the statement that made a view; false where this version cannot.
func (c *Catalog) parseView(view *sql.ViewDefinition) (*ast.DDL, bool) {
	stmt, err := sql.NewMysqlParser().ParseSimple(view.CreateViewStatement)
	ddl, ok := stmt.(*ast.DDL)
	return ddl, err == nil && ok && ddl.ViewSpec != nil
}

// listViews shows the text of a view to who holds SHOW VIEW. A view has the rights of who asks.
func listViews(r *infoRows) error {
	return r.each(func(t listed) error {
		if t.view == nil {
			return nil
		}
		text, check, definer := "", "NONE", ""
		if r.viewer.holds(t.database, t.name, sql.PrivilegeType_ShowView) {
			text = t.view.TextDefinition
		}
		if ddl, ok := r.c.parseView(t.view); ok {
			definer = strings.ReplaceAll(ddl.ViewSpec.Definer, "`", "")
			if ddl.ViewSpec.CheckOption != "" {
				check = strings.ToUpper(string(ddl.ViewSpec.CheckOption))
			}
		}
		charset, collation := collationOfDatabase(t.database)
		return r.add("def", t.database, t.name, text, check, "NO", definer, "INVOKER", charset, collation)
	})
}

func listViewTables(r *infoRows) error {
	want := r.want
	r.want = wanted{} // TABLE_SCHEMA and TABLE_NAME are those of what a view reads
	return r.each(func(t listed) error {
		if t.view == nil {
			return nil
		}
		ddl, ok := r.c.parseView(t.view)
		if !ok {
			return nil
		}
		seen := make(map[ast.TableName]bool)
		return ast.Walk(func(node ast.SQLNode) (bool, error) {
			name, ok := node.(ast.TableName)
			if !ok || name.IsEmpty() || seen[name] {
				return true, nil
			}
			seen[name] = true
			database := name.DbQualifier.String()
			if database == "" {
				database = t.database
			}
			if !want.hasDatabase(database) || !want.hasTable(name.Name.String()) || !r.viewer.table(database, name.Name.String()) {
				return true, nil
			}
			return true, r.add("def", t.database, t.name, "def", database, name.Name.String())
		}, ddl.ViewSpec.ViewExpr)
	})
}
