package catalog

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/delta"
	"lakesql/vector"
)

// table is a Delta table at one version, with what the transaction itself has written on top.
type table struct {
	c              *Catalog
	database, name string
	handle         *delta.Table
	snap           *delta.Snapshot
	historical     bool     // AS OF: cannot be written
	location       string   // of a table that is registered with LOCATION; else ""
	target         *target  // in the SELECT of a statement that changes the table: then it has its rows' addresses
	projection     []string // names in schema order; nil: all columns
}

var (
	_ sql.Table           = (*table)(nil)
	_ sql.ProjectedTable  = (*table)(nil)
	_ sql.PrimaryKeyTable = (*table)(nil)
	_ sql.CommentedTable  = (*table)(nil)
	_ sql.InsertableTable = (*table)(nil)
	_ sql.StatisticsTable = (*table)(nil)
	_ compile.Definer     = (*table)(nil)
	_ compile.Source      = (*table)(nil)
	_ compile.Repeatable  = (*table)(nil)
	_ compile.Sink        = (*table)(nil)
)

// openTable returns a table at the version that the statement's transaction sees.
func (c *Catalog) openTable(ctx *sql.Context, database, name string, handle *delta.Table) (*table, error) {
	alsoReads(ctx, handle)
	tx := currentTransaction(ctx)
	snap, err := tx.pin(ctx, handle)
	if err != nil {
		return nil, err
	}
	return &table{c: c, database: database, name: name, handle: handle, snap: snap}, nil
}

// Name is the table's name.
func (t *table) Name() string   { return t.name }
func (t *table) String() string { return t.name }

// Collation is the one by which Delta and Spark compare strings: by bytes.
func (t *table) Collation() sql.CollationID { return sql.Collation_Default }

// Comment is the table's description.
func (t *table) Comment() string { return t.snap.Metadata().Description }

// Schema is that of the rows: after a projection only its columns.
func (t *table) Schema(*sql.Context) sql.Schema {
	return sqlSchema(&batch.Schema{Fields: t.Columns()}, t.database, t.name)
}

// PrimaryKeySchema has all columns, whatever the projection, and no key. GMS finds the positions of projected columns by it.
func (t *table) PrimaryKeySchema(*sql.Context) sql.PrimaryKeySchema {
	return sql.NewPrimaryKeySchema(sqlSchema(&batch.Schema{Fields: t.allColumns()}, t.database, t.name))
}

// WithProjections returns the table with some of its columns.
func (t *table) WithProjections(_ *sql.Context, names []string) (sql.Table, error) {
	out := *t
	out.projection = make([]string, 0, len(names))
	all := batch.Schema{Fields: t.allColumns()}
	for _, name := range names {
		if all.Index(name) < 0 {
			return nil, sql.ErrTableColumnNotFound.New(t.name, name)
		}
		out.projection = append(out.projection, name)
	}
	return &out, nil
}

// Projections are the names that WithProjections was given.
func (t *table) Projections() []string { return t.projection }

// Columns are the columns of a scan, in the order of Schema.
func (t *table) Columns() []batch.Field {
	all := batch.Schema{Fields: t.allColumns()}
	if t.projection == nil {
		return all.Fields
	}
	out := make([]batch.Field, len(t.projection))
	for i, name := range t.projection {
		out[i] = all.Fields[all.Index(name)]
	}
	return out
}

// columnNames are the names of Columns.
func (t *table) columnNames() []string {
	columns := batch.Schema{Fields: t.Columns()}
	return columns.Names()
}

// allColumns are the columns without a projection.
func (t *table) allColumns() []batch.Field {
	fields := t.snap.Schema().Fields
	if t.target == nil {
		return fields
	}
	return append(fields[:len(fields):len(fields)], addressFields...)
}

// Scan reads the columns. The filter, over batches of them, may only leave out rows for which it is not true.
func (t *table) Scan(ctx *sql.Context, filter vector.Expr) (vector.Operator, error) {
	scan, err := vector.NewScan(t.handle, t.snap, t.columnNames(), filter)
	if err != nil {
		return nil, fmt.Errorf("read %s.%s: %w", t.database, t.name, err)
	}
	scan.UseCache(t.c.dataFiles)
	if t.target != nil && t.target.files != nil {
		scan.UseFiles(t.target.files)
	}
	currentTransaction(ctx).scanned(ctx, t.handle)
	return scan, nil
}

// Describe names the scan for EXPLAIN.
func (t *table) Describe() string {
	return fmt.Sprintf("Scan %s.%s version %d (%s)", t.database, t.name, t.snap.Version(), strings.Join(t.columnNames(), ", "))
}

// Rows are those of the snapshot, which every look-up in a statement pins; empty where a statement changes some of the files.
func (t *table) Rows() string {
	if t.target != nil {
		return ""
	}
	return fmt.Sprintf("%s %p", t.handle.Store().URI(), t.snap)
}

// Partitions is one partition: vector reads in its own order.
func (t *table) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(wholeTable{}), nil
}

// PartitionRows reads the table row by row.
func (t *table) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	op, err := t.Scan(ctx, nil)
	if err != nil {
		return nil, err
	}
	return compile.NewRows(op), nil
}

// checkWrite says why the table cannot be written by the statement.
func (t *table) checkWrite(ctx *sql.Context) error {
	if t.historical {
		return refuse(KindInvalid, "table %s: a version of the past cannot be written", t.name)
	}
	if currentTransaction(ctx).readOnly {
		return sql.ErrReadOnlyTransaction.New()
	}
	if err := checkPlace(t.handle.Store().URI()); err != nil {
		return err
	}
	return delta.CheckWritable(t.snap)
}

// newWriter returns a writer of new rows for the table.
func (t *table) newWriter() (*tableWriter, error) {
	return t.c.newTableWriter(t.handle, t.snap, t.snap.Metadata())
}

// IsTemporary is false. GMS asks every table that a READ ONLY transaction writes.
func (t *table) IsTemporary() bool { return false }

// Inserter returns an editor for the rows of one INSERT.
func (t *table) Inserter(ctx *sql.Context) sql.RowInserter { return newInserter(ctx, t) }

// InsertBatches writes all rows of an operator as one INSERT.
func (t *table) InsertBatches(ctx *sql.Context, rows vector.Operator) (int64, error) {
	i := newInserter(ctx, t)
	n, err := i.insertAll(ctx, rows)
	if err != nil {
		i.abort()
		return 0, fmt.Errorf("insert into %s.%s: %w", t.database, t.name, err)
	}
	return n, i.Close(ctx)
}

// wholeTable is the one partition of every table.
type wholeTable struct{}

// Key names the partition.
func (wholeTable) Key() []byte { return []byte("all") }
