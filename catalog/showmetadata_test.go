package catalog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/stretchr/testify/require"

	"lakesql/catalog/compile"
)

func TestShowMetadataForms(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)")
	require.Equal(t, []string{"information_schema", "lake", "mysql", "performance_schema", "sys"}, l.rows("SHOW DATABASES"))
	require.Equal(t, []string{"lake"}, l.rows("SHOW SCHEMAS LIKE 'l%'"))
	require.Equal(t, []string{"lake"}, l.rows("SHOW DATABASES WHERE `Database` = 'lake'"))
	require.Equal(t, []string{"InnoDB|DEFAULT|Delta Lake: transactions of one table each, on files|YES|NO|YES", "PERFORMANCE_SCHEMA|YES|Performance Schema|NO|NO|NO"}, l.rows("SHOW STORAGE ENGINES"))
	require.Contains(t, l.rows("SHOW PLUGINS"), "caching_sha2_password|ACTIVE|AUTHENTICATION|NULL|Apache-2.0")
	require.Empty(t, l.rows("SHOW OPEN TABLES FROM lake WHERE In_use > 0"))
	require.Empty(t, l.rows("HELP 'SELECT'"))
	l.exec("FLUSH TABLES", "FLUSH LOCAL STATUS", "FLUSH TABLES t", "FLUSH LOGS")
	l.refused("FLUSH TABLES WITH READ LOCK", "START TRANSACTION")
	l.refused("SHOW OPEN TABLES FROM", "near")
}

// SHOW ERRORS and the counts are about the statement before, and change nothing of what it had to say.
func TestShowErrors(t *testing.T) {
	l := newLab(t)
	l.exec("SELECT 1/0")
	for range 2 {
		require.Equal(t, []string{"1"}, l.rows("SHOW COUNT(*) WARNINGS"))
		require.Equal(t, []string{"0"}, l.rows("SHOW COUNT(*) ERRORS"))
		require.Empty(t, l.rows("SHOW ERRORS"))
		require.Len(t, l.rows("SHOW WARNINGS"), 1)
	}
	ctx := l.ctx()
	require.NoError(t, sql.SessionCommandBegin(l.sess))
	Failed(ctx, 1064, "not that")
	require.Equal(t, []string{"Error|1064|not that"}, l.rows("SHOW ERRORS LIMIT 1"))
	require.Empty(t, l.rows("SHOW ERRORS LIMIT 1, 1"))
	require.Equal(t, []string{"1"}, l.rows("SHOW COUNT(*) ERRORS"))
	l.exec("SELECT 1")
	require.Equal(t, []string{"0"}, l.rows("SHOW COUNT(*) WARNINGS"))
}

func TestProfiles(t *testing.T) {
	l := newLab(t)
	l.openUsers()
	profiled := func(statement string) {
		ctx := l.ctx().WithQuery(statement)
		_, rows, _, err := l.c.engine.Query(ctx, statement)
		require.NoError(t, err, statement)
		_, err = compile.Drain(ctx, rows)
		require.NoError(t, err, statement)
		sql.SessionCommandEnd(l.sess)
	}
	profiled("SELECT 0")
	require.Empty(t, l.rows("SHOW PROFILES"))
	require.Empty(t, l.rows("SHOW PROFILE"))
	profiled("SET profiling = 1")
	profiled("SELECT 1")
	profiled("CREATE USER x IDENTIFIED BY 'word'")
	require.Regexp(t, `^1\|0\.\d{8}\|SELECT 1$`, l.rows("SHOW PROFILES")[0])
	require.Contains(t, l.rows("SHOW PROFILES")[1], "<secret>")
	require.Regexp(t, `^executing\|0\.\d{8}$`, l.rows("SHOW PROFILE FOR QUERY 1")[0])
	require.Regexp(t, `^executing\|0\.\d{8}\|NULL\|NULL\|NULL$`, l.rows("SHOW PROFILE CPU, SWAPS")[0])
	require.Empty(t, l.rows("SHOW PROFILE FOR QUERY 9"))
	require.Len(t, l.rows("SELECT * FROM information_schema.PROFILING"), 2)
	l.exec("SET profiling_history_size = 1")
	sql.SessionCommandEnd(l.sess)
	require.Len(t, l.rows("SHOW PROFILES"), 1)
	l.refused("SHOW PROFILE NONSENSE", "near")
}

// Tables with equal rows have equal checksums, whatever their files; others have others.
func TestChecksumTable(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (k INT, v VARCHAR(9), d DATE)", "CREATE TABLE b LIKE a", "INSERT INTO a VALUES (1, 'x', '2024-01-01'), (2, NULL, NULL)", "INSERT INTO b VALUES (2, NULL, NULL)", "INSERT INTO b VALUES (1, 'x', '2024-01-01')")
	sums := l.rows("CHECKSUM TABLE a, b")
	require.Equal(t, strings.TrimPrefix(sums[0], "lake.a|"), strings.TrimPrefix(sums[1], "lake.b|"))
	require.NotContains(t, sums[0], "NULL")
	l.exec("UPDATE b SET v = '' WHERE k = 2")
	require.NotEqual(t, strings.TrimPrefix(sums[0], "lake.a"), strings.TrimPrefix(l.rows("CHECKSUM TABLE b EXTENDED")[0], "lake.b"))
	require.Equal(t, []string{"lake.a|NULL"}, l.rows("CHECKSUM TABLE a QUICK"))
	require.Equal(t, []string{"lake.nosuch|NULL"}, l.rows("CHECKSUM TABLE nosuch"))
	require.Equal(t, []string{"1"}, l.rows("SHOW COUNT(*) ERRORS"))
}

func TestExplainFormats(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (k INT, v INT)", "CREATE TABLE u (k INT)", "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)", "INSERT INTO u VALUES (1)")
	for query, rows := range map[string][]string{
		"SELECT 1":                      {"1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|No tables used"},
		"SELECT v FROM t x WHERE k > 1": {"1|SIMPLE|x|NULL|ALL|NULL|NULL|NULL|NULL|3|100|Using where"},
		"SELECT v, COUNT(*) FROM t GROUP BY v ORDER BY v":            {"1|SIMPLE|t|NULL|ALL|NULL|NULL|NULL|NULL|3|100|Using temporary; Using filesort"},
		"SELECT * FROM (SELECT v FROM t GROUP BY v) d":               {"1|PRIMARY|<derived2>|NULL|ALL|NULL|NULL|NULL|NULL|NULL|NULL|NULL", "2|DERIVED|t|NULL|ALL|NULL|NULL|NULL|NULL|3|100|Using temporary"},
		"SELECT k FROM t UNION SELECT k FROM u":                      {"1|PRIMARY|t|NULL|ALL|NULL|NULL|NULL|NULL|3|100|NULL", "2|UNION|u|NULL|ALL|NULL|NULL|NULL|NULL|1|100|NULL", "NULL|UNION RESULT|<union1,2>|NULL|ALL|NULL|NULL|NULL|NULL|NULL|NULL|Using temporary"},
		"UPDATE t SET v = 9 WHERE k = 1":                             {"1|UPDATE|lake.t|NULL|ALL|NULL|NULL|NULL|NULL|NULL|NULL|NULL"},
		"MERGE INTO t USING u ON t.k = u.k WHEN MATCHED THEN DELETE": {"1|MERGE|lake.t|NULL|ALL|NULL|NULL|NULL|NULL|NULL|NULL|NULL"},
	} {
		require.Equal(t, rows, l.rows("EXPLAIN FORMAT=TRADITIONAL "+query), query)
		document := l.rows("EXPLAIN FORMAT = json " + query)
		require.Len(t, document, 1)
		var parsed struct {
			Block struct {
				Plan []string `json:"plan"`
			} `json:"query_block"`
		}
		require.NoError(t, json.Unmarshal([]byte(document[0]), &parsed), document[0])
		if !strings.HasPrefix(query, "MERGE") {
			require.Equal(t, l.rows("EXPLAIN FORMAT=TREE "+query), parsed.Block.Plan, query)
		}
	}
	require.Len(t, l.rows("EXPLAIN FORMAT=TRADITIONAL SELECT t.v FROM t JOIN u ON t.k = u.k"), 2)
	require.Len(t, l.rows("DESCRIBE FORMAT=JSON SELECT * FROM t WHERE k IN (SELECT k FROM u)"), 1)
	l.refused("EXPLAIN FORMAT=XML SELECT 1", "unknown EXPLAIN format name: 'XML'")
	l.refused("EXPLAIN FORMAT=JSON SELECT * FROM nosuch", "nosuch")
	l.refused("EXPLAIN FORMAT=JSON", "near")
	require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM t WHERE v = k"))
}

// A call whose arguments GMS only prints, as it does to name the column of a subquery, is planned.
func TestStrcmpOfASubquery(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (s VARCHAR(9))", "INSERT INTO t VALUES ('b')")
	require.Equal(t, []string{"-1"}, l.rows("SELECT STRCMP('a', (SELECT MAX(s) FROM t))"))
}
