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
		{"TIMESTAMP('2024-01-01', '10:11:12'), TIMESTAMP('2024-01-01 10:11:12.5'), TIMESTAMP(20240101)", "2024-01-01 10:11:12|2024-01-01 10:11:12.5|2024-01-01 00:00:00"},
		{"da = CONCAT(s, 'x'), da > s, da < s, dt <> s, da IN (s, '2024-02-29'), da = CONCAT('2024/2/', 29)", "0|1|0|1|1|1"},
		{"CAST('1.9' AS SIGNED), CAST('' AS SIGNED), CAST('18446744073709551615' AS SIGNED), CAST('-1' AS UNSIGNED), CAST(2.5e0 AS SIGNED), CAST(2.5 AS SIGNED), CAST(-1.5 AS UNSIGNED), CAST(18446744073709551615 AS SIGNED)", "1|0|-1|18446744073709551615|2|3|18446744073709551614|-1"},
		{"'1.9' | 0, '1e2' | 0, ' 12 ' | 0, '99999999999999999999' | 0, BIT_COUNT('1.9'), ELT('1.9', 'a', 'b'), LOG10(0.1), LOG(2, 8)", "1|1|12|18446744073709551615|1|a|-1|3"},
		{"STR_TO_DATE('2024-01-02 10:11:12.5', '%Y-%m-%d %H:%i:%s.%f'), STR_TO_DATE('200542 Monday', '%X%V %W'), STR_TO_DATE('2024-060', '%Y-%j'), STR_TO_DATE('2024-01-02', '%Y-%m-%d %H:%i'), STR_TO_DATE('Jan 5 2024', '%b %e %Y')", "2024-01-02 10:11:12.500000|2005-10-17|2024-02-29|2024-01-02 00:00:00|2024-01-05"},
		{"STR_TO_DATE('2024-01', '%Y-%m'), STR_TO_DATE('2024', '%Y'), STR_TO_DATE('2024-02-30', '%Y-%m-%d'), STR_TO_DATE(id, '%Y'), STR_TO_DATE('13:00 AM', '%h:%i %p'), STR_TO_DATE('10:11 PM', '%h:%i %p') = CAST('22:11' AS TIME)", "NULL|NULL|NULL|NULL|NULL|1"},
		{"TIMEDIFF('10:00:00', '09:00:00') = CAST('1:00' AS TIME), TIMEDIFF(da, dt) < CAST('0:0' AS TIME), TIMEDIFF('2024-01-01', '10:00:00'), TIMEDIFF('10:00', '1 1:00') = CAST('-15:00' AS TIME), TIMEDIFF(id, id) IS NULL", "1|1|NULL|1|0"},
		{"ADDTIME(20240101100000, '1:0:0'), ADDTIME(de, '1:0:0'), ADDTIME(da, '1:0:0'), ADDTIME('2024-01-01', '1:0:0')", "2024-01-01 11:00:00|NULL|2024-02-29 01:00:00|2024-01-01 01:00:00"},
		{"CONVERT_TZ('2024-01-01', '+00:00', '+02:00'), CONVERT_TZ(20240101, '+00:00', '+02:00'), CONVERT_TZ(dt, '+00:00', '+01:00'), CONVERT_TZ('2024-01-01', 'x', '+02:00')", "2024-01-01 02:00:00|2024-01-01 02:00:00|2024-03-01 00:59:59.123456|NULL"},
		{"FROM_DAYS(1), FROM_DAYS(60), FROM_DAYS(365), FROM_DAYS(3652424), FROM_DAYS(3652425), FROM_DAYS(0)", "0000-01-01|0000-03-01|0000-12-31|9999-12-31|NULL|NULL"},
		{"TIME_FORMAT('100:11:12.345678', '%H %k %h %I %l %i %s %f %p'), TIME_FORMAT('23:00:00', '%r|%T'), TIME_FORMAT('-1:2:3', '%H:%i'), TIME_FORMAT('1:2:3', '%j')", "100 100 04 04 4 11 12 345678 AM|11:00:00 PM|23:00:00|-01:02|NULL"},
		{"DATE_ADD(20240131, INTERVAL 1 DAY), DATE_ADD(20240131101112, INTERVAL 1 DAY), DATE_ADD('240131', INTERVAL 1 DAY), TIMESTAMPADD(MINUTE, 1, '2024-01-01'), TIMESTAMPADD(MONTH, 1, da), TIMESTAMPDIFF(HOUR, 20240101, 20240102)", "2024-02-01|2024-02-01 10:11:12|2024-02-01|2024-01-01 00:01:00|2024-03-29|24"},
		{"INET_ATON('1.2'), INET_ATON('1'), INET_ATON('1.2.3.4'), INET_ATON('256.1'), INET_NTOA(4294967295), INET_NTOA(4294967296), INET_NTOA(si), HEX(UNHEX('616')), UNHEX('zz')", "16777218|1|16909060|NULL|255.255.255.255|NULL|NULL|0616|NULL"},
		{"FIELD('1x', '1', 1), FIELD(2, '2x', '3'), FIELD('b', 'a', 'b'), ELT(id + 0.4, 'a'), EXPORT_SET(5, 'Y', 'N', ',', 4), MAKEDATE('2020', 1), TIMESTAMP(da)", "1|1|2|a|Y,N,Y,N|2020-01-01|2024-02-29 00:00:00"},
		{"FIELD(BINARY 'a', 'A'), FIELD('A', 'a'), FIELD('01', 1, '1'), FIELD('01', '1', 2), FIELD('01', '1'), FIELD('A' COLLATE utf8mb4_0900_ai_ci, 'b', 'a'), FIELD(NULL, NULL), FIELD(2.5, 2, 2.50), FIELD('a', 'b', NULL, 'a'), FIELD(x'41', 'A'), FIELD(da, '2024-2-29', da, '2024-02-29')",
			"0|0|1|1|0|2|0|2|3|1|2"},
		{"DATE('9999-12-31 23:59:59.9999999'), YEAR('9999-12-31 23:00:00-10:00'), DATE('0000-01-01 00:00:00+10:00')", "NULL|NULL|NULL"},
		{"TIME(-9223372036854775808), HOUR(-9223372036854775808), CONVERT_TZ('9999-12-31 23:00:00', '-10:00', '+00:00')", "NULL|NULL|NULL"},
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
		{"DATE_ADD(js, INTERVAL 1 DAY)", []string{"3156|Invalid JSON value for CAST to DATETIME/TIMESTAMP from column js at row 1", "3156|Invalid JSON value for CAST to DATETIME/TIMESTAMP from column js at row 2"}},
		{"da + INTERVAL 1 DAY", []string{"6527|DATE value is out of range in '(`lake`.`e`.`da` + interval 1 day)'"}},
		{"FROM_DAYS(si)", []string{"6527|DATE value is out of range in 'from_days(`lake`.`e`.`si`)'"}},
		{"UNHEX(s)", []string{"1411|Incorrect string value: '`lake`.`e`.`s`' for function unhex"}},
		{"STR_TO_DATE(s, '%Y')", []string{"1411|Incorrect datetime value: 'Gruess' for function str_to_date", "1411|Incorrect datetime value: '' for function str_to_date"}},
		{"GREATEST(js, id)", []string{"1235|This version of MySQL doesn't yet support 'comparison of JSON in the LEAST and GREATEST operators'"}},
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
