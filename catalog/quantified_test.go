package catalog

import (
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/stretchr/testify/require"
)

// ALL, ANY and SOME compare as MySQL does, NULL and tables without rows too.
func TestQuantifiedComparisons(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, b VARCHAR(9))", "INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'x')", "CREATE TABLE n (v INT)", "INSERT INTO n VALUES (1), (2)",
		"CREATE TABLE nn (v INT)", "INSERT INTO nn VALUES (1), (NULL)", "CREATE TABLE e (v INT)")
	for _, c := range []struct {
		condition string
		values    string // for a of 1, 2 and 3
	}{
		{"a > ALL (SELECT v FROM n)", "0 0 1"}, {"a >= ALL (SELECT v FROM n)", "0 1 1"}, {"a < ALL (SELECT v FROM n WHERE v > 1)", "1 0 0"},
		{"a > ANY (SELECT v FROM nn)", "NULL 1 1"}, {"a < any(select v from nn)", "NULL NULL NULL"}, {"a > ALL (SELECT v FROM nn)", "0 NULL NULL"},
		{"a < ALL (SELECT v FROM e)", "1 1 1"}, {"a < ANY (SELECT v FROM e)", "0 0 0"}, {"NULL > ALL (SELECT v FROM e)", "1 1 1"}, {"NULL > SOME (SELECT v FROM n)", "NULL NULL NULL"},
		{"a = ALL (SELECT v FROM n WHERE v = 2)", "0 1 0"}, {"a = ALL (SELECT v FROM n)", "0 0 0"}, {"a = ALL (SELECT v FROM e)", "1 1 1"}, {"a <> ANY (SELECT v FROM n)", "1 1 1"},
		{"a != ANY (SELECT v FROM n WHERE v = 2)", "1 0 1"}, {"a = SOME (SELECT v FROM n)", "1 1 0"}, {"a <> ALL (SELECT v FROM n)", "0 0 1"}, {"a != ALL (SELECT v FROM nn)", "0 NULL NULL"},
		{"NOT a > ALL (SELECT v FROM n)", "1 1 0"}, {"a > ALL (SELECT u.a FROM t u WHERE u.b = t.b AND u.a <> t.a)", "0 1 1"}, {"a > ALL (SELECT * FROM n)", "0 0 1"},
		{"a > ALL (SELECT v FROM n UNION SELECT 0)", "0 0 1"}, {"(a, b) = ANY (SELECT a, b FROM t)", "1 1 1"}, {"a > ALL ((SELECT v FROM n))", "0 0 1"},
		{"a > ALL (SELECT v FROM n WHERE v = ANY (SELECT v FROM nn))", "0 1 1"}, {"a >= ALL (SELECT SUM(v) FROM n GROUP BY v)", "0 1 1"}, {"a > ALL (SELECT v FROM n ORDER BY v LIMIT 1)", "0 1 1"},
	} {
		require.Equal(t, c.values, strings.Join(l.rows("SELECT "+c.condition+" FROM t ORDER BY a"), " "), c.condition)
		true1 := strings.Count(c.values, "1")
		require.Len(t, l.rows("SELECT a FROM t WHERE "+c.condition), true1, c.condition)
		require.Len(t, l.rows("SELECT a FROM t WHERE a < 9 AND ("+c.condition+")"), true1, c.condition)
	}
	require.Equal(t, []string{"x"}, l.rows("SELECT b FROM t GROUP BY b HAVING SUM(a) >= ALL (SELECT SUM(a) FROM t GROUP BY b)"))
	schema, _, _, err := l.c.engine.Query(l.ctx(), "SELECT a > ALL(SELECT v FROM n) FROM t")
	require.NoError(t, err)
	require.Equal(t, "a > ALL(SELECT v FROM n)", schema[0].Name)
	rows, err := l.run("SELECT a FROM t WHERE a > ALL (SELECT v FROM n WHERE v < :v1)", map[string]sqlparser.Expr{"v1": sqlparser.NewIntVal([]byte("2"))})
	require.NoError(t, err)
	require.Len(t, rows, 2)
}

func TestQuantifiedComparisonsInOtherStatements(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2), (3)", "CREATE VIEW v AS SELECT a FROM t WHERE a > ALL (SELECT a FROM t WHERE a < 2)")
	require.Equal(t, []string{"2", "3"}, l.rows("SELECT * FROM v ORDER BY a"))
	require.Contains(t, l.rows("SHOW CREATE VIEW v")[0], "a > ALL (SELECT a FROM t WHERE a < 2)")
	require.Contains(t, l.rows("EXPLAIN SELECT a FROM t WHERE a >= ANY (SELECT a FROM t WHERE a > 1)")[0], "Vector")
	l.exec("UPDATE t SET a = 9 WHERE a >= ALL (SELECT 3)", "DELETE FROM t WHERE a < ANY (SELECT 2)")
	require.Equal(t, []string{"2", "9"}, l.rows("SELECT a FROM t ORDER BY a"))
	l.refused("SELECT a FROM t WHERE a > ALL (SELECT a, a FROM t)", "operand should have 1")
	l.refused("SELECT a FROM t WHERE (a, a) > ALL (SELECT a, a FROM t)", "operand should have 1")
	l.refused("SELECT a FROM t WHERE a <=> ALL (SELECT 1)", "syntax error")
	l.refused("SELECT a FROM t WHERE a > ALL (SELECT nothing FROM t)", "nothing")
	l.refused("SELECT __quantified('ALL', 1, 2)", "syntax")
}

// SET takes an assignment as a value.
func TestSetOfAnAssignment(t *testing.T) {
	l := newLab(t)
	l.exec("SET @a := @b := 3, @c = (@d := 4) + 1")
	require.Equal(t, []string{"3|3|5|4"}, l.rows("SELECT @a, @b, @c, @d"))
}
