package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/stretchr/testify/require"

	"lakesql/catalog"
	"lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/files"
	"lakesql/format/parquet"
	"lakesql/sqlext"
	"lakesql/store"
	"lakesql/stream"
	"lakesql/vector"
)

var update = flag.Bool("update", false, "write docs/errors.md anew")

func TestErrorNumbers(t *testing.T) {
	for _, c := range []struct {
		err   error
		num   int
		state string
		text  string // "": the error's own
	}{
		{sql.ErrTableNotFound.New("sale, maybe you mean sales?"), 1146, "42S02", "Table 'sale' doesn't exist"},
		{sql.ErrDatabaseNotFound.New("x"), 1049, "42000", "Unknown database 'x'"},
		{sql.ErrDatabaseExists.New("x"), 1007, "HY000", "Can't create database 'x'; database exists"},
		{sql.ErrTableAlreadyExists.New("t"), 1050, "42S01", "Table 't' already exists"},
		{sql.ErrUnknownTable.New("t"), 1051, "42S02", ""},
		{sql.ErrColumnNotFound.New("a"), 1054, "42S22", "Unknown column 'a'"},
		{sql.ErrTableColumnNotFound.New("t", "a"), 1054, "42S22", "Unknown column 'a' in table 't'"},
		{sql.ErrAmbiguousColumnName.New("a", "x, y"), 1052, "23000", "Column 'a' is ambiguous: the tables x, y have it"},
		{sql.ErrFunctionNotFound.New("f"), 1305, "42000", "FUNCTION f does not exist"},
		{sql.ErrUnknownSystemVariable.New("v"), 1193, "HY000", ""},
		{sql.ErrPrivilegeCheckFailed.New("'u'@'h'"), 1142, "42000", ""},
		{sql.ErrUniqueKeyViolation.New(), 1062, "23000", ""},
		{sql.ErrInsertIntoNonNullableProvidedNull.New("a"), 1048, "23000", "Column 'a' cannot be null"},
		{sql.NewWrappedInsertError(nil, sql.ErrInsertIntoNonNullableProvidedNull.New("a")), 1048, "23000", "Column 'a' cannot be null"},
		{sql.ErrLockDeadlock.New("x"), 1213, "40001", ""},
		{sql.ErrUnsupportedFeature.New("x"), 1235, "42000", ""},
		{sql.ErrWrongDBName.New("x"), 1102, "42000", ""},
		{fmt.Errorf("outer: %w", sql.ErrDatabaseNotFound.New("x")), 1049, "42000", "Unknown database 'x'"},
		{mysql.NewSQLError(1690, "", "out of range"), 1690, "22003", "out of range"},
		{fmt.Errorf("sort: %w", &vector.SpillLimitError{Limit: 1 << 30}), 1114, "HY000", "queries would spill more than the 1024 MiB that they may have on disk together"},
		{fmt.Errorf("scan: %w", &vector.MemoryError{What: "a sort", Limit: 1 << 30}), 1041, "HY000",
			"a sort needs more than the 1024 MiB of memory that a query may hold; filter more rows, or take fewer distinct values"},
		{&vector.OverflowError{Type: "BIGINT", Expr: "1 + 2"}, 1690, "22003", ""},
		{sqlparser.ErrEmpty, 1065, "42000", "Query was empty"},
		{errKilled, 1317, "70100", "Query execution was interrupted"},
		{fmt.Errorf("scan: %w", context.Canceled), 1317, "70100", "Query execution was interrupted"},
		{errTimeLimit, 3024, "HY000", ""},
		{errShutdown, 1053, "08S01", ""},
		{fmt.Errorf("write: %w", syscall.ENOSPC), 1021, "HY000", ""},
		{&fs.PathError{Op: "open", Path: "/lake/x", Err: syscall.EACCES}, 20406, "45000", "open /lake/x: permission denied"},
		{&sqlext.SyntaxError{Near: "FORM", Line: 2}, 1064, "42000", ""},
		{&sqlext.RefusedError{Kind: sqlext.NotSupported, Message: "not yet"}, 1235, "42000", "not yet"},
		{&sqlext.RefusedError{Kind: sqlext.MissingCheckpoint, Message: "m"}, 20005, "45000", "m"},
		{&stream.Error{Kind: stream.KindNotFound, Message: "m"}, 20001, "45000", "m"},
		{&stream.Error{Kind: stream.KindCheckpoint, Message: "m", Err: &checkpoint.Error{Kind: checkpoint.Gone}}, 20011, "45000", "m"},
		{&stream.Error{Kind: stream.KindUnsupported, Message: "m"}, 1235, "42000", "m"},
		{&stream.Error{Kind: stream.KindPanic, Message: "m"}, 1105, "HY000", "m"},
		{fmt.Errorf("open: %w", &checkpoint.Error{Kind: checkpoint.Gone, URI: "u", Found: "f"}), 20208, "45000", "open: checkpoint u: f"},
		{&delta.ConflictError{Class: "DELTA_CONCURRENT_APPEND"}, 1213, "40001", ""},
		{&delta.ConflictError{Class: "DELTA_CONCURRENT_TRANSACTION"}, 1213, "40001", ""}, // of a domain
		{delta.ErrConcurrentTxn, 20101, "45000", ""},
		{&delta.UnsupportedError{Op: "read", Features: []string{"v2Checkpoint"}}, 20102, "45000", ""},
		{fmt.Errorf("create: %w", &catalog.Error{Kind: catalog.KindInUse, Message: "m"}), 20041, "45000", "create: m"},
		{&catalog.Error{Kind: catalog.KindUnsupported, Message: "m"}, 1235, "42000", "m"},
		{&parquet.Error{File: "f", Err: parquet.ErrDamaged}, 20310, "45000", "read f: damaged Parquet file"},
		{&files.GoneError{}, 20301, "45000", ""},
		{&store.OutsideError{Path: "/etc"}, 20401, "45000", ""},
		{errors.Join(errors.New("close"), store.ErrRootMissing), 20402, "45000", "close; root folder is missing"},
		{errors.New("a bug\nwith a trace"), 1105, "HY000", "a bug"},
	} {
		e := sqlError(c.err)
		require.Equal(t, c.num, e.Num, c.err)
		require.Equal(t, c.state, e.State, c.err)
		if c.text != "" {
			require.Equal(t, c.text, e.Message)
		}
	}
	require.Nil(t, sqlError(nil))
}

func TestSyntaxErrorsReadAsMySQLWritesThem(t *testing.T) {
	const words = "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near "
	for statement, want := range map[string]string{
		"SELEC 1":                               "'SELEC 1' at line 1",
		"SELECT *\nFORM t":                      "'FORM t' at line 2",
		"SELECT *\nFROM t\nWHERE a = = 1":       "'= 1' at line 3",
		"SELECT 1 FROM":                         "'' at line 1",
		"SELECT 1 FROM FROM":                    "'FROM' at line 1",
		"SELECT a FROM t WHERE ;":               "'' at line 1",
		"SELECT a FROM t WHERE b IN (1, 2":      "'' at line 1",
		"CREATE TABLE t (a INT, b WRONGTYPE )":  "'WRONGTYPE )' at line 1",
		"SELECT 1 1 " + strings.Repeat("x", 90): "'1 " + strings.Repeat("x", 78) + "' at line 1",
	} {
		_, err := sqlparser.Parse(statement)
		require.Error(t, err)
		e := sqlError(err)
		require.Equal(t, 1064, e.Num)
		require.Equal(t, "42000", e.State)
		require.Equal(t, words+want, e.Message, statement)
	}
	require.Equal(t, words+"'x' at line 1", sqlError(sql.ErrSyntaxError.New("syntax error at position 9 near 'x'")).Message)
}

func TestOwnNumbersAreOursAndDistinct(t *testing.T) {
	seen := map[int]bool{}
	for _, e := range ownErrors {
		require.False(t, seen[e.num], e.num)
		seen[e.num] = true
		require.GreaterOrEqual(t, e.num, 20001)
		require.LessOrEqual(t, e.num, 20999, "drivers read the number with 16 bits and a sign")
	}
}

// TestErrorsAreDocumented keeps docs/errors.md what the table says; -update writes it anew.
func TestErrorsAreDocumented(t *testing.T) {
	file := filepath.Join("..", "docs", "errors.md")
	want := errorsDocument()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	}
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "go test ./server -run TestErrorsAreDocumented -update writes it anew")
}

func errorsDocument() string {
	var b strings.Builder
	b.WriteString(`# Error numbers

An error has MySQL's number and SQLSTATE where MySQL has the error: 1064/42000 for syntax, 1146/42S02 for a table that is not there,
1213/40001 for a statement that lost against a concurrent commit and may be run again, 1235/42000 for what is not supported yet,
1317/70100 for KILL, 3024/HY000 for max_execution_time, and so on. Number 1105 is a fault in the program.

Errors that MySQL does not have are numbered from 20001 to 20999 with SQLSTATE 45000. Where Delta or Spark has a class for the error, the
message begins with it, in brackets. A number keeps its meaning.

This page is written from the table in server/errno_own.go.

| number | meaning |
|---|---|
`)
	for _, e := range ownErrors {
		fmt.Fprintf(&b, "| %d | %s |\n", e.num, e.means)
	}
	return b.String()
}
