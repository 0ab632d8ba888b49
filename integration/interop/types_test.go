package interop

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// TestEveryTypeBothWays: lakesql writes a row of every type and a row of nulls, Spark and delta-rs read them, Spark appends a
// row, lakesql reads it.
func TestEveryTypeBothWays(t *testing.T) {
	environment(t)
	dir := t.TempDir()
	table := filepath.Join(dir, "lake", "lake", "kinds")
	p := harness.Start(t, dir)
	p.Exec(t, `CREATE TABLE kinds (tiny TINYINT, small SMALLINT, medium INT, big BIGINT, single FLOAT, dbl DOUBLE, flag BOOLEAN,
		dec9 DECIMAL(9,2), dec18 DECIMAL(18,4), dec38 DECIMAL(38,10), day DATE, moment DATETIME(6), wall TIMESTAMP_NTZ, txt VARCHAR(50), bin VARBINARY(50),
		part VARCHAR(20)) PARTITIONED BY (part)`)
	p.Exec(t, `INSERT INTO kinds VALUES (-128, -32768, -2147483648, -9223372036854775808, 1.5, -2.25, TRUE,
		-1234567.89, 12345678901234.5678, 1234567890123456789012345678.0123456789, '2024-02-29', '2024-02-29 23:59:59.123456', '1999-12-31 00:00:00', 'Grüße ✓', x'00FF', 'a/b c%d')`)
	p.Exec(t, "INSERT INTO kinds (tiny) VALUES (NULL)")
	p.Stop(t)

	full := []string{"-128", "-32768", "-2147483648", "-9223372036854775808", "1.5", "-2.25", "true",
		"-1234567.89", "12345678901234.5678", "1234567890123456789012345678.0123456789", "2024-02-29", "2024-02-29 23:59:59.123456", "1999-12-31 00:00:00", "Grüße ✓"}
	var inSpark contents
	spark40.must(t, &inSpark, "read", table)
	require.Equal(t, [][2]string{{"tiny", "tinyint"}, {"small", "smallint"}, {"medium", "int"}, {"big", "bigint"}, {"single", "float"}, {"dbl", "double"}, {"flag", "boolean"},
		{"dec9", "decimal(9,2)"}, {"dec18", "decimal(18,4)"}, {"dec38", "decimal(38,10)"}, {"day", "date"}, {"moment", "timestamp"}, {"wall", "timestamp_ntz"}, {"txt", "string"}, {"bin", "binary"},
		{"part", "string"}}, inSpark.Schema)
	requireKinds(t, full, inSpark.Rows)

	for _, other := range []reader{inSpark35, inDeltaRS, inDuckDB} {
		rows, err := other.read(t, table)
		require.NoError(t, err, other.name)
		require.Len(t, rows, 2, other.name)
	}

	spark40.sql(t, "INSERT INTO "+quoted(table)+` VALUES (1Y, 2S, 3, 4L, CAST(0.5 AS FLOAT), 0.25D, FALSE, 1.25BD, 2.5BD, 3.75BD, DATE'1582-10-15', TIMESTAMP'1900-01-01 00:00:00.000001',
		TIMESTAMP_NTZ'9999-12-31 23:59:59.999999', 'x', X'01', NULL)`)
	p = harness.Start(t, dir)
	require.Equal(t, [][]string{{"1", "2", "3", "4", "0.5", "0.25", "0", "1.25", "2.5000", "3.7500000000", "1582-10-15", "1900-01-01 00:00:00.000001", "9999-12-31 23:59:59.999999", "x", "\x01", "NULL"}},
		p.Rows(t, "SELECT * FROM kinds WHERE tiny = 1"))
	require.Equal(t, [][]string{{"3", "1"}}, p.Rows(t, "SELECT COUNT(*), COUNT(part) FROM kinds"))
	p.Stop(t)
}

// requireKinds wants one row of nulls and one that begins with full and ends with the partition's value.
func requireKinds(t *testing.T, full []string, rows [][]*string) {
	t.Helper()
	require.Len(t, rows, 2)
	for _, row := range rows {
		if row[0] == nil {
			for _, v := range row {
				require.Nil(t, v)
			}
			continue
		}
		for i, v := range full {
			require.Equal(t, v, *row[i])
		}
		require.Equal(t, "a/b c%d", *row[len(row)-1])
	}
}
