package server

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// timeLimit is what the hint MAX_EXECUTION_TIME, or else the variable, leaves a SELECT; 0: no limit. Other statements have none.
func timeLimit(ctx *sql.Context, stmt sqlparser.Statement) (time.Duration, error) {
	if _, ok := stmt.(sqlparser.SelectStatement); !ok {
		return 0, nil
	}
	ms, err := intVariable(ctx, "max_execution_time")
	if err != nil {
		return 0, err
	}
	if s, ok := stmt.(*sqlparser.Select); ok {
		for _, comment := range s.Comments {
			m := timeHint.FindSubmatch(comment)
			if m == nil {
				continue
			}
			if hint, err := strconv.ParseInt(string(m[1]), 10, 32); err == nil {
				ms = hint
			}
		}
	}
	return time.Duration(max(ms, 0)) * time.Millisecond, nil
}

var timeHint = regexp.MustCompile(`(?is)^/\*\+.*\bMAX_EXECUTION_TIME\s*\(\s*(\d+)\s*\)`)

// noSelectLimit is the value of sql_select_limit that limits nothing: GMS's default, where MySQL has the largest BIGINT UNSIGNED.
const noSelectLimit = 1<<31 - 1

// limitRows holds a SELECT that has no LIMIT of its own to sql_select_limit.
func limitRows(ctx *sql.Context, stmt sqlparser.Statement, rows sql.RowIter) (sql.RowIter, error) {
	if hasLimit(stmt) {
		return rows, nil
	}
	limit, err := intVariable(ctx, "sql_select_limit")
	if err != nil {
		return nil, errors.Join(err, rows.Close(ctx))
	}
	if limit < 0 || limit >= noSelectLimit {
		return rows, nil
	}
	return &limitedRows{RowIter: rows, left: limit}, nil
}

// hasLimit is true for what sql_select_limit does not concern.
func hasLimit(stmt sqlparser.Statement) bool {
	switch s := stmt.(type) {
	case *sqlparser.Select:
		return s.Limit != nil || s.Into != nil
	case *sqlparser.SetOp:
		return s.Limit != nil || s.Into != nil
	case *sqlparser.ParenSelect:
		return hasLimit(s.Select)
	}
	return true
}

// limitedRows ends after so many rows.
type limitedRows struct {
	sql.RowIter
	left int64
}

// Next returns the next row.
func (l *limitedRows) Next(ctx *sql.Context) (sql.Row, error) {
	if l.left == 0 {
		return nil, io.EOF
	}
	l.left--
	return l.RowIter.Next(ctx)
}

func intVariable(ctx *sql.Context, name string) (int64, error) {
	value, err := ctx.GetSessionVariable(ctx, name)
	if err != nil {
		return 0, err
	}
	n, ok := value.(int64)
	if !ok {
		return 0, fmt.Errorf("the variable %s is a %T", name, value)
	}
	return n, nil
}
