package catalog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/delta"
	"lakesql/store"
)

// database is one database of the lake. It holds nothing: each call asks the newest state.
type database struct {
	noRoutines
	c            *Catalog
	name         string
	readableOnly bool // list only tables that can be opened
}

var (
	_ sql.Database          = database{}
	_ sql.VersionedDatabase = database{}
	_ sql.TableDropper      = database{}
	_ sql.ViewDatabase      = database{}
	_ sql.CollatedDatabase  = database{}
	_ sql.EventDatabase     = database{}
)

// Name is the database's name.
func (d database) Name() string { return d.name }

// GetCollation is the one by which Delta and Spark compare strings: by bytes.
func (d database) GetCollation(*sql.Context) sql.CollationID { return sql.Collation_Default }

// SetCollation keeps none: another one than the lake's is taken with a warning, as tools write it into every CREATE DATABASE.
func (d database) SetCollation(ctx *sql.Context, collation sql.CollationID) error {
	if collation != sql.Collation_Default && collation != sql.Collation_Unspecified {
		ctx.Warn(warningCollation, "collation %s is not kept: strings in the lake compare by bytes; write COLLATE %s in the query",
			collation.Name(), collation.Name())
	}
	return nil
}

// warningCollation is MySQL's ER_UNKNOWN_COLLATION.
const warningCollation = 1273

// GetTableInsensitive returns a table at the version that the statement sees.
func (d database) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	p, ok, err := d.locate(ctx, name)
	if !ok || err != nil {
		return nil, false, err
	}
	t, err := d.c.openTable(ctx, d.name, p.name, p.table)
	if err == nil && p.external {
		t.location = p.table.Store().URI()
	}
	if errors.Is(err, delta.ErrNoTable) && !p.external {
		return nil, false, nil // a stream has registered it and not written it yet
	}
	if errors.Is(err, delta.ErrNoTable) {
		return nil, false, fmt.Errorf("table %s.%s: its folder %s has no Delta log any more; DROP TABLE forgets the table: %w",
			d.name, p.name, p.table.Store().URI(), err)
	}
	return t, err == nil, err
}

// GetTableInsensitiveAsOf returns a table at a version or time.
func (d database) GetTableInsensitiveAsOf(ctx *sql.Context, name string, asOf any) (sql.Table, bool, error) {
	p, ok, err := d.locate(ctx, name)
	if !ok || err != nil {
		return nil, false, err
	}
	t, err := d.c.openTableAsOf(ctx, d.name, p.name, p.table, asOf)
	return t, err == nil, err
}

func (d database) locate(ctx *sql.Context, name string) (place, bool, error) {
	s, err := d.c.ledger.read(ctx)
	if err != nil {
		return place{}, false, err
	}
	return d.c.locate(ctx, s, d.name, name)
}

// GetTableNames lists the tables.
func (d database) GetTableNames(ctx *sql.Context) ([]string, error) {
	s, err := d.c.ledger.read(ctx)
	if err != nil {
		return nil, err
	}
	names, err := d.c.tableNames(ctx, s, d.name)
	if err != nil || !d.readableOnly {
		return names, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		_, ok, err := d.GetTableInsensitive(ctx, name)
		if err != nil {
			ctx.Warn(warningUnreadable, "table %s.%s is left out: %s", d.name, name, err)
		}
		return !ok
	}), nil
}

// warningUnreadable is MySQL's ER_VIEW_INVALID, with which it leaves a broken view out of information_schema.
const warningUnreadable = 1356

// GetTableNamesAsOf lists the tables of now: the lake keeps no history of names.
func (d database) GetTableNamesAsOf(ctx *sql.Context, _ any) ([]string, error) {
	return d.GetTableNames(ctx)
}

// DropTable hides a table, then deletes it; an external one is only forgotten.
func (d database) DropTable(ctx *sql.Context, name string) error {
	return d.c.dropTable(ctx, d.name, name)
}

func (c *Catalog) createDatabase(ctx *sql.Context, name string) error {
	if err := checkName("database", name); err != nil {
		return err
	}
	if name == pathDatabaseName {
		return refuse(KindInvalid, "database name %q is taken: its tables are paths, as in delta.`/lake/t`", name)
	}
	err := c.ledger.update(ctx, "CREATE DATABASE "+name, func(s *state) ([]entry, error) {
		_, ok, err := c.databaseName(ctx, s, name)
		if err != nil {
			return nil, err
		}
		if ok {
			return nil, sql.ErrDatabaseExists.New(name)
		}
		e, err := newEntry(databaseEntry, name, struct{}{})
		return []entry{e}, err
	})
	if err != nil {
		return err
	}
	return makeRoot(ctx, store.Sub(c.root, name))
}

// dropDatabase drops the tables one by one, so that an interrupted DROP DATABASE can simply be given again.
func (c *Catalog) dropDatabase(ctx *sql.Context, name string) error {
	if name == defaultDatabase {
		return refuse(KindInvalid, "database %s cannot be dropped: it always exists", name)
	}
	for _, st := range c.streams.List() {
		if st.Definition.Database == name {
			return refuse(KindInUse, "database %s has the stream %s: DROP STREAM it first", name, st.Definition.FullName())
		}
	}
	s, err := c.ledger.read(ctx)
	if err != nil {
		return err
	}
	tables, err := c.tableNames(ctx, s, name)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := c.dropTable(ctx, name, t); err != nil {
			return err
		}
	}
	return c.ledger.update(ctx, "DROP DATABASE "+name, func(s *state) ([]entry, error) {
		out := []entry{{Kind: databaseEntry, Name: name, Definition: "{}", Deleted: true}}
		for _, v := range s.list(viewEntry, name) {
			v.Deleted = true
			out = append(out, v)
		}
		return out, nil
	})
}
