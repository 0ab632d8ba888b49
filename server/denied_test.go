package server

import (
	"fmt"
	"io"
	"strings"
	"testing"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// What an account without many privileges is told is what MySQL tells it.
func TestWhatIsDenied(t *testing.T) {
	g := startGuarded(t)
	root := g.as("root", "")
	g.exec(root,
		"CREATE TABLE t (id INT, s VARCHAR(9))", "CREATE TABLE secret (a INT)", "CREATE VIEW v AS SELECT * FROM secret", "CREATE VIEW vv AS SELECT * FROM v", "CREATE DATABASE other",
		"CREATE USER ann@localhost", "CREATE USER bob@localhost", "GRANT SELECT, INSERT ON lake.t TO ann@localhost", "GRANT SELECT ON lake.v TO ann@localhost", "GRANT SELECT ON lake.vv TO ann@localhost")
	ann := g.as("ann", "")
	gomysql.RegisterReaderHandler("two", func() io.Reader { return strings.NewReader("1\ta\n2\tb\n") })
	defer gomysql.DeregisterReaderHandler("two")
	_, err := ann.Exec("LOAD DATA LOCAL INFILE 'Reader::two' INTO TABLE t") // wants no FILE
	require.NoError(t, err)
	for _, c := range []struct {
		statement string
		number    uint16
		state     string
		words     string
	}{
		{"LOAD DATA LOCAL INFILE 'Reader::two' INTO TABLE secret", 1142, "42000", "INSERT command denied to user 'ann'@'localhost' for table 'secret'"},
		{"SELECT * FROM v", 1356, "HY000", "View 'lake.v' references invalid table(s)"},
		{"SELECT * FROM vv", 1356, "HY000", "View 'lake.v' references invalid table(s)"},
		{"EXPLAIN SELECT * FROM v", 1356, "HY000", "View 'lake.v' references invalid table(s)"},
		{"SELECT * FROM secret", 1142, "42000", "SELECT command denied to user 'ann'@'localhost' for table 'secret'"},
		{"SHOW TRIGGERS FROM other", 1044, "42000", "to database 'other'"},
		{"SHOW EVENTS FROM other", 1044, "42000", "to database 'other'"},
		{"SHOW TRIGGERS FROM nosuch", 1044, "42000", "to database 'nosuch'"},
		{"SHOW GRANTS FOR bob@localhost", 1044, "42000", "to database 'mysql'"},
		{"SHOW GRANTS FOR nobody", 1044, "42000", "to database 'mysql'"},
	} {
		_, err := ann.Exec(c.statement)
		require.Contains(t, requireErrno(t, err, c.number, c.state), c.words, c.statement)
	}
	var own, byName string
	require.NoError(t, ann.QueryRow("SHOW GRANTS").Scan(&own))
	require.NoError(t, ann.QueryRow("SHOW GRANTS FOR ann@localhost").Scan(&byName))
	require.Equal(t, own, byName)
	for _, statement := range []string{"SHOW TRIGGERS FROM nosuch", "SHOW EVENTS FROM nosuch"} {
		_, err = root.Exec(statement)
		requireErrno(t, err, 1049, "42000")
	}
}

// Who has no privilege on a view sees it no more than one that is not there, and its text wants SHOW VIEW however it is asked for.
func TestAViewIsSeenByPrivilegesOnIt(t *testing.T) {
	g := startGuarded(t)
	root := g.as("root", "")
	g.exec(root,
		"CREATE TABLE t (id INT)", "CREATE TABLE secret (a INT)", "CREATE VIEW shown AS SELECT id AS one FROM t", "CREATE VIEW hidden AS SELECT id AS one FROM t", "CREATE VIEW bare AS SELECT 1 AS one",
		"CREATE VIEW deep AS SELECT * FROM secret", "CREATE USER ann@localhost", "GRANT SELECT ON lake.t TO ann@localhost", "GRANT SELECT ON lake.shown TO ann@localhost")
	ann := g.as("ann", "")
	refusal := func(statement, name string) string {
		_, err := ann.Exec(fmt.Sprintf(statement, name))
		return strings.ReplaceAll(requireErrno(t, err, 1142, "42000"), name, "NAME")
	}
	for _, statement := range []string{"DESCRIBE %s", "EXPLAIN lake.%s", "SHOW COLUMNS FROM %s", "SHOW FULL COLUMNS FROM %s FROM lake", "SHOW CREATE TABLE %s", "SHOW CREATE TABLE lake.%s", "SHOW CREATE VIEW %s", "SELECT * FROM %s"} {
		for _, view := range []string{"hidden", "HIDDEN", "bare", "deep"} {
			require.Equal(t, refusal(statement, "nosuch"), refusal(statement, view), statement, view)
		}
	}
	g.exec(ann, "DESCRIBE shown", "DESCRIBE SHOWN", "SHOW COLUMNS FROM shown", "SELECT * FROM shown", "SHOW CREATE TABLE t")
	for _, statement := range []string{"SHOW CREATE VIEW shown", "SHOW CREATE TABLE shown"} {
		_, err := ann.Exec(statement)
		require.Contains(t, requireErrno(t, err, 1142, "42000"), "SHOW VIEW command denied", statement)
	}
	g.exec(root, "GRANT SHOW VIEW ON lake.shown TO ann@localhost")
	g.exec(ann, "SHOW CREATE VIEW shown", "SHOW CREATE TABLE shown", "SHOW CREATE TABLE lake.SHOWN")
	g.exec(root, "SHOW CREATE TABLE hidden", "DESCRIBE bare", "DESCRIBE deep")
}

// A table that is not there is named with its database.
func TestNoSuchTableHasItsDatabase(t *testing.T) {
	db, _ := startLake(t)
	_, err := db.Exec("CREATE DATABASE other")
	require.NoError(t, err)
	for _, table := range []string{"lake.nothing", "other.nothing", "information_schema.nothing", "performance_schema.nothing", "lake.with, comma"} {
		database, name, _ := strings.Cut(table, ".")
		quoted := fmt.Sprintf("%s.`%s`", database, name)
		if database == "lake" {
			quoted = "`" + name + "`"
		}
		_, err := db.Exec("SELECT * FROM " + quoted)
		require.Equal(t, "Table '"+table+"' doesn't exist", requireErrno(t, err, 1146, "42S02"))
		_, err = db.Prepare("SELECT * FROM " + quoted + " WHERE a = ?")
		require.Equal(t, "Table '"+table+"' doesn't exist", requireErrno(t, err, 1146, "42S02"))
	}
	for _, statement := range []string{
		"INSERT INTO nothing VALUES (1)", "UPDATE nothing SET a = 1", "DELETE FROM nothing", "SHOW INDEX FROM nothing", "ALTER TABLE nothing ADD COLUMN a INT", "DESCRIBE nothing", "OPTIMIZE TABLE nothing",
		"RENAME TABLE nothing TO other", "DESCRIBE HISTORY nothing", "TRUNCATE TABLE nothing", "SHOW CREATE TABLE nothing", "CREATE TABLE x LIKE nothing",
	} {
		_, err := db.Exec(statement)
		require.Equal(t, "Table 'lake.nothing' doesn't exist", requireErrno(t, err, 1146, "42S02"), statement)
	}
}
