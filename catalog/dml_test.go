package catalog

import (
	"strconv"
	"testing"

	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/stretchr/testify/require"
)

// affected runs a statement that changes rows and returns how many MySQL says it did.
func (l *lab) affected(query string) int {
	l.t.Helper()
	return int(l.ok(query).RowsAffected)
}

func (l *lab) ok(query string) types.OkResult {
	l.t.Helper()
	rows, err := l.try("%s", query)
	require.NoError(l.t, err, query)
	require.Len(l.t, rows, 1)
	return rows[0][0].(types.OkResult)
}

func TestRowCountIsThatOfTheLastStatement(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)")
	for _, c := range [][2]string{
		{"INSERT INTO t VALUES (1), (2), (3)", "3"}, {"UPDATE t SET a = a + 1", "3"}, {"DELETE FROM t WHERE a = 2", "1"},
		{"MERGE INTO t USING (SELECT 3 AS a) s ON t.a = s.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE THEN DELETE", "2"},
		{"INSERT OVERWRITE t VALUES (7)", "1"}, {"CREATE TABLE u LIKE t", "0"}, {"CREATE TABLE v AS SELECT 1 AS a UNION ALL SELECT 2", "2"},
		{"SHOW STREAMS", "-1"},
	} {
		l.exec(c[0])
		require.Equal(t, []string{c[1]}, l.rows("SELECT ROW_COUNT()"), c[0])
	}
}

func TestUpdate(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, b INT, s VARCHAR(5))", "INSERT INTO t VALUES (1, 10, 'x'), (2, 20, 'y')", "INSERT INTO t VALUES (3, 30, NULL), (4, NULL, 'z')")
	for _, c := range []struct {
		query            string
		matched, changed int
		rows             []string
	}{
		{"UPDATE t SET b = b + 1 WHERE a >= 3", 2, 1, []string{"1|10|x", "2|20|y", "3|31|NULL", "4|NULL|z"}},
		{"UPDATE t SET b = b", 4, 0, []string{"1|10|x", "2|20|y", "3|31|NULL", "4|NULL|z"}},
		{"UPDATE t SET a = a + 10, b = a", 4, 4, []string{"11|11|x", "12|12|y", "13|13|NULL", "14|14|z"}},
		{"UPDATE t AS q SET q.s = concat(s, '!'), b = length(q.s) WHERE q.a < 14", 3, 3, []string{"11|2|x!", "12|2|y!", "13|NULL|NULL", "14|14|z"}},
		{"UPDATE lake.t SET lake.t.b = 0, t.b = 7 WHERE lake.t.a = 11", 1, 1, []string{"11|7|x!", "12|2|y!", "13|NULL|NULL", "14|14|z"}},
		{"UPDATE t SET s = DEFAULT, b = '5' ORDER BY a DESC LIMIT 2", 2, 2, []string{"11|7|x!", "12|2|y!", "13|5|NULL", "14|5|NULL"}},
		{"UPDATE t SET b = 9 LIMIT 1", 1, 1, []string{"11|9|x!", "12|2|y!", "13|5|NULL", "14|5|NULL"}},
		{"UPDATE t SET b = (SELECT max(b) FROM t) WHERE a IN (SELECT a FROM t WHERE s IS NULL)", 2, 2, []string{"11|9|x!", "12|2|y!", "13|9|NULL", "14|9|NULL"}},
		{"UPDATE t SET a = 100, b = (SELECT max(u.b) FROM t u WHERE u.a < t.a) WHERE a = 12", 1, 1, []string{"100|9|y!", "11|9|x!", "13|9|NULL", "14|9|NULL"}},
		{"UPDATE t SET b = 1 WHERE a = 999", 0, 0, []string{"100|9|y!", "11|9|x!", "13|9|NULL", "14|9|NULL"}},
		{"WITH c AS (SELECT 13 AS k) UPDATE t, c SET b = 8 WHERE a = k", 1, 1, []string{"100|9|y!", "11|9|x!", "13|8|NULL", "14|9|NULL"}},
	} {
		ok := l.ok(c.query)
		require.Equal(t, plan.UpdateInfo{Matched: c.matched, Updated: c.changed}, ok.Info, c.query)
		require.EqualValues(t, c.changed, ok.RowsAffected, c.query)
		require.Equal(t, c.rows, l.rows("SELECT * FROM t ORDER BY cast(a AS CHAR)"), c.query)
	}
}

func TestUpdateRefused(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT NOT NULL, b TINYINT, s VARCHAR(3), d DATE)", "INSERT INTO t VALUES (1, 1, 'abc', '2024-01-01')",
		"CREATE TABLE u (a INT, b INT)", "INSERT INTO u VALUES (1, 2)", "CREATE VIEW v AS SELECT * FROM t")
	for query, part := range map[string]string{
		"UPDATE t SET b = 300":                       "Out of range value for column 'b'",
		"UPDATE t SET b = 'x'":                       "Incorrect integer value: 'x' for column 'b'",
		"UPDATE t SET s = 'abcd'":                    "Data too long for column 's'",
		"UPDATE t SET a = NULL":                      "null",
		"UPDATE t SET a = b - NULL":                  "",
		"UPDATE t SET d = '2024-02-30'":              "",
		"UPDATE t SET c = 1":                         "column",
		"UPDATE t SET b = nope":                      "nope",
		"UPDATE nope SET b = 1":                      "nope",
		"UPDATE v SET b = 1":                         "not updatable",
		"UPDATE t JOIN u ON t.a = u.a SET a = 1":     "mbiguous",
		"UPDATE t, u SET t.b = 1, u.b = 2":           "one statement",
		"UPDATE t, u SET t.b = 1 LIMIT 1":            "LIMIT",
		"UPDATE t AS OF 1 SET b = 1":                 "",
		"DELETE t, u FROM t JOIN u ON t.a = u.a":     "one statement",
		"DELETE FROM v":                              "not updatable",
		"UPDATE t SET b = 1 WHERE _lakesql_row = 9x": "",
	} {
		l.refused(query, part)
	}
	require.Equal(t, []string{"1|1|abc|2024-01-01"}, l.rows("SELECT * FROM t"))
	require.Equal(t, 1, l.affected("UPDATE IGNORE t SET b = 300, s = 'abcd', a = NULL"))
	require.Len(t, l.rows("SHOW WARNINGS"), 3)
	require.Equal(t, []string{"0|127|abc|2024-01-01"}, l.rows("SELECT * FROM t"))
}

func TestUpdateAndDeleteByJoin(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, b INT)", "INSERT INTO t VALUES (1, 10), (2, 20)", "INSERT INTO t VALUES (3, 30), (4, 40)",
		"CREATE TABLE s (a INT, c INT)", "INSERT INTO s VALUES (4, 400), (2, 200), (2, 200), (9, 900)")
	require.Equal(t, 2, l.affected("UPDATE t JOIN s ON t.a = s.a SET t.b = s.c"))
	require.Equal(t, []string{"1|10", "2|200", "3|30", "4|400"}, l.rows("SELECT * FROM t ORDER BY a"))
	require.Equal(t, 2, l.affected("UPDATE s RIGHT JOIN t ON t.a = s.a SET b = -1 WHERE s.a IS NULL"))
	require.Equal(t, []string{"1|-1", "2|200", "3|-1", "4|400"}, l.rows("SELECT * FROM t ORDER BY a"))
	require.Equal(t, 1, l.affected("UPDATE t x, t y SET x.b = y.b WHERE x.a = 1 AND y.a = 2"))
	require.Equal(t, 1, l.affected("DELETE t FROM t JOIN s ON t.a = s.a WHERE s.c = 400"))
	require.Equal(t, 1, l.affected("DELETE FROM x USING t AS x JOIN s ON x.a = s.a"))
	require.Equal(t, []string{"1|200", "3|-1"}, l.rows("SELECT * FROM t ORDER BY a"))
	require.Equal(t, 2, l.affected("DELETE FROM t WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.a = t.a)"))
	require.Empty(t, l.rows("SELECT * FROM t"))
}

func TestDelete(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, p VARCHAR(3)) USING DELTA PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 'x'), (2, 'x'), (3, 'y'), (4, NULL)", "INSERT INTO t VALUES (5, 'x')")
	require.Equal(t, 1, l.affected("DELETE FROM t WHERE a = 2"))
	require.Equal(t, 2, l.affected("DELETE FROM t WHERE p = 'x'"))
	require.Equal(t, []string{"3|y", "4|NULL"}, l.rows("SELECT * FROM t ORDER BY a"))
	require.Equal(t, 1, l.affected("DELETE FROM t ORDER BY a DESC LIMIT 1"))
	require.Equal(t, 0, l.affected("DELETE FROM t WHERE a > 10"))
	require.Equal(t, 1, l.affected("DELETE FROM t"))
	require.Equal(t, 0, l.affected("DELETE FROM t"))
	l.exec("INSERT INTO t VALUES (1, 'x')")
	require.Equal(t, 0, l.affected("TRUNCATE TABLE t"))
	require.Equal(t, 0, l.affected("TRUNCATE t"))
	require.Equal(t, []string{"0"}, l.rows("SELECT COUNT(*) FROM t"))
}

// What a subquery gives is not known when DELETE chooses the files that it reads.
func TestDeleteBySubqueries(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE s (a INT)", "INSERT INTO s VALUES (1), (3)")
	for where, affected := range map[string]int{
		"a = (SELECT MAX(a) FROM t)": 1, "a >= (SELECT MIN(a) FROM s)": 3, "a <> (SELECT MAX(a) FROM s)": 2, "a > 1 AND a = (SELECT MAX(a) FROM s)": 1,
		"a = (SELECT MAX(a) FROM s WHERE a > 9)": 0, "EXISTS (SELECT 1 FROM s)": 3, "NOT EXISTS (SELECT 1 FROM s WHERE a > 9)": 3, "NOT EXISTS (SELECT 1 FROM s)": 0,
		"(SELECT MAX(a) FROM s) = 3": 3, "(SELECT MAX(a) FROM s) IS NULL": 0, "a <=> (SELECT MAX(a) FROM s WHERE a > 9)": 0,
	} {
		l.exec("CREATE OR REPLACE TABLE t AS SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3")
		require.Contains(t, l.rows("EXPLAIN DELETE FROM t WHERE a = (SELECT MAX(a) FROM s)")[1], "Read 1 of 1 files")
		require.Equal(t, affected, l.affected("DELETE FROM t WHERE "+where), where)
		require.Equal(t, []string{strconv.Itoa(3 - affected)}, l.rows("SELECT COUNT(*) FROM t"), where)
	}
}

// DELETE of whole files by partition or statistics reads none of them.
func TestDeleteOfWholeFilesReadsNothing(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, p INT) USING DELTA PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 1), (2, 1), (10, 2)", "INSERT INTO t VALUES (3, 1), (20, 2)")
	tab, err := l.c.lookup(l.ctx(), name("t"))
	require.NoError(t, err)
	for f := range tab.snap.Files() {
		require.NoError(t, tab.handle.Store().Delete(t.Context(), f.Path))
	}
	require.Equal(t, 3, l.affected("DELETE FROM t WHERE p = 1"))
	require.Equal(t, 1, l.affected("DELETE FROM t WHERE a >= 20"))
	l.refused("DELETE FROM t WHERE a + 0 = 10", "part-")
	require.Equal(t, 1, l.affected("DELETE FROM t"))
}

func TestPreparedChanges(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, s TEXT)", "INSERT INTO t VALUES (1, 'x'), (2, 'y')")
	l.bound("UPDATE t SET s = ? WHERE a = ?", "it's", "2")
	l.bound("DELETE FROM t WHERE a = ?", "1")
	require.Equal(t, []string{"2|it's"}, l.rows("SELECT * FROM t"))
}

func TestChangesAreInTheHistory(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2), (3)", "UPDATE t SET a = 9 WHERE a = 2", "DELETE FROM t WHERE a = 9")
	rows := l.rows("DESCRIBE HISTORY t LIMIT 2")
	require.Contains(t, rows[0], "DELETE")
	require.Contains(t, rows[0], `"numDeletedRows":"1"`)
	require.Contains(t, rows[1], `"numUpdatedRows":"1"`)
	require.Contains(t, rows[1], "a = 2")
}
