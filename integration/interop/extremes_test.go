package interop

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// extremes are values that engines like to lose: no number, a negative zero, all digits of a decimal, the first and the last year, dates from
// before the calendar of today, and partition values that no folder can be named after.
const extremes = `id,d,f,amount,day,moment,wall,txt,part,pmoment,pday
1,NaN,NaN,99999999999999999999.999999999999999999,0001-01-01,0001-01-01 00:00:00.000001,0001-01-01 00:00:00.000001,,grün/ß 日本 🎉,0001-01-01 00:00:00.000001,0001-01-01
2,-0.0,-0.0,-99999999999999999999.999999999999999999,9999-12-31,9999-12-31 23:59:59.999999,9999-12-31 23:59:59.999999," x ",,9999-12-31 23:59:59.999999,9999-12-31
3,Infinity,-Infinity,0.100000000000000001,1582-10-04,1582-10-04 12:00:00.000001,1582-10-05 00:00:00.123456,NULL,a=b%c:d,1582-10-04 12:00:00.000001,1582-10-04
4,4.9E-324,1.5,,1900-01-01,1883-11-18 12:00:00.123456,1582-10-15 00:00:00.123456,🎉,__HIVE_DEFAULT_PARTITION__,1883-11-18 12:00:00.123456,1582-10-15
`

// TestExtremeValues: written by lakesql, read by all, written by all, read here.
func TestExtremeValues(t *testing.T) {
	environment(t)
	dir := t.TempDir()
	landing := filepath.Join(dir, "lake", "landing")
	require.NoError(t, os.MkdirAll(landing, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(landing, "extremes.csv"), []byte(extremes), 0o644))
	p := harness.Start(t, dir)
	row := func(id, txt, part string) []string {
		return []string{id, "NaN", "-Infinity", "99999999999999999999.999999999999999999", "0001-01-01", "0001-01-01 00:00:00.000001", "9999-12-31 23:59:59.999999", txt, part,
			"1582-10-04 12:00:00.000001", "1582-10-05"}
	}
	first := rowsOf(
		[]string{"1", "NaN", "NaN", "99999999999999999999.999999999999999999", "0001-01-01", "0001-01-01 00:00:00.000001", "0001-01-01 00:00:00.000001", "", "grün/ß 日本 🎉",
			"0001-01-01 00:00:00.000001", "0001-01-01"},
		[]string{"2", "-0.0", "-0.0", "-99999999999999999999.999999999999999999", "9999-12-31", "9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999", " x ", "NULL",
			"9999-12-31 23:59:59.999999", "9999-12-31"},
		[]string{"3", "Infinity", "-Infinity", "0.100000000000000001", "1582-10-04", "1582-10-04 12:00:00.000001", "1582-10-05 00:00:00.123456", "NULL", "a=b%c:d",
			"1582-10-04 12:00:00.000001", "1582-10-04"},
		[]string{"4", "5e-324", "1.5", "NULL", "1900-01-01", "1883-11-18 12:00:00.123456", "1582-10-15 00:00:00.123456", "🎉", "__HIVE_DEFAULT_PARTITION__",
			"1883-11-18 12:00:00.123456", "1582-10-15"},
	)
	const columns = "id BIGINT, d DOUBLE, f FLOAT, amount DECIMAL(38,18), day DATE, moment TIMESTAMP, wall TIMESTAMP_NTZ, txt STRING, part STRING, pmoment TIMESTAMP, pday DATE"
	spark := "(5, double('NaN'), float('-Infinity'), 99999999999999999999.999999999999999999BD, DATE'0001-01-01', TIMESTAMP'0001-01-01 00:00:00.000001'," +
		"TIMESTAMP_NTZ'9999-12-31 23:59:59.999999', '', 'a=b%c:d', TIMESTAMP'1582-10-04 12:00:00.000001', DATE'1582-10-05')"
	feature{
		make: []string{
			"CREATE TABLE t (" + columns + ") PARTITIONED BY (part, pmoment, pday)",
			"INSERT INTO t SELECT * FROM read_files('" + landing + "', format => 'csv', header => true, schema => '" + columns + "')",
			"UPDATE t SET txt = '' WHERE id = 1",
		},
		columns: "id, d, f, amount, day, moment, wall, txt, part, pmoment, pday",
		want:    first,
		readers: everybody,
		writes: slices.Concat(
			bySpark(spark40, "INSERT INTO {t} VALUES "+spark, row("5", "", "a=b%c:d")),
			byDeltaRS("# AS id, CAST('NaN' AS DOUBLE) AS d, CAST('-Infinity' AS FLOAT) AS f, CAST('99999999999999999999.999999999999999999' AS DECIMAL(38,18)) AS amount,"+
				" DATE '0001-01-01' AS day, arrow_cast('0001-01-01T00:00:00.000001Z', 'Timestamp(Microsecond, Some(\"UTC\"))') AS moment,"+
				" arrow_cast('9999-12-31T23:59:59.999999', 'Timestamp(Microsecond, None)') AS wall, '' AS txt, 'é/ü' AS part,"+
				" arrow_cast('1582-10-04T12:00:00.000001Z', 'Timestamp(Microsecond, Some(\"UTC\"))') AS pmoment, DATE '1582-10-05' AS pday", row("#", "", "é/ü")...),
		),
		again: []string{"DELETE FROM t WHERE id < 5", "UPDATE t SET txt = 'x' WHERE pmoment = '1582-10-04 12:00:00.000001' AND d = d AND f < 0"},
		end:   rowsOf(row("102", "x", "é/ü"), row("5", "x", "a=b%c:d")),
	}.test(t, p, filepath.Join(dir, "lake", "lake", "t"))
	// DuckDB takes part in a table without partitions only: it writes a partition value that needs encoding into a path that nobody finds, itself
	// included, and a timestamp in a form that it cannot read.
	feature{
		make:    []string{"CREATE TABLE t (" + columns + ")"},
		columns: "*",
		want:    [][]string{},
		readers: everybody,
		writes: byDuckDB("INSERT INTO t VALUES (6, 'NaN', '-Infinity', 99999999999999999999.999999999999999999, '0001-01-01', '0001-01-01 00:00:00.000001+00', '9999-12-31 23:59:59.999999',"+
			" '', 'é/ü', '1582-10-04 12:00:00.000001+00', '1582-10-05')", row("6", "", "é/ü")),
		again: []string{"UPDATE t SET txt = 'x' WHERE f < 0 AND moment < day + INTERVAL 1 DAY"},
		end:   rowsOf(row("6", "x", "é/ü")),
	}.test(t, p, filepath.Join(dir, "lake", "lake", "t"))
	p.Stop(t)
}
