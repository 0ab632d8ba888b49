package server

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"syscall"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	goerrors "gopkg.in/src-d/go-errors.v1"

	"lakesql/catalog"
	"lakesql/catalog/mysqltype"
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
	e := numbered(err)
	if text := mysqltype.Printable(e.Message); text != e.Message {
		e = &mysql.SQLError{Num: e.Num, State: e.State, Message: text, Query: e.Query}
	}
	return e
}

func numbered(err error) *mysql.SQLError {
	if e, own := find(err); e != nil {
		if own { // the whole tells more: where it happened
			e.Message = oneLine(err.Error())
		}
		return e
	}
	if e := sql.CastSQLError(sql.UnwrapError(err)); e.Num != mysql.ERUnknownError {
		return withState(e)
	}
	return mysql.NewSQLError(mysql.ERUnknownError, mysql.SSUnknownSQLState, "%s", firstLine(err.Error()))
}

// find walks an error's tree from the outside in. own: the error is one of ours, whose words are ours too.
func find(err error) (e *mysql.SQLError, own bool) {
	if e := number(err); e != nil {
		return e, false
	}
	if e := ownNumber(err); e != nil {
		return e, true
	}
	switch wrapper := err.(type) {
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			if e, own := find(inner); e != nil {
				return e, own
			}
		}
		return nil, false
	case sql.WrappedInsertError:
		return find(wrapper.Cause)
	case sql.WrappedTypeConversionError:
		return find(wrapper.Err)
	case *goerrors.Error:
		if wrapper.Cause() == nil {
			return nil, false
		}
		return find(wrapper.Cause())
	}
	if inner := errors.Unwrap(err); inner != nil {
		return find(inner)
	}
	return nil, false
}

// number knows vitess', GMS' and the system's errors, and those of ours that say the same wherever they happen.
func number(err error) *mysql.SQLError {
	switch e := err.(type) {
	case *mysql.SQLError:
		if e.Num == mysql.ERUnknownError {
			return nil
		}
		return withState(e)
	case *sqlext.SyntaxError:
		return mysql.NewSQLError(mysql.ERParseError, mysql.SSClientError, "%s", e.Error())
	case *mysqltype.ColumnError:
		return withState(mysql.NewSQLError(e.Number, "", "%s", e.Text))
	case *vector.MemoryError:
		return mysql.NewSQLError(mysql.EROutOfResources, mysql.SSUnknownSQLState, "%s", e.Error())
	case *vector.SpillLimitError:
		return mysql.NewSQLError(mysql.ERRecordFileFull, mysql.SSUnknownSQLState, "%s", e.Error())
	case *vector.OverflowError:
		return mysql.NewSQLError(mysql.ERDataOutOfRange, mysql.SSDataOutOfRange, "%s", e.Error())
	}
	if e := syntaxError(err); e != nil {
		return e
	}
	if e := notJSONText(err); e != nil {
		return e
	}
	for _, f := range fixed {
		if err == f.err {
			return mysql.NewSQLError(f.num, f.state, "%s", f.message)
		}
	}
	if e := engineNumber(err); e != nil {
		return e
	}
	return wordedError(err)
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
	{syscall.ENOSPC, 1021, "HY000", "Disk full: no space left where the lake, the checkpoint or --spill-dir is; nothing was committed. Make room, then run the statement again"},
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

// inStatement corrects errors for which MySQL has another number in this statement, of this text, than GMS, or names in it what GMS does not. database is the one in use.
func inStatement(database, text string, stmt sqlparser.Statement, err error) error {
	if syntax := inGrammar(text, err); syntax != nil {
		return syntax
	}
	stmt = catalog.Written(stmt)
	switch s := stmt.(type) {
	case *sqlparser.DBDDL:
		if s.Action == sqlparser.DropStr && sql.ErrDatabaseNotFound.Is(err) {
			return mysql.NewSQLError(mysql.ERDbDropExists, "HY000", "Can't drop database '%s'; database doesn't exist", s.DBName)
		}
	case *sqlparser.DDL:
		if s.Action == sqlparser.DropStr && sql.ErrTableNotFound.Is(err) {
			return mysql.NewSQLError(mysql.ERBadTable, "42S02", "Unknown table%s", strings.TrimPrefix(firstLine(err.Error()), "table not found:"))
		}
	case *sqlparser.Set:
		return inSet(s, err)
	}
	return named(database, stmt, unknownQualifier(stmt, ambiguousColumn(stmt, unknownColumn(stmt, err))))
}

var unknownName = regexp.MustCompile(`^column "(.*)" could not be found`)

// oneLine joins the lines of errors that were joined.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", "; ") }

// firstLine leaves out the stack that GMS puts behind the message of a panic.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
