package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// dated has a DATE, a DATETIME(6), one of each kind, and a text.
func dated(t *testing.T) *lab {
	l := newLab(t)
	l.exec("CREATE TABLE t (d DATE, ts TIMESTAMP, n TIMESTAMP_NTZ, s STRING)", "INSERT INTO t VALUES ('2024-01-02', '2024-01-02 10:00:00', '2024-01-02 10:00:00.5', '2024-01-02')")
	return l
}

func TestDatesAsTexts(t *testing.T) {
	l := dated(t)
	for e, want := range map[string]string{
		"CONCAT(d, '')":                           "2024-01-02",
		"CONCAT(ts, '')":                          "2024-01-02 10:00:00.000000",
		"CONCAT(n, '')":                           "2024-01-02 10:00:00.500000",
		"CAST(d AS CHAR)":                         "2024-01-02",
		"CAST(ts AS CHAR)":                        "2024-01-02 10:00:00.000000",
		"CONVERT(d, CHAR(4))":                     "2024",
		"CAST(d AS BINARY)":                       "2024-01-02",
		"CONVERT(d USING utf8mb4)":                "2024-01-02",
		"BINARY d":                                "2024-01-02",
		"LEFT(d, 4)":                              "2024",
		"RIGHT(d, 2)":                             "02",
		"SUBSTRING(d, 6, 2)":                      "01",
		"MID(d, 6, 2)":                            "01",
		"SUBSTRING_INDEX(d, '-', 1)":              "2024",
		"LENGTH(d)":                               "10",
		"CHAR_LENGTH(ts)":                         "26",
		"REPLACE(d, '-', '')":                     "20240102",
		"UPPER(d)":                                "2024-01-02",
		"TRIM(d)":                                 "2024-01-02",
		"LPAD(d, 12, 'x')":                        "xx2024-01-02",
		"CONCAT_WS('/', d, s)":                    "2024-01-02/2024-01-02",
		"HEX(d)":                                  "323032342D30312D3032",
		"MD5(d) = MD5(s)":                         "1",
		"SHA1(d) = SHA1(s)":                       "1",
		"SHA2(d, 256) = SHA2(s, 256)":             "1",
		"CRC32(d) = CRC32(s)":                     "1",
		"REVERSE(d)":                              "20-10-4202",
		"REPEAT(d, 2)":                            "2024-01-022024-01-02",
		"LOCATE('-02', d)":                        "8",
		"STRCMP(d, s)":                            "0",
		"FIELD(d, 'x', s)":                        "2",
		"ELT(1, d)":                               "2024-01-02",
		"FIND_IN_SET(d, 'a,2024-01-02')":          "2",
		"QUOTE(d)":                                "'2024-01-02'",
		"TO_BASE64(d)":                            "MjAyNC0wMS0wMg==",
		"INSERT(d, 1, 4, '1999')":                 "1999-01-02",
		"d REGEXP '^2024-01-02$'":                 "1",
		"REGEXP_REPLACE(d, '-', '/')":             "2024/01/02",
		"d LIKE '2024%'":                          "1",
		"d LIKE '%-02'":                           "1",
		"s LIKE d":                                "1",
		"d = '2024-01-02'":                        "1",
		"d = s":                                   "1",
		"d IN ('2024-01-02')":                     "1",
		"CASE d WHEN '2024-01-02' THEN 1 END":     "1",
		"COALESCE(d, 'x')":                        "2024-01-02",
		"COALESCE(NULL, d, 'x')":                  "2024-01-02",
		"COALESCE(d, ts)":                         "2024-01-02 00:00:00.000000",
		"IFNULL(NULL, d)":                         "2024-01-02",
		"IFNULL(d, 'x')":                          "2024-01-02",
		"IF(1, d, 'x')":                           "2024-01-02",
		"CASE WHEN 1 THEN d ELSE 'x' END":         "2024-01-02",
		"CASE WHEN 0 THEN 'x' ELSE ts END":        "2024-01-02 10:00:00.000000",
		"GREATEST(d, '2020-01-01')":               "2024-01-02",
		"LEAST('2025-01-01', d)":                  "2024-01-02",
		"GREATEST(s, 'a')":                        "a",
		"JSON_OBJECT('d', d)":                     `{"d": "2024-01-02"}`,
		"JSON_ARRAY(d, ts, n)":                    `["2024-01-02", "2024-01-02 10:00:00.000000", "2024-01-02 10:00:00.500000"]`,
		"JSON_SET('{}', '$.d', d)":                `{"d": "2024-01-02"}`,
		"CAST(d AS JSON)":                         `"2024-01-02"`,
		"JSON_QUOTE(s)":                           `"2024-01-02"`,
		"GROUP_CONCAT(d)":                         "2024-01-02",
		"JSON_ARRAYAGG(d)":                        `["2024-01-02"]`,
		"JSON_OBJECTAGG(s, d)":                    `{"2024-01-02": "2024-01-02"}`,
		"CONCAT(MAX(d))":                          "2024-01-02",
		"CONCAT((SELECT MAX(d) FROM t))":          "2024-01-02",
		"CONCAT(FIRST_VALUE(d) OVER ())":          "2024-01-02",
		"CONCAT(d + INTERVAL 1 DAY)":              "2024-01-03",
		"CONCAT(d + INTERVAL 1 HOUR)":             "2024-01-02 01:00:00",
		"CONCAT(ts + INTERVAL 1 DAY)":             "2024-01-03 10:00:00.000000",
		"CONCAT(DATE(ts))":                        "2024-01-02",
		"CONCAT(CAST(ts AS DATETIME))":            "2024-01-02 10:00:00",
		"CONCAT(TIMESTAMP(d))":                    "2024-01-02 00:00:00",
		"TIMESTAMP(d)":                            "2024-01-02 00:00:00",
		"TIMESTAMP('2024-01-02 10:00:00')":        "2024-01-02 10:00:00",
		"CONCAT(LAST_DAY(d))":                     "2024-01-31",
		"CONCAT(FROM_UNIXTIME(1))":                "1970-01-01 00:00:01",
		"CONCAT(STR_TO_DATE(s, '%Y-%m-%d'))":      "2024-01-02",
		"LENGTH(NOW()) * 100 + LENGTH(CURDATE())": "1910",
	} {
		require.Equal(t, []string{want}, l.rows("SELECT "+e+" FROM t"), e)
	}
	require.Len(t, l.rows("SELECT 1 FROM t WHERE CONCAT(CAST('2024-01-02' AS DATE), '') = s"), 1)
	require.Equal(t, []string{"2024-01-02"}, l.rows("SELECT d FROM t UNION SELECT s FROM t"))
	require.Equal(t, []string{"x", "2024-01-02"}, l.rows("SELECT 'x' UNION ALL SELECT d FROM t"))
	require.Equal(t, []string{"2024-01-02|1"}, l.rows("SELECT CONCAT(d, ''), COUNT(*) FROM t WHERE CONCAT(d, '') = s GROUP BY CONCAT(d, '')"))
}

func TestDatesIntoTextColumns(t *testing.T) {
	l := dated(t)
	l.exec("CREATE TABLE u (s STRING, j JSON, c VARCHAR(10))")
	one := func(statement, want string) {
		t.Helper()
		l.exec("TRUNCATE u", statement)
		require.Equal(t, []string{want}, l.rows("SELECT CONCAT_WS('|', s, j, c) FROM u"), statement)
	}
	one("INSERT INTO u (s) SELECT d FROM t", "2024-01-02")
	one("INSERT INTO u (s) SELECT MAX(d) FROM t", "2024-01-02")
	one("INSERT INTO u (s) SELECT ts FROM t", "2024-01-02 10:00:00.000000")
	one("INSERT INTO u (s) SELECT n FROM t", "2024-01-02 10:00:00.500000")
	one("INSERT INTO u (c, s) SELECT d, d FROM t", "2024-01-02|2024-01-02")
	one("INSERT INTO u (j) SELECT d FROM t", `"2024-01-02"`)
	one("INSERT INTO u (s) VALUES (DATE '2024-01-02')", "2024-01-02")
	one("INSERT INTO u (s) VALUES (CAST('2024-01-02' AS DATE))", "2024-01-02")
	l.exec("TRUNCATE u", "INSERT INTO u (s) VALUES ('x'), (CAST('2024-01-02' AS DATE)), (CAST('2024-01-02' AS DATETIME))")
	require.Equal(t, []string{"x", "2024-01-02", "2024-01-02 00:00:00"}, l.rows("SELECT s FROM u"))
	for set, want := range map[string]string{
		"d": "2024-01-02", "ts": "2024-01-02 10:00:00.000000", "n": "2024-01-02 10:00:00.500000", "CONCAT(d, ' ', n)": "2024-01-02 2024-01-02 10:00:00.500000",
	} {
		l.exec("UPDATE t SET s = " + set)
		require.Equal(t, []string{want}, l.rows("SELECT s FROM t"), set)
	}
	l.exec("MERGE INTO u USING (SELECT d FROM t) q ON u.s = q.d WHEN MATCHED THEN UPDATE SET c = q.d WHEN NOT MATCHED THEN INSERT (s) VALUES (q.d)")
	require.Equal(t, []string{"x|NULL", "2024-01-02|2024-01-02", "2024-01-02 00:00:00|2024-01-02"}, l.rows("SELECT s, c FROM u ORDER BY LENGTH(s)"))
	l.refused("INSERT INTO u (c) SELECT ts FROM t", "Data too long for column 'c' at row 1")
}
