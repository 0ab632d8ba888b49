package catalog

import (
	"context"
	"maps"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// mysqlSystemTables says what columns the tables of MySQL's database mysql have that tools read and that are empty here: nobody keeps InnoDB's statistics,
// HELP has no topics, and logs are the server's own.
const mysqlSystemTables = `
general_log
  event_time timestamp(6) NOT NULL
  user_host mediumtext NOT NULL
  thread_id bigint unsigned NOT NULL
  server_id int unsigned NOT NULL
  command_type varchar(64) NOT NULL
  argument mediumblob NOT NULL
help_category
  help_category_id smallint unsigned NOT NULL
  name char(64) NOT NULL
  parent_category_id smallint unsigned
  url text NOT NULL
help_keyword
  help_keyword_id int unsigned NOT NULL
  name char(64) NOT NULL
help_relation
  help_topic_id int unsigned NOT NULL
  help_keyword_id int unsigned NOT NULL
help_topic
  help_topic_id int unsigned NOT NULL
  name char(64) NOT NULL
  help_category_id smallint unsigned NOT NULL
  description text NOT NULL
  example text NOT NULL
  url text NOT NULL
innodb_index_stats
  database_name varchar(64) NOT NULL
  table_name varchar(199) NOT NULL
  index_name varchar(64) NOT NULL
  last_update timestamp NOT NULL
  stat_name varchar(64) NOT NULL
  stat_value bigint unsigned NOT NULL
  sample_size bigint unsigned
  stat_description varchar(1024) NOT NULL
innodb_table_stats
  database_name varchar(64) NOT NULL
  table_name varchar(199) NOT NULL
  last_update timestamp NOT NULL
  n_rows bigint unsigned NOT NULL
  clustered_index_size bigint unsigned NOT NULL
  sum_of_other_index_sizes bigint unsigned NOT NULL
slow_log
  start_time timestamp(6) NOT NULL
  user_host mediumtext NOT NULL
  query_time time(6) NOT NULL
  lock_time time(6) NOT NULL
  rows_sent int NOT NULL
  rows_examined int NOT NULL
  db varchar(512) NOT NULL
  last_insert_id int NOT NULL
  insert_id int NOT NULL
  server_id int unsigned NOT NULL
  sql_text mediumblob NOT NULL
  thread_id bigint unsigned NOT NULL
`

var mysqlTableMakers = emptyTables(mysqlSystemTables)

// emptyTables makes tables without rows, by name.
func emptyTables(text string) map[string]func(database, name string) sql.Table {
	out := make(map[string]func(database, name string) sql.Table)
	schemas, names := schemasOf(text)
	for _, name := range names {
		out[name] = func(database, name string) sql.Table {
			return &computedTable{database: database, name: name, schema: schemas[name], rows: func(*sql.Context) ([]sql.Row, error) { return nil, nil }}
		}
	}
	return out
}

// andTables adds tables to others.
func andTables(to, more map[string]func(database, name string) sql.Table) map[string]func(database, name string) sql.Table {
	maps.Copy(to, more)
	return to
}

// nameSystemTables writes the names of these tables as they are found: the database mysql is GMS's, which has others. Privileges are looked up under the
// names as they were.
func nameSystemTables(stmt ast.SQLNode) error { return nameTables(stmt, systemTable) }

// nameTables writes the names of those of these tables that are named as in says.
func nameTables(stmt ast.SQLNode, in func(ast.TableName) bool) error {
	found := func(name ast.TableName) ast.TableName {
		if in(name) && mysqlTableMakers[strings.ToLower(name.Name.String())] != nil {
			name.DbQualifier = ast.NewTableIdent(mysqlTablesName)
		}
		return name
	}
	return ast.Walk(func(node ast.SQLNode) (bool, error) {
		switch node := node.(type) {
		case *ast.AliasedTableExpr:
			if name, ok := node.Expr.(ast.TableName); ok {
				node.Expr = found(name)
			}
		case *ast.Show:
			node.Table = found(node.Table)
		}
		return true, nil
	}, stmt)
}

// nameCurrentTables names those that stand without a database while that is mysql.
func nameCurrentTables(ctx context.Context, stmt ast.SQLNode) error {
	session, ok := ctx.(*sql.Context)
	if !ok || !strings.EqualFold(session.GetCurrentDatabase(), "mysql") {
		return nil
	}
	return nameTables(stmt, func(t ast.TableName) bool { return t.DbQualifier.IsEmpty() })
}
