package catalog

import (
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/stretchr/testify/require"
)

// as is a connection of an account.
func (l *lab) as(user string) *lab {
	other := *l
	other.sess = l.c.newSession(sql.Client{User: user, Address: "localhost"}, "", 7)
	return &other
}

// What one has no privilege on is not shown.
func TestMetadataShowsWhatOneMaySee(t *testing.T) {
	l := newLab(t)
	l.openUsers()
	l.exec("CREATE TABLE mine (a INT PRIMARY KEY, CONSTRAINT positive CHECK (a > 0))", "CREATE TABLE secret (b INT PRIMARY KEY)", "CREATE VIEW open AS SELECT a FROM mine", "CREATE VIEW closed AS SELECT b FROM secret",
		"CREATE DATABASE other", "CREATE TABLE other.t (c INT)", "CREATE USER ann", "GRANT SELECT ON lake.mine TO ann", "GRANT SELECT ON lake.open TO ann", "CREATE USER bob", "CREATE USER eve", "GRANT PROCESS ON *.* TO eve",
		"CREATE ROLE readers", "GRANT SELECT ON other.* TO readers", "CREATE USER rob", "GRANT readers TO rob")
	ann := l.as("ann")
	require.Equal(t, []string{"information_schema", "lake", "performance_schema"}, ann.rows("SHOW DATABASES"))
	require.Equal(t, []string{"information_schema", "lake", "performance_schema"}, ann.rows("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA"))
	require.Equal(t, []string{"mine", "open"}, ann.rows("SHOW TABLES"))
	require.Equal(t, []string{"mine|BASE TABLE", "open|VIEW"}, ann.rows("SHOW FULL TABLES"))
	require.Len(t, ann.rows("SHOW TABLE STATUS"), 2)
	require.Equal(t, []string{"mine", "open"}, ann.rows("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema')"))
	require.Equal(t, []string{"mine|a|select", "open|a|select"}, ann.rows("SELECT TABLE_NAME, COLUMN_NAME, PRIVILEGES FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'lake'"))
	require.Equal(t, []string{"open|"}, ann.rows("SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS"))
	for _, table := range []string{"STATISTICS", "KEY_COLUMN_USAGE", "PARTITIONS"} {
		require.Equal(t, []string{"mine"}, ann.rows("SELECT TABLE_NAME FROM information_schema."+table), table)
	}
	require.Equal(t, []string{"mine|SELECT", "open|SELECT"}, ann.rows("SELECT TABLE_NAME, PRIVILEGE_TYPE FROM information_schema.TABLE_PRIVILEGES WHERE TABLE_SCHEMA = 'lake' ORDER BY 1"))
	require.Empty(t, ann.rows("SELECT * FROM information_schema.TABLE_PRIVILEGES WHERE TABLE_SCHEMA = 'nosuch'"))
	require.Equal(t, []string{"lake"}, ann.rows("SHOW DATABASES LIKE 'la%'"))
	require.Equal(t, []string{"other"}, l.as("rob").rows("SHOW DATABASES LIKE 'o%'"), "though the current database is hidden from him")
	require.Equal(t, []string{"positive"}, ann.rows("SELECT CONSTRAINT_NAME FROM information_schema.CHECK_CONSTRAINTS"))
	ann.refused("SHOW CREATE VIEW closed", "SELECT command denied", "closed")
	ann.refused("SHOW CREATE VIEW open", "SHOW VIEW command denied", "open")
	ann.refused("SHOW INDEX FROM secret", "secret")
	ann.refused("SHOW TABLE STATUS FROM other", "Access denied")
	l.exec("GRANT SHOW VIEW ON lake.open TO ann")
	require.Len(t, ann.rows("SHOW CREATE VIEW open"), 1)
	require.NotEqual(t, []string{"open|"}, ann.rows("SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS"))
	require.Equal(t, []string{"information_schema", "performance_schema"}, l.as("bob").rows("SHOW DATABASES"))
	require.Empty(t, l.as("eve").rows("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('lake', 'other')"))
	require.Equal(t, []string{"t"}, l.as("rob").rows("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('lake', 'other')"))
	require.Equal(t, []string{"rob|readers|NO"}, l.as("rob").rows("SELECT GRANTEE, ROLE_NAME, IS_GRANTABLE FROM information_schema.APPLICABLE_ROLES"))
	require.Equal(t, []string{"readers|YES"}, l.as("rob").rows("SELECT ROLE_NAME, IS_DEFAULT FROM information_schema.ENABLED_ROLES"))
	require.Empty(t, l.as("rob").rows("SELECT * FROM information_schema.ADMINISTRABLE_ROLE_AUTHORIZATIONS"))
	require.Contains(t, l.rows("SHOW DATABASES LIKE 'l%'"), "lake")
	l.refused("SHOW CREATE VIEW information_schema.SCHEMATA", "is not VIEW")
	ann.refused("CREATE VIEW lake.mine_too AS SELECT a FROM mine", "CREATE VIEW command denied", "for table 'mine_too'")
	ann.refused("CREATE VIEW hers (x) AS (SELECT a FROM mine)", "for table 'hers'")
	l.exec("GRANT CREATE VIEW ON lake.* TO ann")
	ann.exec("CREATE VIEW hers AS SELECT a FROM mine")
}

// Everybody reads what there is of performance_schema; sys and mysql want a privilege.
func TestSystemDatabasesOfOrdinaryUsers(t *testing.T) {
	l := newLab(t)
	l.openUsers()
	l.exec("CREATE USER ann", "CREATE USER eve", "GRANT SELECT ON sys.* TO eve")
	ann := l.as("ann")
	for _, table := range l.rows("SHOW TABLES FROM performance_schema") {
		_, err := ann.try("SELECT * FROM performance_schema.%s", table)
		require.NoError(t, err, table)
	}
	require.NotEmpty(t, ann.rows("SHOW TABLES FROM performance_schema"))
	require.Equal(t, []string{"utf8mb4"}, ann.rows("SELECT VARIABLE_VALUE FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'character_set_client'"))
	ann.refused("SELECT * FROM sys.version", "denied")
	ann.refused("SELECT * FROM mysql.user", "denied")
	ann.refused("SELECT * FROM mysql.help_topic", "denied")
	ann.refused("SELECT * FROM performance_schema.nosuch", "denied")
	require.Len(t, l.as("eve").rows("SELECT * FROM sys.version"), 1)
	require.Empty(t, l.rows("SELECT name, description, example, url FROM mysql.help_topic"))
	require.Empty(t, l.rows("SELECT index_name, stat_value * @@innodb_page_size AS bytes FROM mysql.innodb_index_stats WHERE database_name = 'lake' AND table_name = 't' AND stat_name = 'size'"))
	require.Equal(t, []string{"GRANT USAGE ON *.* TO `ann`@`%`"}, ann.rows("SHOW GRANTS"))
}

// An error tells nobody what is there that he may not see.
func TestErrorsDoNotTellWhatIsThere(t *testing.T) {
	l := newLab(t)
	l.openUsers()
	l.exec("CREATE DATABASE d", "CREATE TABLE d.there (a INT, b INT)", "CREATE VIEW d.looks AS SELECT a FROM d.there", "CREATE USER ann", "CREATE TABLE hers (a INT)", "GRANT SELECT, UPDATE ON lake.hers TO ann",
		"CREATE STREAM d.there INTO d.fed WITH CHECKPOINT '"+l.dir+"/cp' AS SELECT * FROM STREAM read_files('"+l.dir+"/in', format => 'csv', schema => 'a INT')")
	ann := l.as("ann")
	for _, statement := range []string{
		"SELECT a FROM %s", "INSERT INTO %s VALUES (1)", "UPDATE %s SET a = 1", "UPDATE %s SET c = 1", "UPDATE %[1]s x, %[1]s y SET a = 1", "UPDATE lake.hers h, %s x SET b = 1", "DELETE FROM %s", "DELETE x FROM %s x", "EXPLAIN UPDATE %s SET c = 1",
		"EXPLAIN DELETE FROM %s", "EXPLAIN FORMAT=JSON UPDATE %s SET c = 1", "EXPLAIN FORMAT=JSON SELECT c FROM %s", "CREATE TABLE %s (a INT)", "CREATE TABLE IF NOT EXISTS %s (a INT)", "CREATE TABLE %s LIKE lake.hers",
		"CREATE TABLE %s AS SELECT 1", "CREATE OR REPLACE TABLE %s (a INT)", "CREATE TABLE %s USING delta", "DROP TABLE IF EXISTS %s", "TRUNCATE %s", "SHOW CREATE TABLE %s", "SHOW INDEX FROM %s", "SHOW COLUMNS FROM %s", "DESCRIBE %s",
		"CHECKSUM TABLE %s", "CHECKSUM TABLE %s QUICK", "ANALYZE TABLE %s", "DESCRIBE HISTORY %s", "OPTIMIZE %s", "ALTER TABLE %s DROP COLUMN c", "ALTER TABLE lake.hers RENAME TO %s",
		"STOP STREAM %s", "DROP STREAM %s", "ALTER STREAM %s RESET", "ALTER STREAM %s RETRY ALL", "SHOW CREATE STREAM %s", "SHOW STREAM FILES FOR %s", "WAIT FOR STREAM %s",
	} {
		var said []string
		for _, name := range []string{"d.there", "d.looks", "d.missing", "nowhere.missing"} {
			_, err := ann.try(strings.ReplaceAll(statement, "%s", "%[1]s"), name)
			require.Error(t, err, statement, name)
			database, table, _ := strings.Cut(name, ".")
			said = append(said, strings.NewReplacer(name, "?", "'"+table+"'", "?", "'"+database+"'", "?").Replace(err.Error()))
		}
		for _, s := range said[1:] {
			require.Equal(t, said[0], s, statement)
		}
	}
	require.Equal(t, []string{"there"}, l.rows("SELECT STREAM_NAME FROM information_schema.STREAMS"), "and all of it is still there")
	l.exec("GRANT SELECT ON d.fed TO ann")
	ann.refused("STOP STREAM d.there", "ALTER STREAM command denied")
}
