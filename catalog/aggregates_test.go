package catalog

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSumsAndAveragesAreExact(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (k INT, d DECIMAL(20,2), b BIGINT, i TINYINT, f DOUBLE, s VARCHAR(9))",
		"INSERT INTO t VALUES (1,0.1,9223372036854775807,1,0.5,'1'),(1,0.2,9223372036854775807,2,0.25,'2'),(2,-5.55,-1,3,1,'x'),(2,NULL,NULL,NULL,NULL,NULL)")
	for query, want := range map[string][]string{
		"SELECT SUM(d), AVG(d), SUM(b), AVG(b), SUM(i), AVG(i) FROM t": {"-5.25|-1.750000|18446744073709551613|6148914691236517204.3333|6|2.0000"},
		"SELECT k, SUM(d), AVG(d) FROM t GROUP BY k ORDER BY k":        {"1|0.30|0.150000", "2|-5.55|-5.550000"},
		"SELECT SUM(d) FROM t WHERE d = 0.3 OR k = 7":                  {"NULL"},
		"SELECT SUM(d) = 0.30, SUM(d) + 1 FROM t WHERE k = 1":          {"1|1.30"},
		"SELECT SUM(DISTINCT i), AVG(DISTINCT k) FROM t":               {"6|1.5000"},
		"SELECT SUM(d * 2), SUM(i + 1) FROM t":                         {"-10.50|9"},
		"SELECT SUM(f), AVG(f) FROM t WHERE k = 1":                     {"0.75|0.375"},
		"SELECT SUM(s) FROM t WHERE k = 1":                             {"3"},
		"SELECT SUM(d) OVER (ORDER BY i), AVG(d) OVER (PARTITION BY k), SUM(b) OVER () FROM t WHERE d IS NOT NULL ORDER BY i": {
			"0.10|0.150000|18446744073709551613", "0.30|0.150000|18446744073709551613", "-5.25|-5.550000|18446744073709551613"},
		"SELECT k, SUM(d) s FROM t GROUP BY k HAVING s > 0":                                           {"1|0.30"},
		"SELECT (SELECT SUM(d) FROM t u WHERE u.k = t.k) FROM t WHERE i = 1":                          {"0.30"},
		"SELECT SUM(x) FROM (SELECT SUM(d) AS x FROM t GROUP BY k) y":                                 {"-5.25"},
		"SELECT SUM(d) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t WHERE i > 1": {"0.20", "-5.35"},
		"SELECT SUM(CASE WHEN k = 1 THEN 1 ELSE 0 END), SUM(k = 2), SUM(1), AVG(NULL) FROM t":         {"2|2|4|NULL"},
	} {
		require.Equal(t, want, l.rows(query), query)
	}
	l.exec("CREATE TABLE sums AS SELECT k, SUM(d) AS s, AVG(i) AS a FROM t GROUP BY k")
	require.Equal(t, []string{"k|int|YES||NULL|", "s|decimal(38,2)|YES||NULL|", "a|decimal(7,4)|YES||NULL|"}, l.rows("DESCRIBE sums"))
}

// NaN is the greatest number, wherever it stands, and FLOAT and DOUBLE stay what they are.
func TestExtremesWithNaN(t *testing.T) {
	l := newLab(t)
	dir := l.dir + "/nan"
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(dir+"/a.csv", []byte("k,f\n1,NaN\n1,1.5\n2,2.5\n2,NaN\n2,0.5\n3,NaN\n4,\n"), 0o644))
	from := "read_files('" + dir + "', format => 'csv', header => true, schema => 'k INT, f DOUBLE')"
	for query, want := range map[string][]string{
		"SELECT k, MIN(f), MAX(f) FROM " + from + " GROUP BY k ORDER BY k":                           {"1|1.5|NaN", "2|0.5|NaN", "3|NaN|NaN", "4|NULL|NULL"},
		"SELECT MAX(f) OVER (PARTITION BY k), MIN(DISTINCT k) OVER () FROM " + from + " WHERE k = 1": {"NaN|1", "NaN|1"},
		"SELECT MAX(DISTINCT f) m FROM " + from + " HAVING m > 5":                                    {"NaN"},
	} {
		require.Equal(t, want, l.rows(query), query)
	}
	l.exec("CREATE TABLE t AS SELECT MAX(f) AS m FROM " + from)
	require.Equal(t, []string{"m|double|YES||NULL|"}, l.rows("DESCRIBE t"))
}

func TestIntegersDoNotWrapAround(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (k INT, b BIGINT)", "INSERT INTO t VALUES (1, 9223372036854775807), (2, -9223372036854775808), (3, 5)")
	for _, expression := range []string{"9223372036854775807 + 1", "-9223372036854775807 - 2", "9223372036854775807 * 2", "4611686018427387904 * -3"} {
		l.refused("SELECT "+expression, "BIGINT value is out of range in")
	}
	l.refused("SELECT CAST(1 AS UNSIGNED) - CAST(2 AS UNSIGNED)", "BIGINT UNSIGNED value is out of range in '(cast(1 as unsigned) - cast(2 as unsigned))'")
	for _, query := range []string{
		"SELECT b + 1 FROM t",
		"SELECT ABS(k) + b FROM t",
		"SELECT k FROM t ORDER BY b - 1",
		"SELECT k, MAX(b * 2) FROM t GROUP BY k",
		"SELECT * FROM t u JOIN t v ON u.b + 1 = v.b AND u.k < v.k",
		"SELECT (SELECT MAX(b + 1) FROM t) FROM t",
		"INSERT INTO t SELECT k, b + ABS(k) FROM t",
	} {
		l.refused(query, "BIGINT value is out of range in")
	}
	require.Equal(t, []string{"9223372036854775807|18446744073709551614|-7"},
		l.rows("SELECT 9223372036854775806 + 1, CAST(18446744073709551613 AS UNSIGNED) + CAST(1 AS UNSIGNED), YEAR('2017-01-01') - YEAR('2024-01-01')"))
	require.Equal(t, []string{"8"}, l.rows("SELECT ABS(b) + k FROM t WHERE k = 3"))
}

func TestStrToDateOfNullIsNull(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (at DATETIME)", "INSERT INTO t VALUES ('2024-02-03 04:05:06'), (NULL)")
	month := "STR_TO_DATE(CONCAT(DATE_FORMAT(at, '%Y-%m'), '-01'), '%Y-%m-%d')"
	require.Equal(t, []string{"NULL|1", "2024-02-01|1"}, l.rows("SELECT "+month+" AS m, COUNT(*) FROM t GROUP BY "+month+" ORDER BY m"))
}

// TestSumsOfDates are those of the numbers that dates are written as, on both executors.
func TestSumsOfDates(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (k INT, dt DATE, at DATETIME(6))",
		"INSERT INTO t VALUES (1,'2024-01-01','2024-01-01 10:20:30.5'),(1,'2024-01-03','2024-01-01 00:00:00'),(2,'2024-01-03',NULL),(2,NULL,NULL)")
	for query, want := range map[string][]string{
		"SELECT SUM(dt), AVG(dt), SUM(DISTINCT dt) FROM t":                {"60720307|20240102.3333|40480204"},
		"SELECT k, SUM(at), AVG(at) FROM t GROUP BY k ORDER BY k":         {"1|40480202102030.500000|20240101051015.2500000000", "2|NULL|NULL"},
		"SELECT SUM(dt) + 1, SUM(MAKEDATE(2024, k)) FROM t WHERE k = 1":   {"40480205|40480202"},
		"SELECT SUM(dt) OVER (PARTITION BY k) FROM t WHERE k = 1 LIMIT 1": {"40480204"},
	} {
		for _, vector := range []string{"ON", "OFF"} {
			l.exec("SET lakesql_vector = " + vector)
			require.Equal(t, want, l.rows(query), "%s: %s", vector, query)
		}
	}
	l.exec("SET lakesql_vector = ON")
	require.Contains(t, l.plan("SELECT k, SUM(dt) FROM t GROUP BY k"), "Vector\n")
}
