package catalog

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFoundDifferences has what random queries found different on batches and on rows, and the answer.
func TestFoundDifferences(t *testing.T) {
	l := newLab(t)
	require.NoError(t, os.WriteFile(l.dir+"/a.csv", []byte("id,f\n1,NaN\n2,-Infinity\n3,1.5\n4,\n5,Infinity\n"), 0o644))
	l.exec(
		"CREATE TABLE t (id INT, f DOUBLE, d DECIMAL(12,2), e DECIMAL(5,5), z DECIMAL(38,0), y VARBINARY(9), s VARCHAR(5), x VARCHAR(90), u VARCHAR(5), o BOOLEAN)",
		`INSERT INTO t SELECT id, f, id / 2, id / 100000, 99999999999999999999999999999999999999, IF(id = 1, X'FF', X'00FF'), 'abc', REPEAT('abc', 9), NULL, id > 2
			FROM read_files('`+l.dir+`/a.csv', format => 'csv', header => 'true', schema => 'id int, f double')`,
	)
	l.exec(
		"CREATE TABLE few (id INT, k INT, o BOOLEAN, dt DATE, s VARCHAR(5), v STRING, us VARCHAR(5), w DECIMAL(38,4), f DOUBLE)",
		`INSERT INTO few VALUES (1, 2, NULL, '2024-01-05', 'b2', 'B2', NULL, -0.0005, 1.5),
			(2, 0, TRUE, '2024-02-29', 'x', '2024-02-29', NULL, 1234567890123456789012345678901234.5678, NULL), (3, NULL, TRUE, NULL, NULL, '2', NULL, NULL, NULL)`,
	)
	rows := l.session()
	rows.exec("SET lakesql_vector = OFF")
	for _, c := range []struct{ query, want string }{
		{"SELECT id FROM t WHERE f <= 1.5 ORDER BY id", "2 3"},
		{"SELECT id FROM t WHERE f BETWEEN 0.0 AND 1e300", "3"},
		{"SELECT id FROM t WHERE f = f ORDER BY id", "1 2 3 5"},
		{"SELECT id FROM t WHERE f > d ORDER BY id", "1 5"},
		{"SELECT id FROM t WHERE f NOT IN (1.5, 2) ORDER BY id", "1 2 5"},
		{"SELECT COUNT(*) FROM t WHERE d = e", "0"},
		{"SELECT COUNT(*) FROM t WHERE e <=> 0.00000000000001", "0"},
		{"SELECT COUNT(*) FROM t WHERE z > 1", "5"},
		{"SELECT COUNT(*) FROM t a JOIN t b ON a.id = b.z", "0"},
		{"SELECT COUNT(*) FROM t a JOIN t b ON a.d = b.id", "2"},
		{"SELECT COUNT(*) FROM t a LEFT JOIN t b ON a.s = b.s AND a.s = b.x", "5"},
		{"SELECT COUNT(*) FROM t a CROSS JOIN t b WHERE NULL", "0"},
		{"SELECT COUNT(DISTINCT y), COUNT(DISTINCT s, y) FROM t", "2|2"},
		{"SELECT HEX(MIN(DISTINCT y)) FROM t", "00FF"},
		{"SELECT DISTINCT u FROM t", "NULL"},
		{"SELECT COUNT(*) FROM t a JOIN t b ON a.s = b.s AND a.s = b.u", "0"},
		{"SELECT COUNT(*) FROM t a JOIN t b ON a.id = b.id JOIN t c ON a.id = c.id AND c.s = a.s AND a.s = b.u", "0"},
		{"SELECT f FROM t WHERE id < 4 UNION ALL SELECT d FROM t WHERE id < 3 ORDER BY 1 DESC", "NaN 1.5 1 0.5 -Inf"},
		{"SELECT ANY_VALUE(id) FROM t", "1 2 3 4 5"},
		{"SELECT COUNT(*) FROM t a JOIN t b ON a.s = b.e", "20"},
		{"SELECT DISTINCT id AS a FROM t ORDER BY 1 DESC LIMIT 2", "5 4"},
		{"SELECT DISTINCT a.id AS a, HEX(b.y) AS h FROM t a JOIN t b ON a.id = b.id ORDER BY h DESC, 1 LIMIT 2", "1|FF 2|00FF"},
		{"SELECT TRUE FROM t EXCEPT SELECT o FROM t", ""},
		{"SELECT o FROM t INTERSECT SELECT id = id FROM t", "1"},
		{"SELECT FLOOR(w), CEIL(w), w, FLOOR(-0.5), FLOOR(2.5), CEILING('2.5'), FLOOR(f) FROM few WHERE id < 3", "-1|0|-0.0005|-1|2|3|1 1234567890123456789012345678901234|1234567890123456789012345678901235|1234567890123456789012345678901234.5678|-1|2|3|NULL"},
		{"SELECT COUNT(*) FROM few a JOIN few b ON DATE(a.dt) = b.dt", "2"},
		{"SELECT CAST(CONCAT('日本', v) AS CHAR(1)), CAST(MIN(dt) AS CHAR(4)) FROM few WHERE id = 1 GROUP BY CAST(CONCAT('日本', v) AS CHAR(1))", "日|2024"},
		{"SELECT (SELECT COUNT(*) FROM few WHERE v COLLATE utf8mb4_0900_ai_ci = 'b2') UNION ALL SELECT (SELECT COUNT(*) FROM few WHERE id = dt)", "1 0"},
		{"SELECT k, COUNT(*) / (SELECT COUNT(*) FROM few) AS share FROM few GROUP BY k ORDER BY k", "NULL|0.3333 0|0.3333 2|0.3333"},
		{"SELECT o, (SELECT COUNT(*) FROM few x WHERE x.o = few.o), EXISTS (SELECT 1 FROM t), MAX(id) IN (SELECT id FROM t WHERE id < 3) FROM few GROUP BY o ORDER BY o", "NULL|0|1|1 1|2|1|0"},
		{"SELECT LAST_DAY(dt) FROM few EXCEPT SELECT DATE('2024-02-29')", "2024-01-31 NULL"},
		{"SELECT COUNT(*) FROM few a JOIN few b ON a.v = b.dt AND a.id = b.id", "1"},
		{"SELECT YEARWEEK(dt) NOT IN (SELECT id FROM t) FROM few", "1 1 NULL"},
		{"SELECT 100000 NOT IN (SELECT id - 5 FROM few WHERE id > 1 UNION SELECT CAST(NULL AS SIGNED))", "NULL"},
		{"SELECT COUNT(*) FROM few a JOIN few b ON a.v = b.k", "2"},
		{"SELECT COUNT(*) FROM few a JOIN few b ON a.us = b.k AND a.id = b.id", "0"},
		{"SELECT COUNT(*) FROM few a JOIN few b ON a.v COLLATE utf8mb4_0900_ai_ci = b.s AND a.id = b.id", "1"},
		{"SELECT COUNT(*) FROM few WHERE v COLLATE utf8mb4_0900_ai_ci IN ('b2', 'none')", "1"},
		{"SELECT SUM(v COLLATE utf8mb4_0900_ai_ci NOT IN ('b2', NULL)) FROM few WHERE v COLLATE utf8mb4_0900_ai_ci = 'b2'", "0"},
		{"SELECT COUNT(*) FROM few WHERE v COLLATE utf8mb4_0900_ai_ci IN (SELECT 'b2')", "1"},
		{"SELECT COUNT(*) FROM few WHERE (v COLLATE utf8mb4_0900_ai_ci, id) IN (SELECT 'b2', id FROM few)", "1"},
		{"SELECT COUNT(*) FROM few WHERE v COLLATE utf8mb4_0900_ai_ci = 'b2' OR id IN (SELECT f FROM few)", "1"},
		{"SELECT a.id FROM few a JOIN few b ON a.o = b.o AND a.k = b.k WHERE a.o IS NULL", ""},
		{"SELECT id, COUNT(*) OVER (PARTITION BY id / -2147483648), ROW_NUMBER() OVER (ORDER BY id / -2147483648, id DESC) FROM few ORDER BY id", "1|3|3 2|3|2 3|3|1"},
		{"SELECT TO_DAYS(dt), TO_DAYS(dt - INTERVAL 2023 YEAR), TO_DAYS(dt - INTERVAL 2024 YEAR), TO_DAYS(dt - INTERVAL 24278 MONTH) FROM few WHERE id = 1", "739255|370|5|309"},
		{"SELECT FROM_DAYS(k * 365) FROM few ORDER BY id", "1-12-31 NULL NULL"},
		{"SELECT ROUND(f), ROUND(f, 1), TRUNCATE(f, 0), ROUND(id + 0.5e0), ROUND(f, -400) FROM t WHERE id < 6 ORDER BY id",
			"NaN|NaN|NaN|2|0 -Inf|-Inf|-Inf|2|0 2|1.5|1|4|0 NULL|NULL|NULL|4|NULL +Inf|+Inf|+Inf|6|0"},
		{"SELECT COUNT(DISTINCT id, ROUND(f)) FROM t", "4"},
		{"SELECT 1.5e0 % 1e300, 1e10 % 2.5e0, id % 1e300, SQRT(id) % 2 FROM t WHERE id = 1", "1.5|0|1|1"},
		{"SELECT SIGN(f), SIGN(0.4), SIGN(-d), SIGN('-0.2') FROM t ORDER BY id", "0|1|-1|-1 -1|1|-1|-1 1|1|-1|-1 NULL|1|-1|-1 1|1|-1|-1"},
		{"SELECT SUBSTRING(s, 2, 9223372036854775807), SUBSTRING(s, 2, -9223372036854775808), SUBSTR(s, -2, 1), MID(s, 0, 2) FROM t WHERE id = 1", "bc||b|"},
		{"SELECT HEX(SUBSTRING(y, 2)), HEX(CONCAT(y, 'a')) FROM t WHERE id < 3 ORDER BY id", "|FF61 FF|00FF61"},
		{"SELECT HEX(CONCAT(y, id > 9)), COUNT(DISTINCT SUBSTRING(y, 1, 1)) FROM t GROUP BY CONCAT(y, id > 9) ORDER BY 1", "00FF30|1 FF30|1"},
		{"SELECT HEX(GREATEST(y, X'01')), HEX(LEAST(y, s)), GREATEST(o, FALSE), LEAST(o, 5) FROM t WHERE id IN (1, 3) ORDER BY id", "FF|616263|0|0 01|00FF|1|1"},
		{"SELECT LEAST(MIN(o), MAX(FALSE)) FROM t", "0"},
		{"SELECT HEX(LPAD(y, 3, 'a')), HEX(RPAD('ä', 3, X'FF')), HEX(REPEAT(y, 2)), HEX(INSERT(y, 1, 1, 'ä')), HEX(SUBSTRING_INDEX(y, X'FF', 1)) FROM t WHERE id < 3 ORDER BY id",
			"6161FF|C3A4FF|FFFF|C3A4| 6100FF|C3A4FF|00FF00FF|C3A4FF|00"},
		{"SELECT HEX(TRIM(LEADING X'00' FROM y)), HEX(TRIM(X'FF' FROM y)), HEX(LTRIM(CONCAT(' ', y))), HEX(RTRIM(CONCAT(y, ' '))), HEX(REPLACE(y, X'FF', 'ä')), TRIM(NULL) FROM t WHERE id = 2",
			"FF|00|00FF|00FF|00C3A4|NULL"},
		{"SELECT GREATEST('y', 7), LEAST('y', 7), GREATEST('10', 9), LEAST(1.5, 'a', id), GREATEST(s, 5) FROM t WHERE id = 1", "y|7|9|1|abc"},
		{"SELECT COUNT(*) FROM t WHERE NULLIF(d - d, e + 0.00001) IS NULL", "0"},
		{"SELECT NULLIF(d, d), NULLIF(f, NULL), NULLIF(id, 1.0), NULLIF(s, 'abc'), NULLIF(NULL, 1) FROM t WHERE id IN (1, 3) ORDER BY id", "NULL|NaN|NULL|NULL|NULL NULL|1.5|3|NULL|NULL"},
		{"SELECT COUNT(*) FROM t a JOIN few b ON a.y = b.dt OR X'32303234' < b.dt", "0"},
		{"SELECT COUNT(*) FROM few WHERE CAST(v AS BINARY) = dt", "1"},
		{"SELECT - JSON_LENGTH(j), JSON_LENGTH(j, '$[1]'), JSON_LENGTH(NULL) FROM (SELECT CAST('[1, 2]' AS JSON) AS j FROM few) q LIMIT 1", "-2|1|NULL"},
		{"SELECT id FROM few WHERE k IN (2, -(id - 9223372036854775807 - 2))", "1"},
		{"SELECT -YEAR(dt), 1 - MONTH(dt), -(k ^ 3), -o, -ROUND(k) FROM few WHERE id < 3", "-2024|0|-1|NULL|-2 -2024|-1|-3|-1|0"},
		{"SELECT CAST(2.5 AS DECIMAL), CAST(-2.5 AS DECIMAL(3)), CAST('1.25x' AS DECIMAL(4,1)), CAST(NULL AS DECIMAL), CAST(1e300 AS DECIMAL(3,1)), CAST(-123.4 AS DECIMAL(3,1))", "3|-3|1.3|NULL|99.9|-99.9"},
		{"SELECT CAST(id AS DECIMAL), CAST(id * 100 AS DECIMAL(3,2)), CAST(f AS DECIMAL), CAST(v AS DECIMAL(5,0)), CAST(w AS DECIMAL(2,0)) FROM few ORDER BY id",
			"1|9.99|2|0|0 2|9.99|NULL|2024|99 3|9.99|NULL|2|NULL"},
		{"SELECT CAST(f AS DECIMAL) * 2, SUM(CAST(id AS DECIMAL(5))) OVER () FROM few WHERE id = 1", "4|1"},
		{"SELECT ROUND(k ^ -1), ROUND(id - 128, -1), TRUNCATE(id - 128, -1), ROUND(o), ROUND(id + 24, 0 - 1) FROM few WHERE id = 2", "18446744073709551615|-130|-120|1|30"},
		{"SELECT w + CAST(k - 1 AS UNSIGNED) FROM few WHERE id = 2 AND k = 0", "1234567890123475235756419388452849.5678"},
		{"SELECT DISTINCT CAST(e - id / 100000 AS DECIMAL(5,2)), CAST(-e AS DECIMAL(5,2)) FROM t WHERE id < 3", "0.00|0.00"},
		{"SELECT COUNT(*) FROM few WHERE SUBSTRING('ä', id, k) LIKE '_'", "1"},
		{"SELECT COUNT(*) FROM few WHERE CONCAT('ä', id) LIKE '__' AND IFNULL(k, 'ä') LIKE '_' AND INSERT('äa', id, 1, 'b') LIKE '__' AND 'äa' LIKE CONCAT('_', REPEAT('a', SIGN(id)))", "3"},
		{"SELECT HEX(y) FROM t WHERE CONCAT(y, 'ä') LIKE '___' AND id < 3", "FF"},
		{"SELECT z / z FROM t WHERE z - 99999999999999999999999999999999999999 + id IN (SELECT e + 2 AS x FROM t)", "1.0000"},
		{"SELECT id FROM few WHERE CAST(id AS DECIMAL(38,0)) IN (SELECT e + 0.99999 AS x FROM t)", ""},
		{"SELECT CASE CAST(id AS DECIMAL(38,0)) WHEN e + 0.99999 THEN 1 WHEN id THEN 2 END, CASE s WHEN 'ABC' THEN 1 WHEN 'ABC' COLLATE utf8mb4_0900_ai_ci THEN 2 END, CASE f WHEN 1.5 THEN 'f' ELSE 'g' END FROM t WHERE id IN (1, 3) ORDER BY id", "2|2|g 2|2|f"},
		{"SELECT LEFT(s, 2), LEFT(s, -1), RIGHT(s, 2), RIGHT(s, 9), HEX(LEFT(y, 1)), HEX(RIGHT(y, 1)), RIGHT('äbc', 3), INSTR(y, X'FF'), LOCATE(X'FF', y, 2), INSTR('日本', '本') FROM t WHERE id < 3 ORDER BY id", "ab||bc|abc|FF|FF|äbc|1|0|2 ab||bc|abc|00|FF|äbc|2|2|2"},
		{"SELECT STRCMP(s, 'abd'), STRCMP(s, u), STRCMP(s COLLATE utf8mb4_0900_ai_ci, 'ABC'), SUBSTRING_INDEX(s, 'c', id) FROM t WHERE id = 1", "-1|NULL|0|ab"},
		{"SELECT MIN(dt + INTERVAL 1 DAY), MAX(INTERVAL 1 HOUR + dt) FROM few", "2024-01-06|2024-02-29 01:00:00"},
		{"SELECT CASE WHEN MIN(o) THEN MIN(dt - INTERVAL 1 DAY) ELSE DATE '9999-12-31' END, (SELECT MAX(x) FROM (SELECT dt + INTERVAL 1 MONTH AS x FROM few) q) FROM few", "2024-01-04|2024-03-29"},
		{"SELECT SUM(x), AVG(x), SUM(DISTINCT x) FROM (SELECT IF(id < 3, 1e308, -1e308) AS x FROM t WHERE id < 5) q", "0|0|0"},
		{"SELECT SUM(x) OVER (ORDER BY id), SUM(x) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING), AVG(f) OVER (ORDER BY id ROWS 1 PRECEDING) FROM (SELECT id, f, IF(id < 3, 1e308, 0.5e0) AS x FROM t) q ORDER BY id",
			"1e+308|+Inf|NaN +Inf|1e+308|NaN +Inf|1|-Inf +Inf|1|1.5 +Inf|0.5|+Inf"},
		{"SELECT SUM(f) OVER (PARTITION BY k IS NULL) FROM few ORDER BY id", "1.5 1.5 NULL"},
		{"SELECT JSON_ARRAY(NULL, MAX(FALSE), MIN(id = 1)), JSON_OBJECT('a', MAX(o)) FROM few", `[null, 0, 0]|{"a": 1}`},
		{"SELECT JSON_ARRAY(x, x = 1, TRUE, (SELECT TRUE)), CAST(x AS JSON) FROM (SELECT id = 2 AS x FROM few WHERE id < 3) q", "[0, false, true, 1]|0 [1, true, true, 1]|1"},
		{"SELECT JSON_ARRAY(LAG(TRUE) OVER (ORDER BY id)) FROM few", "[null] [1] [1]"},
		{"SELECT DISTINCT x COLLATE utf8mb4_0900_ai_ci FROM (SELECT s AS x FROM few UNION ALL SELECT UPPER(s) FROM few) q", "b2 x NULL"},
		{"SELECT s COLLATE utf8mb4_0900_ai_ci AS x FROM few WHERE id = 1 UNION SELECT v FROM few WHERE id = 1 UNION SELECT 'c' ORDER BY 1 DESC LIMIT 5", "c b2"},
		{"SELECT s FROM few INTERSECT SELECT v COLLATE utf8mb4_0900_ai_ci FROM few", "b2"},
		{"SELECT s COLLATE utf8mb4_0900_ai_ci FROM few EXCEPT SELECT v FROM few", "x NULL"},
		{"(SELECT UPPER(s) COLLATE utf8mb4_0900_ai_ci AS x FROM few UNION ALL SELECT s FROM few) EXCEPT ALL SELECT v FROM few", "X NULL b2 x NULL"},
		{"SELECT COUNT(*) FROM (SELECT s COLLATE utf8mb4_0900_ai_ci AS x FROM few UNION SELECT UPPER(s) FROM few) q", "3"},
		{"SELECT id FROM few WHERE (SELECT COUNT(DISTINCT x) FROM (SELECT DISTINCT s COLLATE utf8mb4_0900_ai_ci AS x FROM few) q WHERE q.x > few.v COLLATE utf8mb4_0900_ai_ci) = 1", "1"},
		{"SELECT GREATEST(9007199254740993, id), LEAST(id, 9007199254740993 - id), GREATEST(z, e), LEAST(d, e + 7, 9), GREATEST(d, f), GREATEST(o, 2) FROM t WHERE id IN (1, 3) ORDER BY id",
			"9007199254740993|1|99999999999999999999999999999999999999.00000|0.50000|NaN|2 9007199254740993|3|99999999999999999999999999999999999999.00000|1.50000|1.5|2"},
		{"SELECT GREATEST(id ^ -1, id), LEAST(id ^ -1, -1, 1.5), GREATEST(id ^ -1, id ^ -2), LEAST(id ^ -1, 1e0), LEAST(id ^ -1, '3'), GREATEST(id, NULL) FROM t WHERE id = 1",
			"18446744073709551614|-1.0|18446744073709551615|1|18446744073709551614|NULL"},
		{"SELECT GREATEST(dt, dt + INTERVAL 1 DAY), LEAST(dt, dt + INTERVAL 1 HOUR), GREATEST(MIN(dt), MAX(dt)) FROM few WHERE id < 2 GROUP BY dt", "2024-01-06|2024-01-05 00:00:00|2024-01-05"},
		{"SELECT HEX(LOWER(y)), HEX(UPPER(y)), HEX(REVERSE(y)), HEX(REVERSE(CONCAT(y, 'aB'))), LOWER('Ä'), UPPER('ä'), REVERSE('äb') FROM t WHERE id = 1", "FF|FF|FF|4261FF|ä|Ä|bä"},
		{"SELECT id FROM few UNION SELECT id & 1 FROM few EXCEPT SELECT CAST(id AS DECIMAL(5,2)) FROM few WHERE id > 1", "1.00 0.00"},
	} {
		for name, on := range map[string]*lab{"batches": l, "rows": rows} {
			require.Equal(t, c.want, strings.Join(on.rows(c.query), " "), "%s: %s", name, c.query)
		}
	}
	for _, on := range []*lab{l, rows} {
		on.exec("SELECT DAYNAME(u), MONTHNAME(u) FROM t")
		require.Empty(t, on.rows("SHOW WARNINGS"))
		on.refused("SELECT o, (SELECT COUNT(*) FROM few x WHERE x.k = few.k) FROM few GROUP BY o", "'few.k' which is not functionally dependent")
		on.refused("SELECT -(id - 9223372036854775807 - 2) FROM t", "BIGINT value is out of range in '-(")
		on.refused("SELECT (id * 1e300 * 1e300) FROM t", "DOUBLE value is out of range")
		for _, call := range []string{"TRUNCATE(1)", "TRUNCATE(1.5)", "TRUNCATE(f)", "ROUND()", "ROUND(id, 1, 2)"} {
			on.refused("SELECT "+call+" FROM t", "arguments")
		}
		on.refused("SELECT x.id FROM few x JOIN few y ON x.id = y.id + 100 WHERE 'x' < x.dt", "Incorrect datetime value: 'x'")
		on.exec("SELECT LEAD(STR_TO_DATE(s, '%Y-%m-%d'), 1) OVER (ORDER BY id) FROM few")
		require.Len(t, on.rows("SHOW WARNINGS"), 2)
		on.exec("SELECT id DIV (id - 1) FROM t")
		require.Equal(t, []string{"Warning|1365|Division by 0"}, on.rows("SHOW WARNINGS"))
		on.exec("SELECT dt IN (DATE '2024-01-05', CAST(s AS DATE)) FROM few")
		require.Equal(t, []string{"Warning|1292|Truncated incorrect date value: 'x'"}, on.rows("SHOW WARNINGS"))
		on.refused("SELECT ABS(id - 9223372036854775807 - 2) IN (5, k) FROM few", "BIGINT value is out of range in 'abs(")
		on.refused("SELECT -(k ^ -1) FROM few", "BIGINT value is out of range in '-(")
		for _, computed := range []string{"k + -(id - 9223372036854775807 - 2)", "LEFT(us, -(id - 9223372036854775807 - 2))", "SUBSTRING(us, 1, -(id - 9223372036854775807 - 2))",
			"INSTR(us, -(id - 9223372036854775807 - 2))", "STRCMP(us, -(id - 9223372036854775807 - 2))", "COUNT(DISTINCT us, -(id - 9223372036854775807 - 2))"} {
			on.refused("SELECT "+computed+" FROM few WHERE us IS NULL", "BIGINT value is out of range in '-(")
		}
		for _, stopped := range []string{"CONCAT(s, us, CAST(v AS SIGNED))", "CONCAT_WS(us, CAST(v AS SIGNED), s)", "REPLACE(s, us, CAST(v AS SIGNED))", "us + INTERVAL CAST(v AS SIGNED) DAY",
			"CAST(us AS DATE) + INTERVAL CAST(v AS SIGNED) DAY", "TIMESTAMPDIFF(DAY, CAST(us AS DATE), CAST(v AS DATE))"} {
			require.Equal(t, []string{"NULL", "NULL", "NULL"}, on.rows("SELECT "+stopped+" FROM few"), stopped)
			require.Empty(t, on.rows("SHOW WARNINGS"), stopped)
		}
		on.exec("SELECT CONCAT(s, CAST(v AS SIGNED)), CONCAT_WS('-', us, CAST(v AS SIGNED)) FROM few WHERE id = 1")
		require.Equal(t, []string{"Warning|1292|Truncated incorrect INTEGER value: 'B2'", "Warning|1292|Truncated incorrect INTEGER value: 'B2'"}, on.rows("SHOW WARNINGS"))
		on.refused("SELECT COUNT(*) FROM few WHERE s LIKE v ESCAPE us", "ESCAPE")
		on.refused("SELECT COUNT(*) FROM few WHERE CASE id WHEN ((-1 >> 1) DIV (k - 1)) THEN s ELSE v END > 'a'", "out of range")
	}
}

// TestDatesBesideNumbers compares dates with numbers as MySQL does: as the numbers that they are written as.
func TestDatesBesideNumbers(t *testing.T) {
	l := newLab(t)
	l.exec(
		"CREATE TABLE t (id INT, k INT, b BIGINT, dt DATE, at DATETIME(6), s VARCHAR(20), d DECIMAL(10,2), w DECIMAL(12,4), f DOUBLE, sm SMALLINT)",
		`INSERT INTO t VALUES (1, 20240101, 20240101103000, '2024-01-01', '2024-01-01 10:30:00', '2024-01-01', 4.00, 4.0001, 1e300, 1),
			(2, 2, 2, '2024-02-29', '2024-02-29', 'x', 1.5, 1.5, 1.5, NULL), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 7)`,
	)
	for query, want := range map[string]string{
		"SELECT id FROM t WHERE dt = 20240229":                                                                     "2",
		"SELECT id FROM t WHERE at > 20240101":                                                                     "1 2",
		"SELECT id FROM t WHERE at = 20240101103000 OR dt IN (20240229, 5)":                                        "1 2",
		"SELECT id FROM t WHERE dt = k OR at = b":                                                                  "1",
		"SELECT id FROM t WHERE k BETWEEN dt AND at":                                                               "1",
		"SELECT a.id, b.id FROM t a JOIN t b ON a.k = b.dt":                                                        "1|1",
		"SELECT a.id, b.id FROM t a JOIN t b ON a.b = b.at":                                                        "1|1",
		"SELECT id FROM t WHERE k IN (SELECT dt FROM t)":                                                           "1",
		"SELECT id FROM t WHERE (id, k) IN (SELECT id, dt FROM t)":                                                 "1",
		"SELECT id FROM t WHERE k NOT IN (SELECT dt FROM t)":                                                       "",
		"SELECT id FROM t WHERE s IN (SELECT dt FROM t)":                                                           "1",
		"SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t x WHERE x.dt = t.k)":                                       "1",
		"SELECT id, k < dt, dt <=> k, dt BETWEEN 20240101 AND 20240131 FROM t":                                     "1|0|1|1 2|1|0|0 3|NULL|1|NULL",
		"SELECT id FROM t WHERE w + 0 IN (SELECT d FROM t WHERE d IS NOT NULL)":                                    "2",
		"SELECT id FROM t WHERE f + 0 NOT IN (SELECT d FROM t WHERE d IS NOT NULL)":                                "1",
		"SELECT (1, NULL) IN (SELECT id, k FROM t), (5, NULL) IN (SELECT id, k FROM t)":                            "NULL|0",
		"SELECT 100000 NOT IN (SELECT sm FROM t), NULL IN (SELECT id FROM t WHERE id<0)":                           "NULL|0",
		"SELECT id FROM t WHERE (id, d) = (id, w)":                                                                 "2",
		"SELECT dt + 0, dt - CAST('2024-01-01' AS DATE), -dt, dt / 2, dt DIV 100 FROM t WHERE id = 2":              "20240229|128|-20240229|10120114.5000|202402",
		"SELECT CAST(dt AS SIGNED), CAST(dt AS DECIMAL(10,1)), CAST(dt AS DOUBLE) FROM t WHERE id < 3 ORDER BY id": "20240101|20240101.0|2.0240101e+07 20240229|20240229.0|2.0240229e+07",
		"SELECT at + 0, CAST(at AS UNSIGNED), CAST(at AS DECIMAL(16,1)), at - INTERVAL 1 DAY FROM t WHERE id = 1":  "20240101103000.000000|20240101103000|20240101103000.0|2023-12-31 10:30:00.000000",
	} {
		for _, on := range []string{"ON", "OFF"} {
			l.exec("SET lakesql_vector = " + on)
			require.Equal(t, want, strings.Join(l.rows(query), " "), "%s: %s", on, query)
		}
	}
}

// TestRemainderComputesBothOperands: x % y of DOUBLEs computes y where x is NULL, as MySQL does, so that its warnings are there (random queries 40001/1069 and 40041/1980).
func TestRemainderComputesBothOperands(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, x DOUBLE, y DOUBLE, n INT)", "INSERT INTO t VALUES (1, NULL, 0, 0), (2, 5.5, 2, 0), (3, 1, NULL, 1)")
	for query, want := range map[string]string{
		"SELECT x % LOG10(n) FROM t ORDER BY id":  "Warning|3020|Invalid argument for logarithm Warning|3020|Invalid argument for logarithm Warning|1365|Division by 0",
		"SELECT x % (y / 0e0) FROM t ORDER BY id": "Warning|1365|Division by 0 Warning|1365|Division by 0",
		"SELECT (y / 0e0) % x FROM t ORDER BY id": "Warning|1365|Division by 0 Warning|1365|Division by 0",
		"SELECT x % y FROM t ORDER BY id":         "",
	} {
		for _, on := range []*lab{l, l.onRows()} {
			on.rows(query)
			require.Equal(t, want, strings.Join(on.rows("SHOW WARNINGS"), " "), query)
		}
	}
}

// TestASecondTryWarnsOnce: an aggregation that batches begin, and have no place for, has the warnings of the rows that compute it anew, and no others (random query 50029/385).
func TestASecondTryWarnsOnce(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (w DECIMAL(38,4), d DECIMAL(12,2))", "INSERT INTO t VALUES (1, 0), (9999999999999999999999999999999999.9999, 0.01), (9999999999999999999999999999999999.9999, 0.01)")
	for _, on := range []*lab{l, l.onRows()} {
		require.Equal(t, []string{"1999999999999999999999999999999999999.98000000"}, on.rows("SELECT SUM(w / d) FROM t"))
		require.Equal(t, []string{"Warning|1365|Division by 0"}, on.rows("SHOW WARNINGS"))
	}
}

// TestInfinityOfATextWarnsOnce: an operand is not told of again where the result is infinite (random query 60047/1203).
func TestInfinityOfATextWarnsOnce(t *testing.T) {
	l := newLab(t)
	require.NoError(t, os.WriteFile(l.dir+"/a.csv", []byte("s,f\n5x,Infinity\n1x,2\n"), 0o644))
	l.exec("CREATE TABLE t AS SELECT s, f FROM read_files('" + l.dir + "/a.csv', format => 'csv', header => 'true', schema => 's string, f double')")
	for _, on := range []*lab{l, l.onRows()} {
		require.Equal(t, []string{"+Inf", "3"}, on.rows("SELECT s + f FROM t"))
		require.Equal(t, []string{"Warning|1292|Truncated incorrect DOUBLE value: '5x'", "Warning|1292|Truncated incorrect DOUBLE value: '1x'"}, on.rows("SHOW WARNINGS"))
	}
}

// TestWideNumbersBesideWindows: a DECIMAL of more digits than a batch has is computed on rows where others are given before it (random query 60032/17).
func TestWideNumbersBesideWindows(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE d (id INT, w DECIMAL(38,4), n TINYINT)", "INSERT INTO d VALUES (1, 1, 1)", "INSERT INTO d VALUES (2, 9999999999999999999999999999999999.9999, 127)")
	for _, on := range []*lab{l, l.onRows()} {
		for _, query := range []string{
			"SELECT w + n, ROW_NUMBER() OVER (PARTITION BY id ORDER BY id) FROM d ORDER BY id",
			"SELECT d.w + d.n, g.c FROM d JOIN (SELECT id, COUNT(*) AS c FROM d GROUP BY id) g ON g.id = d.id ORDER BY d.id",
		} {
			require.Equal(t, []string{"2.0000|1", "10000000000000000000000000000000126.9999|1"}, on.rows(query), query)
		}
	}
}
