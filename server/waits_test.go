package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIdleConnectionsEnd(t *testing.T) {
	g := startGuarded(t)
	for name, how := range map[string]rawLogin{"plain": {}, "tls": {tls: true}, "compressed": {capabilities: clientCompress}} {
		t.Run(name, func(t *testing.T) {
			c := how.dial(t, g)
			require.Equal(t, "28800", c.value("SELECT @@wait_timeout"))
			c.query("SET wait_timeout = 1")
			c.succeeds()
			require.NoError(t, c.conn.SetReadDeadline(time.Now().Add(patience)))
			c.fails(4031, "HY000", "The client was disconnected by the server because of inactivity. "+
				"See wait_timeout and interactive_timeout for configuring this behavior.")
			c.ended()
		})
	}
}

func TestInteractiveClientsHaveATimeoutOfTheirOwn(t *testing.T) {
	setGlobal(t, "interactive_timeout", int64(77))
	ts := startServer(t)
	require.Equal(t, "77", rawLogin{capabilities: clientInteractive}.dial(t, ts).value("SELECT @@wait_timeout"))
	require.Equal(t, "28800", dialRaw(t, ts).value("SELECT @@wait_timeout"))
}

func TestRunningStatementsAreNotIdle(t *testing.T) {
	c := rawLogin{capabilities: rawMulti}.dial(t, startServer(t))
	c.query("SET wait_timeout = 1; SELECT SLEEP(1.5); SET wait_timeout = 28800")
	c.succeeds()
	c.columns()
	require.Equal(t, "\x010", string(c.read()))
	c.rows()
	c.succeeds()
	require.Equal(t, "1", c.value("SELECT 1"))
}

func TestPacketsThatDoNotEnd(t *testing.T) {
	setGlobal(t, "net_read_timeout", int64(1))
	ts := startServer(t)
	for _, sent := range [][]byte{{5}, {5, 0, 0, 0}, {5, 0, 0, 0, comQuery, 'S'}, {9, 0, 0, 0, comStmtPrepare}, {9, 0, 0, 0, comStmtFetch}} {
		t.Run(fmt.Sprint(sent), func(t *testing.T) {
			c := dialRaw(t, ts)
			_, err := c.conn.Write(sent)
			require.NoError(t, err)
			c.ended()
		})
	}
}

func TestClientsThatDoNotRead(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(1 << 40)
	c := dialRaw(t, ts)
	c.query("SET net_write_timeout = 1")
	c.succeeds()
	c.query("SELECT s, s, s, s FROM g.series")
	require.Eventually(t, func() bool {
		for _, p := range ts.engine.ProcessList.Processes() {
			if p.Connection == c.id {
				return false
			}
		}
		return true
	}, patience, 10*time.Millisecond)
}
