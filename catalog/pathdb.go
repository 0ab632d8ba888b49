package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/delta"
)

// pathDatabase is the database whose tables are paths, which the fence must allow. It is in no listing.
type pathDatabase struct {
	noRoutines
	noViews
	c *Catalog
}

var (
	_ sql.Database          = pathDatabase{}
	_ sql.VersionedDatabase = pathDatabase{}
	_ sql.TableDropper      = pathDatabase{}
	_ sql.EventDatabase     = pathDatabase{}
	_ sql.ViewDatabase      = pathDatabase{}
)

// Name is delta.
func (d pathDatabase) Name() string { return pathDatabaseName }

// GetTableInsensitive opens the table at a path, under the name as it was written: the planner compares it with that.
func (d pathDatabase) GetTableInsensitive(ctx *sql.Context, path string) (sql.Table, bool, error) {
	handle, err := d.c.tableAtPath(ctx, path)
	if err != nil {
		return nil, false, err
	}
	t, err := d.c.openTable(ctx, pathDatabaseName, path, handle)
	if errors.Is(err, delta.ErrNoTable) {
		return nil, false, nil
	}
	return t, err == nil, err
}

// GetTableInsensitiveAsOf opens the table at a path at a version or time.
func (d pathDatabase) GetTableInsensitiveAsOf(ctx *sql.Context, path string, asOf any) (sql.Table, bool, error) {
	handle, err := d.c.tableAtPath(ctx, path)
	if err != nil {
		return nil, false, err
	}
	t, err := d.c.openTableAsOf(ctx, pathDatabaseName, path, handle, asOf)
	if errors.Is(err, delta.ErrNoTable) {
		return nil, false, nil
	}
	return t, err == nil, err
}

// tableAtPath is the table at a path that the user names.
func (c *Catalog) tableAtPath(ctx *sql.Context, path string) (*delta.Table, error) {
	uri, err := c.allowedPath(ctx, path)
	if err != nil {
		return nil, err
	}
	return c.tableAt(uri)
}

// checkPlace refuses to write where lakesql or Delta keeps its own files.
func checkPlace(uri string) error {
	for _, segment := range strings.Split(uri, "/") {
		if segment == "_lakesql" || segment == "_delta_log" {
			return refuse(KindInvalid, "%s: no table is written below a folder %s, which is not for tables; choose another path", uri, segment)
		}
	}
	return nil
}

// checkTablePlace refuses the place of a new table that is not for tables, or that a checkpoint has.
func (c *Catalog) checkTablePlace(ctx context.Context, uri string) error {
	if err := checkPlace(uri); err != nil {
		return err
	}
	return c.streams.CheckTablePlace(ctx, uri)
}

// checkCheckpointPlace refuses a checkpoint among lakesql's or Delta's own files, or around the whole lake.
func (c *Catalog) checkCheckpointPlace(uri string) error {
	for _, segment := range strings.Split(uri, "/") {
		if segment == "_lakesql" || segment == "_delta_log" {
			return refuse(KindInvalid, "checkpoint %s lies below a folder %s, which is not for checkpoints. Put it elsewhere: WITH CHECKPOINT '...'", uri, segment)
		}
	}
	if strings.HasPrefix(c.root.URI()+"/", strings.TrimRight(uri, "/")+"/") {
		return refuse(KindInvalid, "the lake %s lies in the checkpoint %s. Put it into a folder of its own: WITH CHECKPOINT '...'", c.root.URI(), uri)
	}
	return nil
}

// DropTable is refused: no name would be forgotten, and the files may be another writer's.
func (d pathDatabase) DropTable(_ *sql.Context, path string) error {
	return notYet("DROP TABLE of a table by path", fmt.Sprintf("delete the folder %s", path))
}

// GetTableNames lists none: paths are not enumerated.
func (d pathDatabase) GetTableNames(*sql.Context) ([]string, error) { return nil, nil }

// GetTableNamesAsOf lists none.
func (d pathDatabase) GetTableNamesAsOf(*sql.Context, any) ([]string, error) { return nil, nil }
