package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTextsAreCalculatedWith: a text is the number that it begins with, wherever there is a number, with a warning for each row; at '5e' and at far exponents GMS's conversion
// to DECIMAL fails with a nil pointer.
func TestTextsAreCalculatedWith(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, s VARCHAR(40), b VARBINARY(40), j JSON, d DECIMAL(10,2))",
		`INSERT INTO t VALUES (1, '5e', '5e', '"5e"', 5), (2, '-5e99999999999x', '1.5x', '"x"', 1.5), (3, 'abc', '', '7', 0), (4, ' 12 ', '3', 'true', 12)`)
	for _, c := range []struct{ of, want string }{
		{"s + 1", "6 -1.7976931348623157e+308 1 13"},
		{"s - d", "0 -1.7976931348623157e+308 0 0"},
		{"s / 2", "2.5 -8.988465674311579e+307 0 6"},
		{"s % 3", "2 -2 0 0"},
		{"-s", "-5 1.7976931348623157e+308 0 -12"},
		{"ROUND(s, 1)", "5 -1.7976931348623157e+308 0 12"},
		{"TRUNCATE(s, 0)", "5 -1.7976931348623157e+308 0 12"},
		{"ABS(s)", "5 1.7976931348623157e+308 0 12"},
		{"CAST(s AS DOUBLE)", "5 -1.7976931348623157e+308 0 12"},
		{"CAST(s AS DECIMAL(4,1))", "5.0 -999.9 0.0 12.0"},
		{"s = 5", "1 0 0 0"},
		{"s < d", "0 1 0 0"},
		{"s IN (5, 12)", "1 0 0 1"},
		{"d = '5e'", "1 0 0 0"},
		{"id IN ('1', '2e')", "1 1 0 0"},
		{"s IN (5, 'abc')", "1 0 1 0"},
		{"s NOT IN (12, 'abc', NULL)", "NULL|NULL|0|0"},
		{"id + 9007199254740992 IN ('x', 9007199254740992)", "0 0 0 0"},
		{"'123abc' IN ('string', 1, 123)", "1 1 1 1"},
		{"id IN (0, 'xyz', NULL)", "NULL|NULL|NULL|NULL"},
		{"SUM(s) OVER (PARTITION BY id)", "5 -1.7976931348623157e+308 0 12"},
		{"b + 1", "6 2.5 1 4"},
		{"-b", "-5 -1.5 0 -3"},
		{"b DIV 2", "2 0 0 1"},
		{"CAST(b AS DECIMAL(4,1))", "5.0 1.5 0.0 3.0"},
		{"-j", "-5 0 -7 -1"},
		{"ROUND(j)", "5 0 7 1"},
		{"j DIV 2", "2 0 3 0"},
		{"TIMESTAMP '2024-01-01 00:00:00' + INTERVAL s SECOND", "2024-01-01 00:00:05|NULL|2024-01-01 00:00:00|2024-01-01 00:00:12"},
	} {
		query := "SELECT " + c.of + " FROM t ORDER BY id"
		var warnings []string
		for _, on := range []*lab{l, l.onRows()} {
			separator := " "
			if strings.Contains(c.want, "|") {
				separator = "|"
			}
			require.Equal(t, strings.ReplaceAll(c.want, ".000000", ""), strings.ReplaceAll(strings.Join(on.rows(query), separator), ".000000", ""), query)
			warnings = append(warnings, strings.Join(on.rows("SHOW WARNINGS"), "\n"))
		}
		require.Equal(t, warnings[0], warnings[1], query)
	}
	for _, on := range []*lab{l, l.onRows()} {
		on.rows("SELECT s + 1 FROM t ORDER BY id")
		require.Equal(t, []string{
			"Warning|1292|Truncated incorrect DOUBLE value: '5e'", "Warning|1292|Truncated incorrect DOUBLE value: '-5e99999999999x'", "Warning|1292|Truncated incorrect DOUBLE value: 'abc'",
		}, on.rows("SHOW WARNINGS"))
		require.Equal(t, []string{"1", "2", "3", "4"}, on.rows("SELECT id FROM t WHERE '5e' + 1 = 6 ORDER BY id"))
		require.Equal(t, []string{"1|5", "4|12"}, on.rows("SELECT a.id, b.d + 0e0 FROM t a JOIN t b ON a.s = b.d WHERE a.id <> 3 ORDER BY 1"))
		on.refused("SELECT s DIV 2 FROM t", "BIGINT value is out of range")
	}
}

// TestTextsIntoDecimals: a text that is no number is an error of a DECIMAL column, and with IGNORE the number that it begins with; one that is too large the limit.
func TestTextsIntoDecimals(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE s (id INT, s VARCHAR(40))", "INSERT INTO s VALUES (1, '5e'), (2, '-5e99999999999x'), (3, 'abc'), (4, '1.5x'), (5, '1e5'), (6, '7.126')",
		"CREATE TABLE t (id INT, d DECIMAL(6,2))", "INSERT INTO t VALUES (0, 0)")
	for _, on := range []*lab{l, l.onRows()} {
		for text, want := range map[string]string{
			"5e": "Incorrect decimal value: '5e' for column 'd' at row 1", "-5e99999999999x": "Incorrect decimal value: '-5e99999999999x' for column 'd' at row 1",
			"abc": "Incorrect decimal value: 'abc' for column 'd' at row 1", "": "Incorrect decimal value: '' for column 'd' at row 1", "0x10": "Incorrect decimal value: '0x10' for column 'd' at row 1",
			"NaN": "Incorrect decimal value: 'NaN' for column 'd' at row 1", "1e5": "Out of range value for column 'd' at row 1", "-5e99999999999": "Out of range value for column 'd' at row 1",
		} {
			on.refused("INSERT INTO t VALUES (1, '"+text+"')", want)
			on.refused("UPDATE t SET d = '"+text+"'", want)
			on.refused("INSERT INTO t SELECT 1, '"+text+"' FROM s WHERE id = 1", want)
		}
		on.refused("INSERT INTO t SELECT id, s FROM s WHERE id = 1", "Incorrect decimal value: '5e' for column 'd' at row 1")
		on.refused("INSERT INTO t VALUES (1, 1e300)", "Out of range value for column 'd' at row 1")
		on.exec("INSERT IGNORE INTO t SELECT id, s FROM s ORDER BY id")
		require.Equal(t, []string{
			"Note|1265|Data truncated for column 'd' at row 1", "Warning|1366|Incorrect decimal value: '-5e99999999999x' for column 'd' at row 2", "Warning|1366|Incorrect decimal value: 'abc' for column 'd' at row 3",
			"Note|1265|Data truncated for column 'd' at row 4", "Warning|1264|Out of range value for column 'd' at row 5",
		}, on.rows("SHOW WARNINGS"))
		require.Equal(t, "1|5.00 2|-9999.99 3|0.00 4|1.50 5|9999.99 6|7.13", strings.Join(on.rows("SELECT * FROM t WHERE id > 0 ORDER BY id"), " "))
		on.exec("UPDATE IGNORE t SET d = '-5e' WHERE id = 6")
		require.Equal(t, []string{"Note|1265|Data truncated for column 'd' at row 1"}, on.rows("SHOW WARNINGS"))
		require.Equal(t, []string{"-5.00"}, on.rows("SELECT d FROM t WHERE id = 6"))
		on.exec("DELETE FROM t WHERE id > 0")
	}
	l.refused("CREATE TABLE u (d DECIMAL(5,2) DEFAULT '5e')", "DEFAULT of column d", "Incorrect decimal value: '5e'")
}
