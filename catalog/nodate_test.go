package catalog

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// noDates are texts and numbers that are no days.
var noDates = []string{"'0000-00-00'", "'2024-00-10'", "'2024-01-00'", "'2024-02-30'", "'2024-02-30 10:00:00'", "'2023-02-29'", "'2024-13-01'", "'abc'", "0"}

func TestNoDatesAreRefused(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, d DATE, ts TIMESTAMP, n TIMESTAMP_NTZ)", "INSERT INTO t (id) VALUES (1)")
	for _, v := range noDates {
		for _, c := range []string{"d", "ts", "n"} {
			l.refused(fmt.Sprintf("INSERT INTO t (%s) VALUES (%s)", c, v), "Incorrect date", "for column '"+c+"' at row 1")
			l.refused(fmt.Sprintf("INSERT INTO t (%s) SELECT %s", c, v), "Incorrect date", "for column '"+c+"' at row 1")
			l.refused(fmt.Sprintf("UPDATE t SET %s = %s", c, v), "Incorrect date", "for column '"+c+"' at row 1")
			l.refused(fmt.Sprintf("MERGE INTO t USING (SELECT 1 AS one) q ON id = one WHEN MATCHED THEN UPDATE SET %s = %s", c, v), "Incorrect date")
		}
	}
	l.refused("INSERT INTO t (d) VALUES ('2024-01-01'), ('2024-02-30')", "'2024-02-30' for column 'd' at row 2")
	require.Equal(t, []string{"1|NULL|NULL|NULL"}, l.rows("SELECT * FROM t"))
}

func TestIgnoreInventsNoDate(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, d DATE, must DATE NOT NULL)", "INSERT INTO t VALUES (1, '2024-01-01', '2024-01-01')")
	for _, v := range noDates {
		l.exec("INSERT IGNORE INTO t VALUES (2, " + v + ", '2024-01-01')")
		require.Equal(t, []string{"2|NULL|2024-01-01"}, l.rows("SELECT * FROM t WHERE id = 2"), v)
		l.exec("DELETE FROM t WHERE id = 2", "UPDATE t SET d = '2024-01-01'", "UPDATE IGNORE t SET d = "+v)
		require.Contains(t, fmt.Sprint(l.rows("SHOW WARNINGS")), "1292", v)
		require.Equal(t, []string{"1|NULL|2024-01-01"}, l.rows("SELECT * FROM t"), v)
	}
	for _, v := range append(noDates, "NULL") {
		l.exec("INSERT IGNORE INTO t VALUES (2, NULL, " + v + "), (3, NULL, '2024-01-03')")
		require.Contains(t, fmt.Sprint(l.rows("SHOW WARNINGS")), "1048", v)
		require.Equal(t, []string{"3|2024-01-03"}, l.rows("SELECT id, must FROM t WHERE id > 1"), v)
		l.exec("DELETE FROM t WHERE id = 3", "UPDATE IGNORE t SET id = 9, must = "+v)
		require.Contains(t, fmt.Sprint(l.rows("SHOW WARNINGS")), "1048", v)
		require.Equal(t, []string{"1|NULL|2024-01-01"}, l.rows("SELECT * FROM t"), v)
	}
}

func TestNoDatesAreNull(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (d DATE, ts TIMESTAMP)", "INSERT INTO t VALUES ('2024-02-03', '2024-02-03 00:00:00')")
	for _, e := range []string{
		"CAST('2024-02-30' AS DATE)", "CAST('0000-00-00' AS DATE)", "CAST('2024-00-10' AS DATETIME)", "CAST('2024-01-02 25:00:00' AS DATETIME)", "CAST(CONCAT('2024-02-', 30) AS DATE)",
		"TIMESTAMP('2024-02-30')", "DATE('2024-02-30')", "STR_TO_DATE('2024-02-30', '%Y-%m-%d')", "DATE_ADD('2024-02-30', INTERVAL 1 DAY)",
		"d = '2024-02-30'", "d < '2024-02-30'", "ts > '2024-02-30'", "d IN ('2024-02-30')", "d BETWEEN '2024-02-30' AND '2024-03-30'",
	} {
		require.Equal(t, []string{"NULL"}, l.rows("SELECT "+e+" FROM t"), e)
		require.NotEmpty(t, l.rows("SHOW WARNINGS"), e)
	}
	require.Equal(t, []string{"2024-02-03|2024-03-01|2024-02-29"},
		l.rows("SELECT CAST('2024-02-03abc' AS DATE), STR_TO_DATE('March 1, 2024', '%M %e, %Y'), STR_TO_DATE('29.02.24', '%d.%m.%y')"))
	require.Empty(t, l.rows("SELECT * FROM t WHERE d IN ('2024-02-30') OR ts = '2024-02-30' OR d = CAST('2024-02-30' AS DATE)"))
	require.Len(t, l.rows("SELECT * FROM t WHERE d > '0000-00-00'"), 1)
}
