package catalog

import (
	"fmt"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/stretchr/testify/require"
)

// @v := e amid a statement assigns for each row, in their order, and is the value.
func TestVariablesAreAssignedAmidAStatement(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, s VARCHAR(9), n DECIMAL(9,2))", "INSERT INTO t VALUES (1, 'a', 1.50), (2, 'b', 2.25), (3, 'c', NULL), (4, 'b', 4)")
	for _, c := range []struct {
		query string
		rows  []string
	}{
		{"SELECT @a := 5, @a + 1", []string{"5|6"}},
		{"SELECT @a", []string{"5"}},
		{"SELECT @rank := @rank + 1 AS r, id FROM t, (SELECT @rank := 0) z ORDER BY id DESC", []string{"1|4", "2|3", "3|2", "4|1"}},
		{"SELECT @rank := @rank + 1 AS r, id FROM (SELECT @rank := 10) z, t ORDER BY id", []string{"11|1", "12|2", "13|3", "14|4"}},
		{"SELECT id, (@seen := IFNULL(@seen, 0) + 1) FROM t WHERE id > 1 ORDER BY id", []string{"2|1", "3|2", "4|3"}},
		{"SELECT id, IF(@last = s, 'same', 'new'), @last := s FROM t ORDER BY s, id", []string{"1|new|a", "2|new|b", "4|same|b", "3|new|c"}},
		{"SELECT (@sum := @sum + IFNULL(n, 0)) DIV 0.01 FROM t, (SELECT @sum := 0.00) z ORDER BY id", []string{"150", "375", "375", "775"}},
		{"SELECT CASE s WHEN 'a' THEN @k := 1 WHEN 'b' THEN @k := 2 ELSE @k := -1 END AS k, CASE @k WHEN 1 THEN 'one' WHEN (-1) THEN 'less' ELSE @k * 10 END FROM t ORDER BY id",
			[]string{"1|one", "2|20", "-1|less", "2|20"}},
		{"SELECT @a := @b := 7, @a + @b", []string{"7|14"}},
		{"SELECT @a:=1 x, @b:='q' `y`", []string{"1|q"}},
		{"SELECT @x := NULL, @x IS NULL, @`odd name` := 3, @`odd name`", []string{"NULL|1|3|3"}},
		{"SELECT COUNT(*) FROM t WHERE (@n := IFNULL(@n, 0) + 1) <= 2", []string{"2"}},
		{"SELECT (SELECT @q := MAX(id) FROM t) + 1, @q", []string{"5|4"}},
		{"SELECT @h := s, COUNT(*) FROM t GROUP BY s ORDER BY s", []string{"a|1", "b|2", "c|1"}},
		{"SELECT @a := 1 UNION ALL SELECT @a + 1", []string{"1", "2"}},
	} {
		require.Equal(t, c.rows, l.rows(c.query), c.query)
	}
	l.exec("SET @a := 9, @b = 2", "INSERT INTO t (id) SELECT @a := @a + 1 FROM t")
	require.Equal(t, []string{"4|13"}, l.rows("SELECT COUNT(*), MAX(id) FROM t WHERE id > 9"))
	schema, _, _, err := l.c.engine.Query(l.ctx(), "SELECT @a := id  +1, @a, 2 AS b FROM t")
	require.NoError(t, err)
	require.Equal(t, "@a := id  +1", schema[0].Name)
	require.Equal(t, "@a", schema[1].Name)
	l.refused("CREATE VIEW v AS SELECT @a := 1", "syntax error")
	l.refused("SELECT __assign('a', 1)", "__assign")
}

func TestVariablesAreAssignedByUpdatesAndParameters(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, n INT)", "INSERT INTO t (id) VALUES (1), (2), (3)", "SET @n = 10", "UPDATE t SET n = (@n := @n + 1) WHERE id > 1")
	require.Equal(t, []string{"2|23"}, l.rows("SELECT COUNT(n), SUM(n) FROM t"))
	rows, err := l.run("SELECT @p := :v1, @p + 1", map[string]sqlparser.Expr{"v1": sqlparser.NewIntVal([]byte("41"))})
	require.NoError(t, err)
	require.Equal(t, "[[41 42]]", fmt.Sprint(rows))
}

// An assignment ends before an alias, whatever stands before that, and before the end of a comment that is executed.
func TestAssignmentsEndBeforeAliases(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct{ query, name, row string }{
		{"SELECT @a := '2024-01-01' + INTERVAL 1 DAY x", "x", "2024-01-02"},
		{"SELECT @a := '2024-01-01' + INTERVAL 1 + 1 WEEK", "@a := '2024-01-01' + INTERVAL 1 + 1 WEEK", "2024-01-15"},
		{"SELECT @a := '2024-01-01' + INTERVAL 1 QUARTER q", "q", "2024-04-01"},
		{"SELECT @a := '2024-01-01' + INTERVAL '1:1' HOUR_MINUTE y", "y", "2024-01-01 01:01:00"},
		{"SELECT @a := NULL z", "z", "NULL"},
		{"SELECT @a := 1 IS NULL 'lbl'", "lbl", "0"},
		{"SELECT @a := TRUE `t`", "t", "1"},
		{"SELECT @a := 1 \"l\"", "l", "1"},
		{"SELECT @a := _utf8mb4'x'", "@a := _utf8mb4'x'", "x"},
		{"SELECT /*!50000 @a := 3 */", "@a := 3", "3"},
		{"SELECT /*!50000 @a := */ 4 /*! + 1 */ n", "n", "5"},
	} {
		require.Equal(t, []string{c.row}, l.rows(c.query), c.query)
		schema, _, _, err := l.c.engine.Query(l.ctx(), c.query)
		require.NoError(t, err)
		require.Equal(t, c.name, schema[0].Name, c.query)
	}
}
