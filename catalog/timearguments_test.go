package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// timesLab has a table of texts, numbers and documents, and a session that computes rows.
func timesLab(t *testing.T) (batches, rows *lab) {
	l := newLab(t)
	l.exec("CREATE TABLE e (id INT, si SMALLINT, de DECIMAL(10,2), da DATE, dt DATETIME(6), s VARCHAR(20), js JSON)",
		`INSERT INTO e VALUES (1, -32768, -1234567.89, '2024-02-29', '2024-02-29 23:59:59.123456', 'Gruess', '{"a": 1}'), (2, 32767, 0.10, '9999-12-31', '1970-01-02', '', '[]'), (3, NULL, NULL, NULL, NULL, NULL, NULL)`)
	r := l.session()
	r.exec("SET lakesql_vector = OFF")
	return l, r
}

// TestTimesAreReadAsMySQLReadsThem has values that a MySQL server gave.
func TestTimesAreReadAsMySQLReadsThem(t *testing.T) {
	l, rows := timesLab(t)
	for _, c := range []struct{ what, want string }{
		{"YEAR(20240115), YEAR(240115), YEAR(700101), YEAR(20240115101112), YEAR(99991231235959), YEAR(100000000000000), YEAR(20241301), YEAR(id)", "2024|2024|1970|2024|9999|NULL|NULL|2000"},
		{"YEAR('2024-00-15'), MONTH('2024-00-15'), DAY('2024-01-00'), QUARTER('2024-00-00'), YEAR('0000-00-00'), DAYOFWEEK('2024-00-15'), DATE('2024-00-01')", "2024|0|0|0|NULL|NULL|NULL"},
		{"DAYOFWEEK(20240115), DAYNAME(20240115), TO_DAYS(20240115), WEEK(20240115), DATE(20240115101112), DATE_FORMAT(20240115, '%Y'), DATEDIFF(20240115, 20240101), YEARWEEK(240115)", "2|Monday|739265|2|2024-01-15|2024|14|202402"},
		{"HOUR(101112), HOUR('25:00:00'), HOUR('10:11:12'), HOUR('101112'), HOUR('2024-01-01 10:11:12'), HOUR('2024-01-01'), HOUR('1 10:00:00'), HOUR(-101112), HOUR(8395959)", "10|25|10|10|10|0|34|10|NULL"},
		{"MICROSECOND('10:11:12.5'), MICROSECOND(101112.25), SECOND('59'), MINUTE('10:70'), HOUR('839:00:00'), HOUR('10'), HOUR('10:11'), HOUR('10:11x'), HOUR('')", "500000|250000|59|NULL|838|0|10|10|NULL"},
		{"TIME_TO_SEC('10:11:12.6'), TIME_TO_SEC('-10:11:12'), TIME_TO_SEC(101112), TIME_TO_SEC(dt), TIME_TO_SEC('x')", "36672|-36672|36672|86399|NULL"},
		{"EXTRACT(HOUR FROM '10:11:12'), EXTRACT(MINUTE_SECOND FROM 1112), EXTRACT(YEAR_MONTH FROM 20240115), EXTRACT(DAY_HOUR FROM '2024-01-02 10:00:00'), EXTRACT(HOUR_SECOND FROM '100:11:12'), EXTRACT(DAY_HOUR FROM '26:11:12'), EXTRACT(DAY FROM 1)", "10|1112|202401|210|1001112|26|NULL"},
		{"CAST('2024-01-02x' AS DATE), CAST('240102' AS DATE), CAST('2024/1/2' AS DATE), CAST('10:11:12' AS DATE), CAST(20240102 AS DATE), CAST(20240102.7 AS DATE), CAST(1 AS DATE), CAST('2024' AS DATE), CAST(TRUE AS DATE)", "2024-01-02|2024-01-02|2024-01-02|2010-11-12|2024-01-02|2024-01-02|NULL|NULL|NULL"},
		{"CAST('2024-01-02 10:11:12.6' AS DATETIME), CAST(20240102101112.6 AS DATETIME(2)), CAST('20240102101112' AS DATETIME), CAST('2024-01-02T10:11:12Z' AS DATETIME), CAST('2024-01-02 10:11:12+02:00' AS DATETIME)", "2024-01-02 10:11:13|2024-01-02 10:11:12.60|2024-01-02 10:11:12|2024-01-02 10:11:12|2024-01-02 08:11:12"},
		{"CAST('10:11:12.7' AS TIME) = CAST('10:11:13' AS TIME), CAST(101112.789 AS TIME(1)) = CAST('10:11:12.8' AS TIME(1)), CAST(dt AS TIME) = CAST('23:59:59' AS TIME), CAST('x' AS TIME)", "1|1|1|NULL"},
		{"TIMESTAMP('2024-01-01', '10:11:12'), TIMESTAMP('2024-01-01 10:11:12.5'), TIMESTAMP(20240101)", "2024-01-01 10:11:12.000000|2024-01-01 10:11:12.5|2024-01-01 00:00:00"},
		{"da = CONCAT(s, 'x'), da > s, da < s, dt <> s, da IN (s, '2024-02-29'), da = CONCAT('2024/2/', 29)", "0|1|0|1|1|1"},
		{"CAST('1.9' AS SIGNED), CAST('' AS SIGNED), CAST('18446744073709551615' AS SIGNED), CAST('-1' AS UNSIGNED), CAST(2.5e0 AS SIGNED), CAST(2.5 AS SIGNED), CAST(-1.5 AS UNSIGNED), CAST(18446744073709551615 AS SIGNED)", "1|0|-1|18446744073709551615|2|3|18446744073709551614|-1"},
		{"'1.9' | 0, '1e2' | 0, ' 12 ' | 0, '99999999999999999999' | 0, BIT_COUNT('1.9'), ELT('1.9', 'a', 'b'), LOG10(0.1), LOG(2, 8)", "1|1|12|18446744073709551615|1|a|-1|3"},
		{"HEX(CAST('abc' AS BINARY(5))), CAST('äöü' AS CHAR(2)), HEX(CAST(id AS BINARY(3)))", "6162630000|äö|310000"},
	} {
		query := "SELECT " + c.what + " FROM e WHERE id = 1"
		require.Equal(t, []string{c.want}, l.rows(query), query)
		require.Equal(t, []string{c.want}, rows.rows(query), query)
	}
}

// TestWarningsAsMySQLWordsThem has warnings that a MySQL server gave.
func TestWarningsAsMySQLWordsThem(t *testing.T) {
	l, rows := timesLab(t)
	for _, c := range []struct {
		what string
		want []string
	}{
		{"YEAR(s)", []string{"1292|Truncated incorrect date value: 'Gruess'", "1292|Truncated incorrect date value: ''"}},
		{"HOUR(s)", []string{"1292|Truncated incorrect time value: 'Gruess'", "1292|Truncated incorrect time value: ''"}},
		{"TO_SECONDS(s)", []string{"1292|Incorrect datetime value: 'Gruess'", "1292|Incorrect datetime value: ''"}},
		{"DAYOFWEEK(si)", []string{"1292|Incorrect datetime value: '-32768'", "1292|Incorrect datetime value: '32767'"}},
		{"HOUR(si)", []string{"1292|Truncated incorrect time value: '-32768'", "1292|Truncated incorrect time value: '32767'"}},
		{"DATE(de)", []string{"1292|Truncated incorrect date value: '-1234567.89'", "1292|Truncated incorrect date value: '0.10'"}},
		{"MONTH(js)", []string{"3156|Invalid JSON value for CAST to DATE from column js at row 1", "3156|Invalid JSON value for CAST to DATE from column js at row 2"}},
		{"ABS(js)", []string{"3156|Invalid JSON value for CAST to DOUBLE from column js at row 1", "3156|Invalid JSON value for CAST to DOUBLE from column js at row 2"}},
		{"CAST(js AS SIGNED)", []string{"3156|Invalid JSON value for CAST to INTEGER from column js at row 1", "3156|Invalid JSON value for CAST to INTEGER from column js at row 2"}},
		{"CAST(s AS TIME)", []string{"1292|Truncated incorrect time value: 'Gruess'", "1292|Truncated incorrect time value: ''"}},
		{"CAST(id AS DATETIME)", []string{"1292|Incorrect datetime value: '1'", "1292|Incorrect datetime value: '2'", "1292|Incorrect datetime value: '3'"}},
		{"CAST(s AS CHAR(3))", []string{"1292|Truncated incorrect CHAR(3) value: 'Gruess'"}},
		{"CAST(de AS BINARY(3))", []string{"1292|Truncated incorrect BINARY(3) value: '-1234567.89'", "1292|Truncated incorrect BINARY(3) value: '0.10'"}},
		{"CAST(s AS SIGNED)", []string{"1292|Truncated incorrect INTEGER value: 'Gruess'", "1292|Truncated incorrect INTEGER value: ''"}},
		{"s | id", []string{"1292|Truncated incorrect INTEGER value: 'Gruess'", "1292|Truncated incorrect INTEGER value: ''"}},
		{"da = s", []string{"1292|Truncated incorrect date value: 'Gruess'", "1292|Truncated incorrect date value: ''"}},
		{"dt < s", []string{"1292|Incorrect datetime value: 'Gruess'", "1292|Incorrect datetime value: ''"}},
		{"LN(si), BIN(s)", []string{"3020|Invalid argument for logarithm", "1292|Truncated incorrect DECIMAL value: 'Gruess'"}},
		{"CAST(si AS UNSIGNED)", nil},
	} {
		query := "SELECT " + c.what + " FROM e ORDER BY id"
		for i, session := range []*lab{l, rows} {
			session.rows(query)
			require.Equal(t, prefixed("Warning|", c.want), session.rows("SHOW WARNINGS"), "%s %d", query, i)
		}
	}
	l.refused("INSERT INTO e (s) SELECT CAST('abcdef' AS CHAR(3))", "Truncated incorrect CHAR(3) value: 'abcdef'")
}

func prefixed(with string, all []string) []string {
	out := []string{}
	for _, s := range all {
		out = append(out, with+s)
	}
	return out
}
