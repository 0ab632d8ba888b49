package catalog

import (
	"context"

	"lakesql/batch"
	"lakesql/delta"
)

// tableWriter is a FileWriter for the rows of statements. In generated and identity columns NULL is no value: there the writer of a
// Delta table computes one, as for a column that is not given at all.
type tableWriter struct {
	*delta.FileWriter
	schema *batch.Schema
	filled []int // generated and identity columns
}

// newTableWriter makes a writer of new rows for a table whose metadata will be meta. read is what the commit follows; nil: it is the first.
func (c *Catalog) newTableWriter(handle *delta.Table, read *delta.Snapshot, meta *delta.Metadata) (*tableWriter, error) {
	schema, err := delta.ParseSchema(meta.SchemaString)
	if err != nil {
		return nil, err
	}
	files, err := delta.NewFileWriter(handle.Store(), read, meta, delta.FileWriterOptions{Evaluator: evaluator{c}})
	if err != nil {
		return nil, err
	}
	w := &tableWriter{FileWriter: files, schema: schema}
	for i, f := range schema.Fields {
		if isGenerated(f) || isIdentity(f) {
			w.filled = append(w.filled, i)
		}
	}
	return w, nil
}

func isGenerated(f batch.Field) bool { return f.Metadata[delta.GenerationKey] != "" }

func isIdentity(f batch.Field) bool { return f.Metadata[delta.IdentityStart] != "" }

// Write writes rows. Those in which the same columns are given go to the FileWriter together.
func (w *tableWriter) Write(ctx context.Context, b *batch.Batch) error {
	for _, part := range w.split(b) {
		if err := w.FileWriter.Write(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// split takes a batch apart by which of the filled columns are NULL. A batch without any stays whole.
func (w *tableWriter) split(b *batch.Batch) []*batch.Batch {
	parts := []*batch.Batch{b}
	for _, col := range w.filled {
		var next []*batch.Batch
		for _, p := range parts {
			next = append(next, splitNulls(p, col)...)
		}
		parts = next
	}
	return parts
}

// splitNulls parts the rows that have a value in a column from those that have NULL, in which the column is not given.
func splitNulls(b *batch.Batch, col int) []*batch.Batch {
	v := b.Cols[col]
	if v == nil || v.Valid == nil {
		return []*batch.Batch{b}
	}
	var nulls, values []int32
	for i := range b.Rows() {
		if row := b.Row(i); v.IsNull(row) {
			nulls = append(nulls, int32(row))
		} else {
			values = append(values, int32(row))
		}
	}
	if len(nulls) == 0 {
		return []*batch.Batch{b}
	}
	without := *b
	without.Cols = append([]*batch.Vector(nil), b.Cols...)
	without.Cols[col], without.Sel = nil, nulls
	if len(values) == 0 {
		return []*batch.Batch{&without}
	}
	with := *b
	with.Sel = values
	return []*batch.Batch{&with, &without}
}
