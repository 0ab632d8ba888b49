package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPerformanceSchema(t *testing.T) {
	l := newLab(t)
	require.Equal(t, []string{"events_statements_current", "global_status", "global_variables", "processlist", "session_status", "session_variables", "threads", "user_variables_by_thread"}, l.rows("SHOW TABLES FROM performance_schema"))
	require.Empty(t, l.rows("SELECT st.* FROM performance_schema.events_statements_current st JOIN performance_schema.threads thr ON thr.thread_id = st.thread_id WHERE thr.processlist_id = 7"))
	l.exec("SET autocommit = 0")
	require.Equal(t, []string{"autocommit|OFF"}, l.rows("SELECT * FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'AUTOCOMMIT'"))
	require.Equal(t, []string{"autocommit|ON"}, l.rows("SELECT * FROM Performance_Schema.GLOBAL_VARIABLES WHERE VARIABLE_NAME = 'autocommit'"))
	require.Equal(t, []string{"1"}, l.rows("SELECT COUNT(*) FROM performance_schema.global_status WHERE VARIABLE_NAME = 'uptime'"))
	require.Equal(t, l.rows("SHOW SESSION STATUS LIKE 'Bytes_sent'"), l.rows("SELECT * FROM performance_schema.session_status WHERE VARIABLE_NAME = 'bytes_sent'"))
	l.refused("SELECT * FROM performance_schema.nosuch", "nosuch")
	require.Equal(t, []string{"PROCESSLIST_ID", "PROCESSLIST_USER", "PROCESSLIST_HOST", "PROCESSLIST_DB", "PROCESSLIST_COMMAND", "PROCESSLIST_TIME", "PROCESSLIST_STATE", "PROCESSLIST_INFO"},
		l.rows("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'performance_schema' AND TABLE_NAME = 'threads' AND COLUMN_NAME LIKE 'PROCESSLIST%' ORDER BY ORDINAL_POSITION"))
}

func TestSysVersion(t *testing.T) {
	l := newLab(t)
	version := l.rows("SELECT VERSION()")
	require.Equal(t, version, l.rows("SELECT mysql_version FROM sys.version"))
}

// Tables of the database mysql are found with and without its name, as dumps of all databases read them.
func TestTablesOfMySQL(t *testing.T) {
	l := newLab(t)
	l.exec("USE mysql")
	for _, table := range []string{"help_category", "general_log", "slow_log", "innodb_table_stats"} {
		for _, name := range []string{table, "mysql." + table} {
			require.Empty(t, l.rows("SELECT * FROM "+name), name)
			require.Len(t, l.rows("SHOW CREATE TABLE "+name), 1, name)
		}
	}
	l.exec("USE lake", "CREATE TABLE general_log (a INT)", "INSERT INTO general_log VALUES (1)")
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM general_log"))
}

// What the server makes is read by SELECT alone.
func TestSystemDatabasesAreReadOnly(t *testing.T) {
	l := newLab(t)
	for _, statement := range []string{
		"DELETE FROM sys.version", "UPDATE performance_schema.threads SET NAME = 'x'", "TRUNCATE TABLE sys.version", "INSERT OVERWRITE TABLE sys.version SELECT 1, 2",
		"MERGE INTO sys.version t USING (SELECT 1 AS a) s ON t.sys_version = s.a WHEN MATCHED THEN DELETE", "ALTER TABLE sys.version ADD COLUMN x INT", "OPTIMIZE TABLE sys.version",
		"VACUUM sys.version", "DESCRIBE HISTORY sys.version", "DESCRIBE DETAIL information_schema.tables", "CREATE TABLE t LIKE sys.version", "EXPLAIN DELETE FROM sys.version",
		"SELECT * FROM table_changes('sys.version', 0)",
	} {
		l.refused(statement, "is no table of the lake")
	}
	l.refused("CREATE VIEW sys.v AS SELECT 1", "CREATE VIEW lake.name")
	l.refused("INSERT INTO sys.version VALUES ('1', '2')", "INSERT INTO")
	l.refused("CREATE TABLE sys.t (a INT)", "sys")
	l.refused("DROP DATABASE sys", "always exists")
	l.refused("CREATE DATABASE performance_schema", "exists")
	require.Equal(t, []string{"1"}, l.rows("SELECT COUNT(*) FROM sys.version"))
}
