package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/catalog/compile"
)

// typedRows is a query's answer with the types of its columns.
func (l *lab) typedRows(query string) string {
	l.t.Helper()
	ctx := l.ctx()
	schema, iter, _, err := l.c.engine.Query(ctx, query)
	require.NoError(l.t, err, query)
	rows, err := compile.Drain(ctx, iter)
	require.NoError(l.t, err, query)
	columns := make([]string, len(schema))
	for i, c := range schema {
		columns[i] = c.Type.String()
	}
	lines := []string{strings.Join(columns, "|")}
	for _, row := range rows {
		lines = append(lines, l.wire(ctx, schema, row))
	}
	return strings.Join(lines, ", ")
}

func datesLab(t *testing.T) *lab {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, d DATE, at DATETIME(6), s VARCHAR(9), x DECIMAL(5,2))",
		"INSERT INTO t VALUES (1, '2024-01-31', '2024-01-31 10:00:00', 'a', 1.5), (2, '2024-02-29', '2024-02-29 00:00:00', 'b', 2.5), (3, NULL, NULL, NULL, NULL)")
	return l
}

// TestLiteralsOfDates: DATE '...' and TIMESTAMP '...' are dates and times, on both paths, wherever they stand.
func TestLiteralsOfDates(t *testing.T) {
	l := datesLab(t)
	l.exec("CREATE VIEW v AS SELECT id, DATE '2024-01-31' AS day FROM t WHERE d >= DATE '2024-02-01'",
		"CREATE TABLE r (id INT, d DATE DEFAULT (DATE '2024-05-06'), CHECK (d > DATE '2024-01-01'))", "INSERT INTO r (id) VALUES (1)")
	l.refused("INSERT INTO r VALUES (2, DATE '2024-01-01')", "r_chk_1")
	for _, on := range []*lab{l, l.onRows()} {
		for query, want := range map[string]string{
			"SELECT DATE '2024-01-31', TIMESTAMP '2024-01-31 10:00:00', timestamp'2024-01-31T10:00:00.25' FROM t WHERE id = 1": "date|datetime|datetime(2), 2024-01-31|2024-01-31 10:00:00|2024-01-31 10:00:00.25",
			"SELECT Date '20240229', DATE '24-2-9', DATE '1999.12.31', TIMESTAMP '20240131100000', TIMESTAMP '2024-01-31 1'":   "date|date|date|datetime|datetime, 2024-02-29|2024-02-09|1999-12-31|2024-01-31 10:00:00|2024-01-31 01:00:00",
			"SELECT TIMESTAMP '2024-01-31 10:00:00+02:00', DATE '70-01-01', DATE '69-01-01'":                                   "datetime|date|date, 2024-01-31 08:00:00|1970-01-01|2069-01-01",
			"SELECT id FROM t WHERE d = DATE '2024-01-31' OR at = TIMESTAMP '2024-02-29 00:00:00' ORDER BY id":                 "int, 1, 2",
			"SELECT id FROM t WHERE d < TIMESTAMP '2024-01-31 00:00:01'":                                                       "int, 1",
			"SELECT id FROM t WHERE at BETWEEN DATE '2024-01-31' AND DATE '2024-02-01'":                                        "int, 1",
			"SELECT id FROM t WHERE '2024-1-31' = DATE '2024-01-31' AND d IN (DATE '2024-02-29')":                              "int, 2",
			"SELECT DATE '2024-01-31' + 0, TIMESTAMP '2024-01-31 10:00:00' + 0, DATE '2024-01-31' + INTERVAL 1 MONTH":          "bigint|bigint|date, 20240131|20240131100000|2024-02-29",
			"SELECT CONCAT(TIMESTAMP '2024-01-31 10:00:00.25', '|', TIMESTAMP '2024-01-31 10:00:00')":                          "longtext, 2024-01-31 10:00:00.25|2024-01-31 10:00:00",
			"SELECT CONCAT(DATE '2024-01-31', ''), COALESCE(d, DATE '1970-01-01') FROM t WHERE id = 3":                         "longtext|date, 2024-01-31|1970-01-01",
			"SELECT * FROM v":                    "int|date, 2|2024-01-31",
			"SELECT d FROM r":                    "date, 2024-05-06",
			"SELECT @v := DATE '2024-01-31' + 1": "bigint, 20240132",
			"SELECT TIME '10:00:00', 'date ''x', s 'date' FROM t WHERE id = 1": "longtext|longtext|varchar(9), 10:00:00|date 'x|a",
		} {
			require.Equal(t, want, on.typedRows(query), query)
		}
		for query, message := range map[string]string{
			"SELECT DATE '2024-02-30'":          "Incorrect DATE value: '2024-02-30'",
			"SELECT DATE '2024-01-31 10:00:00'": "Incorrect DATE value: '2024-01-31 10:00:00'",
			"SELECT DATE 'x' FROM t":            "Incorrect DATE value: 'x'",
			"SELECT DATE '0000-00-00'":          "Incorrect DATE value: '0000-00-00'",
			"SELECT TIMESTAMP '2024-01-31'":     "Incorrect DATETIME value: '2024-01-31'",
		} {
			on.refused(query, message)
		}
		on.exec("SET @day = DATE '2024-01-31'", "SELECT @at := TIMESTAMP '2024-01-31 10:00:00.5', @now := DATE '2024-01-31'")
		require.Equal(t, []string{"2024-01-31|2024-01-31 10:00:00.5|2024-01-31"}, on.rows("SELECT @day, @at, @now"))
		ctx := on.ctx()
		schema, _, _, err := on.c.engine.Query(ctx, "SELECT date  '2024-01-31', DATE '2024-01-31' + INTERVAL 1 DAY")
		require.NoError(t, err)
		require.Equal(t, []string{"date  '2024-01-31'", "DATE '2024-01-31' + INTERVAL 1 DAY"}, []string{schema[0].Name, schema[1].Name})
	}
	require.Contains(t, l.rows("SHOW CREATE VIEW v")[0], "SELECT id, DATE '2024-01-31' AS day FROM t WHERE d >= DATE '2024-02-01'")
	l.exec("MERGE INTO r USING t ON r.id = t.id AND t.d > DATE '2024-01-01' WHEN MATCHED AND r.d = DATE '2024-05-06' THEN UPDATE SET d = DATE '2024-06-07' WHEN NOT MATCHED THEN INSERT (id, d) VALUES (t.id, DATE '2024-07-08')",
		"UPDATE r SET d = d + INTERVAL 1 DAY WHERE d = DATE '2024-06-07'", "DELETE FROM r WHERE id = 3 AND d = DATE '2024-07-08'")
	require.Equal(t, []string{"1|2024-06-08", "2|2024-07-08"}, l.rows("SELECT * FROM r ORDER BY id"))
	l.bound("DELETE FROM r WHERE d = DATE '2024-07-08' AND id = ?", "2")
	require.Equal(t, []string{"1|2024-06-08"}, l.rows("SELECT * FROM r"))
}

// TestUnionOfDates: columns of UNION and its like have MySQL's type, where they are dates and times, or NULL on one side.
func TestUnionOfDates(t *testing.T) {
	l := datesLab(t)
	for _, on := range []*lab{l, l.onRows()} {
		for query, want := range map[string]string{
			"SELECT d FROM t UNION SELECT at FROM t ORDER BY 1":                                                                       "datetime(6), NULL, 2024-01-31 00:00:00.000000, 2024-01-31 10:00:00.000000, 2024-02-29 00:00:00.000000",
			"SELECT at FROM t UNION ALL SELECT d FROM t ORDER BY at DESC LIMIT 1":                                                     "datetime(6), 2024-02-29 00:00:00.000000",
			"SELECT d FROM t UNION ALL SELECT NULL UNION ALL SELECT at FROM t ORDER BY 1 DESC LIMIT 2":                                "datetime(6), 2024-02-29 00:00:00.000000, 2024-02-29 00:00:00.000000",
			"SELECT d FROM t WHERE id = 1 UNION SELECT TIMESTAMP '2024-01-01 00:00:00'":                                               "datetime, 2024-01-31 00:00:00, 2024-01-01 00:00:00",
			"SELECT a + 0 FROM (SELECT d a FROM t WHERE id = 1 UNION SELECT TIMESTAMP '2024-01-01 00:00:00') q":                       "bigint, 20240131000000, 20240101000000",
			"SELECT d FROM t INTERSECT SELECT at FROM t WHERE id < 3":                                                                 "datetime(6), 2024-02-29 00:00:00.000000",
			"SELECT d FROM t EXCEPT SELECT at FROM t WHERE id > 1":                                                                    "datetime(6), 2024-01-31 00:00:00.000000",
			"SELECT MAX(a) FROM (SELECT d a FROM t UNION ALL SELECT at FROM t) q":                                                     "datetime(6), 2024-02-29 00:00:00.000000",
			"SELECT d FROM t WHERE id = 1 UNION ALL SELECT at FROM t WHERE id = 1 UNION ALL SELECT s FROM t":                          "longtext, 2024-01-31, 2024-01-31 10:00:00.000000, a, b, NULL",
			"SELECT s FROM t WHERE id = 1 UNION ALL (SELECT at FROM t WHERE id = 1 UNION ALL SELECT d FROM t)":                        "longtext, a, 2024-01-31 10:00:00.000000, 2024-01-31, 2024-02-29, NULL",
			"SELECT d FROM t UNION ALL SELECT NULL":                                                                                   "date, 2024-01-31, 2024-02-29, NULL, NULL",
			"SELECT id, NULL a FROM t WHERE id = 1 UNION ALL SELECT id, at FROM t":                                                    "int|datetime(6), 1|NULL, 1|2024-01-31 10:00:00.000000, 2|2024-02-29 00:00:00.000000, 3|NULL",
			"SELECT id, s FROM t WHERE id = 1 UNION ALL SELECT NULL, NULL":                                                            "bigint|varchar(9), 1|a, NULL|NULL",
			"SELECT NULL UNION ALL SELECT x FROM t":                                                                                   "decimal(5,2), NULL, 1.50, 2.50, NULL",
			"SELECT a + 1 FROM (SELECT NULL a UNION ALL SELECT x FROM t) q":                                                           "decimal(6,2), NULL, 2.50, 3.50, NULL",
			"SELECT JSON_OBJECT('a', 1) UNION ALL SELECT NULL":                                                                        `json, {"a": 1}, NULL`,
			"SELECT id FROM t WHERE at IN (SELECT d FROM t UNION SELECT NULL)":                                                        "int, 2",
			"SELECT CAST(f AS SIGNED) AS f FROM (SELECT 2.5e0 AS f) a UNION SELECT CAST(f AS SIGNED) AS f FROM (SELECT 4.5e0 AS f) b": "bigint, 2, 4",
		} {
			require.Equal(t, want, on.typedRows(query), query)
		}
	}
}
