package server

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// crowd is how many connections are opened and dropped; `make crowd` has ten thousand of them.
func crowd(t *testing.T) int {
	t.Helper()
	text := os.Getenv("LAKESQL_CROWD")
	if text == "" {
		return 300
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// openFiles counts the process's file descriptors; 0: the system does not tell.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// TestConnectionsLeaveNothing opens connections and drops them at every stage.
func TestConnectionsLeaveNothing(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(1 << 40)
	setGlobal(t, "max_connections", int64(100_000))
	require.Equal(t, "1", dialRaw(t, ts).value("SELECT 1"))
	settled := func() bool {
		ts.listener.mu.Lock()
		defer ts.listener.mu.Unlock()
		return len(ts.listener.conns) <= 1 && len(ts.listener.entering) == 0 && len(ts.listener.served) <= 1
	}
	require.Eventually(t, settled, patience, time.Millisecond)
	goroutines, files := runtime.NumGoroutine(), openFiles()

	login := binaryLogin()
	stages := []func(net.Conn) error{
		func(net.Conn) error { return nil },
		func(c net.Conn) error { return say(c, []byte{1, 2}) },
		func(c net.Conn) error { return say(c, login[:len(login)/2]) },
		func(c net.Conn) error { return say(c, []byte("GET / HTTP/1.1\r\nHost: lake\r\n\r\n")) },
		func(c net.Conn) error { return say(c, login) },
		func(c net.Conn) error { return say(c, login, frame([]byte("\x03SELECT 1"), 0)) },
		func(c net.Conn) error { return say(c, login, frame([]byte("\x03SELECT COUNT(*) FROM g.series"), 0)) },
		func(c net.Conn) error { return say(c, login, frame([]byte("\x03SELECT s FROM g.series"), 0)) },
		func(c net.Conn) error {
			return say(c, login, frame([]byte("\x16SELECT id FROM g.series LIMIT 3000"), 0), frame([]byte{comStmtExecute, 1, 0, 0, 0, 1, 1, 0, 0, 0}, 0))
		},
		func(c net.Conn) error { return say(c, login, frame([]byte("\x11root\x00\x00\x00"), 0)) },
		func(c net.Conn) error { return say(c, login, []byte{9, 0, 0, 0, comQuery, 'S'}) },
	}
	var at sync.Mutex
	next, all := 0, crowd(t)
	var workers sync.WaitGroup
	failed := make(chan error, 8)
	for range cap(failed) {
		workers.Go(func() {
			for {
				at.Lock()
				i := next
				next++
				at.Unlock()
				if i >= all {
					return
				}
				c, err := net.Dial("tcp", ts.Addr().String())
				if err == nil {
					_ = stages[i%len(stages)](c) // the server may have left before
					err = c.Close()
				}
				if err != nil {
					failed <- fmt.Errorf("connection %d: %w", i, err)
					return
				}
			}
		})
	}
	workers.Wait()
	close(failed)
	for err := range failed {
		require.NoError(t, err)
	}
	require.Eventually(t, settled, patience, 10*time.Millisecond)
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+5 && openFiles() <= files+2 }, patience, 10*time.Millisecond,
		"from %d goroutines and %d files", goroutines, files)
	require.Zero(t, ts.spill.Used())
	require.Equal(t, "1", dialRaw(t, ts).value("SELECT 1"))
}

func binaryLogin() []byte {
	c := &rawClient{}
	return frame(append(c.loginHead(), "root\x00\x00caching_sha2_password\x00"...), 1)
}

// say sends all of it behind the greeting.
func say(c net.Conn, parts ...[]byte) error {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	greeting := make([]byte, 200)
	if _, err := c.Read(greeting); err != nil {
		return err
	}
	_, err := c.Write(bytes.Join(parts, nil))
	return err
}

// TestNamesAreNotStatements has SQL where names are meant.
func TestNamesAreNotStatements(t *testing.T) {
	s, _ := serveLake(t)
	c := rawLogin{capabilities: rawMulti}.dial(t, s)
	c.query("CREATE TABLE lake.t (a INT)")
	c.succeeds()
	const evil = "t`; DROP TABLE lake.t; -- "
	c.ask(comInitDB, []byte("lake`; DROP TABLE lake.t; -- ")...)
	require.EqualValues(t, 0xff, c.read()[0])
	c.ask(comInitDB, []byte("lake")...)
	c.succeeds()
	c.ask(comFieldList, []byte(evil+"\x00%")...)
	require.Contains(t, "\xfe\xff", string(c.read()[:1]))
	c.query("SELECT * FROM `" + "t``; DROP TABLE lake.t; -- `")
	require.EqualValues(t, 0xff, c.read()[0])
	id := c.prepare("SELECT COUNT(*) FROM t WHERE a = ?")
	c.ask(comStmtExecute, withText(id, "1; DROP TABLE t; --")...)
	c.columns()
	c.rows()
	require.EqualValues(t, 0xff, c.changeUser("root' OR 1=1; DROP TABLE lake.t; --", "", "")[0])
	require.Equal(t, "0", dialRaw(t, s).value("SELECT COUNT(*) FROM lake.t"))
}

// FuzzListener sends anything to a server, before, during and after the login. The server answers the next client.
func FuzzListener(f *testing.F) {
	login := binaryLogin()
	command := func(payload ...byte) []byte { return frame(payload, 0) }
	text := func(first byte, rest string) []byte { return frame(append([]byte{first}, rest...), 0) }
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), false, false)
	f.Add(login, false, false)
	f.Add(frame(make([]byte, 32), 1), false, false)
	f.Add(append(bytes.Clone(login), command(comPing)...), false, false)
	f.Add(text(comQuery, "SELECT 1; SELECT ?, 'x"), true, false)
	f.Add(bytes.Join([][]byte{text(comStmtPrepare, "SELECT ?, id FROM g.series"), command(comStmtLongData, 1, 0, 0, 0, 0, 0, 'x'),
		command(comStmtExecute, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0xfe, 0, 1, 'a'), command(comStmtFetch, 1, 0, 0, 0, 2, 0, 0, 0), command(comStmtReset, 1, 0, 0, 0),
		command(comStmtClose, 1, 0, 0, 0)}, nil), true, false)
	f.Add(bytes.Join([][]byte{text(comStmtPrepare, "SELECT ?"), command(comStmtExecute, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0x0c, 0, 11, 1, 2, 3)}, nil), true, false)
	f.Add(append(text(comChangeUser, "root\x00\x00d\x00\x21\x00caching_sha2_password\x00"), frame(nil, 2)...), true, false)
	f.Add(text(comFieldList, "t\x00%"), true, false)
	f.Add(command(comSetOption, 0, 0), true, false)
	f.Add(command(comResetConnection), true, false)
	f.Add(text(comQuery, "LOAD DATA LOCAL INFILE 'x' INTO TABLE d.t"), true, false)
	f.Add([]byte{0xff, 0xff, 0xff, 0, 3, 'S'}, true, false)
	f.Add(packedPlain(command(comPing)), true, true)
	f.Add(compressed(text(comQuery, "SELECT 1"), 13), true, true)
	f.Add(compressed(text(comQuery, "SELECT 1"), 99), true, true)
	ts := startServer(f)
	ts.length.Store(50)
	f.Fuzz(func(t *testing.T, data []byte, loggedIn, packs bool) {
		how := rawLogin{}
		if packs {
			how.capabilities = clientCompress
		}
		var c net.Conn
		if loggedIn {
			c = how.dial(t, ts).conn
		} else {
			var err error
			c, err = net.Dial("tcp", ts.Addr().String())
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
			_, err = c.Read(make([]byte, 200)) // the greeting
			require.NoError(t, err)
		}
		require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
		_, _ = c.Write(data) // the server may have had enough
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
		answer := make([]byte, 64<<10)
		for {
			_, err := c.Read(answer)
			if err != nil {
				require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the server neither answers nor closes")
				break
			}
		}
		require.Equal(t, "1", dialRaw(t, ts).value("SELECT 1"))
	})
}
