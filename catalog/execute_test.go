package catalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/stretchr/testify/require"

	"lakesql/catalog/compile"
)

// byRows runs a query on GMS's executor alone, over the same table.
func (l *lab) byRows(query string) []string {
	l.t.Helper()
	builder := l.c.engine.Analyzer.ExecBuilder
	own := builder.PriorityBuilder
	builder.PriorityBuilder = nil
	defer func() { builder.PriorityBuilder = own }()
	return l.rows(query)
}

func TestBothExecutorsAgree(t *testing.T) {
	l := newLab(t)
	l.exec(`CREATE TABLE t (a INT, b BIGINT, d DOUBLE, m DECIMAL(10,2), f BOOLEAN, day DATE, at DATETIME(6), s VARCHAR(20), x TEXT)`)
	values := []string{"(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"}
	for i := range 50 {
		values = append(values, fmt.Sprintf("(%d, %d, %g, %d.%02d, %t, '2024-01-%02d', '2024-01-%02d 0%d:00:00.5', 'name-%d', 'it''s %d')",
			i-10, i*1000003, float64(i)*0.75, i, i, i%2 == 0, i%28+1, i%28+1, i%10, i%7, i))
	}
	l.exec("INSERT INTO t VALUES " + strings.Join(values, ", "))
	for _, where := range []string{
		"a > 5", "a >= 5 AND b < 30000090", "a = 3 OR a = 4", "NOT a > 5", "a IS NULL", "a IS NOT NULL AND d > 10", "a <> 7", "a != 7 AND f",
		"a <=> 3", "m = 3.03", "m > 10", "m BETWEEN 3 AND 7.5", "d = 7.5", "d > 7", "f = true", "f", "NOT f", "f = 0", "day = '2024-01-05'", "day > '2024-01-20'",
		"at >= '2024-01-05 02:00:00' AND at < '2024-01-09'", "at > DATE '2024-01-20'", "s = 'name-3'", "s > 'name-4'", "s LIKE 'name-%'", "x LIKE '%''s 1_'",
		"s IN ('name-1', 'name-2', 'none')", "a IN (1, 2, 3)", "a NOT IN (1, 2, 3)", "5 < a", "'name-3' = s", "a = 2.5", "a = '7'", "s = 3", "s = 'NAME-3'",
		"a + 1 > 20", "a * 2 = b / 1000003", "length(s) > 3 AND a > 5", "a > b", "d > a", "upper(s) = 'NAME-1'", "day = at", "day IS NULL OR a = 1", "a % 3 = 0",
		"coalesce(a, 0) = 0", "a = NULL", "b > 9223372036854775807", "x <> s", "day = '2024-01-05 10:00:00'",
	} {
		for _, columns := range []string{"*", "a, s, at", "a + 1, b * 2, m * 2, d / 2, a DIV 3, a % 4, -a, m + a, a > 5, s"} {
			query := "SELECT " + columns + " FROM t WHERE " + where
			require.Equal(t, l.byRows(query), l.rows(query), query)
		}
	}
	for _, query := range []string{
		"SELECT COUNT(*), COUNT(a), SUM(a), MIN(s), MAX(at) FROM t", "SELECT f, COUNT(*), SUM(m) FROM t GROUP BY f", "SELECT s, MAX(b) FROM t WHERE a > 0 GROUP BY s ORDER BY s",
		"SELECT COUNT(DISTINCT s) FROM t", "SELECT a FROM t ORDER BY a DESC LIMIT 3", "SELECT x.a, y.s FROM t x JOIN t y ON x.a = y.a WHERE x.a > 30",
		"SELECT a FROM t WHERE a IN (SELECT MAX(a) FROM t)", "SELECT (SELECT MAX(b) FROM t i WHERE i.a = o.a) FROM t o WHERE o.a < 3",
		"SELECT q.k FROM (SELECT a AS k, s FROM t WHERE a > 3) q WHERE q.k < 6", "SELECT 1 FROM t", "SELECT s, GROUP_CONCAT(a ORDER BY a) FROM t GROUP BY s",
	} {
		require.ElementsMatch(t, l.byRows(query), l.rows(query), query)
	}
}

func TestExplainShowsWhatRunsWhere(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, s VARCHAR(10), at DATETIME)")
	plan := strings.Join(l.rows("EXPLAIN SELECT a FROM t WHERE a > 1 AND at > '2024-01-01'"), "\n")
	require.Contains(t, plan, "Vector")
	require.Contains(t, plan, "Scan lake.t version 0 (a, at)")
	plan = strings.Join(l.rows("EXPLAIN SELECT s, COUNT(*) FROM t WHERE RAND() < 2 AND a > 1 GROUP BY s"), "\n")
	require.Contains(t, plan, "GroupBy")
	require.Contains(t, plan, "Vector")
}

func TestCountIsAnsweredFromStatistics(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1), (2)", "INSERT INTO t VALUES (3)")
	require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM t"))
	require.Equal(t, []string{"3|3"}, l.rows("SELECT COUNT(*), COUNT(1) FROM t"))
	require.Equal(t, []string{"1"}, l.rows("SELECT COUNT(*) FROM t WHERE a > 2"))
}

// GMS's own GROUP BY never ends when an expression fails and more than 512 rows are left.
func TestErrorInGroupByEndsTheStatement(t *testing.T) {
	l := newLab(t)
	values := make([]string, 2000)
	for i := range values {
		values[i] = fmt.Sprintf("('row %d')", i)
	}
	l.exec("CREATE TABLE t (s VARCHAR(20))", "INSERT INTO t VALUES "+strings.Join(values, ", "))
	done := make(chan error, 1)
	go func() { _, err := l.try("SELECT COUNT(*) FROM t GROUP BY ST_GeomFromText(s)"); done <- err }()
	select {
	case err := <-done:
		require.Error(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "the statement hangs")
	}
}

func TestNullsOfFunctionsReachThePlanner(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,name\n1,ann\n2,\n")
	require.Equal(t, []string{"2"}, l.rows("SELECT id FROM read_files('./in', format => 'csv', header => true) WHERE name IS NULL"))
	require.Empty(t, l.rows("SELECT 1 WHERE 'x' NOT IN (SELECT name FROM read_files('./in', format => 'csv', header => true))"))
}

func TestStatementEndsWhenItsContextDoes(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)")
	ctx := l.ctx()
	inner, cancel := ctx.NewSubContext()
	_, iter, _, err := l.c.engine.Query(inner, "SELECT * FROM t")
	require.NoError(t, err)
	cancel()
	_, err = compile.Drain(inner, iter)
	require.Error(t, err)
	var _ sql.RowIter = iter
}
