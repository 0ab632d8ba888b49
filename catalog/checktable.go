package catalog

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/delta"
	"lakesql/sqlext"
)

// checkTables is CHECK TABLE, with MySQL's answer: the table's log is read, and of each data file that the newest version has the footer, or with QUICK
// nothing. A file that cannot be read is named; the rows in its pages are not read.
func (c *Catalog) checkTables(s *sqlext.CheckTable) action {
	schema := sql.Schema{{Name: "Table", Type: textType}, {Name: "Op", Type: textType}, {Name: "Msg_type", Type: textType}, {Name: "Msg_text", Type: textType}}
	return query("CHECK TABLE", schema, func(ctx *sql.Context) ([]sql.Row, error) {
		var rows []sql.Row
		for _, name := range s.Tables {
			called := qualifiedName(name.Database, name.Name)
			if name.Database == "" {
				called = qualifiedName(ctx.GetCurrentDatabase(), name.Name)
			}
			t, err := c.lookup(ctx, name)
			var damaged []error
			if err == nil && !s.Quick {
				damaged = c.unreadable(ctx, t)
			}
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case sql.ErrTableNotFound.Is(err):
				rows = append(rows, sql.Row{called, "check", "Error", "Table '" + called + "' doesn't exist"}, sql.Row{called, "check", "status", "Operation failed"})
			case err != nil:
				rows = append(rows, sql.Row{called, "check", "Error", err.Error()}, sql.Row{called, "check", "status", "Operation failed"})
			case len(damaged) > 0:
				for _, err := range damaged {
					rows = append(rows, sql.Row{called, "check", "Error", err.Error()})
				}
				rows = append(rows, sql.Row{called, "check", "error", "Corrupt"})
			default:
				rows = append(rows, sql.Row{called, "check", "status", "OK"})
			}
		}
		return rows, nil
	})
}

// unreadable says which files of a table cannot be opened, the first maxDamaged of them.
func (c *Catalog) unreadable(ctx context.Context, t *table) (damaged []error) {
	for f := range t.snap.Files() {
		r, err := t.handle.OpenFile(ctx, t.snap, f, delta.FileReaderOptions{})
		if err == nil {
			err = r.Close()
		}
		if err != nil {
			damaged = append(damaged, err)
		}
		if len(damaged) == maxDamaged || ctx.Err() != nil {
			break
		}
	}
	return damaged
}

// maxDamaged is how many files an answer names: more of them help nobody.
const maxDamaged = 20
