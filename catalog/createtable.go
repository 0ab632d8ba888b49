package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/google/uuid"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/sqlext"
	"lakesql/store"
)

// createClauses are the clauses of a CREATE TABLE that GMS does not hand to the database: Spark's, and keys, which its
// planner must never see.
type createClauses struct {
	Location      string             // absolute URI; "" for a managed table
	PartitionedBy []string           //
	Properties    map[string]string  // TBLPROPERTIES, and our own under lakesql.
	Columns       []sqlext.ColumnDef // what vitess does not know of them
	Checks        []sqlext.Check     // of the table
	Comment       string
}

// takeClauses hands over what the statement that is being executed has put into the session.
func takeClauses(ctx *sql.Context) createClauses {
	s, ok := ctx.Session.(*session)
	if !ok || s.create == nil {
		return createClauses{}
	}
	out := *s.create
	s.create = nil
	return out
}

// createdTable is a table that a statement has made.
type createdTable struct{ database, name string }

// createTable makes a table, or registers the one at LOCATION, and notes that in the session.
func (c *Catalog) createTable(ctx *sql.Context, database, name string, schema sql.Schema, comment string) error {
	err := c.makeTable(ctx, database, name, schema, comment)
	if s, ok := ctx.Session.(*session); ok && err == nil {
		s.created = &createdTable{database, name}
	}
	return err
}

func (c *Catalog) makeTable(ctx *sql.Context, database, name string, schema sql.Schema, comment string) error {
	clauses := takeClauses(ctx)
	if err := checkName("table", name); err != nil {
		return err
	}
	s, err := c.ledger.read(ctx)
	if err != nil {
		return err
	}
	if err := c.checkFree(ctx, s, database, name); err != nil {
		return err
	}
	if clauses.Location != "" {
		return c.createExternal(ctx, database, name, schema, comment, clauses)
	}
	folder, err := c.freeFolder(ctx, database, name)
	if err != nil {
		return err
	}
	handle, err := c.managedAt(folder)
	if err != nil {
		return err
	}
	if err := c.streams.CheckTablePlace(ctx, handle.Store().URI()); err != nil {
		return err
	}
	snap, err := c.newDeltaTable(ctx, handle, name, schema, comment, clauses)
	if err != nil || folder == qualified(database, name) {
		return err
	}
	return c.register(ctx, database, name, tableDefinition{Location: handle.Store().URI(), ID: snap.Metadata().ID})
}

// checkFree refuses a name that a table or view has.
func (c *Catalog) checkFree(ctx *sql.Context, s *state, database, name string) error {
	if _, ok := s.get(viewEntry, qualified(database, name)); ok {
		return sql.ErrTableAlreadyExists.New(name)
	}
	_, ok, err := c.locate(ctx, s, database, name)
	if ok {
		return sql.ErrTableAlreadyExists.New(name)
	}
	return err
}

// freeFolder is the folder for a new table: <database>/<name>, unless a dropped table's files are still there.
func (c *Catalog) freeFolder(ctx *sql.Context, database, name string) (string, error) {
	folder := qualified(database, name)
	taken, err := c.hasLog(ctx, folder)
	if taken {
		folder = qualified(database, "_t-"+uuid.NewString())
	}
	return folder, err
}

// createExternal registers a table at LOCATION, making it when there is none. Columns that are given must be its columns.
func (c *Catalog) createExternal(ctx *sql.Context, database, name string, schema sql.Schema, comment string, clauses createClauses) error {
	if err := c.checkTablePlace(ctx, clauses.Location); err != nil {
		return err
	}
	handle, err := c.tableAt(clauses.Location)
	if err != nil {
		return err
	}
	snap, err := handle.Snapshot(ctx)
	switch {
	case errors.Is(err, delta.ErrNoTable) && len(schema) == 0:
		return fmt.Errorf("no Delta table at %s: give the columns to make one: %w", clauses.Location, err)
	case errors.Is(err, delta.ErrNoTable):
		snap, err = c.newDeltaTable(ctx, handle, name, schema, comment, clauses)
	case err == nil && len(schema) > 0:
		err = sameColumns(snap.Schema(), schema, clauses)
	}
	if err != nil {
		return err
	}
	return c.register(ctx, database, name, tableDefinition{Location: clauses.Location, External: true, ID: snap.Metadata().ID})
}

// sameColumns refuses columns that differ from those of the table that is there.
func sameColumns(have *batch.Schema, want sql.Schema, clauses createClauses) error {
	given, err := deltaSchema(want, clauses)
	if err != nil {
		return err
	}
	if len(have.Fields) == len(given.Fields) {
		same := true
		for i, f := range given.Fields {
			same = same && strings.EqualFold(f.Name, have.Fields[i].Name) && f.Type == have.Fields[i].Type
		}
		if same {
			return nil
		}
	}
	return refuse(KindInvalid, "the Delta table at %s has the columns (%s), not (%s): leave the columns out to take it as it is",
		clauses.Location, have, given)
}

// register gives a table a name in the catalog table.
func (c *Catalog) register(ctx *sql.Context, database, name string, def tableDefinition) error {
	return c.ledger.update(ctx, "CREATE TABLE "+qualified(database, name), func(s *state) ([]entry, error) {
		if err := c.checkFree(ctx, s, database, name); err != nil {
			return nil, err
		}
		e, err := newEntry(tableEntry, qualified(database, name), def)
		return []entry{e}, err
	})
}

// newDeltaTable commits version 0 of a table.
func (c *Catalog) newDeltaTable(ctx *sql.Context, handle *delta.Table, name string, schema sql.Schema, comment string, clauses createClauses) (*delta.Snapshot, error) {
	fields, err := deltaSchema(schema, clauses)
	if err != nil {
		return nil, err
	}
	meta, err := delta.NewMetadata(fields, clauses.PartitionedBy, maps.Clone(clauses.Properties))
	var unsupported *delta.UnsupportedError
	if err != nil && !errors.As(err, &unsupported) {
		return nil, refuse(KindInvalid, "%v", err)
	}
	if err != nil {
		return nil, err
	}
	meta.Description = comment
	if clauses.Comment != "" {
		meta.Description = clauses.Comment
	}
	if err := makeRoot(ctx, handle.Store()); err != nil {
		return nil, err
	}
	tx := handle.Begin(nil)
	tx.SetMetadata(meta)
	done, err := tx.Commit(ctx, delta.Operation{Name: "CREATE TABLE", Parameters: createParameters(meta)})
	if errors.Is(err, delta.ErrConflict) {
		return nil, sql.ErrTableAlreadyExists.New(name)
	}
	if err != nil {
		return nil, err
	}
	currentTransaction(ctx).forget(handle)
	return done.Snapshot, nil
}

// deltaSchema is the Delta schema for the columns of a CREATE TABLE. What would not be honoured is refused.
func deltaSchema(schema sql.Schema, clauses createClauses) (*batch.Schema, error) {
	out := &batch.Schema{}
	for _, c := range schema {
		def, _ := columnNamed(clauses.Columns, c.Name)
		switch {
		case def.Default != "":
			return nil, refuse(KindUnsupported, "column %s: DEFAULT is not supported yet; give the value in the INSERT", c.Name)
		case def.Generated != "", def.Identity != nil:
			return nil, refuse(KindUnsupported, "column %s: GENERATED columns are not supported yet; compute the value in the SELECT that writes", c.Name)
		case c.Generated != nil:
			return nil, refuse(KindUnsupported, "column %s: GENERATED columns are not supported yet; compute the value in the SELECT that writes", c.Name)
		case c.Default != nil || c.OnUpdate != nil:
			return nil, refuse(KindUnsupported, "column %s: DEFAULT is not supported yet; give the value in the INSERT", c.Name)
		}
		f, err := mysqltype.Field(c)
		if err != nil {
			return nil, err
		}
		if def, ok := columnNamed(clauses.Columns, c.Name); ok && def.Type.Name != "" {
			typed, err := typedField(c.Name, def.Type)
			if err != nil {
				return nil, err
			}
			f.Type = typed.Type
		}
		out.Fields = append(out.Fields, f)
	}
	return out, nil
}

// createTarget makes the folder of a stream's target, whose first batch commits version 0, and registers it when the folder is
// not the one of its name.
func (c *Catalog) createTarget(ctx *sql.Context, database, name string, handle *delta.Table, folder string) error {
	if err := makeRoot(ctx, handle.Store()); err != nil {
		return err
	}
	if folder == qualified(database, name) {
		return nil
	}
	return c.register(ctx, database, name, tableDefinition{Location: store.Sub(c.root, folder).URI()})
}

// createParameters are the operationParameters that Delta's own CREATE TABLE writes.
func createParameters(meta *delta.Metadata) map[string]string {
	partitions := meta.PartitionColumns
	if partitions == nil {
		partitions = []string{}
	}
	properties := meta.Configuration
	if properties == nil {
		properties = map[string]string{}
	}
	text := func(v any) string {
		b, _ := json.Marshal(v) // strings always marshal
		return string(b)
	}
	return map[string]string{
		"partitionBy": text(partitions), "properties": text(properties), "description": meta.Description, "isManaged": "true",
	}
}
