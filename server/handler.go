package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	gms "github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"lakesql/catalog"
	"lakesql/catalog/resultmeta"
	"lakesql/sqlext"
	"lakesql/vector"
)

// handler runs the commands of all connections. What concerns a connection's coming and going is GMS' own.
type handler struct {
	mysql.Handler // GMS'
	engine        *sqle.Engine
	sessions      *gms.SessionManager
	processes     *processList
	base          context.Context // ends when the server closes
	metrics       *metrics
	log           *slog.Logger
	listener      *frontListener     // hears of each login and of a connection's last call
	logins        *logins            // for those who change their user
	prepared      atomic.Int64       // statements that are prepared by COM_STMT_PREPARE
	spill         *vector.SpillSpace // for what waits to be fetched; nil: memory only
	budget        *vector.Budget     // counts what of it is in memory; nil: nothing does
}

// install is a GMS option: it takes the place of the handler that GMS made, and keeps that one for what it does well.
func (h *handler) install(e *sqle.Engine, sm *gms.SessionManager, inner mysql.Handler) (*sqle.Engine, *gms.SessionManager, mysql.Handler) {
	h.Handler, h.sessions = inner, sm
	return e, sm, h
}

// NewConnection is called before a client has said who it is.
func (h *handler) NewConnection(c *mysql.Conn) {
	h.metrics.threads.Add(1)
	setFlag(&c.StatusFlags, uint16(mysql.ServerStatusAutocommit), beginsWithAutocommit())
	front(c).conn = c
	front(c).requests.commands = session{h, front(c)}
	h.Handler.NewConnection(c)
}

// ConnectionClosed is the last call for a connection.
func (h *handler) ConnectionClosed(c *mysql.Conn) {
	defer h.listener.done(front(c))
	defer h.metrics.threads.Add(-1)
	if err := front(c).closeCursors(); err != nil {
		h.log.Warn("close the cursors of a connection", "connection", c.ConnectionID, "error", err)
	}
	h.dropStatements(c)
	h.Handler.ConnectionClosed(c)
}

// ConnectionAuthenticated makes the session.
func (h *handler) ConnectionAuthenticated(c *mysql.Conn) error {
	h.listener.admit(front(c))
	if who, ok := c.UserData.(sql.MysqlConnectionUser); ok {
		h.processes.loggedIn(c.ConnectionID, who.User+"@"+who.Host)
	}
	if err := h.sessions.ConnReady(h.base, c); err != nil {
		return asError(sqlError(err))
	}
	if err := h.makeRoom(c); err != nil {
		return err
	}
	return asError(sqlError(h.beginSession(c)))
}

// ComInitDB changes the current database; vitess calls it at login too. It may stand for a COM_CHANGE_USER.
func (h *handler) ComInitDB(c *mysql.Conn, database string) error {
	if payload := front(c).requests.takeUser(); payload != nil {
		return asError(sqlError(h.changeUser(c, payload)))
	}
	return asError(sqlError(h.sessions.SetDB(h.base, c, database)))
}

// ComQuery runs one statement.
func (h *handler) ComQuery(ctx context.Context, c *mysql.Conn, query string, send mysql.ResultSpoolFn) error {
	_, err := h.run(ctx, c, request{text: query}, &spool{send: send})
	if err != nil && front(c).requests.fields {
		front(c).failResult(sqlError(err)) // in place of the end that vitess writes
		return nil
	}
	return err
}

// ComMultiQuery runs the first of several statements and returns the rest. An error drops the rest, as MySQL does.
func (h *handler) ComMultiQuery(ctx context.Context, c *mysql.Conn, query string, send mysql.ResultSpoolFn) (string, error) {
	return h.run(ctx, c, request{text: query, multi: true}, &spool{send: send})
}

// ComStmtExecute runs a prepared statement.
func (h *handler) ComStmtExecute(ctx context.Context, c *mysql.Conn, p *mysql.PrepareData, send func(*sqltypes.Result) error) error {
	front(c).reading = nil
	writeMoments(p)
	out := &spool{binary: true, send: func(r *sqltypes.Result, _ bool) error { return send(r) }}
	if front(c).requests.takeCursor() {
		if len(front(c).cursors) >= maxCursors {
			return asError(sqlError(errTooManyCursors))
		}
		out.kept = front(c).capture(p.StatementID, &cursor{space: h.spill, budget: h.budget})
	}
	_, err := h.run(ctx, c, request{text: p.PrepareStmt, params: p.BindVars}, out)
	return err
}

// run runs a statement and sees to it that an error reaches the client: by itself before the first row, in place of the result's
// end after it.
func (h *handler) run(ctx context.Context, c *mysql.Conn, r request, out *spool) (rest string, err error) {
	started := time.Now()
	rest, err = h.query(ctx, c, &r, out)
	front(c).finishInfile()
	e := sqlError(err)
	h.metrics.observe(time.Since(started), e)
	h.audit(c, r, time.Since(started), e)
	if e == nil {
		return rest, nil
	}
	h.log.Debug("a statement failed", "connection", c.ConnectionID, "statement", sqlext.Redact(r.text), "errno", e.Num, "error", shownError(r.text, err))
	if !out.started || out.broken {
		return "", e
	}
	if err := c.FlushBuffer(); err != nil {
		return "", err
	}
	front(c).failResult(e)
	return "", nil
}

// ComPrepare prepares the statement whose stand-in vitess has parsed, and returns the columns of its result.
func (h *handler) ComPrepare(ctx context.Context, c *mysql.Conn, _ string, p *mysql.PrepareData) (fields []*querypb.Field, err error) {
	statement := front(c).requests.takePrepared()
	p.PrepareStmt = statement.text
	defer func() {
		if fault := recover(); fault != nil {
			err = h.fault(fault)
		}
		if err != nil {
			if failed := h.dropStatement(c, p.StatementID); failed != nil {
				err = errors.Join(err, failed)
			}
			err = asError(sqlError(err))
		}
	}()
	if err := h.takeStatement(); err != nil {
		delete(c.PrepareData, p.StatementID) // it was not counted
		return nil, err
	}
	if statement.marks > maxMarks {
		return nil, errTooManyMarks
	}
	sctx, err := h.sessions.NewContextWithQuery(ctx, c, statement.text)
	if err != nil {
		return nil, err
	}
	if sctx, err = sctx.ProcessList.BeginOperation(sctx); err != nil {
		return nil, err
	}
	defer sctx.ProcessList.EndOperation(sctx)
	if err := sql.SessionCommandBegin(sctx.Session); err != nil {
		return nil, err
	}
	defer sql.SessionCommandEnd(sctx.Session)
	node, err := h.prepare(sctx, statement.text)
	if err != nil {
		return nil, catalog.WithDatabase(sctx, err)
	}
	schema := node.Schema(sctx)
	if returnsNoRows(node) || types.IsOkResultSchema(schema) {
		return nil, nil
	}
	return resultFields(sctx, schema, resultmeta.Of(sctx, node)), nil
}

// prepare parses one statement, which the session keeps by its text.
func (h *handler) prepare(ctx *sql.Context, text string) (sql.Node, error) {
	text = statementKey(text)
	parsed, end, err := h.engine.Parser.ParseOneWithOptions(ctx, text, sql.LoadSqlMode(ctx).ParserOptions())
	if err != nil {
		return nil, err
	}
	if end < len(text) && !isBlank(text[end:]) {
		return nil, sqlext.SyntaxErrorAt(text, end, "one statement")
	}
	node, err := h.engine.PrepareParsedQuery(ctx, text, text, parsed)
	if err != nil {
		return nil, inStatement(ctx.GetCurrentDatabase(), text, parsed, err)
	}
	return node, nil
}

// returnsNoRows knows the statements whose plan has columns before it is analyzed and none when it runs.
func returnsNoRows(node sql.Node) bool {
	switch n := node.(type) {
	case *plan.InsertInto:
		return n.Returning == nil
	case *plan.Update, *plan.UpdateJoin, *plan.DeleteFrom:
		return true
	}
	return false
}

// fault turns a panic into an error and keeps its trace in the log.
func (h *handler) fault(value any) error {
	h.log.Error("a statement met a fault in the program", "fault", value, "stack", string(debug.Stack()))
	return &faultError{value: value}
}

// faultError is a panic that ended a statement.
type faultError struct{ value any }

func (e *faultError) Error() string {
	return fmt.Sprintf("internal error: %v (the server's log has more; the statement had no further effect, the connection goes on)", e.value)
}

// asError keeps a nil *SQLError from becoming an error that is not nil.
func asError(e *mysql.SQLError) error {
	if e == nil {
		return nil
	}
	return e
}

// Why a statement was ended from outside.
var (
	errKilled       = errors.New("the statement was killed")
	errTimeLimit    = errors.New("max_execution_time is over")
	errClientGone   = errors.New("the client is gone")
	errShutdown     = errors.New("the server shuts down")
	errTooManyMarks = fmt.Errorf("a prepared statement has more than %d parameters", maxMarks)
)
