package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// requireErrno checks MySQL's number and SQLSTATE of an error, and returns its message.
func requireErrno(t *testing.T, err error, number uint16, state string) string {
	t.Helper()
	var e *gomysql.MySQLError
	require.ErrorAs(t, err, &e)
	require.Equal(t, number, e.Number, e.Message)
	require.Equal(t, state, string(e.SQLState[:]), e.Message)
	return e.Message
}

func TestQueriesAnswer(t *testing.T) {
	ts := startServer(t)
	db := ts.open(t, "")
	_, err := db.Exec("CREATE TABLE t (a INT NOT NULL, b VARCHAR(20))")
	require.NoError(t, err)
	done, err := db.Exec("INSERT INTO t VALUES (1,'x'),(2,NULL)")
	require.NoError(t, err)
	n, err := done.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	var a int
	var b sql.NullString
	require.NoError(t, db.QueryRow("SELECT a, b FROM t WHERE a = ?", 2).Scan(&a, &b))
	require.Equal(t, 2, a)
	require.False(t, b.Valid)
	var version, comment string
	require.NoError(t, db.QueryRow("SELECT @@version, @@version_comment").Scan(&version, &comment))
	require.Equal(t, "8.0.45-lakesql-test", version)
	require.Contains(t, comment, "lakesql")
}

func TestResultOfAnySizeStreams(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(30_000)
	for _, args := range [][]any{nil, {0}} {
		query := "SELECT id, v, s FROM g.series"
		if args != nil {
			query += " WHERE id >= ?"
		}
		rows, err := ts.open(t, "").Query(query, args...)
		require.NoError(t, err)
		var count int64
		for rows.Next() {
			var id int64
			var v float64
			var s string
			require.NoError(t, rows.Scan(&id, &v, &s))
			require.Equal(t, count, id)
			require.Equal(t, float64(id)/4, v)
			require.Equal(t, fmt.Sprintf("row %d", id), s)
			count++
		}
		require.NoError(t, rows.Err())
		require.EqualValues(t, 30_000, count)
	}
}

func TestErrorBeforeAndAfterTheFirstRowKeepsTheConnection(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(10_000)
	db := ts.open(t, "multiStatements=true")
	for _, at := range []int64{0, 5, 7_000} {
		for _, table := range []string{"broken", "panics"} {
			for _, args := range [][]any{nil, {-1}} {
				ts.breakAt.Store(at)
				query := "SELECT id FROM g." + table
				if args != nil {
					query += " WHERE id > ?"
				}
				err := drainRows(db.Query(query, args...))
				if table == "broken" {
					require.Equal(t, "the file ends too early", requireErrno(t, err, 20021, "45000"))
				} else {
					require.Contains(t, requireErrno(t, err, 1105, "HY000"), "a fault on purpose")
				}
				requireSameConnection(t, db)
			}
		}
	}
	// An error drops the statements that follow.
	ts.breakAt.Store(7_000)
	requireErrno(t, drainRows(db.Query("SELECT id FROM g.broken; SELECT 1")), 20021, "45000")
	requireErrno(t, drainRows(db.Query("SELECT nothing; SELECT 1")), 1054, "42S22")
	requireSameConnection(t, db)
}

func drainRows(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		for rows.Next() {
		}
		if rows.Err() != nil || !rows.NextResultSet() {
			return rows.Err()
		}
	}
}

// requireSameConnection checks that the only connection of the pool was never made anew.
func requireSameConnection(t *testing.T, db *sql.DB) {
	t.Helper()
	var id int
	require.NoError(t, db.QueryRow("SELECT CONNECTION_ID()").Scan(&id))
	require.Equal(t, 1, id)
}

func TestMultipleStatements(t *testing.T) {
	db := startServer(t).open(t, "multiStatements=true")
	rows, err := db.Query("SELECT 1; SELECT 'a;b' ; SET @x = 3; SELECT @x ; -- the end")
	require.NoError(t, err)
	defer rows.Close()
	var got []string
	for {
		for rows.Next() {
			var s string
			require.NoError(t, rows.Scan(&s))
			got = append(got, s)
		}
		if !rows.NextResultSet() {
			break
		}
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []string{"1", "a;b", "3"}, got)
}

func TestOneStatementWhereOneIsAllowed(t *testing.T) {
	ts := startServer(t)
	plain, multi := ts.open(t, ""), ts.open(t, "multiStatements=true")
	require.Contains(t, requireErrno(t, drainRows(plain.Query("SELECT 1; SELECT 2")), 1064, "42000"), "near 'SELECT 2' at line 1")
	for _, db := range []*sql.DB{plain, multi} {
		_, err := db.Prepare("SELECT 1;\nSELECT 2")
		require.Contains(t, requireErrno(t, err, 1064, "42000"), "SELECT 2' at line")
		s, err := db.Prepare("SELECT 1; -- done")
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}

func TestTimeLimitEndsSelectsOnly(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(1 << 40)
	db := ts.open(t, "")
	_, err := db.Exec("SET max_execution_time = 50")
	require.NoError(t, err)
	for _, query := range []string{"SELECT COUNT(*) FROM g.series", "SELECT id FROM g.series", "SELECT SLEEP(20)"} {
		requireErrno(t, drainRows(db.Query(query)), 3024, "HY000")
	}
	requireErrno(t, drainRows(db.Query("SELECT COUNT(*) FROM g.series WHERE id >= ?", 1)), 3024, "HY000")
	_, err = db.Exec("DO SLEEP(0.1)")
	if err != nil { // the engine has no DO
		requireErrno(t, err, 1064, "42000")
	}
	_, err = db.Exec("SET max_execution_time = 0")
	require.NoError(t, err)
	requireSameConnection(t, db)
}

func TestKillQuery(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(1 << 40)
	victim, killer := ts.open(t, ""), ts.open(t, "")
	for i := range 3 {
		failed := make(chan error, 1)
		query := fmt.Sprintf("SELECT COUNT(*) FROM g.series WHERE id >= %d", i)
		go func() { failed <- drainRows(victim.Query(query)) }()
		require.Eventually(t, func() bool { return ts.runs(query) }, patience, time.Millisecond)
		_, err := killer.Exec("KILL QUERY 1")
		require.NoError(t, err)
		require.Equal(t, "Query execution was interrupted", requireErrno(t, <-failed, 1317, "70100"))
		requireSameConnection(t, victim)
	}
}

func TestClientThatLeavesEndsItsStatement(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(1 << 40)
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error, 1)
	db := ts.open(t, "")
	go func() {
		rows, err := db.QueryContext(ctx, "SELECT COUNT(*) FROM g.series")
		failed <- drainRows(rows, err)
	}()
	require.Eventually(t, func() bool { return ts.made.Load() > 0 }, patience, time.Millisecond)
	cancel()
	require.True(t, errors.Is(<-failed, context.Canceled))
	require.Eventually(t, func() bool { return ts.metrics.questions.Load() > 0 }, patience, time.Millisecond)
}

func TestLoginIsForRootOnly(t *testing.T) {
	ts := startServer(t)
	for dsn, number := range map[string]uint16{"root:wrong@tcp(%s)/d": 1045, "other@tcp(%s)/d": 1045, "root@tcp(%s)/nowhere": 1049} {
		db, err := sql.Open("mysql", fmt.Sprintf(dsn, ts.Addr()))
		require.NoError(t, err)
		state := map[uint16]string{1045: "28000", 1049: "42000"}[number]
		requireErrno(t, db.Ping(), number, state)
		require.NoError(t, db.Close())
	}
}

func TestNumbersThatDependOnTheStatement(t *testing.T) {
	db := startServer(t).open(t, "")
	for _, c := range []struct {
		statement string
		number    uint16
		state     string
		message   string
	}{
		{"DROP DATABASE nowhere", 1008, "HY000", "Can't drop database 'nowhere'; database doesn't exist"},
		{"USE nowhere", 1049, "42000", "Unknown database 'nowhere'"},
		{"DROP TABLE nothing", 1051, "42S02", "Unknown table nothing"},
		{"SET nothing = 1", 1193, "HY000", "Unknown system variable 'nothing'"},
		{"SELECT nothing", 1054, "42S22", "Unknown column 'nothing' in 'field list'"},
		{"GRANT SELECT ON *.* TO nobody", 1410, "42000", "You are not allowed to create a user with GRANT"},
		{" \n", 1065, "42000", "Query was empty"},
		{";", 1065, "42000", "Query was empty"},
	} {
		_, err := db.Exec(c.statement)
		require.Equal(t, c.message, requireErrno(t, err, c.number, c.state), c.statement)
	}
}

// Oracle's mysql sends the comments of a dump by themselves.
func TestACommentDoesNothing(t *testing.T) {
	db := startServer(t).open(t, "")
	for _, comment := range []string{"-- only a comment", "/* x */", "# x\n-- y\n", " /*!40101 */", "/* x */ -- y"} {
		_, err := db.Exec(comment)
		require.NoError(t, err, comment)
	}
}

func TestOtherMachinesAreRefused(t *testing.T) {
	for _, address := range []string{"0.0.0.0:3306", ":3306", "192.168.1.5:3306", "[::]:3306", "example.com:3306"} {
		require.ErrorContains(t, CheckLoopback(address), "loopback address, such as 127.0.0.1:9090", address)
	}
	require.ErrorContains(t, CheckLoopback("3306"), "is not HOST:PORT")
	for _, address := range []string{"127.0.0.1:3306", "localhost:0", "[::1]:3306", "127.1.2.3:1"} {
		require.NoError(t, CheckLoopback(address), address)
	}
}
