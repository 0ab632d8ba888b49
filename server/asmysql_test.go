package server

import (
	"testing"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// TestErrorsAsMySQLHasThem has what a MySQL server answered.
func TestErrorsAsMySQLHasThem(t *testing.T) {
	db, _ := startLake(t)
	_, err := db.Exec("CREATE TABLE n (x INT, g VARCHAR(5))")
	require.NoError(t, err)
	for _, c := range []struct {
		statement string
		number    uint16
		state     string
		message   string
	}{
		{"SELECT q.x FROM n", 1054, "42S22", "Unknown column 'q.x' in 'field list'"},
		{"SELECT x FROM n WHERE q.x = 1", 1054, "42S22", "Unknown column 'q.x' in 'where clause'"},
		{"SELECT y FROM n", 1054, "42S22", "Unknown column 'y' in 'field list'"},
		{"SELECT n.y FROM n", 1054, "42S22", "Unknown column 'n.y' in 'field list'"},
		{"SELECT x FROM n WHERE y = 1", 1054, "42S22", "Unknown column 'y' in 'where clause'"},
		{"SELECT x FROM n GROUP BY y", 1054, "42S22", "Unknown column 'y' in 'group statement'"},
		{"SELECT x FROM n HAVING y > 1", 1054, "42S22", "Unknown column 'y' in 'having clause'"},
		{"SELECT x FROM n ORDER BY y", 1054, "42S22", "Unknown column 'y' in 'order clause'"},
		{"SELECT a.x FROM n a JOIN n b ON y = 1", 1054, "42S22", "Unknown column 'y' in 'on clause'"},
		{"SELECT x FROM n WHERE x IN (SELECT y FROM n)", 1054, "42S22", "Unknown column 'y' in 'field list'"},
		{"SELECT 1 UNION SELECT x FROM n WHERE y", 1054, "42S22", "Unknown column 'y' in 'where clause'"},
		{"SELECT q.* FROM n", 1051, "42S02", "Unknown table 'q'"},
		{"SELECT q.x FROM q", 1146, "42S02", "Table 'lake.q' doesn't exist"},
		{"SELECT x FROM n GROUP BY 5", 1054, "42S22", "Unknown column '5' in 'group statement'"},
		{"SELECT x FROM n WHERE SUM(x) > 1", 1111, "HY000", "Invalid use of group function"},
		{"SELECT 1 UNION SELECT x FROM n WHERE GROUP_CONCAT(x) = '1'", 1111, "HY000", "Invalid use of group function"},
		{"SELECT x FROM n WHERE ROW_NUMBER() OVER () = 1", 3593, "HY000", "You cannot use the window function 'row_number' in this context.'"},
		{"SELECT ABS(1, 2)", 1582, "42000", "Incorrect parameter count in the call to native function 'abs'"},
		{"SELECT @@nosuchvar", 1193, "HY000", "Unknown system variable 'nosuchvar'"},
		{"SELECT @@session.nosuchvar", 1193, "HY000", "Unknown system variable 'nosuchvar'"},
		{"SET sql_mode = 'NOSUCH'", 1231, "42000", "Variable 'sql_mode' can't be set to the value of 'NOSUCH'"},
		{"SET time_zone = 'Nowhere'", 1298, "HY000", "Unknown or incorrect time zone: 'Nowhere'"},
		{"SET NAMES nosuch", 1115, "42000", "Unknown character set: 'nosuch'"},
		{"SELECT 'a' COLLATE nosuch", 1273, "HY000", "Unknown collation: 'nosuch'"},
		{"SELECT 1 UNION SELECT 1, 2", 1222, "21000", "The used SELECT statements have a different number of columns"},
		{"SELECT (SELECT 1, 2)", 1241, "21000", "Operand should contain 1 column(s)"},
		{"SELECT (SELECT 1 UNION ALL SELECT 2)", 1242, "21000", "Subquery returns more than 1 row"},
		{"INSERT INTO n (x, x) VALUES (1, 2)", 1110, "42000", "Column 'x' specified twice"},
		{"INSERT INTO n VALUES (1)", 1136, "21S01", "Column count doesn't match value count at row 1"},
		{"SELECT JSON_TYPE(1)", 3146, "22032", "Invalid data type for JSON data in argument 1 to function json_type; a JSON string or JSON type is required."},
		{"SELECT UUID_TO_BIN('x')", 1411, "HY000", "unable to parse 'x' to UUID: invalid UUID length: 1"},
		{"SELECT 'a' REGEXP ''", 3685, "HY000", "Illegal argument to a regular expression."},
		{"SELECT NOW(7)", 1426, "42000", "Too-big precision 7 specified for 'now'. Maximum is 6."},
		{"SELECT 1 INTO nosuch", 1327, "42000", "Undeclared variable: nosuch"},
		{"SELECT PERIOD_ADD(200813, 1)", 1210, "HY000", "Incorrect arguments to period_add"},
		{"CREATE VIEW v (a, b) AS SELECT 1", 1353, "HY000", "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts"},
		{"SELECT COUNT(*), x FROM n", 1140, "42000", "In aggregated query without GROUP BY, expression #2 of SELECT list contains nonaggregated column 'n.x'; this is incompatible with sql_mode=only_full_group_by"},
	} {
		err := drainRows(db.Query(c.statement))
		var e *gomysql.MySQLError
		require.ErrorAs(t, err, &e, c.statement)
		require.Equal(t, c.number, e.Number, "%s: %s", c.statement, e.Message)
		require.Equal(t, c.state, string(e.SQLState[:]), c.statement)
		require.Equal(t, c.message, e.Message, c.statement)
	}
}

// TestMessagesAreUTF8 has a warning of bytes that are none: clients decode messages.
func TestMessagesAreUTF8(t *testing.T) {
	db, _ := startLake(t)
	db.SetMaxOpenConns(1)
	require.NoError(t, drainRows(db.Query("SELECT ROUND(CONCAT('a', x'ff80'))")))
	rows, err := db.Query("SHOW WARNINGS")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var level, message string
		var code int
		require.NoError(t, rows.Scan(&level, &code, &message))
		require.Contains(t, message, `\xFF\x80`)
	}
	require.NoError(t, rows.Err())
}

func TestTextsOfExpressionsAreNoBlobs(t *testing.T) {
	s, _ := serveLake(t)
	c := dialRaw(t, s)
	c.query("CREATE TABLE lake.t (s VARCHAR(10), e TEXT)")
	c.succeeds()
	c.write([]byte("\x03SELECT 'lit', CONCAT(s, 'x'), GROUP_CONCAT(s), CURDATE(), e AS k, NOW() FROM lake.t GROUP BY s, e"), 0)
	require.Equal(t, []column{
		{"lit", 255, 12, 253, 1, 31}, {"CONCAT(s, 'x')", 255, 44, 253, 0, 31}, {"GROUP_CONCAT(s)", 255, 65536, 252, 0, 31}, {"CURDATE()", 63, 10, 10, 128, 0},
		{"k", 255, 65532, 253, 0, 0}, {"NOW()", 63, 19, 12, 128, 0},
	}, c.columns())
}
