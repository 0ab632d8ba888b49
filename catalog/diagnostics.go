package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/sqlext"
)

// errorLevel is the level of what SHOW ERRORS lists.
const errorLevel = "Error"

// Failed keeps the error of a statement for SHOW ERRORS and SHOW WARNINGS, as the client was told it. What the statement before had to say goes.
func Failed(ctx *sql.Context, number int, message string) {
	s, ok := ctx.Session.(*session)
	if !ok {
		return
	}
	if !s.cleared {
		s.ClearWarnings()
	}
	s.Warn(&sql.Warning{Level: errorLevel, Code: number, Message: message})
}

// Warnings are in the order in which they were given.
func (s *session) Warnings() []*sql.Warning {
	all := s.BaseSession.Warnings() // a copy, the newest first
	slices.Reverse(all)
	return all
}

// ClearWarnings begins the warnings of a statement, and keeps those of the one before for a statement that is about them.
func (s *session) ClearWarnings() {
	if !s.cleared {
		s.before, s.cleared = s.Warnings(), true
	}
	s.BaseSession.ClearWarnings()
}

var diagnosticsSchema = sql.Schema{{Name: "Level", Type: textType}, {Name: "Code", Type: types.Uint16}, {Name: "Message", Type: textType}}

// showDiagnostics tells of the statement before, which it leaves as it is.
func (c *Catalog) showDiagnostics(s *sqlext.ShowDiagnostics) action {
	schema := diagnosticsSchema
	if s.Count {
		name := "@@session.error_count"
		if s.Warnings {
			name = "@@session.warning_count"
		}
		schema = sql.Schema{{Name: name, Type: types.Int64}}
	}
	return query("SHOW ERRORS", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		own, ok := ctx.Session.(*session)
		if !ok {
			return nil, nil
		}
		before := own.before
		for _, w := range before {
			own.Warn(w)
		}
		errors := slices.DeleteFunc(slices.Clone(before), func(w *sql.Warning) bool { return w.Level != errorLevel })
		if s.Count {
			n := len(errors)
			if s.Warnings {
				n = len(before)
			}
			return []sql.Row{{int64(n)}}, nil
		}
		rows := make([]sql.Row, len(errors))
		for i, e := range errors {
			rows[i] = sql.Row{e.Level, uint16(e.Code), e.Message}
		}
		return limited(rows, s.Offset, s.Limit)
	})
}

// limited are the rows that LIMIT [offset,] n leaves.
func limited(rows []sql.Row, offset, limit *sqlext.Value) ([]sql.Row, error) {
	from, err := countOf(offset, 0)
	if err != nil {
		return nil, err
	}
	n, err := countOf(limit, len(rows))
	if err != nil {
		return nil, err
	}
	from = min(from, len(rows))
	return rows[from:min(from+n, len(rows))], nil
}
