package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog"
	"lakesql/sqlext"
)

const (
	// watchAfter is how long a statement runs before its client is watched: most are over sooner and cost nothing.
	watchAfter = 20 * time.Millisecond
	// writeGrace is how long a client may take to read what is on its way when its statement has been ended.
	writeGrace = 1 * time.Second
)

// request is a statement as it came.
type request struct {
	text   string
	multi  bool                             // more statements may follow in text
	params map[string]*querypb.BindVariable // of a prepared statement

	executed string // the text of what an EXECUTE runs, once that is known
}

// spool hands results to vitess.
type spool struct {
	send    mysql.ResultSpoolFn
	binary  bool // rows are the binary protocol's
	more    bool // another statement's result follows
	started bool // something was sent
	broken  bool // sending failed: the connection is lost

	kept *capture // where a cursor's rows go; nil: they are sent
}

func (s *spool) put(r *sqltypes.Result) error {
	s.started = true
	err := s.send(r, s.more)
	s.broken = s.broken || err != nil
	return errors.Join(err, s.notKept())
}

// notKept is why the rows are not kept for a cursor any more.
func (s *spool) notKept() error {
	if s.kept == nil {
		return nil
	}
	return s.kept.err
}

// query runs a statement and sends its result. It returns the statements that follow. The context's cause, not the error that it
// led to, is the error of a statement that was ended from outside.
func (h *handler) query(ctx context.Context, c *mysql.Conn, r *request, out *spool) (rest string, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer func() { err = ended(ctx, err) }()
	defer func() {
		if fault := recover(); fault != nil {
			err = h.fault(fault)
		}
	}()
	defer context.AfterFunc(h.base, func() { end(errShutdown) })()
	defer h.processes.register(c.ConnectionID, end)()

	sctx, err := h.sessions.NewContextWithQuery(ctx, c, r.text)
	if err != nil {
		return "", err
	}
	shown := h.shown(sctx)
	watching := &watch{c: front(c), leave: func() { end(errClientGone) }}
	sctx.ApplyOpts(sql.WithServices(sql.Services{KillConnection: func(id uint32) error {
		if !shown.mayKill(id) {
			return nil // as Kill
		}
		return h.sessions.KillConnection(id)
	}, LoadInfile: loadInfile(ctx, c, watching)}))
	sctx.ProcessList = shown
	if sctx, err = sctx.ProcessList.BeginQuery(sctx, sqlext.Redact(r.text)); err != nil {
		return "", err
	}
	defer sctx.ProcessList.EndQuery(sctx)
	if err := sql.SessionCommandBegin(sctx.Session); err != nil {
		return "", err
	}
	defer sql.SessionCommandEnd(sctx.Session)
	defer h.freeWrites(ctx, c, out)()
	watching.begin()
	defer watching.end()
	defer h.learnWaits(sctx, c)
	rest, err = h.execute(sctx, c, r, out, end)
	if err != nil {
		err = catalog.WithDatabase(sctx, err)
		told := sqlError(ended(ctx, err))
		catalog.Failed(sctx, told.Num, told.Message)
	}
	return rest, err
}

// ended is the error of a statement: why it was ended from outside, where it was.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// execute parses a statement, runs it and sends its result.
func (h *handler) execute(ctx *sql.Context, c *mysql.Conn, r *request, out *spool, end context.CancelCauseFunc) (rest string, err error) {
	parsed, text, rest, err := h.parse(ctx, r)
	if errors.Is(err, sqlparser.ErrEmpty) && isComment(r.text) && isBlank(r.text) {
		return "", sendOK(ctx, c, parsed, sql.RowsToRowIter(), out)
	}
	if err != nil {
		return "", err
	}
	out.more = rest != ""
	run, prepared := executed(ctx, parsed)
	if prepared {
		r.executed = catalog.TextOf(run)
	}
	limit, err := timeLimit(ctx, run)
	if err != nil {
		return "", err
	}
	if limit > 0 {
		defer time.AfterFunc(limit, func() { end(errTimeLimit) }).Stop()
	}
	bindings, err := bind(r.params)
	if err != nil {
		return "", err
	}
	if err := h.checkKill(ctx, run); err != nil {
		return "", err
	}
	err = catalog.RunInsert(ctx, run, func() bool { return out.started }, func() error {
		schema, rows, _, err := h.engine.QueryWithBindings(ctx, text, parsed, bindings, nil)
		if err != nil {
			return err
		}
		if rows, err = limitRows(ctx, run, rows); err != nil {
			return err
		}
		if len(schema) == 0 || types.IsOkResultSchema(schema) {
			return sendOK(ctx, c, run, rows, out)
		}
		return sendResult(ctx, c, schema, rows, out)
	})
	if err != nil {
		return "", inStatement(ctx.GetCurrentDatabase(), text, run, err)
	}
	return rest, nil
}

// parse returns the statement, its own text and the text that follows it. A prepared statement was parsed when it was prepared.
func (h *handler) parse(ctx *sql.Context, r *request) (stmt sqlparser.Statement, text, rest string, err error) {
	if prepared, ok := ctx.Session.GetPreparedQuery(statementKey(r.text)); ok {
		return prepared, r.text, "", nil
	}
	stmt, text, rest, err = h.engine.Parser.Parse(ctx, r.text, r.multi)
	if err != nil {
		return nil, "", "", err
	}
	if text == "" {
		text = r.text
	}
	if isBlank(rest) {
		rest = ""
	}
	return stmt, text, rest, nil
}

// bind makes a prepared statement's parameters expressions.
func bind(params map[string]*querypb.BindVariable) (map[string]sqlparser.Expr, error) {
	exprs := make(map[string]sqlparser.Expr, len(params))
	for name, param := range params {
		value, err := sqltypes.BindVariableToValue(param)
		if err != nil {
			return nil, fmt.Errorf("read parameter %s: %w", name, err)
		}
		if exprs[name], err = sqlparser.ExprFromValue(value); err != nil {
			return nil, fmt.Errorf("read parameter %s: %w", name, err)
		}
	}
	return exprs, nil
}

// freeWrites bounds the writes of a statement that has been ended, so that a client that stopped reading does not hold it. The
// function it returns lifts the bound, unless the connection is lost.
func (h *handler) freeWrites(ctx context.Context, c *mysql.Conn, out *spool) func() {
	bounded := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(bounded)
		if err := front(c).limitWrites(writeGrace); err != nil {
			h.log.Debug("bound the writes to a client", "connection", c.ConnectionID, "error", err)
		}
	})
	return func() {
		if stop() {
			return
		}
		<-bounded
		if out.broken {
			return
		}
		// What is left goes out under the bound: after this, only the packet that ends the result is to be written.
		if err := errors.Join(c.FlushBuffer(), front(c).flushPast()); err != nil {
			out.broken = true
			return
		}
		if err := front(c).limitWrites(0); err != nil {
			out.broken = true
		}
	}
}
