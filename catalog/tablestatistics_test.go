package catalog

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/catalog/compile"
	"lakesql/delta"
	"lakesql/integration/shared"
	"lakesql/store"
)

// answered tells whether a query is answered from statistics, as EXPLAIN says.
func (l *lab) answered(query string) bool {
	l.t.Helper()
	return strings.Contains(strings.Join(l.rows("EXPLAIN "+query), "\n"), "no data file is read")
}

func TestAggregatesFromStatistics(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, d DECIMAL(10,2), day DATE, s VARCHAR(9), f DOUBLE, at TIMESTAMP, p INT) USING DELTA PARTITIONED BY (p)",
		"INSERT INTO t VALUES (3, 1.5, '2024-01-02', 'x', 0.5, '2024-01-01 00:00:00.123456', 1), (NULL, -2, '1500-02-28', NULL, NULL, NULL, 1)",
		"INSERT INTO t VALUES (7, NULL, NULL, 'y', 1.5, NULL, 2), (5, NULL, NULL, 'z', 2.5, NULL, 2)",
		"INSERT INTO t VALUES (1, 9, '2024-12-31', 'y', 1.5, NULL, NULL)")
	for query, want := range map[string]string{
		"SELECT COUNT(*) FROM t": "5",
		"SELECT COUNT(*), COUNT(1), COUNT(a), COUNT(d), COUNT(s), COUNT(f), COUNT(at), COUNT(p) FROM t": "5|5|4|3|4|4|1|4",
		"SELECT MIN(a), MAX(a), MIN(d), MAX(d), MIN(day), MAX(day), MIN(p), MAX(p) FROM t":              "1|7|-2.00|9.00|1500-02-28|2024-12-31|1|2",
		"SELECT MAX(x.a) + 1 AS m FROM t AS x HAVING m > 3":                                             "8",
		"SELECT COUNT(*), MAX(d), MAX(a), COUNT(day) FROM t WHERE p = 2":                                "2|NULL|7|0",
		"SELECT COUNT(*), MIN(a) FROM t WHERE p < 2":                                                    "2|3",
		"SELECT COUNT(*), MAX(p) FROM t WHERE p > 7":                                                    "0|NULL",
		"SELECT MAX(a) FROM t VERSION AS OF 1":                                                          "3",
	} {
		require.Equal(t, []string{want}, l.rows(query), query)
		require.Equal(t, l.byRows(query), l.rows(query), query)
		require.True(t, l.answered(query), query)
	}
	for _, query := range []string{
		"SELECT MIN(s) FROM t", "SELECT MAX(f) FROM t", "SELECT MAX(at) FROM t", "SELECT COUNT(*), MAX(s) FROM t", "SELECT COUNT(DISTINCT a) FROM t", "SELECT COUNT(a + 1) FROM t",
		"SELECT COUNT(NULL) FROM t", "SELECT COUNT(*) FROM t WHERE a > 0", "SELECT COUNT(*) FROM t WHERE p = 1 AND a = 3", "SELECT MAX(a) FROM t GROUP BY p", "SELECT SUM(a), COUNT(*) FROM t",
	} {
		require.Equal(t, l.byRows(query), l.rows(query), query)
		require.False(t, l.answered(query), query)
	}
	require.Equal(t, []string{"Project", " ├─ columns: [count(1), max(t.a)]", " └─ Statistics", "     └─ Aggregate COUNT(1), MAX(t.a), no data file is read",
		"         └─ Filter (t.p = 2) (rows=3)", "             └─ Scan lake.t version 3 (a, p) (rows=5)"},
		l.rows("EXPLAIN SELECT COUNT(*), MAX(a) FROM t WHERE p = 2"))

	l.exec("DELETE FROM t WHERE p = 1")
	require.Equal(t, []string{"3|1|9.00"}, l.rows("SELECT COUNT(*), MIN(a), MAX(d) FROM t"))
	l.exec("DELETE FROM t")
	require.Equal(t, []string{"0|0|NULL|NULL"}, l.rows("SELECT COUNT(*), COUNT(a), MIN(a), MAX(p) FROM t"))
	require.True(t, l.answered("SELECT COUNT(*), COUNT(a), MIN(a), MAX(s) FROM t"))
}

// TestStatisticsOfFilesWithDeletionVectors: the bounds of a file do not hold for the rows that are left, and the numbers of nulls only where they
// are none or all.
func TestStatisticsOfFilesWithDeletionVectors(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, b INT, c INT, p INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
		"INSERT INTO t VALUES (1, NULL, NULL, 1), (2, 1, NULL, 1), (3, NULL, NULL, 1), (4, 2, NULL, 1)", "DELETE FROM t WHERE a IN (1, 2)")
	for query, answered := range map[string]bool{
		"SELECT COUNT(*), COUNT(a), COUNT(c), MIN(c), MIN(p), MAX(p), COUNT(p) FROM t": true,
		"SELECT COUNT(b) FROM t": false,
		"SELECT MIN(a) FROM t":   false,
		"SELECT MAX(a) FROM t":   false,
	} {
		require.Equal(t, l.byRows(query), l.rows(query), query)
		require.Equal(t, answered, l.answered(query), query)
	}
	require.Equal(t, []string{"2|2|0|NULL|1"}, l.rows("SELECT COUNT(*), COUNT(a), COUNT(c), MIN(c), MAX(p) FROM t"))
	l.exec("BEGIN", "INSERT INTO t VALUES (9, 9, 9, 9)", "DELETE FROM t WHERE a = 3")
	require.Equal(t, []string{"2|2|1|9|9"}, l.rows("SELECT COUNT(*), COUNT(a), COUNT(c), MIN(c), MAX(p) FROM t"))
	l.exec("ROLLBACK")
	require.Equal(t, []string{"2"}, l.rows("SELECT COUNT(*) FROM t"))
}

// TestAnswersFromStatisticsAreRead: an INSERT of what an aggregate says of the table itself loses against a change of its rows.
func TestAnswersFromStatisticsAreRead(t *testing.T) {
	for _, aggregate := range []string{"MAX(a + 0)", "MAX(a)", "COUNT(*)"} {
		l := newLab(t)
		other := l.session()
		l.exec("CREATE TABLE t (a BIGINT)", "INSERT INTO t VALUES (1)", "BEGIN", "INSERT INTO t SELECT 10 + "+aggregate+" FROM t")
		other.exec("UPDATE t SET a = 5")
		_, err := l.try("COMMIT")
		require.ErrorIs(t, err, delta.ErrConflict, aggregate)
	}
}

// sameAggregates compares the number, the least and the greatest value of each column with what the rows give. It returns how many were answered
// from statistics.
func (l *lab) sameAggregates(t require.TestingT, table string, columns []string) (answered int) {
	for _, c := range columns {
		for _, aggregates := range []string{"COUNT(" + c + "), COUNT(*)", "MIN(" + c + "), MAX(" + c + ")"} {
			if l.sameAnswer(t, "SELECT "+aggregates+" FROM "+table) {
				answered++
			}
		}
	}
	return answered
}

// sameAnswer compares with what the rows give, and tells whether the answer came from statistics.
func (l *lab) sameAnswer(t require.TestingT, query string) bool {
	require.Equal(t, l.byRows(query), l.rows(query), query)
	return l.answered(query)
}

// TestStatisticsAgreeWithRows: random tables of all types give what their rows give, whatever has happened to them.
func TestStatisticsAgreeWithRows(t *testing.T) {
	values := map[string][]string{
		"TINYINT":        {"-128", "127", "0", "-1"},
		"SMALLINT":       {"-32768", "32767", "0"},
		"INT":            {"-2147483648", "2147483647", "7"},
		"BIGINT":         {"-9223372036854775808", "9223372036854775807", "9007199254740993"},
		"FLOAT":          {"0.1", "-0.0", "0", "(SELECT g FROM nan)"},
		"DOUBLE":         {"0.1", "-0.0", "0", "1e300", "(SELECT f FROM nan)"},
		"DECIMAL(5,2)":   {"999.99", "-999.99", "0.01", "1"},
		"DECIMAL(38,10)": {"1234567890123456789012345678.0123456789", "-0.0000000001", "99999999999999999.5", "12345678901234.5"},
		"DATE":           {"'0001-01-01'", "'1500-02-28'", "'1582-10-10'", "'9999-12-31'", "'2024-02-29'"},
		"TIMESTAMP":      {"'1969-12-31 23:59:59.999999'", "'2024-01-01 00:00:00.000001'", "'2024-01-01 00:00:00.000999'"},
		"DATETIME(6)":    {"'1500-01-01 00:00:00.000001'", "'2024-01-01 00:00:00.123456'"},
		"VARCHAR(80)":    {"'a'", "'é'", "REPEAT('x', 40)", "CONCAT(REPEAT('x', 40), 'y')"},
		"CHAR(5)":        {"'a'", "'a  '", "'zzzzz'"},
		"BOOLEAN":        {"true", "false"},
		"VARBINARY(9)":   {"'a'", "'b'"},
	}
	kinds := []string{"", "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true', 'delta.enableTypeWidening' = 'true')",
		"TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '3')"}
	l := newLab(t)
	l.write("nan/a.csv", "f,g\nNaN,NaN\n")
	l.exec("CREATE TABLE nan AS SELECT * FROM read_files('" + l.path("nan") + "', format => 'csv', header => true, schema => 'f DOUBLE, g FLOAT')")
	tables, answered := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		tables++
		table := fmt.Sprintf("t%d", tables)
		columns := []string{"k", "p"}
		types := []string{"INT", rapid.SampledFrom(slices.Sorted(maps.Keys(values))).Draw(t, "type of p")}
		for i := range 3 {
			columns = append(columns, fmt.Sprintf("c%d", i))
			types = append(types, rapid.SampledFrom(slices.Sorted(maps.Keys(values))).Draw(t, "type"))
		}
		declared := make([]string, len(columns))
		for i, c := range columns {
			declared[i] = c + " " + types[i]
		}
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		l.exec("CREATE TABLE " + table + " (" + strings.Join(declared, ", ") + ") USING DELTA " + rapid.SampledFrom([]string{"", "PARTITIONED BY (p) "}).Draw(t, "partitions") + kind)
		drawn := func(i int) string {
			if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
				return "NULL"
			}
			return rapid.SampledFrom(values[types[i]]).Draw(t, "value")
		}
		next := 0
		for range rapid.IntRange(0, 5).Draw(t, "statements") {
			k := rapid.IntRange(0, 6).Draw(t, "k")
			switch rapid.IntRange(0, 7).Draw(t, "statement") {
			default:
				var rows []string
				for range rapid.IntRange(1, 3).Draw(t, "rows") {
					row := []string{fmt.Sprint(next)}
					for i := 1; i < len(columns); i++ {
						row = append(row, drawn(i))
					}
					rows = append(rows, "("+strings.Join(row, ", ")+")")
					next++
				}
				l.exec("INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " + strings.Join(rows, ", "))
			case 4:
				l.exec(fmt.Sprintf("DELETE FROM %s WHERE k %% 3 = %d", table, k%3))
			case 5:
				l.exec(fmt.Sprintf("UPDATE %s SET %s = %s WHERE k < %d", table, columns[2], drawn(2), k))
			case 6:
				l.exec(fmt.Sprintf("ALTER TABLE %s ADD COLUMN new%d INT", table, len(columns)))
				columns, types = append(columns, fmt.Sprintf("new%d", len(columns))), append(types, "INT")
			case 7:
				if strings.Contains(kind, "mapping") {
					last := len(columns) - 1
					l.exec(fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO %s", table, columns[last], columns[last]+"x"))
					columns[last] += "x"
					l.exec(fmt.Sprintf("ALTER TABLE %s DROP COLUMN %s", table, columns[2]), fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s", table, columns[2], types[2]))
				}
			}
		}
		answered += l.sameAggregates(t, table, columns)
		for _, where := range []string{"p IS NULL", "p = " + values[types[1]][0]} {
			l.sameAnswer(t, "SELECT COUNT(*), MIN(p), MAX(k), COUNT(c0) FROM "+table+" WHERE "+where)
		}
	})
	require.Positive(t, answered)
}

func TestStatisticsOfOtherWriters(t *testing.T) {
	tables, expected := shared.Tables(t)
	l := newLab(t)
	var err error
	l.c.cfg.Fence, err = store.NewFence(l.dir, l.dir, tables)
	require.NoError(t, err)
	read, answered := 0, 0
	for name := range expected {
		table := "delta.`" + filepath.Join(tables, name) + "`"
		schema, iter, _, err := l.c.engine.Query(l.ctx(), "SELECT * FROM "+table)
		if err != nil {
			continue
		}
		if _, err := compile.Drain(l.ctx(), iter); err != nil {
			continue
		}
		read++
		var columns []string
		for _, c := range schema {
			if !types.IsJSON(c.Type) {
				columns = append(columns, "`"+c.Name+"`")
			}
		}
		answered += l.sameAggregates(t, table, columns)
	}
	require.Greater(t, read, 30, "tables that could be read")
	require.Greater(t, answered, 100)
	t.Logf("%d of the aggregates over %d tables came from statistics", answered, read)
}
