package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/google/uuid"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/sqlext"
	"lakesql/store"
	"lakesql/stream"
)

// createClauses are the clauses of a CREATE TABLE that GMS does not know: Spark's, and keys, which its planner must never see.
type createClauses struct {
	OrReplace     bool
	Location      string // absolute URI; "" for a managed table
	PartitionedBy []string
	ClusterBy     [][]string
	Properties    map[string]string  // TBLPROPERTIES, and our own under lakesql.
	Columns       []sqlext.ColumnDef // what vitess does not know of them
	Checks        []sqlext.Check     // of the table
	Comment       string
}

// newTable is a table that a statement makes, or replaces.
type newTable struct {
	database string // delta: the name is a path
	name     string
	clauses  createClauses
	comment  string        // MySQL's
	schema   *batch.Schema // nil with LOCATION: that of the table that is there
	rows     *selectedRows // AS SELECT; nil: none
}

// newTableOf finds out where a table goes, and whether there is one of that name.
func (c *Catalog) newTableOf(ctx *sql.Context, name ast.TableName, clauses createClauses) (newTable, bool, error) {
	t := newTable{name: name.Name.String(), clauses: clauses}
	if clauses.Location != "" {
		if err := c.checkFile(ctx); err != nil {
			return t, false, err
		}
	}
	if strings.EqualFold(name.DbQualifier.String(), pathDatabaseName) {
		t.database = pathDatabaseName
		if clauses.Location != "" {
			return t, false, refuse(KindInvalid, "delta.`%s` is a location already: leave out LOCATION", t.name)
		}
		handle, err := c.tableAtPath(ctx, t.name)
		if err != nil {
			return t, false, err
		}
		exists, err := hasVersion(ctx, handle)
		return t, exists, err
	}
	var err error
	if t.database, err = c.databaseOf(ctx, name.DbQualifier.String()); err != nil {
		return t, false, err
	}
	s, err := c.ledger.read(ctx)
	if err != nil {
		return t, false, err
	}
	if _, ok := s.get(viewEntry, qualified(t.database, t.name)); ok {
		if clauses.OrReplace {
			return t, false, refuse(KindInvalid, "%s.%s is a view: DROP VIEW it, or choose another name", t.database, t.name)
		}
		return t, true, nil
	}
	_, exists, err := c.locate(ctx, s, t.database, t.name)
	return t, exists, err
}

func hasVersion(ctx context.Context, handle *delta.Table) (bool, error) {
	_, err := handle.Snapshot(ctx)
	if errors.Is(err, delta.ErrNoTable) {
		return false, nil
	}
	return err == nil, err
}

// makeTable makes or replaces a table, and returns how many rows it was given.
func (c *Catalog) makeTable(ctx *sql.Context, t newTable) (int64, error) {
	if t.database == pathDatabaseName {
		return c.createAtPath(ctx, t)
	}
	if err := checkName("table", t.name); err != nil {
		return 0, err
	}
	s, err := c.ledger.read(ctx)
	if err != nil {
		return 0, err
	}
	if p, ok, err := c.locate(ctx, s, t.database, t.name); err != nil || ok && t.clauses.OrReplace {
		if err != nil {
			return 0, err
		}
		if err := c.checkTable(ctx, ast.AuthType_DROP, sqlext.Name{Database: t.database, Name: t.name}); err != nil {
			return 0, err
		}
		return c.replaceTable(ctx, t, p)
	}
	if err := c.checkFree(ctx, s, t.database, t.name); err != nil {
		return 0, err
	}
	if t.clauses.Location != "" {
		return c.createExternal(ctx, t)
	}
	folder, err := c.freeFolder(ctx, t.database, t.name)
	if err != nil {
		return 0, err
	}
	handle, err := c.managedAt(folder)
	if err != nil {
		return 0, err
	}
	if err := c.streams.CheckTablePlace(ctx, handle.Store().URI()); err != nil {
		return 0, err
	}
	n, snap, err := c.commitTable(ctx, t, handle, nil)
	if err != nil || folder == qualified(t.database, t.name) {
		return n, err
	}
	return n, c.register(ctx, t.database, t.name, tableDefinition{Location: handle.Store().URI(), ID: snap.Metadata().ID})
}

// replaceTable gives a table that is there other columns and rows, in one commit: it stays the table that it is, with its history.
func (c *Catalog) replaceTable(ctx *sql.Context, t newTable, p place) (int64, error) {
	if have := p.table.Store().URI(); t.clauses.Location != "" && t.clauses.Location != have {
		return 0, refuse(KindInvalid, "table %s.%s is at %s: leave LOCATION out to replace it there, or DROP TABLE it first", t.database, t.name, have)
	}
	s, err := c.ledger.read(ctx)
	if err == nil {
		err = checkNoLetters(s, t.database, t.name)
	}
	if err != nil {
		return 0, err
	}
	snap, err := p.table.Snapshot(ctx)
	if errors.Is(err, delta.ErrNoTable) {
		snap, err = nil, nil // a stream has registered it and not written it yet
	}
	if err != nil {
		return 0, err
	}
	n, _, err := c.commitTable(ctx, t, p.table, snap)
	return n, err
}

func (c *Catalog) createAtPath(ctx *sql.Context, t newTable) (int64, error) {
	handle, err := c.tableAtPath(ctx, t.name)
	if err != nil {
		return 0, err
	}
	if err := c.checkTablePlace(ctx, handle.Store().URI()); err != nil {
		return 0, err
	}
	snap, err := handle.Snapshot(ctx)
	if errors.Is(err, delta.ErrNoTable) {
		snap, err = nil, nil
	}
	if err != nil {
		return 0, err
	}
	if snap != nil && !t.clauses.OrReplace {
		return 0, sql.ErrTableAlreadyExists.New(t.name)
	}
	n, _, err := c.commitTable(ctx, t, handle, snap)
	return n, err
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
func (c *Catalog) createExternal(ctx *sql.Context, t newTable) (int64, error) {
	location := t.clauses.Location
	if err := checkName("table", t.name); err != nil {
		return 0, err
	}
	if err := c.checkTablePlace(ctx, location); err != nil {
		return 0, err
	}
	handle, err := c.tableAt(location)
	if err != nil {
		return 0, err
	}
	var n int64
	snap, err := handle.Snapshot(ctx)
	switch {
	case errors.Is(err, delta.ErrNoTable) && t.schema == nil:
		return 0, fmt.Errorf("no Delta table at %s: give the columns to make one: %w", location, err)
	case errors.Is(err, delta.ErrNoTable):
		n, snap, err = c.commitTable(ctx, t, handle, nil)
	case err == nil && t.rows != nil:
		err = refuse(KindInvalid, "there is a Delta table at %s: CREATE TABLE without AS SELECT registers it, INSERT INTO delta.`%s` adds rows", location, location)
	case err == nil && t.schema != nil:
		err = sameColumns(snap.Schema(), t.schema, location)
	}
	if err != nil {
		return 0, err
	}
	return n, c.register(ctx, t.database, t.name, tableDefinition{Location: location, External: true, ID: snap.Metadata().ID})
}

// sameColumns refuses columns that differ from those of the table that is there.
func sameColumns(have, given *batch.Schema, location string) error {
	same := slices.EqualFunc(have.Fields, given.Fields, func(a, b batch.Field) bool {
		return strings.EqualFold(a.Name, b.Name) && a.Type.Alike(b.Type)
	})
	if same {
		return nil
	}
	return refuse(KindInvalid, "the Delta table at %s has the columns (%s), not (%s): leave the columns out to take it as it is", location, have, given)
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

// commitTable commits a table's columns and rows as one version: the first, or in the place of what read has.
func (c *Catalog) commitTable(ctx *sql.Context, t newTable, handle *delta.Table, read *delta.Snapshot) (int64, *delta.Snapshot, error) {
	meta, err := c.metadataOf(ctx, t, read)
	if err != nil {
		return 0, nil, err
	}
	if err := makeRoot(ctx, handle.Store()); err != nil {
		return 0, nil, err
	}
	tx := handle.Begin(read)
	tx.SetMetadata(meta)
	if err := clusterTable(tx, t, read, meta); err != nil {
		return 0, nil, invalid(err)
	}
	var n int64
	var files []delta.AddFile
	if t.rows != nil {
		if files, n, err = c.writeSelected(ctx, t, handle, read, meta); err != nil {
			return 0, nil, err
		}
		tx.Add(files...)
	}
	if read != nil {
		tx.ReadWholeTable()
		for f := range read.Files() {
			tx.Remove(f)
		}
		if _, ok := read.Txn(stream.CopyAppID); ok {
			tx.SetTxn(stream.CopyAppID, stream.CopiedNothing)
		}
	}
	done, err := tx.Commit(ctx, delta.Operation{Name: createOperation(t), Parameters: createParameters(t, meta)})
	if isConflict(err) && read == nil && !t.clauses.OrReplace {
		err = sql.ErrTableAlreadyExists.New(t.name)
	}
	if err != nil {
		return 0, nil, lost(ctx, err, &tableWrite{t: &table{handle: handle}, adds: files})
	}
	currentTransaction(ctx).forget(handle)
	c.maintainSoon(handle)
	return n, done.Snapshot, nil
}

// clusterTable sets the columns of CLUSTER BY, and takes those of a table that is replaced away.
func clusterTable(tx *delta.Transaction, t newTable, read *delta.Snapshot, meta *delta.Metadata) error {
	if len(t.clauses.ClusterBy) == 0 {
		if read == nil {
			return nil
		}
		if old, err := read.ClusteringColumns(); err != nil || len(old) == 0 {
			return err
		}
	}
	return tx.ClusterBy(meta, t.clauses.ClusterBy)
}

// createOperation is the operation that Delta's own statement has in the history.
func createOperation(t newTable) string {
	name := "CREATE TABLE"
	if t.clauses.OrReplace {
		name = "CREATE OR REPLACE TABLE"
	}
	if t.rows != nil {
		name += " AS SELECT"
	}
	return name
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
func createParameters(t newTable, meta *delta.Metadata) map[string]string {
	partitions := meta.PartitionColumns
	if partitions == nil {
		partitions = []string{}
	}
	properties := meta.Configuration
	if properties == nil {
		properties = map[string]string{}
	}
	managed := t.clauses.Location == "" && t.database != pathDatabaseName
	return map[string]string{
		"partitionBy": textOf(partitions), "properties": textOf(properties), "description": meta.Description, "isManaged": fmt.Sprint(managed),
	}
}

// textOf is a value of texts as JSON, as operationParameters have it.
func textOf(v any) string {
	text, _ := jsonText(v).(string)
	return text
}

// deltaSchema is the Delta schema for the columns of a CREATE TABLE.
func deltaSchema(schema sql.Schema, clauses createClauses) (*batch.Schema, error) {
	out := &batch.Schema{}
	for _, c := range schema {
		f, err := createdField(c, clauses)
		if err != nil {
			return nil, err
		}
		out.Fields = append(out.Fields, f)
	}
	return out, nil
}

// createdField is the Delta column for one of a CREATE TABLE. A type that only Delta has comes from the clauses.
func createdField(c *sql.Column, clauses createClauses) (batch.Field, error) {
	def, ok := columnNamed(clauses.Columns, c.Name)
	if !ok || def.Type.Name == "" {
		return mysqltype.Field(c)
	}
	f, err := typedField(c.Name, def.Type)
	f.Nullable = c.Nullable
	if c.Comment != "" {
		setText(&f, "comment", c.Comment)
	}
	return f, err
}
