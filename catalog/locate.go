package catalog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/delta"
	"lakesql/store"
)

// place is where a table is.
type place struct {
	table      *delta.Table
	name       string // as it is kept: the folder's or the registration's
	folder     string // below the warehouse; "" when the table is elsewhere
	registered bool   // the catalog table has it, under another folder than its name says
	external   bool   // LOCATION was given: its files are not ours to delete
}

// tableAt returns the handle on the table at a URI; there is one a URI, so that snapshots are shared.
func (c *Catalog) tableAt(uri string) (*delta.Table, error) {
	c.handlesMu.Lock()
	defer c.handlesMu.Unlock()
	if t, ok := c.handles[uri]; ok {
		return t, nil
	}
	st, err := c.cfg.Open(uri)
	if err != nil {
		return nil, fmt.Errorf("open table %s: %w", uri, err)
	}
	t := delta.NewTable(st, delta.Outside(c.outsideFile))
	c.handles[uri] = t
	return t, nil
}

// outsideFile finds a file of a table that lies elsewhere, as those of a shallow clone do. It must lie where statements may read.
func (c *Catalog) outsideFile(uri string) (store.Store, string, error) {
	resolved, err := c.cfg.Fence.Resolve(uri)
	if err != nil {
		return nil, "", err
	}
	path, err := store.ParseFileURI(resolved)
	if err != nil {
		return nil, "", err
	}
	st, err := c.cfg.Open(store.FileURI(filepath.Dir(path)))
	return st, filepath.Base(path), err
}

// forgetTable drops the handle on a table that is gone.
func (c *Catalog) forgetTable(uri string) {
	c.handlesMu.Lock()
	defer c.handlesMu.Unlock()
	c.described.forget(c.handles[uri])
	delete(c.handles, uri)
}

// managedAt returns the handle on the table in a folder below the warehouse.
func (c *Catalog) managedAt(folder string) (*delta.Table, error) {
	return c.tableAt(store.Sub(c.root, folder).URI())
}

// locate finds a table by name: registered ones first, then the folder <database>/<name>. It pins the table in the statement's
// transaction. false: there is none.
func (c *Catalog) locate(ctx *sql.Context, s *state, database, name string) (place, bool, error) {
	p, ok, err := c.locateTable(ctx, s, database, name)
	if !ok && err == nil {
		noTable(ctx, database, name)
	}
	return p, ok, err
}

func (c *Catalog) locateTable(ctx *sql.Context, s *state, database, name string) (place, bool, error) {
	if reserved(name) || strings.Contains(name, "/") {
		return place{}, false, nil
	}
	if e, ok := s.get(tableEntry, qualified(database, name)); ok {
		return c.registered(e)
	}
	p, ok, err := c.inFolder(ctx, s, database, name)
	if ok || err != nil {
		return p, ok, err
	}
	other, ok, err := c.foldFolder(ctx, database+"/", name)
	if !ok || err != nil || other == name {
		return place{}, false, err
	}
	return c.inFolder(ctx, s, database, other)
}

func (c *Catalog) registered(e entry) (place, bool, error) {
	var def tableDefinition
	if err := e.decode(&def); err != nil {
		return place{}, false, err
	}
	if def.External { // another server, with other allowed folders, may have registered it
		if err := c.cfg.Fence.Check(def.Location); err != nil {
			return place{}, false, err
		}
	}
	t, err := c.tableAt(def.Location)
	if err != nil {
		return place{}, false, err
	}
	_, name := unqualified(e.Name)
	p := place{table: t, name: name, registered: true, external: def.External}
	if below, ok := strings.CutPrefix(def.Location, c.root.URI()+"/"); ok && !def.External {
		p.folder = below
	}
	return p, true, nil
}

func (c *Catalog) inFolder(ctx *sql.Context, s *state, database, name string) (place, bool, error) {
	folder := qualified(database, name)
	t, err := c.managedAt(folder)
	if err != nil {
		return place{}, false, err
	}
	snap, err := currentTransaction(ctx).pin(ctx, t)
	if errors.Is(err, delta.ErrNoTable) {
		return place{}, false, nil
	}
	if err != nil {
		return place{}, false, fmt.Errorf("table %s.%s: %w", database, name, err)
	}
	if s.hides(folder, snap.Metadata().ID) {
		return place{}, false, nil
	}
	return place{table: t, name: name, folder: folder}, true, nil
}

// foldFolder finds the folder below prefix whose name is the given one without regard to case.
func (c *Catalog) foldFolder(ctx context.Context, prefix, name string) (string, bool, error) {
	folders, err := c.folders(ctx, prefix)
	if err != nil {
		return "", false, err
	}
	for _, f := range folders {
		if strings.EqualFold(f, name) {
			return f, true, nil
		}
	}
	return "", false, nil
}

// folders lists the folders right below prefix ("" or one that ends with /) that may be databases or tables.
func (c *Catalog) folders(ctx context.Context, prefix string) ([]string, error) {
	var out []string
	for info, err := range c.root.List(ctx, prefix, "", "/") {
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list %s/%s: %w", c.root.URI(), prefix, err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(info.Key, prefix), "/")
		if info.Prefix && !reserved(name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// hasLog says whether a folder below the warehouse is that of a Delta table.
func (c *Catalog) hasLog(ctx context.Context, folder string) (bool, error) {
	for _, err := range c.root.List(ctx, folder+"/_delta_log/", "", "/") {
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	return false, nil
}

// tableNames lists the tables of a database.
func (c *Catalog) tableNames(ctx *sql.Context, s *state, database string) ([]string, error) {
	registered, folders, err := c.possibleTables(ctx, s, database)
	if err != nil {
		return nil, err
	}
	for _, name := range folders {
		visible, err := c.visible(ctx, s, database, name)
		if err != nil {
			return nil, err
		}
		if visible {
			registered = append(registered, name)
		}
	}
	return registered, nil
}

// possibleTables lists the tables of a database that are registered, and the folders that may be tables: nobody has looked into these.
func (c *Catalog) possibleTables(ctx *sql.Context, s *state, database string) (registered, folders []string, err error) {
	seen := make(map[string]bool)
	for _, e := range s.list(tableEntry, database) {
		_, name := unqualified(e.Name)
		registered = append(registered, name)
		seen[strings.ToLower(name)] = true
	}
	folders, err = c.folders(ctx, database+"/")
	return registered, slices.DeleteFunc(folders, func(name string) bool { return seen[strings.ToLower(name)] }), err
}

// visible says whether a folder is a table. It opens the table only where a tombstone may hide it.
func (c *Catalog) visible(ctx *sql.Context, s *state, database, name string) (bool, error) {
	folder := qualified(database, name)
	if s.hasTombstones(folder) {
		_, ok, err := c.inFolder(ctx, s, database, name)
		return ok, err
	}
	return c.hasLog(ctx, folder)
}

// databaseName finds a database and the spelling of its name. It is registered, or a folder that is no table. A dropped
// one whose folder remains comes back when a table turns up in it.
func (c *Catalog) databaseName(ctx *sql.Context, s *state, name string) (string, bool, error) {
	if strings.EqualFold(name, defaultDatabase) {
		return defaultDatabase, true, nil
	}
	if e, ok := s.get(databaseEntry, name); ok {
		return e.Name, true, nil
	}
	if reserved(name) || strings.Contains(name, "/") {
		return "", false, nil
	}
	actual, ok, err := c.foldFolder(ctx, "", name)
	if !ok || err != nil {
		return "", false, err
	}
	ok, err = c.isDatabase(ctx, s, actual)
	return actual, ok, err
}

func (c *Catalog) isDatabase(ctx *sql.Context, s *state, folder string) (bool, error) {
	if s.deleted(databaseEntry, folder) {
		tables, err := c.tableNames(ctx, s, folder)
		return len(tables) > 0, err
	}
	isTable, err := c.hasLog(ctx, folder)
	return !isTable, err
}

// databaseNames lists all databases of the lake.
func (c *Catalog) databaseNames(ctx *sql.Context, s *state) ([]string, error) {
	out := []string{defaultDatabase}
	seen := map[string]bool{defaultDatabase: true}
	for _, e := range s.list(databaseEntry, "") {
		out = append(out, e.Name)
		seen[strings.ToLower(e.Name)] = true
	}
	folders, err := c.folders(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		if seen[strings.ToLower(f)] {
			continue
		}
		ok, err := c.isDatabase(ctx, s, f)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, f)
		}
	}
	return out, nil
}
