package catalog

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/delta"
	"lakesql/vector"
)

// selectedRows are the rows of CREATE TABLE ... AS SELECT.
type selectedRows struct {
	node    sql.Node
	sources []int // for each column of the table the SELECT's; -1: none
}

// selectFor finds the columns of a CREATE TABLE ... AS SELECT: those that it declares, and those of the SELECT, in their exact types.
func (c *Catalog) selectFor(ctx *sql.Context, ddl *ast.DDL, create plannedCreate, clauses createClauses) (*batch.Schema, *selectedRows, error) {
	fields, err := compile.Fields(ctx, create.rows)
	if err != nil {
		return nil, nil, err
	}
	schema := &batch.Schema{}
	rows := &selectedRows{node: create.rows}
	for _, col := range create.table.PkSchema().Schema {
		at := slices.IndexFunc(fields, func(f batch.Field) bool { return f.Name == col.Name })
		f, err := createdField(col, clauses)
		if err != nil {
			return nil, nil, err
		}
		if at >= 0 && !declares(ddl, col.Name) && f.Type != fields[at].Type {
			f.Type, f.Metadata = fields[at].Type, nil
		}
		schema.Fields = append(schema.Fields, f)
		rows.sources = append(rows.sources, at)
	}
	return schema, rows, nil
}

// declares says whether a CREATE TABLE itself has a column.
func declares(ddl *ast.DDL, name string) bool {
	return ddl.TableSpec != nil && slices.ContainsFunc(ddl.TableSpec.Columns, func(c *ast.ColumnDefinition) bool {
		return strings.EqualFold(c.Name.String(), name)
	})
}

// writeSelected writes the rows of a SELECT into files for a table that is not committed yet.
func (c *Catalog) writeSelected(ctx *sql.Context, t newTable, handle *delta.Table, read *delta.Snapshot, meta *delta.Metadata) ([]delta.AddFile, int64, error) {
	w, err := c.newTableWriter(handle, read, meta)
	if err != nil {
		return nil, 0, err
	}
	n, err := c.writeRows(ctx, t.rows, w)
	if err == nil {
		var files []delta.AddFile
		if files, err = w.Close(ctx); err == nil {
			return files, n, nil
		}
	}
	return nil, 0, errors.Join(err, w.Abort())
}

// writeRows writes the rows of a SELECT, each column as the table's that it goes to.
func (c *Catalog) writeRows(ctx *sql.Context, s *selectedRows, w *tableWriter) (int64, error) {
	fields, err := compile.Fields(ctx, s.node)
	if err != nil {
		return 0, err
	}
	for i, from := range s.sources {
		if from >= 0 {
			fields[from].Type, fields[from].Metadata = w.schema.Fields[i].Type, w.schema.Fields[i].Metadata
		}
	}
	rows, err := c.openSelect(ctx, s.node, &batch.Schema{Fields: fields}, false)
	if err != nil {
		return 0, err
	}
	n, err := w.writeAll(ctx, rows, s.sources)
	return n, errors.Join(err, rows.Close())
}

// writeAll writes the rows of an operator. sources has for each column of the table that of the operator, -1 where the rows do not
// give it.
func (w *tableWriter) writeAll(ctx context.Context, rows vector.Operator, sources []int) (int64, error) {
	return eachBatch(ctx, rows, func(b *batch.Batch) error {
		out := &batch.Batch{Schema: w.schema, Cols: make([]*batch.Vector, len(sources)), Len: b.Len, Sel: b.Sel}
		for i, from := range sources {
			if from >= 0 {
				out.Cols[i] = b.Cols[from]
			}
		}
		return w.Write(ctx, out)
	})
}

// eachBatch hands the batches of an operator that have rows to visit, and returns the number of their rows.
func eachBatch(ctx context.Context, rows vector.Operator, visit func(*batch.Batch) error) (int64, error) {
	var n int64
	for {
		b, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		if b.Rows() == 0 {
			continue
		}
		n += int64(b.Rows())
		if err := visit(b); err != nil {
			return 0, err
		}
	}
}
