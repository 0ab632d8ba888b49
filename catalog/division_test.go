package catalog

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDivisionByZero(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, v DOUBLE, n BIGINT, z BIGINT, m DECIMAL(10,2))", "INSERT INTO t VALUES (1, 1.5, 7, 0, 2.50), (2, 2.5, 8, 2, 0)")
	for _, e := range []string{"1/0", "v/0", "n/z", "n DIV z", "n % z", "MOD(n, z)", "v/z", "v % z", "1 + n/z", "m/z", "IF(z = 0, n/z, 1)"} {
		l.refused("UPDATE t SET v = "+e, "Division by 0")
		l.refused("INSERT INTO t (v) SELECT "+e+" FROM t", "Division by 0")
		l.refused("INSERT INTO t (n) SELECT "+e+" FROM t", "Division by 0")
		l.refused("MERGE INTO t USING (SELECT 1 AS one) q ON id = one WHEN MATCHED THEN UPDATE SET v = "+e, "Division by 0")
	}
	l.refused("UPDATE t SET m = v / m", "Division by 0 in (t.v / t.m)")
	l.refused("INSERT INTO t (v) VALUES (1), (1/0)", "Division by 0")
	l.refused("INSERT INTO t (v) VALUES (5 DIV 0)", "Division by 0")
	l.refused("UPDATE t SET v = 1 WHERE n / z = 1", "Division by 0")
	l.refused("CREATE TABLE u AS SELECT n / z AS q FROM t", "Division by 0")
	require.Equal(t, []string{"1|1.5|7|0|2.50", "2|2.5|8|2|0.00"}, l.rows("SELECT * FROM t"))

	require.Equal(t, []string{"NULL"}, l.rows("SELECT 1/0"))
	require.Contains(t, fmt.Sprint(l.rows("SHOW WARNINGS")), "1365")
	require.Equal(t, []string{"NULL|NULL", "1.25|0"}, l.rows("SELECT v / z, n % z FROM t"))
	l.exec("UPDATE t SET v = v / 2, n = n DIV 2 WHERE id = 1", "UPDATE t SET v = v / z WHERE id = 2", "INSERT IGNORE INTO t (id, v) VALUES (3, 1/0)", "UPDATE IGNORE t SET v = v / z WHERE id = 1")
	require.Equal(t, []string{"1|NULL|3", "2|1.25|8", "3|NULL|NULL"}, l.rows("SELECT id, v, n FROM t ORDER BY id"))
	l.exec("SET sql_mode = 'STRICT_TRANS_TABLES'", "UPDATE t SET v = 1/0")
	require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM t WHERE v IS NULL"))
}

func TestWhatCannotBeComputedSaysWhere(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, s STRING, n INT)", "INSERT INTO t VALUES (1, 'abc', 1)")
	l.refused("UPDATE t SET n = s + 1", "abc", "in (t.s + 1)")
	l.refused("INSERT INTO t (n) SELECT s + 1 FROM t", "abc", "in (t.s + 1)")
	_, err := l.try("MERGE INTO t USING (SELECT 1 AS one) q ON id = one WHEN MATCHED AND n = 1 THEN UPDATE SET n = s + 1")
	require.ErrorContains(t, err, "in (t.s + 1)")
	require.NotContains(t, err.Error(), "CASE")
}
