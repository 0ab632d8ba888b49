package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFunctionsAsMySQLHasThem has values that a MySQL server gave.
func TestFunctionsAsMySQLHasThem(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE e (id INT, si SMALLINT, bi BIGINT, f FLOAT, de DECIMAL(10,2), da DATE, dt DATETIME(6), s VARCHAR(20), js JSON)",
		`INSERT INTO e VALUES (1, -32768, 9223372036854775807, -0.5, -1234567.89, '2024-02-29', '2024-02-29 23:59:59.123456', 'abc', '{"a": 1}')`,
		"INSERT INTO e (id) VALUES (2)")
	rows := l.session()
	rows.exec("SET lakesql_vector = OFF")
	for _, c := range []struct{ what, want string }{
		{"FROM_UNIXTIME(0), FROM_UNIXTIME(1.5), FROM_UNIXTIME('1.5'), FROM_UNIXTIME(1.23456789)", "1970-01-01 00:00:00|1970-01-01 00:00:01.5|1970-01-01 00:00:01.500000|1970-01-01 00:00:01.234568"},
		{"FROM_UNIXTIME(-1), FROM_UNIXTIME(32536771199), FROM_UNIXTIME(32536771200), FROM_UNIXTIME(1.5, '%f'), FROM_UNIXTIME(1, NULL)", "NULL|3001-01-18 23:59:59|NULL|500000|NULL"},
		{"CAST(MAKETIME(1, 2, 3.5) AS CHAR), CAST(MAKETIME(-1, 2, 3) AS CHAR), CAST(MAKETIME(839, 0, 0) AS CHAR), MAKETIME(1, 60, 0), MAKETIME(1, -1, 0)", "01:02:03.500000|-01:02:03.000000|838:59:59.000000|NULL|NULL"},
		{"CAST(SEC_TO_TIME(-3661) AS CHAR), CAST(SEC_TO_TIME('1.5') AS CHAR), CAST(SEC_TO_TIME(1e9) AS CHAR), SEC_TO_TIME(NULL)", "-01:01:01.000000|00:00:01.500000|838:59:59.000000|NULL"},
		{"ADDTIME('2007-12-31 23:59:59.999999', '1 1:1:1.000002'), ADDTIME('01:00:00.999999', '02:00:00.999998'), ADDTIME('2024-01-01', '1:0:0')", "2008-01-02 01:01:01.000001|03:00:01.999997|2024-01-01 01:00:00"},
		{"ADDTIME('x', '1:0:0'), ADDTIME('1:0:0', 'x'), ADDTIME(NULL, '1'), ADDTIME('9999-12-31 23:59:59', '0:0:1')", "NULL|NULL|NULL|NULL"},
		{"TO_SECONDS('2009-11-29'), TO_SECONDS('2009-11-29 13:43:32'), TO_SECONDS(da)", "63426672000|63426721412|63876384000"},
		{"PERIOD_ADD(200801, 2), PERIOD_ADD(6912, 1), PERIOD_ADD(200801, -1), PERIOD_ADD(NULL, 1), PERIOD_DIFF(0802, 200703)", "200803|207001|200712|NULL|11"},
		{"BIN(si), BIN(bi), BIN(1.9), BIN('abc'), BIN(''), BIN(18446744073709551615)", "1111111111111111111111111111111111111111111111111000000000000000|111111111111111111111111111111111111111111111111111111111111111|1|0|NULL|1111111111111111111111111111111111111111111111111111111111111111"},
		{"CONV('ff', 16, 10), CONV(-1, 10, 16), CONV(-17, 10, -18), CONV(da, 10, 16), OCT(dt), OCT(12), CONV(1, 1, 10)", "255|FFFFFFFFFFFFFFFF|-H|7E8|3750|14|NULL"},
		{`QUOTE('a\0b\Z'), QUOTE('a''b\\'), QUOTE(5), QUOTE(NULL)`, `'a\0b\Z'|'a\'b\\'|'5'|NULL`},
		{"SOUNDEX('Robert'), CONCAT('<', SOUNDEX('123'), '>')", "R163|<>"},
		{"ROUND(s), ROUND('1.55', 1), TRUNCATE('1.59', 1), ROUND(da), ROUND(CAST('2024-02-29 01:02:03.5' AS DATETIME(1)))", "0|1.6|1.5|20240229|20240229010204"},
		{"ABS(da), CEIL(dt), FLOOR(dt), SQRT(da), POW(da, 1) = 20240229, FORMAT(da, 0), BIT_COUNT(da)", "20240229|20240229235960|20240229235959|4498.91420233816|1|20,240,229|14"},
		{"FORMAT(bi, 2), FORMAT(123456789012345678901234567890.125, 2), FORMAT(-0.001, 2), FORMAT(1234.5, NULL), FORMAT(1234.5, -1), FORMAT(de, 1)", "9,223,372,036,854,775,807.00|123,456,789,012,345,678,901,234,567,890.13|0.00|NULL|1,235|-1,234,567.9"},
		{"CONVERT(si USING utf8mb4), CONVERT(1.50 USING utf8mb4), CONVERT(da USING utf8mb4), CONVERT(js USING utf8mb4), CONVERT('ü' USING latin1)", `-32768|1.50|2024-02-29|{"a": 1}|ü`},
		{"CONVERT(x'C3BC' USING utf8mb4), CONVERT(x'FC' USING latin1), CONVERT('ü' USING ascii), CONVERT(x'FF' USING utf8mb4), CONVERT(NULL USING utf8mb4)", "ü|ü|?|NULL|NULL"},
		{"GREATEST(2, 'ab'), GREATEST(10, '9'), LEAST(10, '9'), GREATEST('10', 9.5), GREATEST(si, s), LEAST(1, NULL, 'a'), HEX(GREATEST(5, x'34'))", "ab|9|10|9.5|abc|NULL|35"},
		{"JSON_TYPE(NULL), JSON_TYPE(js), JSON_TYPE('null')", "NULL|OBJECT|NULL"},
		{"~0, ~5, ~si, ~NULL, 7 & ~2, si & ~0, 1 << 63, 1 << 64, ~0 >> 1, -1 >> 60", "18446744073709551615|18446744073709551610|32767|NULL|5|18446744073709518848|9223372036854775808|0|9223372036854775807|15"},
		{"bi | f, de ^ 0, '12abc' & 7, da & 255, x'41' | 2, 1.5 | 0, NULL & 1, 5 & 3, 5 | 3, 5 ^ 3", "9223372036854775807|18446744073708317048|4|101|67|2|NULL|1|7|6"},
		{"UTC_DATE() = DATE(UTC_TIMESTAMP()), CURDATE() = CURRENT_DATE, CURDATE() + INTERVAL 1 DAY > CURDATE(), UTC_TIME() IS NULL", "1|1|1|0"},
		{"REVERSE(de), REVERSE(si), REVERSE(bi), REVERSE(da), REVERSE(js)", `98.7654321-|86723-|7085774586302733229|92-20-4202|}1 :"a"{`},
		{"CRC32(de), CRC32(si), CRC32(js) = CRC32('{\"a\": 1}'), HEX(js), UPPER(js), LOWER(js)", `2608128904|912891849|1|7B2261223A20317D|{"A": 1}|{"a": 1}`},
		{"EXPORT_SET(da, 'Y', 'N', ',', 4), EXPORT_SET('3x', 'Y', 'N', '', 4), MAKE_SET(da, 'a', 'b'), MAKE_SET('3x', 'a', 'b'), MAKE_SET(js, 'a')", "Y,N,Y,N|YYNN|a|a,b|"},
		{"CONCAT('<', SPACE(js), '>'), MAKEDATE(js, 1), FROM_BASE64('!'), FROM_BASE64('YW Jj'), INTERVAL(da, 1, 20240301), INTERVAL(js, 1)", "<>|2000-01-01|NULL|abc|1|0"},
		{"CAST(5 AS UNSIGNED) - 1, ~0 - 1, ~0 + 0, ~0 - ~0, 128 - 129, 200 - 300, 255 + 1 - 300, 65535 - 70000, CAST(5 AS UNSIGNED) - 7.5", "4|18446744073709551614|18446744073709551615|0|-1|-100|-44|-4465|-2.5"},
		{"EXP(709) > 1e307, EXP(NULL), EXP(-1e9), POW(NULL, 2), POW(2, 3), COT(NULL)", "1|NULL|0|NULL|8|NULL"},
		{"SESSION_USER() = USER(), SYSTEM_USER() = USER()", "1|1"},
	} {
		query := "SELECT " + c.what + " FROM e WHERE id = 1"
		require.Equal(t, []string{c.want}, l.rows(query), query)
		require.Equal(t, []string{c.want}, rows.rows(query), query)
	}
	const nulls = "SELECT BIN(si), CONV(da, 10, 16), ROUND(s), ABS(da), FORMAT(bi, 2), CONVERT(si USING utf8mb4), GREATEST(si, 'a'), JSON_TYPE(js), ~si, TO_SECONDS(da) FROM e WHERE id = 2"
	require.Equal(t, []string{"NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL"}, l.rows(nulls))
	for _, c := range []string{"STD(da)", "VARIANCE(da)", "SUM(da)", "MAX(ABS(dt))"} {
		require.Equal(t, rows.rows("SELECT "+c+" FROM e"), l.rows("SELECT "+c+" FROM e"), c)
	}
	for statement, message := range map[string]string{
		"SELECT CAST(0 AS UNSIGNED) - 1":                        "BIGINT UNSIGNED value is out of range in '(cast(0 as unsigned) - 1)'",
		"SELECT 3 - CAST(id AS UNSIGNED) * 4 FROM e":            "BIGINT UNSIGNED value is out of range in '(3 - (cast(`lake`.`e`.`id` as unsigned) * 4))'",
		"SELECT a - 3 FROM (SELECT CAST(1 AS UNSIGNED) AS a) t": "BIGINT UNSIGNED value is out of range in '(`t`.`a` - 3)'",
		"SELECT (1 | 2) - 4":                                    "BIGINT UNSIGNED value is out of range in '((1 | 2) - 4)'",
		"SELECT 18446744073709551615 + 1":                       "BIGINT UNSIGNED value is out of range in '(18446744073709551615 + 1)'",
		"SELECT -9223372036854775808 - 1":                       "BIGINT value is out of range in '(-(9223372036854775808) - 1)'",
		"SELECT ABS(-9223372036854775808)":                      "BIGINT value is out of range in 'abs(-(9223372036854775808))'",
		"SELECT 1e308 * 10":                                     "DOUBLE value is out of range in '(1e308 * 10)'",
		"SELECT EXP(1000)":                                      "DOUBLE value is out of range in 'exp(1000)'",
		"SELECT POWER(0, -1)":                                   "DOUBLE value is out of range in 'pow(0,-(1))'",
		"SELECT COT(0)":                                         "DOUBLE value is out of range in 'cot(0)'",
		"SELECT EXP(da) FROM e":                                 "DOUBLE value is out of range in 'exp(`lake`.`e`.`da`)'",
		"SELECT JSON_OBJECT(NULL, 1)":                           "JSON documents may not contain NULL member names.",
	} {
		l.refused(statement, message)
		rows.refused(statement, message)
	}
	l.exec("SET sql_mode = 'NO_UNSIGNED_SUBTRACTION'")
	require.Equal(t, []string{"-1"}, l.rows("SELECT CAST(0 AS UNSIGNED) - 1"))
	l.refused("SELECT PERIOD_ADD(200813, 1)", "period_add")
	l.refused("SELECT PERIOD_DIFF(200801, 0)", "period_diff")
}

// TestGroupsBesideWhatIsOfNoColumn has functions and variables that no row has a part in beside a GROUP BY.
func TestGroupsBesideWhatIsOfNoColumn(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (g VARCHAR(5), at DATETIME)", "INSERT INTO t VALUES ('a', NOW() - INTERVAL 3 DAY), ('a', NOW() - INTERVAL 2 DAY), ('b', NULL)", "SET @v = 5")
	rows := l.session()
	rows.exec("SET lakesql_vector = OFF", "SET @v = 5")
	for _, c := range []struct{ what, want string }{
		{"DATEDIFF(NOW(), MAX(at))", "2 NULL"},
		{"NOW() IS NULL, COUNT(*)", "0|2 0|1"},
		{"CONCAT(CURDATE(), '') = CURRENT_DATE(), COUNT(*)", "1|2 1|1"},
		{"DATABASE(), VERSION() = @@version, @v, @v + COUNT(*)", "lake|1|5|7 lake|1|5|6"},
		{"PI() > 3, RAND() < 1, UUID() IS NULL, USER() IS NULL", "1|1|0|0 1|1|0|0"},
	} {
		query := "SELECT " + c.what + " FROM t GROUP BY g ORDER BY g"
		want := strings.Split(c.want, " ")
		require.Equal(t, want, l.rows(query), query)
		require.Equal(t, want, rows.rows(query), query)
	}
	require.Equal(t, []string{"3|0"}, l.rows("SELECT COUNT(*), NOW() IS NULL FROM t"))
	l.refused("SELECT NOW(), at, COUNT(*) FROM t GROUP BY g", "at")
	l.refused("SELECT NOW() - INTERVAL COUNT(*) DAY, at FROM t", "at")
}
