package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// objectPrivileges are those of which any one lets its holder see a table in metadata, as MySQL has it.
var objectPrivileges = []sql.PrivilegeType{
	sql.PrivilegeType_Select, sql.PrivilegeType_Insert, sql.PrivilegeType_Update, sql.PrivilegeType_Delete, sql.PrivilegeType_Create, sql.PrivilegeType_Drop,
	sql.PrivilegeType_GrantOption, sql.PrivilegeType_References, sql.PrivilegeType_Index, sql.PrivilegeType_Alter, sql.PrivilegeType_CreateView, sql.PrivilegeType_ShowView,
	sql.PrivilegeType_Trigger,
}

// columnPrivileges are those that COLUMNS.PRIVILEGES lists, in its order.
var columnPrivileges = []sql.PrivilegeType{sql.PrivilegeType_Select, sql.PrivilegeType_Insert, sql.PrivilegeType_Update, sql.PrivilegeType_References}

// viewer is who asks for metadata: what he has no privilege on is not shown to him. It is good for one statement.
type viewer struct {
	all    bool // nobody is asked for privileges
	global bool // holds a privilege on all tables
	set    mysql_db.PrivilegeSet
}

func (c *Catalog) viewer(ctx *sql.Context) viewer {
	users := c.engine.Analyzer.Catalog.MySQLDb
	if internal(ctx) || !users.Enabled() {
		return viewer{all: true}
	}
	set := users.UserActivePrivilegeSet(ctx)
	return viewer{global: slices.ContainsFunc(objectPrivileges, func(p sql.PrivilegeType) bool { return set.Has(p) }), set: set}
}

// database says whether a database is shown: one in which there is a privilege, and those that everybody reads.
func (v viewer) database(name string) bool {
	if v.all || v.global || strings.EqualFold(name, sql.InformationSchemaDatabaseName) {
		return true
	}
	return v.set.Has(sql.PrivilegeType_ShowDB) || v.set.Database(name).HasPrivileges()
}

// table says whether a table or view is shown.
func (v viewer) table(database, name string) bool {
	if v.all || v.global || strings.EqualFold(database, sql.InformationSchemaDatabaseName) {
		return true
	}
	db := v.set.Database(database)
	return slices.ContainsFunc(objectPrivileges, func(p sql.PrivilegeType) bool { return db.Has(p) }) || db.Table(name).HasPrivileges()
}

// holds says whether the viewer has a privilege on a table.
func (v viewer) holds(database, name string, p sql.PrivilegeType) bool {
	if v.all || v.set.Has(p) {
		return true
	}
	db := v.set.Database(database)
	return db.Has(p) || db.Table(name).Has(p)
}

// onColumns are the viewer's privileges on the columns of a table, as COLUMNS.PRIVILEGES writes them.
func (v viewer) onColumns(database, name string) string {
	var out []string
	for _, p := range columnPrivileges {
		if v.holds(database, name, p) || p == sql.PrivilegeType_Select && strings.EqualFold(database, sql.InformationSchemaDatabaseName) {
			out = append(out, strings.ToLower(p.String()))
		}
	}
	return strings.Join(out, ",")
}
