package catalog

import (
	"sync"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/stretchr/testify/require"
)

func TestEachStatementSeesTheNewest(t *testing.T) {
	l := newLab(t)
	other := l.session()
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)")
	require.Equal(t, []string{"1"}, other.rows("SELECT COUNT(*) FROM t"))
	l.exec("INSERT INTO t VALUES (2)")
	require.Equal(t, []string{"2"}, other.rows("SELECT COUNT(*) FROM t"))
	other.exec("SET autocommit = 0")
	require.Equal(t, []string{"2"}, other.rows("SELECT COUNT(*) FROM t"))
	l.exec("INSERT INTO t VALUES (3)")
	require.Equal(t, []string{"3"}, other.rows("SELECT COUNT(*) FROM t"))
}

func TestBeginPinsVersions(t *testing.T) {
	l := newLab(t)
	other := l.session()
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)")
	other.exec("START TRANSACTION")
	require.Equal(t, []string{"1"}, other.rows("SELECT COUNT(*) FROM t"))
	l.exec("INSERT INTO t VALUES (2)")
	require.Equal(t, []string{"1"}, other.rows("SELECT COUNT(*) FROM t"))
	other.exec("COMMIT")
	require.Equal(t, []string{"2"}, other.rows("SELECT COUNT(*) FROM t"))
}

func TestTransactionIsOneCommit(t *testing.T) {
	l := newLab(t)
	other := l.session()
	l.exec("CREATE TABLE t (a INT, p INT) USING DELTA PARTITIONED BY (p)", "CREATE TABLE u (a INT)", "BEGIN",
		"INSERT INTO t VALUES (1, 1)", "INSERT INTO t VALUES (2, NULL), (3, 1)")
	require.Equal(t, []string{"1|1", "2|NULL", "3|1"}, l.rows("SELECT * FROM t ORDER BY a"), "own writes are seen")
	require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM t"))
	require.Equal(t, []string{"0"}, other.rows("SELECT COUNT(*) FROM t"), "others do not see them")
	l.refused("INSERT INTO u VALUES (1)", "a transaction writes one table", "COMMIT before you write u")
	other.exec("INSERT INTO t VALUES (9, 9)")
	l.exec("COMMIT")
	require.Equal(t, []string{"4"}, other.rows("SELECT COUNT(*) FROM t"))
	require.Len(t, l.rows("DESCRIBE HISTORY t"), 3)
}

func TestRollbackAndSavepoints(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT)", "BEGIN", "INSERT INTO t VALUES (1)", "SAVEPOINT s", "INSERT INTO t VALUES (2)", "ROLLBACK TO SAVEPOINT s")
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM t"))
	l.exec("COMMIT")
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM t"))
	l.exec("BEGIN", "INSERT INTO t VALUES (3)", "ROLLBACK")
	require.Equal(t, []string{"1"}, l.rows("SELECT * FROM t"))
	l.exec("START TRANSACTION READ ONLY")
	l.refused("INSERT INTO t VALUES (4)", "READ ONLY")
	l.exec("ROLLBACK")
}

func TestFailedInsertLeavesNothing(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a TINYINT NOT NULL)")
	l.refused("INSERT INTO t VALUES (1), (2), (300)", "range")
	l.refused("INSERT INTO t VALUES (1), (NULL)", "null")
	require.Empty(t, l.rows("SELECT * FROM t"))
	l.exec("INSERT IGNORE INTO t VALUES (1), (300), (2)")
	require.Equal(t, []string{"3"}, l.rows("SELECT COUNT(*) FROM t"))
	require.Len(t, l.rows("DESCRIBE HISTORY t"), 2, "one commit a statement")
}

func TestInsertSelect(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (a INT, s VARCHAR(10))", "INSERT INTO t VALUES (1, 'x'), (2, 'y')",
		"INSERT INTO t SELECT a + 10, upper(s) FROM t", "INSERT INTO t (s) SELECT 'only'")
	require.Equal(t, []string{"NULL|only", "1|x", "2|y", "11|X", "12|Y"}, l.rows("SELECT * FROM t ORDER BY a"))
}

// INSERT ... SELECT of batches and of rows give the same table and the same answer.
func TestInsertOfBatches(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE src (a INT, x TEXT)", "INSERT INTO src VALUES (1, 'one'), (2, NULL), (3, 'three')",
		"CREATE TABLE dst (a INT NOT NULL, x TEXT) USING DELTA PARTITIONED BY (a)", "CREATE TABLE strict (a INT, x VARCHAR(4))")
	rows, err := l.try("INSERT INTO dst SELECT a, x FROM src WHERE a > 1")
	require.NoError(t, err)
	require.Equal(t, []sql.Row{{types.OkResult{RowsAffected: 2}}}, rows)
	require.Equal(t, []string{"2|NULL", "3|three"}, l.rows("SELECT * FROM dst ORDER BY a"))
	l.refused("INSERT INTO strict SELECT a, x FROM src", "Data too long for column 'x' at row 3")
	l.exec("INSERT INTO src VALUES (NULL, 'none')")
	l.refused("INSERT INTO dst SELECT a, x FROM src", "a")
	l.exec("BEGIN", "INSERT INTO dst SELECT a + 10, x FROM src WHERE a = 1", "INSERT INTO dst SELECT a, x FROM src WHERE a = 1")
	require.Equal(t, []string{"4"}, l.rows("SELECT COUNT(*) FROM dst"))
	l.exec("ROLLBACK")
	require.Equal(t, []string{"2|NULL", "3|three"}, l.rows("SELECT * FROM dst ORDER BY a"))
	rows, err = l.try("CREATE TABLE copied AS SELECT * FROM src")
	require.NoError(t, err)
	require.Equal(t, []sql.Row{{types.OkResult{RowsAffected: 4}}}, rows)
}

// prepare does what COM_STMT_PREPARE and COM_STMT_EXECUTE do.
func (l *lab) prepared(query string, binds map[string]sqlparser.Expr) []string {
	l.t.Helper()
	ctx := l.ctx()
	_, err := l.c.engine.PrepareQuery(ctx, query)
	require.NoError(l.t, err, query)
	ctx = l.ctx()
	schema, iter, _, err := l.c.engine.QueryWithBindings(ctx, query, nil, binds, nil)
	require.NoError(l.t, err, query)
	var out []string
	for {
		row, err := iter.Next(ctx)
		if err != nil {
			require.NoError(l.t, iter.Close(ctx))
			return out
		}
		out = append(out, l.wire(ctx, schema, row))
	}
}

func TestPreparedStatements(t *testing.T) {
	l := newLab(t)
	other := l.session()
	l.exec("CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)")
	l.write("in/a.csv", "n,s\n1,one\n2,two\n")
	_, err := l.c.engine.PrepareQuery(l.ctx(), "SELECT COUNT(*) FROM t WHERE a > ?")
	require.NoError(t, err)
	other.exec("INSERT INTO t VALUES (2)")
	one := func(v string) map[string]sqlparser.Expr {
		return map[string]sqlparser.Expr{"v1": sqlparser.NewIntVal([]byte(v))}
	}
	require.Equal(t, []string{"2"}, l.prepared("SELECT COUNT(*) FROM t WHERE a > ?", one("0")), "PREPARE pins nothing")
	require.Equal(t, []string{"1"}, l.prepared("SELECT COUNT(*) FROM t VERSION AS OF ?", one("1")))
	require.Equal(t, []string{"two"}, l.prepared("SELECT s FROM read_files('./in', format => 'csv', header => true) WHERE n > ?", one("1")))
	text := map[string]sqlparser.Expr{"v1": sqlparser.NewStrVal([]byte("./in/*.csv"))}
	require.Equal(t, []string{"2"}, l.prepared("SELECT COUNT(*) FROM read_files(?, format => 'csv', header => true)", text))
	require.Len(t, l.prepared("DESCRIBE HISTORY t LIMIT ?", one("2")), 2)
}

func TestMultiStatements(t *testing.T) {
	l := newLab(t)
	query := "SHOW STREAMS; select * from read_files('x', a => 1); SHOW STREAM STATUS"
	_, parsed, rest, err := l.c.engine.Parser.Parse(l.ctx(), query, true)
	require.NoError(t, err)
	require.Equal(t, "SHOW STREAMS", parsed)
	_, _, rest, err = l.c.engine.Parser.Parse(l.ctx(), rest, true)
	require.NoError(t, err)
	_, end, err := l.c.engine.Parser.ParseOneWithOptions(l.ctx(), query[len("SHOW STREAMS;"):], sqlparser.ParserOptions{})
	require.NoError(t, err)
	require.Equal(t, " SHOW STREAM STATUS", query[len("SHOW STREAMS;")+end:])
	_, parsed, rest, err = l.c.engine.Parser.Parse(l.ctx(), rest, true)
	require.NoError(t, err)
	require.Equal(t, "SHOW STREAM STATUS", parsed)
	require.Empty(t, rest)
}

// Parts of a statement that share nothing else run on cores of their own, and all warn.
func TestWarningsOfAllCores(t *testing.T) {
	s := newLab(t).ctx().Session
	var cores sync.WaitGroup
	for range 4 {
		cores.Go(func() {
			for range maxWarnings {
				s.Warn(&sql.Warning{Level: "Warning", Code: 1292, Message: "Truncated"})
			}
		})
	}
	cores.Wait()
	require.EqualValues(t, maxWarnings, s.WarningCount())
}
