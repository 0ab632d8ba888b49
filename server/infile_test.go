package server

import (
	"database/sql"
	"fmt"
	"io"
	"testing"
	"time"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// slowFile is a file of the client's that comes in pieces; which says where the driver finds it.
func slowFile(t *testing.T, which string) *io.PipeWriter {
	t.Helper()
	r, w := io.Pipe()
	gomysql.RegisterReaderHandler(which, func() io.Reader { return r })
	t.Cleanup(func() {
		gomysql.DeregisterReaderHandler(which)
		_ = w.Close() // a second time
	})
	return w
}

// TestAStatementEndsWhileItsFileComes ends LOAD DATA LOCAL of a client that has more to send, and is in no hurry.
func TestAStatementEndsWhileItsFileComes(t *testing.T) {
	s, _ := serveLake(t)
	open := func() *rawClient { return dialRaw(t, s) }
	other := open()
	other.query("CREATE TABLE lake.t (a INT, b VARCHAR(9))")
	other.succeeds()
	for i, params := range []string{"", "?compress=true"} {
		db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/lake%s", s.Addr(), params))
		require.NoError(t, err)
		defer db.Close()
		db.SetMaxOpenConns(1)
		var id, after string
		require.NoError(t, db.QueryRow("SELECT CONNECTION_ID()").Scan(&id))
		file := slowFile(t, fmt.Sprint("slow", i))
		failed := make(chan error, 1)
		go func() {
			_, err := db.Exec(fmt.Sprintf("LOAD DATA LOCAL INFILE 'Reader::slow%d' INTO TABLE t", i))
			failed <- err
		}()
		_, err = file.Write([]byte("1\ta\n2\tb\n"))
		require.NoError(t, err)
		running := "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = " + id + " AND INFO LIKE 'LOAD DATA%'"
		require.Equal(t, "1", other.value(running))
		other.query("KILL QUERY " + id)
		other.succeeds()
		require.Eventually(t, func() bool { return other.value(running) == "0" }, patience, time.Millisecond, "it ends, and its client has not")
		require.Empty(t, failed)
		_, err = file.Write([]byte("3\tc\n\x03DROP TABLE t\n"))
		require.NoError(t, err)
		require.NoError(t, file.Close())
		require.Equal(t, "Query execution was interrupted", requireErrno(t, <-failed, 1317, "70100"))
		require.NoError(t, db.QueryRow("SELECT CONNECTION_ID()").Scan(&after))
		require.Equal(t, id, after)
		require.Equal(t, "0", other.value("SELECT COUNT(*) FROM lake.t"))
	}
}

// TestAFileThatDoesNotComeEndsTheConnection: what follows of a file that took too long is not taken for commands.
func TestAFileThatDoesNotComeEndsTheConnection(t *testing.T) {
	s, _ := serveLake(t)
	c := dialRaw(t, s)
	for _, statement := range []string{"CREATE TABLE lake.t (a INT)", "SET net_read_timeout = 1"} {
		c.query(statement)
		c.succeeds()
	}
	c.query("LOAD DATA LOCAL INFILE 'x' INTO TABLE lake.t")
	require.EqualValues(t, 0xfb, c.read()[0])
	c.write([]byte("1\n"), 2)
	c.ended()
	require.Equal(t, "0", dialRaw(t, s).value("SELECT COUNT(*) FROM lake.t"))
}
