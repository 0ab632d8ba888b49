package server

import (
	"net"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// max_connections bounds the connections that are logged in; those that are at it have their own bound (maxEntering). As in MySQL an account with
// SUPER gets one more, so that somebody can look and KILL.

var errTooManyConnections = mysql.NewSQLError(1040, "08004", "Too many connections")

// full says whether no account at all would be let in.
func (l *frontListener) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.served)) > l.most()
}

// turnAway tells a client that there is no room, in place of a greeting: such an error has no SQLSTATE.
func (l *frontListener) turnAway(raw net.Conn) {
	payload := append([]byte{mysql.ErrPacket, byte(errTooManyConnections.Num), byte(errTooManyConnections.Num >> 8)}, errTooManyConnections.Message...)
	_ = sayLast(raw, frame(payload, 0)) // it is gone either way
	_ = raw.Close()
}

// serve counts a connection that is logged in, and refuses it where there are too many, of all or of the account.
func (l *frontListener) serve(c *frontConn, account, user string, super bool, mostOfUser int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.served, c)
	most, ofUser := l.most(), int64(0)
	if super {
		most++
	}
	if int64(len(l.served)) >= most {
		return errTooManyConnections
	}
	for _, other := range l.served {
		if other == account {
			ofUser++
		}
	}
	if mostOfUser > 0 && ofUser >= mostOfUser {
		return mysql.NewSQLError(1203, mysql.SSClientError, "User %s already has more than 'max_user_connections' active connections", user)
	}
	l.served[c] = account
	return nil
}

// makeRoom lets a connection in that has a session.
func (h *handler) makeRoom(c *mysql.Conn) error {
	ctx, err := h.sessions.NewContextWithQuery(h.base, c, "")
	if err != nil {
		return asError(sqlError(err))
	}
	return h.listener.serve(front(c), accountOf(ctx), c.User, h.holds(ctx, sql.PrivilegeType_Super), h.globalVariable("max_user_connections"))
}
