package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// errIdle is a connection whose client has sent no command for wait_timeout.
var errIdle = mysql.NewSQLError(4031, mysql.SSUnknownSQLState,
	"The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for configuring this behavior.")

// beginSession is called with a new session: what it says of the connection holds from now on.
func (h *handler) beginSession(c *mysql.Conn) error {
	ctx, err := h.sessions.NewContextWithQuery(h.base, c, "")
	if err != nil {
		return err
	}
	if front(c).security.client&clientInteractive != 0 {
		idle, err := ctx.GetSessionVariable(ctx, "interactive_timeout")
		if err != nil {
			return err
		}
		if err := ctx.SetSessionVariable(ctx, "wait_timeout", idle); err != nil {
			return err
		}
	}
	h.learnWaits(ctx, c)
	if err := setTLSStatus(ctx, c); err != nil {
		return err
	}
	return setStatus(ctx, c)
}

// learnWaits takes from a session how long its connection waits for the client, and from the server how much it takes at once.
func (h *handler) learnWaits(ctx *sql.Context, c *mysql.Conn) {
	var failed error
	seconds := func(name string) time.Duration {
		n, err := wholeVariable(ctx.GetSessionVariable(ctx, name))
		failed = errors.Join(failed, err)
		return time.Duration(min(n, maxSeconds)) * time.Second
	}
	front(c).wait(waits{command: seconds("wait_timeout"), rest: seconds("net_read_timeout"), write: seconds("net_write_timeout")})
	front(c).allowed.Store(h.globalVariable("max_allowed_packet"))
	if failed != nil {
		h.log.Warn("read the variables of a session", "connection", c.ConnectionID, "error", failed)
	}
}

// maxSeconds is the longest wait, a year: more would not fit a Duration.
const maxSeconds = 365 * 24 * 60 * 60

// globalVariable is a number of the whole server.
func (h *handler) globalVariable(name string) int64 {
	_, value, ok := sql.SystemVariables.GetGlobal(name)
	if !ok {
		h.log.Warn("read a variable of the server: there is none of the name", "variable", name)
		return 0
	}
	n, err := wholeVariable(value, nil)
	if err != nil {
		h.log.Warn("read a variable of the server", "variable", name, "error", err)
	}
	return n
}

// wholeVariable is the value of a variable that holds a number that is not negative.
func wholeVariable(value any, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	switch n := value.(type) {
	case int64:
		return n, nil
	case uint64:
		return int64(min(n, 1<<62)), nil
	}
	return 0, fmt.Errorf("the variable is a %T and no number", value)
}
