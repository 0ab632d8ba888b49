package catalog

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scalarExpressions are expressions over pathsColumns that run on batches, by subject.
var scalarExpressions = map[string][]string{
	"dates": {
		"dt + INTERVAL 1 DAY", "dt - INTERVAL 3 MONTH", "dt + INTERVAL 1 YEAR", "at + INTERVAL 90 SECOND", "at - INTERVAL 1 HOUR", "DATE_ADD(dt, INTERVAL 2 WEEK)", "DATE_SUB(at, INTERVAL 1 QUARTER)",
		"dt + INTERVAL t DAY", "DATE(at)", "DATE(dt)", "DATE_FORMAT(at, '%Y-%m-%d %H:%i:%s.%f')", "DATE_FORMAT(dt, '%W %M %e %y %j %U %u %v %x %X %V %p %r %T %%')", "DATEDIFF(at, dt)", "DATEDIFF('2024-03-05', dt)",
		"TIMESTAMPDIFF(MONTH, dt, at)", "TIMESTAMPDIFF(DAY, dt, at)", "TIMESTAMPDIFF(SECOND, dt, at)", "DAYOFWEEK(dt)", "DAYOFYEAR(at)", "DAYOFMONTH(dt)", "WEEKDAY(at)", "WEEK(dt)", "WEEK(dt, 3)", "WEEK(at, 1)",
		"YEARWEEK(dt)", "LAST_DAY(dt)", "MAKEDATE(YEAR(dt), 45)", "EXTRACT(YEAR_MONTH FROM dt)", "EXTRACT(DAY_HOUR FROM at)", "EXTRACT(WEEK FROM dt)", "EXTRACT(MICROSECOND FROM at)", "TO_DAYS(dt)", "FROM_DAYS(TO_DAYS(dt))",
		"CAST(at AS DATE)", "CAST(dt AS DATETIME)", "STR_TO_DATE(CONCAT(DATE_FORMAT(at, '%Y-%m'), '-01'), '%Y-%m-%d')", "MONTHNAME(dt)", "DAYNAME(at)", "MICROSECOND(at)",
		"MAKEDATE(YEAR(dt), 1) + INTERVAL QUARTER(dt) QUARTER - INTERVAL 1 QUARTER", "DATE(DATE_SUB(at, INTERVAL DAYOFWEEK(DATE_SUB(at, INTERVAL 1 DAY)) - 1 DAY))",
		"DATE_ADD(DATE(at), INTERVAL (HOUR(at)*60*60 + MINUTE(at)*60) SECOND)", "dt < '2024-03-01'", "at BETWEEN dt AND dt + INTERVAL 1 DAY", "dt IN ('2024-02-29', '2024-03-01')", "dt = DATE(at)",
		"CURRENT_DATE() > dt", "CONVERT_TZ(at, '+00:00', '+02:00')", "UNIX_TIMESTAMP('2024-02-29') > n", "TIMESTAMPADD(MINUTE, 5, at)",
		"WEEK(at, t)", "YEARWEEK(at, 3)", "YEARWEEK(dt, t)", "WEEKOFYEAR(dt)", "HOUR(dt)", "EXTRACT(DAY_MICROSECOND FROM at)", "EXTRACT(MINUTE_SECOND FROM at)", "EXTRACT(SECOND_MICROSECOND FROM dt)", "MAKEDATE(n, t)", "at + INTERVAL b DAY",
		"dt - INTERVAL t WEEK", "dt + INTERVAL n MONTH", "at - INTERVAL t QUARTER", "dt + INTERVAL b YEAR", "at + INTERVAL t MICROSECOND", "dt + INTERVAL t HOUR", "TIMESTAMPDIFF(QUARTER, at, dt)", "TIMESTAMPDIFF(WEEK, '2024-02-29 10:00:00', at)",
		"TIMESTAMPDIFF(YEAR, dt, at)", "TIMESTAMPDIFF(MICROSECOND, at, dt)", "DATE_FORMAT(at, s)", "DATE_FORMAT(at, '%a %b %c %D %d %h %I %k %l %S %w %q %')", "DATE_FORMAT(dt, '%X%V %x%v')", "STR_TO_DATE(CONCAT(YEARWEEK(at), ' Sunday'), '%X%V %W')", "at > NOW() - INTERVAL 1 DAY",
	},
	"texts": {
		"CONCAT(s, '-', n)", "CONCAT(s, dt)", "CONCAT_WS('/', s, n, t)", "SUBSTRING(s, 2)", "SUBSTRING(s, 1, 2)", "SUBSTRING(s FROM -2 FOR 1)", "SUBSTR(s, 0)", "MID(s, 2, 1)", "LEFT(s, 1)", "RIGHT(s, 2)", "LENGTH(s)",
		"CHAR_LENGTH(s)", "UPPER(s)", "LOWER(s)", "TRIM(s)", "TRIM(LEADING 'a' FROM s)", "LTRIM(CONCAT(' ', s))", "RTRIM(CONCAT(s, ' '))", "REPLACE(s, 'a', 'bc')", "LPAD(s, 5, '*')", "RPAD(s, 4, 'xy')", "INSTR(s, 'b')",
		"LOCATE('c', s)", "LOCATE('a', s, 2)", "POSITION('b' IN s)", "REVERSE(s)", "SUBSTRING_INDEX(s, 'b', 1)", "STRCMP(s, 'a')", "HEX(s)", "MD5(s)", "SHA1(s)", "ASCII(s)", "ORD(s)", "REPEAT(s, 2)", "REPEAT(s, t)", "INSERT(s, 2, 1, 'xyz')", "INSERT(s, t, n, s)",
		"CONCAT(s, at)", "CONCAT_WS(s, n, s, d)", "CONCAT_WS(NULL, s)", "SUBSTRING(s, t, n)", "SUBSTRING(s, n, t)", "LEFT(s, t)", "RIGHT(s, t)", "LPAD(s, t, 'ä')", "RPAD(s, n, s)", "TRIM(TRAILING 'c' FROM s)", "TRIM(BOTH s FROM 'abca')",
		"LOCATE(s, 'ä abc', t)", "INSTR('xaäabc', s)", "SUBSTRING_INDEX(s, s, t)", "SUBSTRING_INDEX('a,b,c', ',', t)", "REPLACE('aaäabc', s, 'äx')", "STRCMP(s, 'ab')", "LENGTH(y)", "UPPER(CONCAT(s, n))", "CHAR_LENGTH(n)",
		"s REGEXP '^a'", "REGEXP_LIKE(s, 'B')", "REGEXP_REPLACE(s, '^a(.*)$', 'z$1')", "s LIKE 'a|_' ESCAPE '|'", "s LIKE CONCAT(LEFT(s, 1), '%')", "s NOT LIKE '%b%'", "s NOT REGEXP 'c$'",
		"CAST(n AS CHAR)", "CAST(d AS CHAR)", "CAST(dt AS CHAR)", "CAST(at AS CHAR)", "CAST(f AS CHAR)", "FIELD(s, 'a', 'abc')", "FIND_IN_SET(s, 'a,b,abc')", "ELT(t, 'x', 'y')", "FORMAT(n, 2)",
		"UPPER(SUBSTRING(s, 1, 1)) = 'A'", "COALESCE(s, 'none') = 'none'", "NULLIF(s, 'a')", "IF(s = 'a', s, 'other')", "CASE WHEN s LIKE 'a%' THEN CONCAT(s, '!') ELSE '-' END",
		"s COLLATE utf8mb4_0900_ai_ci = 'A'", "s COLLATE utf8mb4_general_ci LIKE 'A%'", "s = 'A' COLLATE utf8mb4_0900_ai_ci",
	},
	"numbers": {
		"ROUND(f)", "ROUND(f, 1)", "ROUND(n, -1)", "ROUND(d, 1)", "ROUND(w)", "TRUNCATE(f, 1)", "TRUNCATE(d, 1)", "FLOOR(f)", "FLOOR(d)", "CEIL(f)", "CEILING(d)", "ABS(n)", "ABS(f)", "ABS(d)", "SIGN(n)", "SIGN(f)", "MOD(n, 3)",
		"POW(t, 2)", "SQRT(f)", "EXP(g)", "LN(f)", "LOG(2, n)", "LOG10(n)", "LOG2(t)", "-n", "-d", "n & 7", "t | 1", "n ^ 3", "t << 2", "n >> 1", "GREATEST(n, t)", "LEAST(n, t, 5)", "GREATEST(f, 1.5)",
		"LEAST(d, 1)", "NULLIF(n, 0)", "NULLIF(d, 0)", "ISNULL(n)", "o IS TRUE", "o IS NOT FALSE", "n IS NULL", "o XOR (n > 0)", "n BETWEEN t AND b", "n NOT BETWEEN 0 AND t", "n IN (t, b, 7)", "n IN (1, 0.5)", "s = 0",
		"s > 1", "n = '7'", "f = '0.25'", "d = '1.00'", "n / 3", "d / n", "n DIV t", "n % t", "f % 2", "CAST(f AS SIGNED)", "CAST(s AS SIGNED)", "CAST(n AS DECIMAL(12,1))", "CAST(f AS DECIMAL(10,3))",
		"CAST(d AS DOUBLE)", "CAST(n AS DOUBLE)", "CRC32(s) > 100", "ROUND(d, 5)", "ROUND(d, -2)", "TRUNCATE(d, -3)", "ROUND(w, 2)", "TRUNCATE(w, 3)", "TRUNCATE(d, 0)", "ABS(w)", "-w", "-b", "ABS(b)", "ABS(t)", "-t", "-f", "-(d / 3)", "ABS(d / 3)", "ROUND(d / 3, 5)", "ROUND(d * d, 2)",
		"NULLIF(s, 'a')", "NULLIF(dt, '2024-02-29')", "NULLIF(t, n)", "CAST(d AS DECIMAL(14,1))", "CAST(t AS SIGNED)", "CAST(g AS DOUBLE)", "ROUND(n * d, 1)", "SIGN(d)", "o + n", "NOT n", "n AND o", "CASE n WHEN 7 THEN f END", "IF(n > 0, f, 0)", "COALESCE(f, 0)",
	},
}

// scalarsOnRows are those of scalarExpressions that do not run on batches.
var scalarsOnRows = map[string]bool{
	"CAST(f AS DECIMAL(10,3))": true,
	"n & 7":                    true, "t | 1": true, "n ^ 3": true, "t << 2": true, "n >> 1": true, "HEX(s)": true,
}

func TestFunctionsOnBothPaths(t *testing.T) {
	for subject, all := range scalarExpressions {
		t.Run(subject, func(t *testing.T) {
			l := pathsLab(t, rand.New(rand.NewPCG(9, 10)))
			for _, e := range all {
				for _, query := range []string{"SELECT @ FROM p", "SELECT COUNT(*), SUM(n) FROM p GROUP BY @", "SELECT SUM(CASE WHEN @ THEN 1 ELSE 0 END) FROM p", "SELECT @ FROM e"} {
					compiled := l.sameWhereCompiled(strings.ReplaceAll(query, "@", e))
					if strings.HasPrefix(query, "SELECT @") {
						require.Equal(t, !scalarsOnRows[e], compiled, e)
					}
				}
			}
		})
	}
}

// TestFunctionsAsMySQL has the values that MySQL 8 shows where go-mysql-server's functions have others, or none.
func TestFunctionsAsMySQL(t *testing.T) {
	l := newLab(t)
	for e, want := range map[string]string{
		"LOCATE('b', 'äb')": "2", "LOCATE('B', 'ab')": "0", "LOCATE('', 'ab', 3)": "3", "LOCATE('', 'ab', 4)": "0", "LOCATE('a', '', 1)": "0", "LOCATE('a', 'aba', 2)": "3", "LOCATE('a', 'a', 0)": "0", "POSITION('c' IN 'abc')": "3",
		"DATE_FORMAT('2005-01-02 03:04:05.6', '%y %Y %c %e %D %j %h %k %l %f %r %T %%%z%')": "05 2005 1 2 2nd 002 03 3 3 600000 03:04:05 AM 03:04:05 %z%", "DATE_FORMAT('0005-12-31', '%Y %y')": "0005 05",
		"DATE_FORMAT('nothing', '%Y')": "NULL", "WEEK('2021-01-01', 3)": "53", "WEEK('2024-12-30', 3)": "1", "WEEK('2024-12-30', 1)": "53", "WEEK('2008-02-20')": "7", "WEEK('2008-02-20', 1)": "8", "WEEK('2000-01-01', 2)": "52",
		"WEEK('2000-01-01', 0)": "0", "YEARWEEK('2000-01-01', NULL)": "199952", "WEEK('2008-02-20', NULL)": "7", "EXTRACT(WEEK FROM '2024-02-29')": "8", "DATEDIFF('9999-12-31 23:59:59', '1000-01-01')": "3287181", "DATEDIFF('2024-02-30', '2024-01-01')": "NULL", "YEARWEEK('2000-01-01')": "199952", "YEARWEEK('1987-01-01')": "198652", "WEEKOFYEAR('2008-02-20')": "8", "DATE('2024-02-30')": "NULL",
		"MICROSECOND('2024-01-01 00:00:00.000012')": "12", "ASCII('ä')": "195", "ASCII('')": "0", "HOUR(DATE('2024-01-01'))": "0",
		"ROUND(1.25, 1)": "1.3", "ROUND(-1.25, 1)": "-1.3", "ROUND(9.99, 1)": "10.0", "ROUND(1.5)": "2", "ROUND(-0.4)": "0", "ROUND(55.5, -1)": "60", "ROUND(55.5, -3)": "0", "TRUNCATE(1.999, 1)": "1.9", "TRUNCATE(-1.999, 0)": "-1",
		"TRUNCATE(122.9, -2)": "100", "ROUND(1.5, 3)": "1.500", "ABS(-9223372036854775807)": "9223372036854775807", "ABS(CAST(-128 AS SIGNED))": "128", "ROUND(150.5e0, -2)": "200", "TRUNCATE(1.55e0, 1)": "1.5", "ROUND(NULL, 1)": "NULL",
		"LPAD('äb', 4, 'xö')": "xöäb", "RPAD('äb', 1, 'x')": "ä", "RPAD('a', 4, 'äö')": "aäöä", "LPAD('a', -1, 'x')": "NULL", "LPAD('a', 0, 'x')": "", "RPAD('a', 3, '')": "", "LPAD('a', 9223372036854775807, 'x')": "NULL",
		"REPEAT('ab', -1)": "", "REPEAT('ab', 2)": "abab", "REPEAT('ab', 9223372036854775807)": "NULL", "INSERT('Quädratic', 4, 2, 'What')": "QuäWhatatic", "INSERT('abc', 0, 1, 'x')": "abc", "INSERT('abc', 2, -1, 'x')": "ax",
		"INSERT('abc', 4, 1, 'x')": "abc", "INSERT('abc', 3, 9, 'x')": "abx",
		"MAKEDATE(2024, 60)": "2024-02-29", "MAKEDATE(24, 1)": "2024-01-01", "MAKEDATE(70, 366)": "1971-01-01", "MAKEDATE(2024, 0)": "NULL", "MAKEDATE(9999, 366)": "NULL", "MAKEDATE(NULL, 1)": "NULL",
		"MAKEDATE(YEAR('2024-05-06'), 1) + INTERVAL QUARTER('2024-05-06') QUARTER - INTERVAL 1 QUARTER": "2024-04-01",
	} {
		require.Equal(t, []string{want}, l.rows("SELECT "+e), e)
	}
}
