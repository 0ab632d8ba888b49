package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/sqlext"
)

// renameTables is RENAME TABLE and ALTER TABLE ... RENAME TO. Only the catalog table changes: a tombstone hides a table under the name of its
// folder, and a registration gives it the new one. All of the names change in one commit, or none.
func (c *Catalog) renameTables(s *sqlext.RenameTables) action {
	return command("RENAME TABLE", func(ctx *sql.Context) error {
		if err := currentTransaction(ctx).commit(ctx); err != nil {
			return err
		}
		return c.ledger.update(ctx, "RENAME TABLE", func(now *state) ([]entry, error) {
			var all []entry
			for _, pair := range s.Pairs {
				changes, err := c.renameEntries(ctx, now, pair)
				if err != nil {
					return nil, err
				}
				all = append(all, changes...)
				if now, err = now.with(changes); err != nil {
					return nil, err
				}
			}
			return all, nil
		})
	})
}

// renameEntries are the rows that rename one table, or view.
func (c *Catalog) renameEntries(ctx *sql.Context, s *state, pair sqlext.TablePair) ([]entry, error) {
	for _, n := range []sqlext.Name{pair.From, pair.To} {
		if strings.EqualFold(n.Database, pathDatabaseName) {
			return nil, refuse(KindInvalid, "%s is a path, which is no name: CREATE TABLE t USING DELTA LOCATION 'path' gives the table one", n)
		}
	}
	from, err := c.databaseOf(ctx, pair.From.Database)
	if err != nil {
		return nil, err
	}
	to, err := c.databaseOf(ctx, pair.To.Database)
	if err != nil {
		return nil, err
	}
	if err := checkName("table", pair.To.Name); err != nil {
		return nil, err
	}
	oldName, newName := qualified(from, pair.From.Name), qualified(to, pair.To.Name)
	if !strings.EqualFold(oldName, newName) {
		if err := c.checkFree(ctx, s, to, pair.To.Name); err != nil {
			return nil, err
		}
	}
	if view, ok := s.get(viewEntry, oldName); ok {
		return renamed(view, newName), nil
	}
	if err := checkUnused(s, from, pair.From.Name); err != nil {
		return nil, err
	}
	p, ok, err := c.locate(ctx, s, from, pair.From.Name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, sql.ErrTableNotFound.New(pair.From.Name)
	}
	if e, ok := s.get(tableEntry, oldName); ok {
		return renamed(e, newName), nil
	}
	id, err := tableID(ctx, p.table)
	if err != nil {
		return nil, err
	}
	hidden, err := newEntry(tombstoneEntry, p.folder+"#"+id, tombstone{Folder: p.folder, ID: id})
	if err != nil {
		return nil, err
	}
	e, err := newEntry(tableEntry, newName, tableDefinition{Location: p.table.Store().URI(), ID: id})
	return []entry{hidden, e}, err
}

// renamed gives an entry another name.
func renamed(e entry, name string) []entry {
	gone := e
	gone.Definition, gone.Deleted = "{}", true
	e.Name = name
	if gone.key() == e.key() {
		return []entry{e}
	}
	return []entry{gone, e}
}

// with is the state after more rows.
func (s *state) with(rows []entry) (*state, error) {
	all := slices.Collect(maps.Values(s.entries))
	for i, e := range rows {
		e.Seq = s.seq + 1 + int64(i)
		all = append(all, e)
	}
	return newState(s.version, all)
}
