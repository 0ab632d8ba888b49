package catalog

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// varying are the numbers of a plan that differ from run to run, or from machine to machine, and what is only thought.
var varying = regexp.MustCompile(`\b(time|readers|memory)=[0-9.]+|(\(rows)=[0-9]+`)

// analysed is EXPLAIN ANALYZE of a query with those numbers masked.
func (l *lab) analysed(query string) string {
	return varying.ReplaceAllString(strings.Join(l.rows("EXPLAIN ANALYZE "+query), "\n"), "$1$2=...")
}

func TestExplainAnalyzeIsAsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/sql.md")
	require.NoError(t, err)
	_, example, ok := strings.Cut(string(text), "<!-- explain -->\n")
	require.True(t, ok)
	blocks := strings.Split(example, "```")
	statements := strings.Split(strings.TrimPrefix(blocks[1], "sql\n"), ";\n")
	plan := strings.TrimSpace(blocks[3])
	l := newLab(t)
	l.exec(statements[:len(statements)-2]...)
	query := strings.TrimPrefix(strings.TrimSpace(statements[len(statements)-2]), "EXPLAIN ANALYZE ")
	require.Equal(t, varying.ReplaceAllString(plan, "$1$2=..."), l.analysed(query))
}

func TestExplainShowsWhatScansLeaveOut(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, p INT) PARTITIONED BY (p)", "INSERT INTO t VALUES (1, 1), (2, 1)", "INSERT INTO t VALUES (10, 2)", "INSERT INTO t VALUES (20, 3), (30, 3)")
	plan := func(query string) string { return strings.Join(l.rows("EXPLAIN "+query), "\n") }
	require.Contains(t, plan("SELECT * FROM t"), "Scan lake.t version 3 (a, p) (rows=5) (files=3/3 row_groups=3/3 page_rows_skipped=0)")
	require.Contains(t, plan("SELECT * FROM t WHERE p = 2"), "(files=1/3 row_groups=1/1 page_rows_skipped=0)")
	require.Contains(t, plan("SELECT * FROM t WHERE a > 25"), "(files=1/3 row_groups=1/1 page_rows_skipped=0)")
	require.Contains(t, plan("SELECT * FROM t WHERE a > (SELECT MIN(a) + 25 FROM t)"), "(files=3/3 row_groups=3/3 page_rows_skipped=0)", "the subquery is not executed")
	require.Contains(t, plan("SELECT a + RAND() FROM t WHERE RAND() < 2 AND a > 25"), "Filter (t.a > 25)", "the part of a filter that runs on columns")
	require.Equal(t, l.rows("EXPLAIN SELECT a FROM t"), l.rows("EXPLAIN FORMAT=TREE SELECT a FROM t"))
}

func TestExplainAnalyzeCounts(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, s VARCHAR(60))", `INSERT INTO t WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 999)
		SELECT x.i * 100 + y.i, CONCAT('a text of some length, number ', x.i * 100 + y.i) FROM n x JOIN n y WHERE y.i < 100`, "CREATE TABLE few (a INT)", "INSERT INTO few VALUES (3), (5), (99990)")
	plan := l.analysed("SELECT COUNT(*) FROM t JOIN few ON t.a = few.a")
	require.Regexp(t, `Join \(few\.a = t\.a\) \(rows=\.\.\.\) \(actual time=\.\.\. rows=3 batches=\d+ readers=\.\.\. memory=\.\.\. spilled=0\)`, plan)
	require.Regexp(t, `Scan lake\.t .*rows=3 .*\(skipped by runtime filters: files=0 row_groups=\d+ page_rows=\d+ rows=\d+\)`, plan)
	plan = l.analysed("SELECT a FROM t WHERE a < 5 AND RAND() < 2")
	require.Regexp(t, `(?s)^Filter.*Vector.*Filter \(t\.a < 5\) .* rows=5 `, plan)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // what each of several workers spills is little, and may stay in the buffers of its files
	l.exec("SET lakesql_query_memory = 1048576")
	plan = l.analysed("SELECT COUNT(*) FROM (SELECT s, MIN(a) FROM t GROUP BY s) g")
	require.Regexp(t, `Aggregate .* by t\.s .*rows=100000 .* spilled=[1-9]\d+`, plan)
	l.exec("SET lakesql_query_memory = 0", "SET lakesql_vector = OFF")
	require.NotContains(t, l.analysed("SELECT a FROM t WHERE a < 5"), "Vector")
}
