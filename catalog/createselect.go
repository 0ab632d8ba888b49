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
	"lakesql/catalog/mysqltype"
	"lakesql/delta"
	"lakesql/stream"
	"lakesql/stream/source"
	"lakesql/vector"
)

// selectedRows are the rows of CREATE TABLE ... AS SELECT.
type selectedRows struct {
	node    sql.Node
	again   func() (sql.Node, error) // plans the SELECT anew
	sources []int                    // for each column of the table the SELECT's; -1: none
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
	schema, err := delta.ParseSchema(meta.SchemaString)
	if err != nil {
		return nil, 0, err
	}
	rows, err := c.openSelect(ctx, t.rows, schema)
	if err != nil {
		return nil, 0, err
	}
	w, err := c.newTableWriter(handle, read, meta)
	if err != nil {
		return nil, 0, errors.Join(err, rows.Close())
	}
	n, err := w.writeAll(ctx, rows, t.rows.sources)
	err = errors.Join(err, rows.Close())
	if err == nil {
		var files []delta.AddFile
		if files, err = w.Close(ctx); err == nil {
			return files, n, nil
		}
	}
	return nil, 0, errors.Join(err, w.Abort())
}

// openSelect runs a SELECT, on batches where all of it compiles, and otherwise row by row. Rows are converted to the columns that they go to.
func (c *Catalog) openSelect(ctx *sql.Context, s *selectedRows, schema *batch.Schema) (vector.Operator, error) {
	op, ok, err := compile.Open(ctx, s.node)
	if err != nil || ok {
		return op, err
	}
	fields, err := compile.Fields(ctx, s.node)
	if err != nil {
		return nil, err
	}
	for i, from := range s.sources {
		if from >= 0 {
			fields[from] = batch.Field{Name: fields[from].Name, Type: schema.Fields[i].Type, Nullable: true, Metadata: schema.Fields[i].Metadata}
		}
	}
	rows := &rowOperator{ctx: ctx, schema: &batch.Schema{Fields: fields}, mode: stream.Fail, bad: func([]source.RowError) {}}
	node := s.node
	if sql.LoadSqlMode(ctx).Strict() {
		if node, err = compile.Strict(ctx, node, rows.fault); err != nil {
			return nil, err
		}
	}
	rows.iter, err = c.engine.Analyzer.ExecBuilder.Build(ctx, node, nil)
	return rows, err
}

// writeAll writes the rows of an operator. sources has for each column of the table that of the operator, -1 where the rows do not
// give it.
func (w *tableWriter) writeAll(ctx *sql.Context, rows vector.Operator, sources []int) (int64, error) {
	fit := make([]vector.Expr, len(sources))
	for i, from := range sources {
		if from < 0 {
			continue
		}
		want := w.schema.Fields[i]
		have := rows.Schema().Fields[from]
		column := vector.NewColumn(from, have)
		if have.Type.Alike(want.Type) {
			fit[i] = column
			continue
		}
		cast, err := vector.NewCast(column, want.Type)
		if err != nil {
			cast = &convertedColumn{from: from, have: have, want: want}
		}
		fit[i] = cast
	}
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
		out := &batch.Batch{Schema: w.schema, Cols: make([]*batch.Vector, len(fit)), Len: b.Len, Sel: b.Sel}
		for i, x := range fit {
			if x == nil {
				continue
			}
			v, err := x.Eval(ctx, b)
			if err != nil {
				return 0, err
			}
			out.Cols[i] = v.As(w.schema.Fields[i].Type)
		}
		if err := w.Write(ctx, out); err != nil {
			return 0, err
		}
	}
}

// convertedColumn is a column converted value by value, as an INSERT converts.
type convertedColumn struct {
	from       int
	have, want batch.Field
}

var _ vector.Expr = (*convertedColumn)(nil)

// Type is the wanted one.
func (c *convertedColumn) Type() batch.Type { return c.want.Type }

// Eval converts the selected rows.
func (c *convertedColumn) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	sqlCtx, ok := ctx.(*sql.Context)
	if !ok {
		sqlCtx = sql.NewContext(ctx)
	}
	get := mysqltype.NewGetter(c.have, b.Cols[c.from], func() {})
	out := batch.NewVector(c.want.Type, b.Len)
	at := 0
	for i := range b.Rows() {
		row := b.Row(i)
		out.AppendNulls(row - at)
		v, err := mysqltype.ToBatch(sqlCtx, c.want, get(row))
		if err == nil {
			err = out.AppendValue(v)
		}
		if err != nil {
			return nil, err
		}
		at = row + 1
	}
	out.AppendNulls(b.Len - at)
	return out, nil
}
