package catalog

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/delta"
	"lakesql/sqlext"
)

// checkTables is CHECK TABLE: the table's log is read, and of each data file that the newest version has the footer, or with QUICK
// nothing. A file that cannot be read is named; the rows in its pages are not read.
func (c *Catalog) checkTables(s *sqlext.CheckTable) action {
	return c.reportTables("check", s.Tables, func(ctx *sql.Context, t *table) ([]error, error) {
		if s.Quick {
			return nil, nil
		}
		return c.unreadable(ctx, t), nil
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
