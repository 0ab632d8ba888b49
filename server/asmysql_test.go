package server

import (
	"testing"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// TestErrorsAsMySQLHasThem has what a MySQL server answered.
func TestErrorsAsMySQLHasThem(t *testing.T) {
	db, _ := startLake(t)
	for _, table := range []string{"n (x INT, g VARCHAR(5))", "j (js JSON)"} {
		_, err := db.Exec("CREATE TABLE " + table)
		require.NoError(t, err)
	}
	const syntax = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near "
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
		{"SELECT ABS(1, 2)", 1582, "42000", "Incorrect parameter count in the call to native function 'ABS'"},
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
		{"SELECT UUID_TO_BIN('x')", 1411, "HY000", "Incorrect string value: 'x' for function uuid_to_bin"},
		{"SELECT 'a' REGEXP ''", 3685, "HY000", "Illegal argument to a regular expression."},
		{"SELECT NOW(7)", 1426, "42000", "Too-big precision 7 specified for 'now'. Maximum is 6."},
		{"SELECT 1 INTO nosuch", 1327, "42000", "Undeclared variable: nosuch"},
		{"SELECT PERIOD_ADD(200813, 1)", 1210, "HY000", "Incorrect arguments to period_add"},
		{"SELECT BIN_TO_UUID('x')", 1411, "HY000", "Incorrect string value: 'x' for function bin_to_uuid"},
		{"SELECT x FROM n a, n b", 1052, "23000", "Column 'x' in field list is ambiguous"},
		{"SELECT a.x FROM n a, n b WHERE a.x = 1 AND x = 1", 1052, "23000", "Column 'x' in where clause is ambiguous"},
		{"SELECT a.x FROM n a, n b ORDER BY g", 1052, "23000", "Column 'g' in order clause is ambiguous"},
		{"SELECT x FROM n ORDER BY 5", 1054, "42S22", "Unknown column '5' in 'order clause'"},
		{"SELECT x FROM n UNION SELECT x FROM n ORDER BY y", 1054, "42S22", "Unknown column 'y' in 'order clause'"},
		{"UPDATE n SET y = 1", 1054, "42S22", "Unknown column 'y' in 'field list'"},
		{"UPDATE n SET x = 1 WHERE y = 1", 1054, "42S22", "Unknown column 'y' in 'where clause'"},
		{"DELETE FROM n WHERE y = 1", 1054, "42S22", "Unknown column 'y' in 'where clause'"},
		{"INSERT INTO n (y) VALUES (1)", 1054, "42S22", "Unknown column 'y' in 'field list'"},
		{"INSERT INTO n VALUES ('a', 'b')", 1366, "HY000", "Incorrect integer value: 'a' for column 'x' at row 1"},
		{"INSERT INTO n (x) VALUES (1), ('3a')", 1265, "01000", "Data truncated for column 'x' at row 2"},
		{"INSERT INTO n (x) VALUES (1), (99999999999)", 1264, "22003", "Out of range value for column 'x' at row 2"},
		{"INSERT INTO n VALUES (1, 'abcdef')", 1406, "22001", "Data too long for column 'g' at row 1"},
		{"INSERT INTO j VALUES ('{')", 3140, "22032", `Invalid JSON text: "Missing a name for object member." at position 1 in value for column 'j.js'.`},
		{"SELECT JSON_LENGTH('[1')", 3141, "22032", `Invalid JSON text in argument 1 to function json_length: "Missing a comma or ']' after an array element." at position 2.`},
		{"SELECT CAST('x' AS JSON)", 3141, "22032", `Invalid JSON text in argument 1 to function cast_as_json: "Invalid value." at position 0.`},
		{"SELECT JSON_LENGTH(CURDATE())", 3146, "22032", "Invalid data type for JSON data in argument 1 to function json_length; a JSON string or JSON type is required."},
		{"SELECT JSON_QUOTE(1)", 3064, "HY000", "Incorrect type for argument 1 in function json_quote."},
		{"SELECT NoFunc(1)", 1305, "42000", "FUNCTION lake.NoFunc does not exist"},
		{"SELECT other.NoFunc(1)", 1305, "42000", "FUNCTION other.NoFunc does not exist"},
		{"SELECT SUM(MAX(x)) FROM n", 1111, "HY000", "Invalid use of group function"},
		{"SELECT g FROM n GROUP BY g ORDER BY GROUP_CONCAT(MAX(x))", 1111, "HY000", "Invalid use of group function"},
		{"SELECT x FROM n GROUP BY SUM(x)", 1111, "HY000", "Invalid use of group function"},
		{"SELECT SUM(ROW_NUMBER() OVER ()) FROM n", 3593, "HY000", "You cannot use the window function 'row_number' in this context.'"},
		{"SELECT g, SUM(x) FROM n GROUP BY 2", 1056, "42000", "Can't group on 'SUM(x)'"},
		{"SELECT IF(1, 2)", 1064, "42000", syntax + "')' at line 1"},
		{"SELECT x,\n MAX(x, g) FROM n", 1064, "42000", syntax + "', g) FROM n' at line 2"},
		{"SELECT DATABASE(1)", 1064, "42000", syntax + "'1)' at line 1"},
		{"SELECT '2024-01-01' + INTERVAL 1 nounit, 2", 1064, "42000", syntax + "'nounit, 2' at line 1"},
		{"SELECT 1, ?", 1064, "42000", syntax + "'?' at line 1"},
		{"INSERT INTO n (x) VALUES (1), (' ')", 1366, "HY000", "Incorrect integer value: ' ' for column 'x' at row 2"},
		{"SELECT CAST(1 AS DECIMAL(70,2))", 1426, "42000", "Too-big precision 70 specified for '1'. Maximum is 65."},
		{"SELECT CAST(x AS DECIMAL(50,40)) FROM n", 1425, "42000", "Too big scale 40 specified for column 'x'. Maximum is 30."},
		{"SELECT CONVERT(1, DECIMAL(2,5))", 1427, "42000", "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '')."},
		{"SELECT CAST('a' AS DATETIME(7))", 1426, "42000", "Too-big precision 7 specified for 'CAST'. Maximum is 6."},
		{"SELECT CAST('a' AS CHAR(99999999999))", 1439, "42000", "Display width out of range for column 'cast as char' (max = 4294967295)"},
		{"CREATE TABLE c (x DECIMAL(70,2))", 1426, "42000", "Too-big precision 70 specified for 'x'. Maximum is 65."},
		{"CREATE TABLE c (x DECIMAL(50,40))", 1425, "42000", "Too big scale 40 specified for column 'x'. Maximum is 30."},
		{"ALTER TABLE n ADD COLUMN y DECIMAL(2,5)", 1427, "42000", "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column 'y')."},
		{"SELECT * FROM (SELECT 1)", 1248, "42000", "Every derived table must have its own alias"},
		{"SELECT * FROM n JOIN (SELECT 1) ON 1", 1248, "42000", "Every derived table must have its own alias"},
		{"SELECT * FROM (SELECT 1 AS a, 2 AS A) t", 1060, "42S21", "Duplicate column name 'A'"},
		{"SELECT 1 FROM (SELECT * FROM n a JOIN n b) t", 1060, "42S21", "Duplicate column name 'x'"},
		{"WITH c AS (SELECT 1 AS a, 2 AS a) SELECT * FROM c", 1060, "42S21", "Duplicate column name 'a'"},
		{"CREATE VIEW v AS SELECT 1 AS a, 2 AS a", 1060, "42S21", "Duplicate column name 'a'"},
		{"WITH c AS (SELECT 1), c AS (SELECT 2) SELECT 1", 1066, "42000", "Not unique table/alias: 'c'"},
		{"CREATE VIEW v (a, b) AS SELECT 1", 1353, "HY000", "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts"},
		{"SELECT COUNT(*), x FROM n", 1140, "42000", "In aggregated query without GROUP BY, expression #2 of SELECT list contains nonaggregated column 'lake.n.x'; this is incompatible with sql_mode=only_full_group_by"},
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
