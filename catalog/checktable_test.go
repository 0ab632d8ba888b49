package catalog

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// CHECK TABLE opens each data file, and names those that it cannot read.
func TestCheckTable(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)")
	require.Equal(t, []string{"lake.t|check|status|OK"}, l.rows("CHECK TABLE t"))
	require.Equal(t, []string{"lake.t|check|status|OK", "lake.nothing|check|Error|Table 'lake.nothing' doesn't exist", "lake.nothing|check|status|Operation failed"},
		l.rows("CHECK TABLE t, lake.nothing EXTENDED"))
	files, err := filepath.Glob(l.path("lake", "lake", "t", "*.parquet"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	require.NoError(t, os.Remove(files[0]))
	require.Equal(t, []string{"mysql.user|check|note|The storage engine for the table doesn't support check"}, l.rows("CHECK TABLE mysql.user"))
	found := l.rows("CHECK TABLE t MEDIUM")
	require.Len(t, found, 2)
	require.Contains(t, found[0], filepath.Base(files[0]))
	require.Equal(t, "lake.t|check|error|Corrupt", found[1])
	require.Equal(t, []string{"lake.t|check|status|OK"}, l.rows("CHECK TABLE t QUICK FAST"))
	l.refused("CHECK TABLE t SLOWLY", "SLOWLY")
}

// DESCRIBE and SHOW COLUMNS show the primary key, which is information.
func TestDescribeShowsThePrimaryKey(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, b INT, c VARCHAR(9), PRIMARY KEY (a, b))")
	require.Equal(t, []string{"a|int|NO|PRI|NULL|", "b|int|NO|PRI|NULL|", "c|varchar(9)|YES||NULL|"}, l.rows("DESCRIBE t"))
	require.Equal(t, []string{"b|int|NO|PRI|NULL|"}, l.rows("SHOW COLUMNS FROM t LIKE 'b'"))
	require.Equal(t, []string{"TREE"}, l.rows("SELECT @@explain_format"))
	l.exec("CREATE TABLE u (s VARCHAR(9) DEFAULT 'q' COMMENT 'x', n INT DEFAULT -5, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP)")
	require.Equal(t, []string{
		"s|varchar(9)|utf8mb4_0900_bin|YES||q||select,insert,update,references|x", "n|int|NULL|YES||-5||select,insert,update,references|",
		"at|datetime(6)|NULL|YES||CURRENT_TIMESTAMP(6)|DEFAULT_GENERATED|select,insert,update,references|",
	}, l.rows("SHOW FULL COLUMNS FROM u"))
	require.Equal(t, []string{"SCHEMA_NAME|varchar(64)|utf8mb3_general_ci|YES||NULL||select|"}, l.rows("SHOW FULL COLUMNS FROM information_schema.schemata LIKE 'SCHEMA_NAME'"))
}
