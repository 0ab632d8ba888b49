package server

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	goerrors "gopkg.in/src-d/go-errors.v1"

	"lakesql/sqlext"
	"lakesql/vector"
)

// stateOwn is the SQLSTATE of our own numbers. Some drivers take HY000 for a fault that a retry may mend.
const stateOwn = "45000"

// sqlError turns an error into what a client gets: MySQL's number and SQLSTATE where MySQL has the error, one of ours otherwise. The
// outermost error in the chain that has a number decides. Number 1105 is left for faults in the program.
func sqlError(err error) *mysql.SQLError {
	if err == nil {
		return nil
	}
	if e := find(err); e != nil {
		return e
	}
	if e := sql.CastSQLError(sql.UnwrapError(err)); e.Num != mysql.ERUnknownError {
		return withState(e)
	}
	return mysql.NewSQLError(mysql.ERUnknownError, mysql.SSUnknownSQLState, "%s", firstLine(err.Error()))
}

// find walks an error's tree from the outside in.
func find(err error) *mysql.SQLError {
	if e := number(err); e != nil {
		return e
	}
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if found := find(inner); found != nil {
				return found
			}
		}
		return nil
	case sql.WrappedInsertError:
		return find(e.Cause)
	case sql.WrappedTypeConversionError:
		return find(e.Err)
	case *goerrors.Error:
		if e.Cause() == nil {
			return nil
		}
		return find(e.Cause())
	}
	if inner := errors.Unwrap(err); inner != nil {
		return find(inner)
	}
	return nil
}

// number looks at one error without what it wraps. The message is that of the whole error found, which tells the most.
func number(err error) *mysql.SQLError {
	switch e := err.(type) {
	case *mysql.SQLError:
		if e.Num == mysql.ERUnknownError {
			return nil
		}
		return withState(e)
	case *sqlext.SyntaxError:
		return mysql.NewSQLError(mysql.ERParseError, mysql.SSClientError, "%s", e.Error())
	case *vector.OverflowError:
		return mysql.NewSQLError(mysql.ERDataOutOfRange, mysql.SSDataOutOfRange, "%s", e.Error())
	}
	if e := syntaxError(err); e != nil {
		return e
	}
	for _, f := range fixed {
		if err == f.err {
			return mysql.NewSQLError(f.num, f.state, "%s", f.message)
		}
	}
	if e := ownNumber(err); e != nil {
		return e
	}
	return engineNumber(err)
}

// fixed are the errors that always say the same.
var fixed = []struct {
	err     error
	num     int
	state   string
	message string
}{
	{sqlparser.ErrEmpty, mysql.EREmptyQuery, mysql.SSClientError, "Query was empty"},
	{errKilled, mysql.ERQueryInterrupted, "70100", "Query execution was interrupted"},
	{context.Canceled, mysql.ERQueryInterrupted, "70100", "Query execution was interrupted"},
	{errClientGone, mysql.ERQueryInterrupted, "70100", "Query execution was interrupted: the client is gone"},
	{errTimeLimit, 3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded"},
	{errShutdown, mysql.ERServerShutdown, mysql.SSServerShutdown, "Server shutdown in progress"},
	{errTooManyMarks, 1390, "HY000", "Prepared statement contains too many placeholders"},
	{syscall.ENOSPC, 1021, "HY000", "Disk full: no space left where the lake or the checkpoint is; nothing was committed. Make room, then run the statement again"},
}

// ownError is one of our numbers.
type ownError struct {
	num   int
	means string
	match func(error) bool
}

// ownNumber looks an error up among ours; see errno_own.go.
func ownNumber(err error) *mysql.SQLError {
	for _, m := range ownAsMySQL {
		if m.match(err) {
			return mysql.NewSQLError(m.num, m.state, "%s", err.Error())
		}
	}
	for _, o := range ownErrors {
		if o.match(err) {
			return mysql.NewSQLError(o.num, stateOwn, "%s", err.Error())
		}
	}
	return nil
}

// withState gives MySQL's SQLSTATE to an error that came without.
func withState(e *mysql.SQLError) *mysql.SQLError {
	if e.State != "" && e.State != mysql.SSUnknownSQLState {
		return e
	}
	state, ok := states[e.Num]
	if !ok {
		return e
	}
	return &mysql.SQLError{Num: e.Num, State: state, Message: e.Message, Query: e.Query}
}

// dropMissing corrects what GMS says when the database of a DROP DATABASE is not there.
func dropMissing(stmt sqlparser.Statement, err error) error {
	ddl, ok := stmt.(*sqlparser.DBDDL)
	if !ok || ddl.Action != sqlparser.DropStr || !sql.ErrDatabaseNotFound.Is(err) {
		return err
	}
	return mysql.NewSQLError(mysql.ERDbDropExists, "HY000", "Can't drop database '%s'; database doesn't exist", ddl.DBName)
}

func firstLine(text string) string {
	for i, c := range text {
		if c == '\n' {
			return text[:i]
		}
	}
	return text
}

// syntaxText is MySQL's message for a syntax error.
func syntaxText(near string, line int) string {
	return fmt.Sprintf("You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the "+
		"right syntax to use near '%s' at line %d", near, line)
}
