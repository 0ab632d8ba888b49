package server

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pipes is a listener to which somebody connects whenever it is asked.
type pipes struct {
	net.Listener
	clients []net.Conn
}

func (p *pipes) Accept() (net.Conn, error) {
	here, there := net.Pipe()
	p.clients = append(p.clients, there)
	return here, nil
}

func TestWhoIsLongestAtItsLoginMakesRoom(t *testing.T) {
	clients := &pipes{}
	l := newFrontListener(clients, nil, func() int64 { return 1 })
	var conns []*frontConn
	for range maxEntering + 2 {
		c, err := l.Accept()
		require.NoError(t, err)
		conns = append(conns, c.(*frontConn))
		if len(conns) == 2 {
			l.admit(conns[0]) // so the next one is the oldest
		}
	}
	closed := func(i int) bool {
		err := conns[i].SetDeadline(time.Time{})
		return err != nil
	}
	require.False(t, closed(0), "who has logged in stays")
	require.True(t, closed(1))
	require.False(t, closed(2))
	for _, c := range conns {
		l.done(c)
	}
	require.Empty(t, l.entering)
	l.open.Wait()
}
