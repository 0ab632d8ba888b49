package catalog

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/delta"
)

func TestDefaults(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, n INT DEFAULT 5, s STRING DEFAULT 'it''s', d DATE DEFAULT (CAST('2024-02-29' AS DATE)), at TIMESTAMP NOT NULL DEFAULT current_timestamp(), z INT DEFAULT NULL)",
		"INSERT INTO t (id) VALUES (1)", "INSERT INTO t (id, n, s) VALUES (2, DEFAULT, NULL), (3, 7, DEFAULT)")
	require.Equal(t, []string{"1|5|it's|2024-02-29|NULL", "2|5|NULL|2024-02-29|NULL", "3|7|it's|2024-02-29|NULL"}, l.rows("SELECT id, n, s, d, z FROM t ORDER BY id"))
	require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM t WHERE at > '2020-01-01' AND at <= NOW(6)"))
	l.exec("INSERT INTO t (id) SELECT id + 10 FROM t", "UPDATE t SET n = DEFAULT WHERE id = 3")
	require.Equal(t, []string{"11|5", "12|5", "13|5", "3|5"}, l.rows("SELECT id, n FROM t WHERE id IN (3, 11, 12, 13) ORDER BY CAST(id AS CHAR)"))
	require.Contains(t, l.rows("DESCRIBE t"), "n|int|YES||5|")
	l.refused("CREATE TABLE bad (a INT DEFAULT (b + 1), b INT)", "column b")
	l.refused("CREATE TABLE bad (a INT DEFAULT 'x')", "DEFAULT of column a")
	l.refused("CREATE TABLE bad (a INT DEFAULT (SELECT 1))", "subquery")
}

func TestGeneratedColumns(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (at TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(at AS DATE)), ym STRING GENERATED ALWAYS AS (date_format(at, 'yyyy-MM')), n INT AS (year(at) % 100)) PARTITIONED BY (day)",
		"INSERT INTO t (at) VALUES ('2024-02-29 10:00:00'), (NULL)", "INSERT INTO t VALUES ('2024-03-01 00:00:00', '2024-03-01', DEFAULT, 24)")
	require.Equal(t, []string{"NULL|NULL|NULL|NULL", "2024-02-29 10:00:00.000000|2024-02-29|2024-02|24", "2024-03-01 00:00:00.000000|2024-03-01|2024-03|24"},
		l.rows("SELECT * FROM t ORDER BY at"))
	require.DirExists(t, l.path("lake", "lake", "t", "day=2024-02-29"))
	l.refused("INSERT INTO t (at, n) VALUES ('2024-01-01 00:00:00', 5)", "DELTA_GENERATED_COLUMN_VALUE_MISMATCH")
	l.exec("INSERT INTO t (at) SELECT at + INTERVAL 1 DAY FROM t WHERE n = 24")
	require.Equal(t, []string{"2"}, l.rows("SELECT COUNT(*) FROM t WHERE day = '2024-03-01'"))
	l.refused("CREATE TABLE bad (a INT, b INT AS (a + 1), c INT AS (b + 1))", "column b")
	l.refused("CREATE TABLE bad (a INT, b TIMESTAMP AS (current_timestamp()))", "values change")
	l.refused("CREATE TABLE bad (a INT, b INT AS (nothing(a)))", "nothing")
	require.Contains(t, l.rows("DESCRIBE t"), "day|date|YES||NULL|STORED GENERATED")
}

func TestIdentityColumns(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (id BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 5), s STRING)", "INSERT INTO a (s) VALUES ('x'), ('y')",
		"INSERT INTO a VALUES (NULL, 'z'), (DEFAULT, 'w')")
	require.Equal(t, []string{"10|x", "15|y", "20|z", "25|w"}, l.rows("SELECT * FROM a ORDER BY id"))
	l.refused("INSERT INTO a VALUES (1, 'no')", "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED")
	l.exec("CREATE TABLE b (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, s VARCHAR(9))")
	require.Contains(t, l.rows("DESCRIBE b"), "id|bigint|YES||NULL|auto_increment")
	l.exec("INSERT INTO b (s) VALUES ('x')", "INSERT INTO b VALUES (100, 'y'), (NULL, 'z')", "INSERT INTO b (s) SELECT s FROM a")
	require.Equal(t, []string{"7|7"}, l.rows("SELECT COUNT(*), COUNT(DISTINCT id) FROM b"))
	require.Equal(t, []string{"1"}, l.rows("SELECT COUNT(*) FROM b WHERE id = 100"))
	l.exec("BEGIN", "INSERT INTO a (s) VALUES ('p')", "INSERT INTO a (s) VALUES ('q')", "COMMIT")
	require.Equal(t, []string{"30|p", "35|q"}, l.rows("SELECT * FROM a WHERE s IN ('p', 'q') ORDER BY id"))
	l.refused("CREATE TABLE bad (a STRING AUTO_INCREMENT)", "BIGINT")
	l.refused("CREATE TABLE bad (a INT AUTO_INCREMENT DEFAULT 5)", "only one of")
}

func TestChecks(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT CHECK (a > 0), b INT, s STRUCT<x: INT>, CONSTRAINT Order_ok CHECK (b >= a OR b IS NULL))", `INSERT INTO t (a, b) VALUES (1, 2), (3, NULL)`)
	_, err := l.try("INSERT INTO t (a, b) VALUES (5, 6), (0, 1)")
	require.True(t, errors.Is(err, delta.ErrCheck), "%v", err)
	require.Contains(t, err.Error(), "t_chk_1")
	l.refused("INSERT INTO t (b) VALUES (1)", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES")
	l.refused("INSERT INTO t (a, b) SELECT b, a FROM t WHERE a = 1", "order_ok")
	l.refused("UPDATE t SET b = 0 WHERE a = 1", "order_ok")
	require.Equal(t, []string{"1|2", "3|NULL"}, l.rows("SELECT a, b FROM t ORDER BY a"))
	require.Contains(t, l.rows("SHOW TBLPROPERTIES t"), "delta.constraints.order_ok|b >= a OR b IS NULL")
	l.refused("CREATE TABLE bad (a INT, CHECK (c > 0))", "column c")
	l.refused("CREATE TABLE bad (a INT, CONSTRAINT k CHECK (a > 0), CONSTRAINT K CHECK (a < 9))", "DELTA_CONSTRAINT_ALREADY_EXISTS")
	l.exec("CREATE TABLE u (s STRUCT<x: INT>, CHECK (s.x > 0))", `INSERT INTO u VALUES ('{"x": 1}')`)
	l.refused(`INSERT INTO u VALUES ('{"x": -1}')`, "u_chk_1")
}

func TestStreamsKeepTheRulesOfTheirTarget(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "s,at\nx,2024-02-29 10:00:00\ny,2024-03-01 11:00:00\n")
	l.exec("CREATE TABLE t (id BIGINT GENERATED ALWAYS AS IDENTITY, s STRING CHECK (s <> 'bad'), n INT DEFAULT 7, at TIMESTAMP, day DATE GENERATED ALWAYS AS (CAST(at AS DATE)))",
		"CREATE STREAM st INTO t WITH CHECKPOINT './cp' AS SELECT s, at FROM STREAM read_files('./in', format => 'csv', header => true)",
		"WAIT FOR STREAM st TIMEOUT 20 SECONDS")
	require.Equal(t, []string{"1|x|7|2024-02-29", "2|y|7|2024-03-01"}, l.rows("SELECT id, s, n, day FROM t ORDER BY id"))
	l.write("in/b.csv", "s,at\nz,2024-03-02 00:00:00\n")
	l.exec("WAIT FOR STREAM st TIMEOUT 20 SECONDS")
	require.Equal(t, []string{"3|z"}, l.rows("SELECT id, s FROM t WHERE day = '2024-03-02'"))
	l.write("in/c.csv", "s,at\nbad,2024-03-02 00:00:00\n")
	l.refused("WAIT FOR STREAM st TIMEOUT 20 SECONDS", "t_chk_1")
	require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM t"))
}
