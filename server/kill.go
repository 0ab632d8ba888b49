package server

import (
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog"
)

// shown is the list of processes as a statement's user may see it.
func (h *handler) shown(ctx *sql.Context) shownProcesses {
	return shownProcesses{
		processList: h.processes, account: accountOf(ctx),
		all: func() bool { return h.holds(ctx, sql.PrivilegeType_Process) }, super: func() bool { return h.holds(ctx, sql.PrivilegeType_Super) },
	}
}

func accountOf(ctx *sql.Context) string {
	client := ctx.Session.Client()
	return client.User + "@" + client.Address
}

// holds says whether the user has a privilege on the whole server.
func (h *handler) holds(ctx *sql.Context, privilege sql.PrivilegeType) bool {
	return catalog.HoldsOnServer(ctx, h.engine.Analyzer.Catalog.MySQLDb, privilege)
}

// executed is the statement that EXECUTE names, and any other as it is: what is looked at of a statement must not depend on how it came.
func executed(ctx *sql.Context, stmt sqlparser.Statement) (_ sqlparser.Statement, byName bool) {
	if e, ok := stmt.(*sqlparser.Execute); ok {
		if prepared, ok := ctx.Session.GetPreparedQuery(e.Name); ok {
			return prepared, true
		}
	}
	return stmt, false
}

// checkKill refuses to KILL what is not there, of which GMS says nothing, and what is another's, unless the user holds SUPER: CONNECTION_ADMIN,
// which MySQL would take as well, cannot be granted.
func (h *handler) checkKill(ctx *sql.Context, stmt sqlparser.Statement) error {
	kill, ok := stmt.(*sqlparser.Kill)
	if !ok {
		return nil
	}
	literal, ok := kill.ConnID.(*sqlparser.SQLVal)
	if !ok {
		return nil
	}
	id, err := strconv.ParseUint(string(literal.Val), 10, 32)
	if err == nil {
		for _, p := range h.processes.Processes() {
			if uint64(p.Connection) != id {
				continue
			}
			if h.shown(ctx).mayKill(p.Connection) {
				return nil
			}
			return mysql.NewSQLError(1095, mysql.SSUnknownSQLState, "You are not owner of thread %s", literal.Val)
		}
	}
	return mysql.NewSQLError(1094, mysql.SSUnknownSQLState, "Unknown thread id: %s", literal.Val)
}
