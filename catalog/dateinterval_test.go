package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIntervalKeepsPartsOfASecond(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, t TIMESTAMP, d DATE)", "INSERT INTO t VALUES (1, '2020-01-01 00:00:00.999999', '2020-01-31')")
	require.Equal(t, []string{"2020-01-02 00:00:00.999999|2020-01-01 00:00:01.000000|2019-12-31 23:00:00.999999|1"},
		l.rows("SELECT CAST(t + INTERVAL 1 DAY AS CHAR), CAST(INTERVAL 1 MICROSECOND + t AS CHAR), CAST(t - INTERVAL 1 HOUR AS CHAR), d + INTERVAL 1 MONTH = DATE '2020-02-29' FROM t"))
	require.Equal(t, []string{"1"}, l.rows("SELECT id FROM (SELECT id, t + INTERVAL 1 DAY - INTERVAL 1 HOUR AS x FROM t) q WHERE x = '2020-01-01 23:00:00.999999'"))
	require.Equal(t, 1, l.affected("UPDATE t SET t = t - INTERVAL 1 MICROSECOND WHERE t + INTERVAL 1 MICROSECOND = '2020-01-01 00:00:01'"))
	require.Equal(t, []string{"2020-01-01 00:00:00.999998"}, l.rows("SELECT CAST(t AS CHAR) FROM t"))
}

func TestIntervalsAtBothEnds(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, d DATE, ts TIMESTAMP, n TIMESTAMP_NTZ)",
		"INSERT INTO t VALUES (1, '9999-12-31', '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59.999999'), (2, '0000-01-01', '0000-01-01 00:00:00', '0000-01-01 00:00:00')")
	units := map[string]string{
		"MICROSECOND": "1", "SECOND": "1", "MINUTE": "1", "HOUR": "1", "DAY": "1", "WEEK": "1", "MONTH": "1", "QUARTER": "1", "YEAR": "1",
		"SECOND_MICROSECOND": "'1.1'", "MINUTE_MICROSECOND": "'1:1.1'", "MINUTE_SECOND": "'1:1'", "HOUR_MICROSECOND": "'1:1:1.1'", "HOUR_SECOND": "'1:1:1'", "HOUR_MINUTE": "'1:1'",
		"DAY_MICROSECOND": "'1 1:1:1.1'", "DAY_SECOND": "'1 1:1:1'", "DAY_MINUTE": "'1 1:1'", "DAY_HOUR": "'1 1'", "YEAR_MONTH": "'1-1'",
	}
	for unit, n := range units {
		for _, c := range []string{"ts", "n"} {
			require.Equal(t, []string{"NULL|NULL"}, l.rows("SELECT "+c+" + INTERVAL "+n+" "+unit+", DATE_ADD("+c+", INTERVAL "+n+" "+unit+") FROM t WHERE id = 1"), unit)
			require.Equal(t, []string{"Warning|1441|Datetime function: datetime field overflow", "Warning|1441|Datetime function: datetime field overflow"}, l.rows("SHOW WARNINGS"), unit)
			require.Equal(t, []string{"NULL|NULL"}, l.rows("SELECT "+c+" - INTERVAL "+n+" "+unit+", DATE_SUB("+c+", INTERVAL "+n+" "+unit+") FROM t WHERE id = 2"), unit)
		}
	}
	require.Equal(t, []string{"NULL|NULL|NULL|9999-12-31 23:00:00"},
		l.rows("SELECT d + INTERVAL 1 DAY, ADDDATE(d, 1), d + INTERVAL 24 HOUR, d + INTERVAL 23 HOUR FROM t WHERE id = 1"))
	require.Equal(t, []string{"NULL|NULL|0001-01-01|0000-01-02"}, l.rows("SELECT d - INTERVAL 1 DAY, SUBDATE(d, 1), CONCAT(d + INTERVAL 1 YEAR), ADDDATE(d, 1) FROM t WHERE id = 2"))
	require.Equal(t, []string{"NULL|NULL|NULL|NULL"}, l.rows("SELECT d + INTERVAL 9223372036854775807 MICROSECOND, d - INTERVAL 9223372036854775807 HOUR, d + INTERVAL 9223372036854775807 MONTH, d + INTERVAL '9999999999999999999.5' SECOND FROM t WHERE id = 1"))
	require.Equal(t, []string{"2366-03-05 00:00:00|2024-01-01 00:00:00.500000|2024-01-01 00:00:01.500000|2024-02-29|2024-01-02|2023-12-31 23:59:59|2024-01-01 10:00:00|NULL"},
		l.rows("SELECT CAST('2024-01-01' AS DATETIME) + INTERVAL 3000000 HOUR - INTERVAL 56 HOUR + INTERVAL -22 DAY + INTERVAL 8 HOUR, CAST('2024-01-01' AS DATETIME(6)) + INTERVAL 0.5 SECOND, CAST('2024-01-01' AS DATE) + INTERVAL '1.5' SECOND, "+
			"DATE_ADD('2024-01-31', INTERVAL 1 MONTH), DATE_ADD('2024-01-01', INTERVAL 1 DAY), DATE_SUB('2024-01-01', INTERVAL 1 SECOND), DATE_ADD('2024-01-01 10:00:00', INTERVAL 0 DAY), DATE_ADD(NULL, INTERVAL 1 DAY)"))
	l.exec("UPDATE t SET ts = ts + INTERVAL 1 MICROSECOND WHERE id = 1")
	require.Equal(t, []string{"NULL"}, l.rows("SELECT ts FROM t WHERE id = 1"))
	l.refused("SELECT DATE_ADD(d, 1) FROM t", "INTERVAL n DAY")
}
