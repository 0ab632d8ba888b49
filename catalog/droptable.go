package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/delta"
	"lakesql/sqlext"
	"lakesql/store"
	"lakesql/stream"
)

// warningUnknownTable is MySQL's ER_BAD_TABLE_ERROR.
const warningUnknownTable = 1051

// namedTable is a table of the lake.
type namedTable struct{ database, name string }

// newDropTable is DROP TABLE by name alone: GMS would open each table first, and one that cannot be opened could never be dropped.
func (c *Catalog) newDropTable(ddl *ast.DDL, text string) *statement {
	a := command("DROP TABLE", func(ctx *sql.Context) error { return c.dropTables(ctx, ddl) })
	return &statement{action: a, text: text, parse: c.parseOwn}
}

// dropTables drops all of the tables, or none when one is not there.
func (c *Catalog) dropTables(ctx *sql.Context, ddl *ast.DDL) error {
	if err := currentTransaction(ctx).commit(ctx); err != nil {
		return err
	}
	s, err := c.ledger.read(ctx)
	if err != nil {
		return err
	}
	var found []namedTable
	for _, t := range ddl.FromTables {
		database, err := c.databaseOf(ctx, t.DbQualifier.String())
		if err != nil {
			return err
		}
		p, ok, err := c.locate(ctx, s, database, t.Name.String())
		switch {
		case err != nil:
			return err
		case ok:
			found = append(found, namedTable{database, p.name})
		case ddl.IfExists:
			ctx.Session.Warn(&sql.Warning{Level: "Note", Code: warningUnknownTable, Message: fmt.Sprintf("Unknown table '%s.%s'", database, t.Name.String())})
		default:
			return sql.ErrUnknownTable.New(database + "." + t.Name.String())
		}
	}
	for _, t := range found {
		if err := c.dropTable(ctx, t.database, t.name); err != nil {
			return err
		}
	}
	return nil
}

// dropTable drops a table. The tombstone hides it at once; the files of a managed one go after that. A crash in between
// leaves files that nothing shows, and a new table of that name takes another folder.
func (c *Catalog) dropTable(ctx *sql.Context, database, name string) error {
	var dropped place
	var id string
	err := c.ledger.update(ctx, "DROP TABLE "+qualified(database, name), func(s *state) ([]entry, error) {
		if err := checkUnused(s, database, name); err != nil {
			return nil, err
		}
		p, ok, err := c.locate(ctx, s, database, name)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, sql.ErrTableNotFound.New(name)
		}
		dropped = p
		if id, err = tableID(ctx, p.table); err != nil {
			return nil, err
		}
		return dropEntries(database, p, id)
	})
	if err != nil {
		return err
	}
	currentTransaction(ctx).forget(dropped.table)
	c.forgetTable(dropped.table.Store().URI())
	if dropped.external || dropped.folder == "" || id == "" {
		return nil
	}
	return c.deleteFolder(ctx, database, dropped.folder, id)
}

// checkUnused refuses a table that a stream of any server on this lake writes or reads.
func checkUnused(s *state, database, name string) error {
	for _, e := range s.list(streamEntry, "") {
		var d stream.Definition
		if err := e.decode(&d); err != nil {
			return err
		}
		for t, what := range map[*stream.TargetRef]string{&d.Target: "is the target", d.OnError.DeadLetter: "has the dead letters"} {
			if t != nil && t.Path == "" && strings.EqualFold(t.Database, database) && strings.EqualFold(t.Table, name) {
				return refuse(KindInUse, "table %s.%s %s of the stream %s: DROP STREAM %s first", database, name, what, d.FullName(), d.FullName())
			}
		}
		if streamReads(d, database, name) {
			return refuse(KindInUse, "table %s.%s is read by the stream %s: DROP STREAM %s first", database, name, d.FullName(), d.FullName())
		}
	}
	return nil
}

// checkNoLetters refuses to replace a table that has the dead letters of a stream, which would be FAILED by other columns.
func checkNoLetters(s *state, database, name string) error {
	for _, e := range s.list(streamEntry, "") {
		var d stream.Definition
		if err := e.decode(&d); err != nil {
			return err
		}
		if t := d.OnError.DeadLetter; t != nil && t.Path == "" && strings.EqualFold(t.Database, database) && strings.EqualFold(t.Table, name) {
			return refuse(KindInUse, "table %s.%s has the dead letters of the stream %s: TRUNCATE TABLE empties it, or DROP STREAM %s first", database, name, d.FullName(), d.FullName())
		}
	}
	return nil
}

// streamReads says whether the SELECT of a stream names a table. A SELECT that does not parse any more reads none.
func streamReads(d stream.Definition, database, name string) bool {
	text, sources, err := sqlext.ParseStreamSelect(d.SelectSQL)
	if err != nil {
		return false
	}
	named := func(in, table string) bool {
		return strings.EqualFold(table, name) && (strings.EqualFold(in, database) || in == "" && strings.EqualFold(d.Database, database))
	}
	for _, src := range sources {
		if src.Function == "" && named(src.Table.Database, src.Table.Name) {
			return true
		}
	}
	sel, err := ast.Parse(text)
	if err != nil {
		return false
	}
	found := false
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) { // the visitor returns no error
		if t, ok := n.(ast.TableName); ok {
			found = found || named(t.DbQualifier.String(), t.Name.String())
		}
		return !found, nil
	}, sel)
	return found
}

// tableID is a table's metaData.id; "" when its log is gone.
func tableID(ctx context.Context, t *delta.Table) (string, error) {
	id, err := t.ID(ctx)
	if errors.Is(err, delta.ErrNoTable) {
		return "", nil
	}
	return id, err
}

// dropEntries are the rows of a DROP TABLE: the registration's end, and a tombstone for files that are ours to delete.
func dropEntries(database string, p place, id string) ([]entry, error) {
	var out []entry
	if p.registered {
		out = append(out, entry{Kind: tableEntry, Name: qualified(database, p.name), Definition: "{}", Deleted: true})
	}
	if p.folder == "" || id == "" {
		return out, nil
	}
	e, err := newEntry(tombstoneEntry, p.folder+"#"+id, tombstone{Folder: p.folder, ID: id})
	return append(out, e), err
}

// deleteFolder deletes a dropped table's files. Where the store can rename, the folder is moved aside first, so that the name is free
// and nothing of a half-deleted table is ever seen.
func (c *Catalog) deleteFolder(ctx context.Context, database, folder, id string) error {
	aside := database + "/_dropped/" + id
	if r, ok := c.root.(store.Renamer); ok {
		err := r.Rename(ctx, folder+"/", aside+"/")
		if err == nil {
			folder = aside
		} else if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrExists) {
			return fmt.Errorf("the table is dropped, but its folder could not be moved aside: %w", err)
		}
	} else if now, err := tableID(ctx, delta.NewTable(store.Sub(c.root, folder))); err != nil || now != id {
		return err // another table has come into the folder since
	}
	if err := store.DeletePrefix(ctx, c.root, folder+"/"); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("the table is dropped, but not all of its files could be deleted: %w", err)
	}
	return nil
}
