package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	gomysql "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"lakesql/catalog"
	"lakesql/store"
)

// guarded is a lake with accounts and TLS, which can be stopped and started again.
type guarded struct {
	*Server
	t    *testing.T
	dir  string
	log  *lockedBuffer
	stop func()
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func startGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{t: t, dir: t.TempDir(), log: &lockedBuffer{}}
	g.start(func(*Config) {})
	t.Cleanup(func() { g.stop() })
	return g
}

func (g *guarded) start(change func(*Config)) {
	g.t.Helper()
	fence, err := store.NewFence(g.dir, filepath.Join(g.dir, "lake"), filepath.Join(g.dir, "in"))
	require.NoError(g.t, err)
	data := filepath.Join(g.dir, "data")
	require.NoError(g.t, os.MkdirAll(data, 0o700))
	encrypted, err := TLSFiles{Folder: data}.Config()
	require.NoError(g.t, err)
	cfg := Config{Version: "test", TLS: encrypted, Logger: slog.New(slog.NewTextHandler(g.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	change(&cfg)
	c, err := catalog.Open(context.Background(), catalog.Config{
		Warehouse: store.FileURI(filepath.Join(g.dir, "lake")), Fence: fence, DataDir: data, Owner: g.t.Name(), NativePassword: cfg.NativePassword,
	})
	require.NoError(g.t, err)
	require.NoError(g.t, c.OpenUsers())
	cfg.Listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(g.t, err)
	cfg.Engine, cfg.NewSession, cfg.Streams, cfg.Spill = c.Engine(), c.NewSession, c.Streams(), c.SpillSpace()
	g.Server, err = New(cfg)
	require.NoError(g.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(g.t, c.Start(ctx))
	served := make(chan error, 1)
	server := g.Server
	go func() { served <- server.Serve(ctx) }()
	g.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(g.t, <-served)
		require.NoError(g.t, c.Close())
	})
}

// as opens a pool of one connection for user:password, over TLS unless params say otherwise.
func (g *guarded) as(login, params string) *sql.DB {
	g.t.Helper()
	if params == "" {
		params = "tls=skip-verify"
	}
	db, err := sql.Open("mysql", fmt.Sprintf("%s@tcp(%s)/?%s", login, g.Addr(), params))
	require.NoError(g.t, err)
	db.SetMaxOpenConns(1)
	g.t.Cleanup(func() { require.NoError(g.t, db.Close()) })
	return db
}

// logs waits for what the log has of a statement: it is written behind the answer.
func (g *guarded) logs(pattern string) {
	g.t.Helper()
	of := regexp.MustCompile(pattern)
	require.Eventually(g.t, func() bool { return of.MatchString(g.log.String()) }, time.Minute, 5*time.Millisecond, pattern)
}

func (g *guarded) exec(db *sql.DB, statements ...string) {
	g.t.Helper()
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(g.t, err, s)
	}
}

func (g *guarded) denied(db *sql.DB, statements ...string) {
	g.t.Helper()
	for _, s := range statements {
		err := drainRows(db.Query(s))
		require.Error(g.t, err, s)
		var e *gomysql.MySQLError
		require.ErrorAs(g.t, err, &e, s)
		require.Contains(g.t, []uint16{1044, 1045, 1142, 1227, 1095, 1356}, e.Number, "%s: %s", s, e.Message)
	}
}

func TestAccountsSurviveARestart(t *testing.T) {
	g := startGuarded(t)
	root := g.as("root", "")
	g.exec(root, "CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)", "CREATE ROLE reader", "GRANT SELECT ON lake.* TO reader",
		"CREATE USER ann@localhost IDENTIFIED BY 'first' REQUIRE SSL", "CREATE USER bob IDENTIFIED BY 'b', eve IDENTIFIED BY 'e' ACCOUNT LOCK",
		"GRANT reader TO ann@localhost", "GRANT INSERT ON lake.t TO bob", "ALTER USER eve ACCOUNT UNLOCK", "RENAME USER eve TO eva",
		"SET PASSWORD FOR ann@localhost = 'second'", "FLUSH PRIVILEGES")
	_, err := root.Exec("GRANT SELECT ON lake.t TO bob, nobody")
	requireErrno(t, err, 1410, "42000")
	for range 2 {
		requireErrno(t, g.as("ann:first", "").Ping(), 1045, "28000")
		ann, bob := g.as("ann:second", ""), g.as("bob:b", "")
		var n int
		require.NoError(t, ann.QueryRow("SELECT a FROM t").Scan(&n))
		g.denied(ann, "INSERT INTO t VALUES (2)", "DROP TABLE t", "DELETE FROM t")
		g.denied(bob, "SELECT * FROM t") // the GRANT that failed gave him nothing
		require.NoError(t, g.as("eva:e", "").Ping())
		var text string
		require.NoError(t, g.as("root", "").QueryRow("SELECT GROUP_CONCAT(User ORDER BY User) FROM mysql.user").Scan(&text))
		require.Equal(t, "ann,bob,eva,reader,root", text)
		g.stop()
		g.start(func(*Config) {})
	}
	info, err := os.Stat(filepath.Join(g.dir, "data", "users"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestWhoMayNotGetIn(t *testing.T) {
	g := startGuarded(t)
	g.exec(g.as("root", ""), "CREATE USER ann IDENTIFIED BY 'pw'", "CREATE USER far@'10.0.0.0/8' IDENTIFIED BY 'pw'", "CREATE USER shut IDENTIFIED BY 'pw' ACCOUNT LOCK",
		"CREATE USER certain IDENTIFIED BY 'pw' REQUIRE X509")
	require.NoError(t, g.as("ann:pw", "").Ping())
	require.NoError(t, g.as("ann:pw", "").Ping(), "again: the password is known")
	for _, c := range []struct{ login, params, using string }{
		{"ann:wrong", "", "YES"}, {"ann", "", "NO"}, {"nobody:pw", "", "YES"}, {"root:pw", "", "YES"}, {"far:pw", "", "YES"}, {"shut:pw", "", "YES"},
		{"certain:pw", "", "YES"}, {"ann:pw", "tls=false", "YES"}, {":pw", "", "YES"}, {"", "", "NO"},
	} {
		message := requireErrno(t, g.as(c.login, c.params).Ping(), 1045, "28000")
		user, _, _ := strings.Cut(c.login, ":")
		require.Contains(t, message, fmt.Sprintf("Access denied for user '%s'@'localhost' (using password: %s)", user, c.using), c.login)
	}
	root := g.as("root", "")
	_, err := root.Exec("CREATE USER old IDENTIFIED WITH mysql_native_password BY 'pw'")
	requireErrno(t, err, 1524, "HY000")
	for _, s := range []string{"CREATE USER '' IDENTIFIED BY 'x'", "CREATE USER x@'db.example.com' IDENTIFIED BY 'x'", "GRANT SELECT (a) ON lake.t TO ann",
		"CREATE USER x IDENTIFIED BY 'x' PASSWORD EXPIRE"} {
		_, err := root.Exec(s)
		requireErrno(t, err, 1235, "42000")
	}
	require.NotContains(t, g.log.String(), "'pw'")
	g.logs("audit=login user=nobody")
	g.stop()
	g.start(func(c *Config) { c.NativePassword = true })
	g.exec(g.as("root", ""), "CREATE USER old IDENTIFIED WITH mysql_native_password BY 'pw'")
	require.NoError(t, g.as("old:pw", "tls=false&allowNativePasswords=true").Ping())
	requireErrno(t, g.as("old:wrong", "tls=false").Ping(), 1045, "28000")
}

func TestGuessingIsSlow(t *testing.T) {
	g := startGuarded(t)
	g.stop()
	var clock atomic.Int64
	g.start(func(c *Config) { c.Now = func() time.Time { return time.Unix(clock.Load(), 0) } })
	g.exec(g.as("root", ""), "CREATE USER ann IDENTIFIED BY 'pw'")
	for range 2 { // the second time the password is known
		for range freeFailures + 1 {
			requireErrno(t, g.as("ann:wrong", "").Ping(), 1045, "28000")
		}
		require.Contains(t, requireErrno(t, g.as("ann:pw", "").Ping(), 1129, "HY000"), "blocked because of many failed logins")
		require.NoError(t, g.as("root", "").Ping(), "others on this machine get in")
		clock.Add(int64(longestPause / time.Second))
		require.NoError(t, g.as("ann:pw", "").Ping(), "the pause is over")
		clock.Add(int64(2 * forgetAfter / time.Second))
	}
}

func TestParallelGuessesWaitToo(t *testing.T) {
	now := time.Unix(0, 0)
	th := newThrottle(func() time.Time { return now })
	var guesses sync.WaitGroup
	var begun sync.WaitGroup
	var told atomic.Int64
	begun.Add(100)
	for range 100 {
		guesses.Go(func() {
			if th.wait("a") != 0 {
				t.Error("nobody has failed yet")
			}
			begun.Done()
			begun.Wait()
			if th.answer("a", false) == 0 {
				told.Add(1)
			}
		})
	}
	guesses.Wait()
	require.EqualValues(t, freeFailures+1, told.Load(), "the others are not told whether they were right")
	require.Equal(t, firstPause, th.answer("a", true), "nor is one that was")
}

// strange is a connection from another machine.
type strange struct{ net.Conn }

func (strange) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 1} }

func TestAWrongProofIsCountedWhenTheClientLeaves(t *testing.T) {
	g := startGuarded(t)
	g.exec(g.as("root", ""), "CREATE USER ann IDENTIFIED BY 'pw'")
	l, err := newLogins(Config{Engine: g.cfg.Engine, Logger: g.cfg.Logger, Now: func() time.Time { return time.Unix(0, 0) }})
	require.NoError(t, err)
	here, there := net.Pipe()
	defer func() { require.NoError(t, errors.Join(here.Close(), there.Close())) }()
	c := &mysql.Conn{Conn: newFrontConn(strange{here}, nil)}
	front(c).security.conn = tls.Server(here, &tls.Config{})
	_, err = (*sha2Full)(l).UserEntryWithPassword(c, "ann", "pw", c.RemoteAddr())
	require.NoError(t, err)
	salt := []byte("01234567890123456789")
	for range freeFailures + 1 {
		_, state, err := (*sha2Fast)(l).UserEntryWithCacheHash(c, salt, "ann", mysql.ScrambleCachingSha2Password(salt, []byte("guess")), c.RemoteAddr())
		require.NoError(t, err)
		require.Equal(t, mysql.AuthNeedMoreData, state)
	}
	_, _, err = (*sha2Fast)(l).UserEntryWithCacheHash(c, salt, "ann", mysql.ScrambleCachingSha2Password(salt, []byte("pw")), c.RemoteAddr())
	require.ErrorContains(t, err, "too many failed logins")
	_, err = (*sha2Full)(l).UserEntryWithPassword(c, "ann", "pw", c.RemoteAddr())
	require.ErrorContains(t, err, "wrong password", "whose proof was wrong does not guess again")
}

func TestTheStepsOfALoginDoNotTellWhoIsThere(t *testing.T) {
	g := startGuarded(t)
	g.exec(g.as("root", ""), "CREATE USER ann IDENTIFIED BY 'pw', bare")
	l, err := newLogins(Config{Engine: g.cfg.Engine, Logger: g.cfg.Logger, Now: time.Now})
	require.NoError(t, err)
	here, there := net.Pipe()
	defer func() { require.NoError(t, errors.Join(here.Close(), there.Close())) }()
	c := &mysql.Conn{Conn: newFrontConn(strange{here}, nil)}
	for _, m := range l.AuthMethods() {
		for _, user := range []string{"ann", "bare", "nobody"} {
			require.Equal(t, m.Name() == mysql.CachingSha2Password, m.HandleUser(c, user), "%s by %s", user, m.Name())
		}
	}
}

func TestThrottle(t *testing.T) {
	now := time.Unix(0, 0)
	th := newThrottle(func() time.Time { return now })
	for range freeFailures {
		require.Zero(t, th.answer("a", false))
		require.Zero(t, th.wait("a"))
	}
	for _, pause := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		require.Zero(t, th.answer("a", false))
		require.Equal(t, pause*time.Second, th.wait("a"))
		require.Equal(t, pause*time.Second, th.answer("a", false), "and no failure is counted")
		now = now.Add(pause * time.Second)
	}
	require.Zero(t, th.wait("b"))
	require.Zero(t, th.wait("a"))
	now = now.Add(2 * forgetAfter)
	require.Zero(t, th.answer("a", false))
	require.Zero(t, th.wait("a"))
	for i := range maxAddresses + 10 {
		require.Zero(t, th.answer(fmt.Sprint(i), false))
	}
	require.LessOrEqual(t, len(th.tries), maxAddresses)
}

func TestPrivilegesCannotBeGoneRound(t *testing.T) {
	g := startGuarded(t)
	root := g.as("root", "")
	require.NoError(t, os.MkdirAll(filepath.Join(g.dir, "in"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(g.dir, "in", "a.csv"), []byte("a\n7\n"), 0o600))
	source := "SELECT * FROM STREAM read_files('./in', format => 'csv', header => true)"
	g.exec(root, "CREATE DATABASE own", "CREATE TABLE secret (a INT)", "INSERT INTO secret VALUES (42)", "CREATE TABLE own.t (a INT)",
		"CREATE USER ann IDENTIFIED BY 'pw'", "GRANT ALL ON own.* TO ann", "CREATE USER 'root'@'%' IDENTIFIED BY 'r'", "CREATE USER boss IDENTIFIED BY 'pw'",
		"GRANT CREATE USER ON *.* TO boss", "CREATE USER writer IDENTIFIED BY 'pw'", "GRANT SELECT, INSERT, UPDATE, DELETE ON *.* TO writer",
		"CREATE STREAM roots INTO secret WITH CHECKPOINT './lake/_cp/r' AS "+source)
	ann := g.as("ann:pw", "")
	path := "delta.`" + filepath.Join(g.dir, "lake", "lake", "secret") + "`"
	ledger := "delta.`" + filepath.Join(g.dir, "lake", "_lakesql", "catalog") + "`"
	for _, hidden := range []string{"STOP STREAM lake.roots", "DROP STREAM lake.roots", "ALTER STREAM lake.roots PAUSE", "ALTER STREAM lake.roots RESET", "ALTER STREAM lake.roots RETRY ALL"} {
		_, err := ann.Exec(hidden)
		requireErrno(t, err, 20001, "45000")
	}
	g.denied(ann, "SELECT * FROM lake.secret", "SELECT * FROM "+path, "SELECT * FROM "+ledger, "SELECT * FROM lake.secret VERSION AS OF 0",
		"SELECT * FROM table_changes('lake.secret', 0)", "DESCRIBE HISTORY lake.secret", "DESCRIBE DETAIL lake.secret", "OPTIMIZE lake.secret", "VACUUM lake.secret",
		"RESTORE TABLE lake.secret TO VERSION AS OF 0", "SHOW CREATE TABLE lake.secret", "SHOW TBLPROPERTIES lake.secret",
		"INSERT INTO own.t SELECT * FROM lake.secret", "CREATE TABLE own.u AS SELECT * FROM lake.secret", "CREATE TABLE own.v LIKE lake.secret",
		"MERGE INTO own.t USING lake.secret s ON FALSE WHEN NOT MATCHED THEN INSERT *", "UPDATE own.t SET a = (SELECT MAX(a) FROM lake.secret)",
		"DELETE FROM own.t WHERE a IN (SELECT a FROM lake.secret)", "SELECT (SELECT MAX(a) FROM lake.secret)", "WITH x AS (SELECT * FROM lake.secret) SELECT * FROM x",
		"SELECT * FROM read_files('./in', format => 'csv', header => true)", "COPY INTO own.t FROM './in' FILEFORMAT = CSV",
		"CREATE TABLE own.w (a INT) USING DELTA LOCATION './in/w'", "CREATE TABLE own.w USING DELTA LOCATION './lake/lake/secret'", "CONVERT TO DELTA parquet.`./in`",
		"CREATE STREAM own.s INTO own.t WITH CHECKPOINT './lake/_cp/s' AS "+source, "CREATE STREAM own.s INTO lake.secret WITH CHECKPOINT './lake/_cp/s' AS "+source,
		"EXPLAIN CREATE STREAM own.s INTO own.t WITH CHECKPOINT './lake/_cp/s' AS "+source,
		"WAIT FOR STREAM lake.roots TIMEOUT 1 SECONDS", "SHOW CREATE STREAM lake.roots", "SHOW STREAM FILES FOR lake.roots", "STOP STREAM ALL",
		"SELECT * FROM mysql.user", "SHOW GRANTS FOR root@localhost", "SHOW CREATE USER root@localhost", "CREATE USER x", "DROP USER boss", "CREATE ROLE r",
		"ALTER USER root@localhost IDENTIFIED BY ''", "GRANT ALL ON *.* TO ann", "GRANT SELECT ON lake.* TO ann", "GRANT SELECT ON own.* TO boss", "FLUSH PRIVILEGES",
		"CREATE DATABASE more", "DROP DATABASE lake", "DROP TABLE lake.secret", "TRUNCATE lake.secret", "ALTER TABLE lake.secret ADD COLUMN b INT",
		"RENAME TABLE lake.secret TO own.mine", "EXPLAIN SELECT * FROM lake.secret", "KILL 1")
	g.exec(ann, "SHOW GRANTS", "SHOW PROCESSLIST", "SELECT CURRENT_USER()", "ALTER USER USER() IDENTIFIED BY 'pw2'")
	var n int
	require.NoError(t, ann.QueryRow("SELECT COUNT(*) FROM information_schema.STREAMS").Scan(&n))
	require.Zero(t, n)
	require.NoError(t, ann.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST").Scan(&n))
	require.Equal(t, 1, n)
	require.NoError(t, ann.QueryRow("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'lake'").Scan(&n))
	require.Zero(t, n)

	// A view has the rights of who asks.
	g.exec(root, "CREATE VIEW own.peek AS SELECT * FROM lake.secret", "CREATE VIEW own.mine AS SELECT * FROM own.t")
	g.exec(ann, "SELECT * FROM own.mine")
	g.denied(ann, "SELECT * FROM own.peek")
	// A prepared statement loses its rights with its user.
	kept, err := ann.Prepare("SELECT COUNT(*) FROM own.t")
	require.NoError(t, err)
	require.NoError(t, kept.QueryRow().Scan(&n))
	g.exec(root, "REVOKE ALL ON own.* FROM ann")
	require.Error(t, kept.QueryRow().Scan(&n))
	require.NoError(t, kept.Close())
	g.exec(root, "DROP USER ann")
	g.denied(ann, "SELECT * FROM own.t")

	other := g.as("root:r", "") // root@'%' is not root@localhost; a password tells them apart only by the host, so localhost is asked first
	require.Error(t, other.Ping())
	boss := g.as("boss:pw", "")
	g.denied(boss, "ALTER USER root@localhost IDENTIFIED BY 'mine'", "DROP USER root@localhost", "RENAME USER root@localhost TO x", "GRANT ALL ON *.* TO boss")
	g.denied(boss, "CREATE USER 'root'@'127.0.0.2' IDENTIFIED BY 'x'") // another word for root@localhost
}

// Who holds everything on a database, also as the current one, holds nothing on the server.
func TestAPrivilegeOnADatabaseIsNoneOnTheServer(t *testing.T) {
	g := startGuarded(t)
	root := g.as("root", "")
	g.exec(root, "CREATE DATABASE own", "CREATE DATABASE sales", "CREATE TABLE own.t (a INT)", "CREATE USER ann IDENTIFIED BY 'pw'", "CREATE USER bob IDENTIFIED BY 'pw'",
		"GRANT ALL ON own.* TO ann WITH GRANT OPTION", "GRANT SELECT ON lake.* TO ann WITH GRANT OPTION", "CREATE ROLE r")
	ann := g.as("ann:pw", "")
	for _, use := range []string{"USE lake", "USE own"} {
		g.exec(ann, use)
		g.denied(ann, "GRANT SELECT ON *.* TO ann", "GRANT SELECT, GRANT OPTION ON *.* TO ann", "GRANT GRANT OPTION ON *.* TO ann", "GRANT FILE ON *.* TO ann",
			"GRANT ALL ON *.* TO ann", "REVOKE SELECT ON *.* FROM bob", "GRANT SELECT ON sales.* TO ann", "GRANT r TO ann", "DROP DATABASE sales", "DROP DATABASE lake",
			"DROP SCHEMA sales", "CREATE DATABASE x", "CREATE SCHEMA IF NOT EXISTS x", "ALTER DATABASE sales CHARACTER SET utf8mb4", "CREATE USER x", "CREATE ROLE x", "DROP ROLE r",
			"FLUSH PRIVILEGES", "SET GLOBAL lakesql_vector = OFF", "SELECT * FROM read_files('./in', format => 'csv')", "SHOW CREATE USER bob")
	}
	g.exec(ann, "GRANT SELECT ON t TO bob", "GRANT INSERT ON own.* TO bob", "REVOKE INSERT ON own.* FROM bob", "GRANT SELECT ON lake.* TO bob", "DROP DATABASE own", "CREATE DATABASE own")
}

// What runs by EXECUTE is refused and logged as what is given by itself.
func TestPreparedStatementsAreNoWayRound(t *testing.T) {
	g := startGuarded(t)
	root := g.as("root", "")
	require.NoError(t, os.MkdirAll(filepath.Join(g.dir, "in"), 0o755))
	g.exec(root, "CREATE TABLE t (a INT)", "CREATE USER ann IDENTIFIED BY 'pw'", "GRANT SELECT ON lake.t TO ann",
		"CREATE STREAM s INTO t WITH CHECKPOINT './lake/_cp/s' AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true, schema => 'a INT')")
	ann := g.as("ann:pw", "")
	var connection, process int
	require.NoError(t, root.QueryRow("SELECT CONNECTION_ID()").Scan(&connection))
	require.NoError(t, root.QueryRow("SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Stream'").Scan(&process))
	for _, s := range []string{
		fmt.Sprintf("KILL %d", connection), fmt.Sprintf("KILL QUERY %d", connection), fmt.Sprintf("KILL QUERY %d", process), fmt.Sprintf("KILL %d", process),
		"SET GLOBAL lakesql_vector = OFF", "SET @@global.lakesql_vector = OFF", "SET PERSIST lakesql_vector = OFF", "SET @@persist.lakesql_vector = OFF",
		"SET SESSION lakesql_vector = ON, GLOBAL lakesql_vector = OFF", "GRANT ALL ON *.* TO ann", "DROP DATABASE lake", "DROP TABLE t", "INSERT INTO t VALUES (1)",
	} {
		g.denied(ann, s)
		if _, err := ann.Exec("PREPARE k FROM '" + s + "'"); err == nil {
			g.denied(ann, "EXECUTE k")
		}
		g.exec(ann, "SET @s = '"+s+"'")
		if _, err := ann.Exec("PREPARE k FROM @s"); err == nil {
			g.denied(ann, "EXECUTE k")
		}
	}
	g.exec(ann, "SET lakesql_vector = ON", "SET SESSION lakesql_vector = ON", "SET @@session.lakesql_vector = ON", "SET NAMES utf8mb4", "SET @x = 1")
	var same int
	require.NoError(t, root.QueryRow("SELECT CONNECTION_ID()").Scan(&same))
	require.Equal(t, connection, same, "the connection is alive")
	var state string
	require.NoError(t, root.QueryRow("SELECT STATE FROM information_schema.STREAMS").Scan(&state))
	require.NotEqual(t, "PAUSED", strings.ToUpper(state))
	g.exec(root, "SET GLOBAL lakesql_vector = ON", "DROP STREAM s")
	for kind, statement := range map[string]string{
		"grant": "GRANT INSERT ON lake.t TO ann", "ddl": "CREATE TABLE made (a INT)", "kill": fmt.Sprintf("KILL QUERY %d", connection),
	} {
		g.exec(root, "SET @s = '"+statement+"'", "PREPARE p FROM @s")
		_, _ = root.Exec("EXECUTE p") // KILL ends itself
		g.logs(`audit=` + kind + ` [^\n]*statement="EXECUTE p"[^\n]* executed="(?i)` + regexp.QuoteMeta(statement) + `"`)
	}
	g.exec(root, "PREPARE p FROM 'DROP DATABASE IF EXISTS gone'", "EXECUTE p")
	g.logs(`audit=ddl [^\n]*executed="drop database if exists gone"`)
	g.exec(root, `SET @s = 'ALTER USER ann IDENTIFIED BY "hidden"'`, "PREPARE p FROM @s", "EXECUTE p")
	g.logs(`audit=grant [^\n]*statement="EXECUTE p"[^\n]* executed="(?i)ALTER USER`)
	require.NotContains(t, g.log.String()[strings.LastIndex(g.log.String(), "EXECUTE p"):], "hidden")
}

// A host is the same account's however it is written.
func TestHostsHaveOneName(t *testing.T) {
	g := startGuarded(t)
	root := g.as("root", "")
	for i, hosts := range [][]string{{"127.0.0.1", "localhost", "::1", "LOCALHOST", "127.0.0.3"}, {"fe80:0:0:0::1", "fe80::1", "FE80::0001"}, {"::ffff:10.1.2.3", "10.1.2.3"}, {"10.1.%"}} {
		user := fmt.Sprintf("u%d", i)
		g.exec(root, fmt.Sprintf("CREATE USER %s@'%s' IDENTIFIED BY 'pw'", user, hosts[0]))
		for _, host := range hosts {
			account := fmt.Sprintf("%s@'%s'", user, host)
			g.exec(root, "GRANT SELECT ON lake.* TO "+account, "SHOW GRANTS FOR "+account, "REVOKE SELECT ON lake.* FROM "+account, "ALTER USER "+account+" ACCOUNT UNLOCK")
			_, err := root.Exec(fmt.Sprintf("CREATE USER %s IDENTIFIED BY 'x'", account))
			requireErrno(t, err, 1396, "HY000")
		}
	}
	g.exec(root, "CREATE ROLE r@localhost", "GRANT SELECT ON lake.* TO r@'127.0.0.1'", "GRANT r@localhost TO u0@'::1'", "REVOKE r@'127.0.0.1' FROM u0@localhost", "DROP ROLE r@'::1'")
	var host string
	require.NoError(t, root.QueryRow("SELECT Host FROM mysql.user WHERE User = 'u1'").Scan(&host))
	require.Equal(t, "fe80::1", host)
	require.NoError(t, g.as("u0:pw", "").Ping())
}

// An account that holds SUPER by a role is one with SUPER.
func TestWhoMakesUsersDoesNotBecomeSuper(t *testing.T) {
	g := startGuarded(t)
	root := g.as("root", "")
	g.exec(root, "CREATE ROLE admin", "GRANT SUPER ON *.* TO admin", "CREATE USER ann IDENTIFIED BY 'a'", "GRANT admin TO ann", "CREATE USER boss IDENTIFIED BY 'pw'",
		"CREATE USER bob IDENTIFIED BY 'b'", "GRANT CREATE USER ON *.* TO boss", "CREATE ROLE plain")
	boss := g.as("boss:pw", "")
	g.denied(boss, "ALTER USER ann IDENTIFIED BY 'mine'", "SET PASSWORD FOR ann = 'mine'", "DROP USER ann", "RENAME USER ann TO x", "ALTER USER admin IDENTIFIED BY 'mine' ACCOUNT UNLOCK",
		"DROP ROLE admin", "DROP ROLE root@localhost", "DROP ROLE ann", "GRANT admin TO boss")
	g.exec(boss, "ALTER USER bob IDENTIFIED BY 'mine'", "DROP ROLE plain")
	g.exec(g.as("ann:a", ""), "ALTER USER boss IDENTIFIED BY 'x'")
}

func TestWritersOfEverythingGrantNothing(t *testing.T) {
	g := startGuarded(t)
	root := g.as("root", "")
	g.exec(root, "CREATE USER writer IDENTIFIED BY 'pw'", "GRANT SELECT, INSERT, UPDATE, DELETE ON *.* TO writer")
	writer := g.as("writer:pw", "")
	g.denied(writer, "GRANT SUPER ON *.* TO writer", "GRANT ALL ON *.* TO writer WITH GRANT OPTION", "REVOKE SELECT ON *.* FROM root@localhost", "ALTER USER root@localhost IDENTIFIED BY 'x'")
	for _, s := range []string{"UPDATE mysql.user SET Super_priv = 'Y' WHERE User = 'writer'", "DELETE FROM mysql.user", "INSERT INTO mysql.user (Host, User) VALUES ('%', 'x')"} {
		_, err := writer.Exec(s)
		requireErrno(t, err, 20040, "45000")
	}
}

func TestStreamsBelongToTheirDefiner(t *testing.T) {
	g := startGuarded(t)
	root := g.as("root", "")
	require.NoError(t, os.MkdirAll(filepath.Join(g.dir, "in"), 0o755))
	g.exec(root, "CREATE TABLE t (a INT)", "CREATE USER ann IDENTIFIED BY 'pw', bob IDENTIFIED BY 'pw'", "GRANT SELECT, INSERT ON lake.t TO ann", "GRANT FILE ON *.* TO ann",
		"GRANT SELECT ON lake.t TO bob")
	ann, bob := g.as("ann:pw", ""), g.as("bob:pw", "")
	create := "STREAM s INTO t WITH CHECKPOINT './lake/_cp/s' AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true, schema => 'a INT')"
	g.exec(ann, "CREATE "+create)
	var state string
	require.NoError(t, bob.QueryRow("SELECT STREAM_NAME FROM information_schema.STREAMS").Scan(&state))
	g.denied(bob, "STOP STREAM s", "DROP STREAM s", "CREATE OR REPLACE "+create)
	g.denied(ann, "CREATE STREAM s2 INTO fresh WITH CHECKPOINT './lake/_cp/2' AS SELECT * FROM STREAM read_files('./in', format => 'csv', schema => 'a INT')")
	g.exec(ann, "STOP STREAM s", "START STREAM s")
	g.exec(root, "STOP STREAM s", "DROP STREAM s")
	g.logs("audit=ddl")
}

func TestAStreamsRightsAreLookedAtAtEachStart(t *testing.T) {
	g := startGuarded(t)
	root := g.as("root", "")
	require.NoError(t, os.MkdirAll(filepath.Join(g.dir, "in"), 0o755))
	g.exec(root, "CREATE TABLE t (a INT)", "CREATE USER ann IDENTIFIED BY 'pw'")
	for _, right := range []string{"FILE ON *.*", "INSERT ON lake.t"} {
		g.exec(root, "GRANT FILE ON *.* TO ann", "GRANT SELECT, INSERT ON lake.t TO ann")
		ann := g.as("ann:pw", "")
		g.exec(ann, "CREATE STREAM s INTO t WITH CHECKPOINT './lake/_cp/s' AS SELECT * FROM STREAM read_files('./in', format => 'csv', header => true, schema => 'a INT')",
			"STOP STREAM s")
		g.exec(root, "REVOKE "+right+" FROM ann")
		file := filepath.Join(g.dir, "in", "a.csv")
		require.NoError(t, os.WriteFile(file, []byte("a\n7\n"), 0o600))
		require.NoError(t, os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour)))
		_, err := ann.Exec("START STREAM s")
		if err == nil {
			require.Eventually(t, func() bool {
				var reason string
				require.NoError(t, root.QueryRow("SELECT COALESCE(STATE_REASON, '') FROM information_schema.STREAMS").Scan(&reason))
				return strings.Contains(reason, "definer ann@")
			}, time.Minute, 10*time.Millisecond)
		} else {
			require.ErrorContains(t, err, "definer ann@")
		}
		g.exec(root, "DROP STREAM s PURGE CHECKPOINT")
		require.NoError(t, os.Remove(file))
		var n int
		require.NoError(t, root.QueryRow("SELECT COUNT(*) FROM t").Scan(&n))
		require.Zero(t, n)
	}
}

func TestTLSIsOneOfTheNewVersions(t *testing.T) {
	g := startGuarded(t)
	require.NoError(t, gomysql.RegisterTLSConfig("old", &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}))
	require.Error(t, g.as("root", "tls=old").Ping())
	require.NoError(t, g.as("root", "tls=skip-verify").Ping())
}

func TestAFileOfAccountsThatIsDamagedIsNotRead(t *testing.T) {
	g := startGuarded(t)
	g.stop()
	file := filepath.Join(g.dir, "data", "users")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, damaged := range [][]byte{nil, whole[:len(whole)-1], append([]byte("x"), whole...)} {
		require.NoError(t, os.WriteFile(file, damaged, 0o600))
		c, err := catalog.Open(context.Background(), catalog.Config{Warehouse: store.FileURI(filepath.Join(g.dir, "lake")), DataDir: filepath.Join(g.dir, "data"), Owner: "x"})
		require.NoError(t, err)
		require.ErrorContains(t, c.OpenUsers(), "file of accounts")
		require.NoError(t, c.Close())
	}
}
