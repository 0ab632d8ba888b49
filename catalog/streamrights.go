package catalog

import (
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/sqlext"
	"lakesql/stream"
)

// A stream belongs to its definer, the account that made it. He and who holds SUPER may change, stop and drop it. Those who may read its
// table see it too. What it reads and writes is checked for the definer, when it is made and before the first batch after each start.

// ownsStream says whether the user may change a stream.
func (c *Catalog) ownsStream(ctx *sql.Context, d stream.Definition) bool {
	user, host := account(ctx)
	return d.Definer == user+"@"+host || c.holds(ctx, sql.PrivilegeCheckSubject{}, sql.PrivilegeType_Super)
}

// seesStream says whether the user may know of a stream, of its files and of rows that it refused.
func (c *Catalog) seesStream(ctx *sql.Context, d stream.Definition) bool {
	return c.ownsStream(ctx, d) || c.checkTable(ctx, ast.AuthType_SELECT, targetName(d.Target)) == nil
}

// targetName is a stream's table as statements name it.
func targetName(r stream.TargetRef) sqlext.Name {
	if r.Path != "" {
		return sqlext.Name{Database: pathDatabaseName, Name: r.Path}
	}
	return sqlext.Name{Database: r.Database, Name: r.Table}
}

// visibleStreams are the streams that the user may know of.
func (c *Catalog) visibleStreams(ctx *sql.Context) []stream.Status {
	return slices.DeleteFunc(c.streams.List(), func(s stream.Status) bool { return !c.seesStream(ctx, s.Definition) })
}

// seen is a stream that the user may know of. To others it does not exist, as its database does not to who sees nothing there.
func (c *Catalog) seen(ctx *sql.Context, n sqlext.Name) (stream.Status, error) {
	database, err := c.databaseOf(ctx, n.Database)
	if sql.ErrDatabaseNotFound.Is(err) && !c.viewer(ctx).database(n.Database) {
		database, err = n.Database, nil
	}
	if err != nil {
		return stream.Status{}, err
	}
	s, err := c.streams.Status(database, n.Name)
	if err == nil && !c.seesStream(ctx, s.Definition) {
		err = stream.NotFound(database + "." + n.Name)
	}
	return s, err
}

// managed is the database of a stream that the user may change.
func (c *Catalog) managed(ctx *sql.Context, n sqlext.Name) (database string, err error) {
	s, err := c.seen(ctx, n)
	if err == nil && !c.ownsStream(ctx, s.Definition) {
		err = deniedTable(ctx, "ALTER STREAM", n.Name)
	}
	return s.Definition.Database, err
}

// mayReplace refuses CREATE STREAM over another's stream.
func (c *Catalog) mayReplace(ctx *sql.Context, d stream.Definition) error {
	s, err := c.streams.Status(d.Database, d.Name)
	switch {
	case stream.KindOf(err) == stream.KindNotFound:
		return nil
	case err == nil && !c.ownsStream(ctx, s.Definition):
		return deniedTable(ctx, "ALTER STREAM", d.Name)
	}
	return err
}

// mayRun refuses to start a stream whose definer may no longer name paths, or fill its tables. Its SELECT asks for the tables that it reads.
func (c *Catalog) mayRun(definer *sql.Context, d stream.Definition) error {
	if err := c.checkFile(definer); err != nil {
		return fmt.Errorf("the stream's definer %s: %w", d.Definer, err)
	}
	for _, ref := range []*stream.TargetRef{&d.Target, d.OnError.DeadLetter} {
		if ref == nil {
			continue
		}
		if err := c.checkTable(definer, ast.AuthType_INSERT, targetName(*ref)); err != nil {
			return fmt.Errorf("the stream's definer %s: %w", d.Definer, err)
		}
	}
	return nil
}

// mayWrite refuses a table that the user may not fill, or make where it is not there.
func (c *Catalog) mayWrite(ctx *sql.Context, ref stream.TargetRef) error {
	name := targetName(ref)
	if err := c.checkTable(ctx, ast.AuthType_INSERT, name); err != nil {
		return err
	}
	target, err := targets{c}.Open(ctx, ref)
	if err != nil || target.Exists {
		return err
	}
	return c.checkTable(ctx, ast.AuthType_CREATE, name)
}
