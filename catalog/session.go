package catalog

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"

	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/catalog/resultmeta"
	"lakesql/sqlext"
	"lakesql/vector"
)

// defaultDatabase always exists. Connections begin in it.
const defaultDatabase = "lake"

// NewSession builds the session of a connection that has been authenticated. It is a GMS server.SessionBuilder.
func (c *Catalog) NewSession(_ context.Context, conn *mysql.Conn, addr string) (sql.Session, error) {
	client := sql.Client{Capabilities: conn.Capabilities}
	if user, ok := conn.UserData.(sql.MysqlConnectionUser); ok {
		client.User, client.Address = user.User, user.Host
	}
	return c.newSession(client, addr, conn.ConnectionID), nil
}

func (c *Catalog) newSession(client sql.Client, addr string, id uint32) *session {
	s := &session{BaseSession: sql.NewBaseSessionWithClientServer(addr, client, id), memory: c.cfg.Memory, allMemory: c.memory}
	s.SetCurrentDatabase(defaultDatabase)
	return s
}

// session is one connection's session. What a statement needs across calls of GMS is in its transaction.
type session struct {
	*sql.BaseSession
	// warnMu is held while a warning is kept: they come from all cores that run a statement.
	warnMu sync.Mutex
	// caught takes the warnings while an expression is watched; nil: the session has them.
	caught *[]*sql.Warning
	// insertID is the first identity value that the statement's INSERT has made; 0: none.
	insertID uint64

	// before are the warnings of the statement before, when cleared says that this one's have begun.
	before   []*sql.Warning
	cleared  bool
	profiles profiles

	// result is what clients are told of the columns of the statement's result.
	result    []resultmeta.Column
	described bool

	resolving resolvingView
	// missing is the table that was looked for last and not found: the error that there is none has no database.
	missing atomic.Pointer[sqlext.Name]

	memory    Memory
	allMemory *vector.Budget
	budget    *vector.Budget // of the statement; nil: nothing asked for it yet
}

var (
	_ sql.Session            = (*session)(nil)
	_ sql.TransactionSession = (*session)(nil)

	_ sql.LifecycleAwareSession = (*session)(nil)

	_ compile.WarningCatcher = (*session)(nil)
)

// SetPrivilegeSet keeps what the user may do, and adds what everybody may: to read the tables of system databases that are open to all. The caller
// goes on with the same set.
func (s *session) SetPrivilegeSet(set sql.PrivilegeSet, counter uint64) {
	if held, ok := set.(mysql_db.PrivilegeSet); ok {
		for name := range performanceTables {
			held.AddTable("performance_schema", name, sql.PrivilegeType_Select)
		}
		held.AddDatabase(mysqlTablesName, sql.PrivilegeType_Select)
	}
	s.BaseSession.SetPrivilegeSet(set, counter)
}

// noTable keeps which table was not found.
func noTable(ctx *sql.Context, database, name string) {
	if s, ok := ctx.Session.(*session); ok {
		s.missing.Store(&sqlext.Name{Database: database, Name: name})
	}
}

// WithDatabase names the database in an error that there is no table, as MySQL does.
func WithDatabase(ctx *sql.Context, err error) error {
	s, ok := ctx.Session.(*session)
	if !ok || !sql.ErrTableNotFound.Is(err) {
		return err
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "table not found: "), ", maybe you mean ")
	if m := s.missing.Load(); m != nil && strings.EqualFold(m.Name, text) {
		return sql.ErrTableNotFound.New(m.Database + "." + m.Name)
	}
	return err
}

// CatchWarnings sends warnings to another place, nil for the session, and returns the place before.
func (s *session) CatchWarnings(to *[]*sql.Warning) *[]*sql.Warning {
	s.warnMu.Lock()
	defer s.warnMu.Unlock()
	before := s.caught
	s.caught = to
	return before
}

// maxWarnings is how many warnings of a statement are kept: MySQL's max_error_count.
const maxWarnings = 1024

// Warn keeps a warning.
func (s *session) Warn(w *sql.Warning) {
	w.Message = mysqltype.Printable(w.Message)
	s.warnMu.Lock()
	defer s.warnMu.Unlock()
	if s.caught != nil {
		*s.caught = append(*s.caught, w)
		return
	}
	if s.WarningCount() < maxWarnings {
		s.BaseSession.Warn(w)
	}
}

// ValidateSession is called before each statement, after COM_STMT_PREPARE may have opened a transaction that nobody ends. Unless
// BEGIN was given, a statement begins with a transaction of its own, and with it on the newest versions, as long as
// nothing was written: so autocommit=0 alone does not freeze what a connection sees.
func (s *session) ValidateSession(ctx *sql.Context) error {
	s.insertID, s.budget, s.cleared = 0, nil, false
	s.result, s.described = nil, false
	s.missing.Store(nil)
	if err := s.profiles.begin(ctx); err != nil {
		return err
	}
	if ctx.GetIgnoreAutoCommit() {
		return nil
	}
	if tx, ok := ctx.GetTransaction().(*transaction); ok && !tx.hasWrites() {
		ctx.SetTransaction(nil)
	}
	return nil
}

// StartTransaction opens a transaction. It pins no version: the first look at each table does.
func (s *session) StartTransaction(_ *sql.Context, kind sql.TransactionCharacteristic) (sql.Transaction, error) {
	return newTransaction(kind == sql.ReadOnly), nil
}

// CommitTransaction commits what the transaction wrote. One that wrote nothing is simply over.
func (s *session) CommitTransaction(ctx *sql.Context, tx sql.Transaction) error {
	if t, ok := tx.(*transaction); ok {
		return t.commit(ctx)
	}
	return nil
}

// Rollback deletes the files of what the transaction wrote.
func (s *session) Rollback(ctx *sql.Context, tx sql.Transaction) error {
	if t, ok := tx.(*transaction); ok {
		return t.rollback(ctx)
	}
	return nil
}

// CreateSavepoint marks what the transaction has written so far.
func (s *session) CreateSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	if t, ok := tx.(*transaction); ok {
		t.savepoint(name)
	}
	return nil
}

// RollbackToSavepoint drops what was written since the mark.
func (s *session) RollbackToSavepoint(ctx *sql.Context, tx sql.Transaction, name string) error {
	if t, ok := tx.(*transaction); ok {
		return t.rollbackTo(ctx, name)
	}
	return sql.ErrSavepointDoesNotExist.New(name)
}

// ReleaseSavepoint forgets a mark.
func (s *session) ReleaseSavepoint(_ *sql.Context, tx sql.Transaction, name string) error {
	if t, ok := tx.(*transaction); ok {
		return t.release(name)
	}
	return sql.ErrSavepointDoesNotExist.New(name)
}

// made notes the first identity value of an INSERT: MySQL's LAST_INSERT_ID() and, in the answer to the statement, its insert id.
func made(ctx *sql.Context, first int64) {
	ctx.GetLastQueryInfo().LastInsertId.Store(first)
	if s, ok := ctx.Session.(*session); ok {
		s.insertID = uint64(first)
	}
}

// InsertID is the insert id of the statement that the session has just run; 0: it has none.
func InsertID(ctx *sql.Context) uint64 {
	if s, ok := ctx.Session.(*session); ok {
		return s.insertID
	}
	return 0
}

// manualCommit says that the statement's writes wait for COMMIT.
func manualCommit(ctx *sql.Context) (bool, error) {
	if ctx.GetIgnoreAutoCommit() {
		return true, nil
	}
	v, err := ctx.GetSessionVariable(ctx, sql.AutoCommitSessionVar)
	if err != nil {
		return false, err
	}
	on, err := sql.ConvertToBool(ctx, v)
	return !on, err
}
