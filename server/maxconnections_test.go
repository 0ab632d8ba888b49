package server

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTooManyConnections(t *testing.T) {
	g := startGuarded(t)
	g.exec(g.as("root", ""), "CREATE USER ann, bob")
	setGlobal(t, "max_connections", int64(3)) // root's is one of them
	login := func(user string) (c *rawClient, answer string) {
		c = dialGreeted(t, g)
		c.hello(user)
		return c, string(c.prove(""))
	}
	var conns []*rawClient
	for range 2 {
		c, answer := login("ann")
		require.Equal(t, "\x00", answer[:1])
		conns = append(conns, c)
	}
	ann, answer := login("ann")
	require.Equal(t, "\xff\x10\x04#08004Too many connections", answer)
	ann.ended()
	root, answer := login("root")
	require.Equal(t, "\x00", answer[:1], "one more for SUPER")
	require.Equal(t, "1", root.value("SELECT 1"))

	raw, err := net.Dial("tcp", g.Addr().String())
	require.NoError(t, err)
	defer func() { require.NoError(t, raw.Close()) }()
	require.NoError(t, raw.SetDeadline(time.Now().Add(patience)))
	refused := make([]byte, 100)
	n, err := raw.Read(refused)
	require.NoError(t, err)
	require.Equal(t, "\x17\x00\x00\x00\xff\x10\x04Too many connections", string(refused[:n]), "in place of a greeting")

	require.Contains(t, string(root.changeUser("ann", "", "")), "Too many connections", "ann is not SUPER")
	root.ended()
	require.Eventually(t, func() bool {
		g.listener.mu.Lock()
		defer g.listener.mu.Unlock()
		return len(g.listener.served) == 3
	}, patience, time.Millisecond)
	require.Equal(t, "\x00", string(conns[0].changeUser("bob", "", "")[:1]), "which takes no more room")
	conns[1].ask(comQuit)
	conns[1].ended()
	require.Eventually(t, func() bool {
		c, answer := login("ann")
		if answer[0] == 0 {
			c.ask(comQuit)
			c.ended()
		}
		return answer[0] == 0
	}, patience, time.Millisecond)
}

func TestTooManyConnectionsOfAUser(t *testing.T) {
	g := startGuarded(t)
	g.exec(g.as("root", ""), "CREATE USER ann, bob")
	setGlobal(t, "max_user_connections", int64(1))
	rawLogin{user: "ann"}.dial(t, g)
	c := dialGreeted(t, g)
	c.hello("ann")
	require.Equal(t, "\xff\xb3\x04#42000User ann already has more than 'max_user_connections' active connections", string(c.prove("")))
	c.ended()
	bob := rawLogin{user: "bob"}.dial(t, g)
	require.EqualValues(t, 0, bob.changeUser("bob", "", "")[0], "his own does not count twice")
	require.Equal(t, "bob@%", bob.value("SELECT CURRENT_USER()"))
}
