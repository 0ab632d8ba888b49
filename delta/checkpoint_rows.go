package delta

import (
	"context"
	"errors"
	"fmt"

	"lakesql/batch"
	"lakesql/format/parquet"
	"lakesql/store"
)

const (
	checkpointBatchRows    = 1024    // rows handed to the Parquet writer at once
	checkpointRowGroupRows = 1 << 17 // bounds the memory of writing, and lets several goroutines read
)

// actionFile is a Parquet file of a checkpoint that is being written: a column for each kind of action, of which each row has one. It
// gathers runs of rows of one kind.
type actionFile struct {
	key     string
	uri     string // of the table
	object  store.Writer
	parquet *parquet.Writer
	schema  *batch.Schema
	columns []*batch.Vector // what is gathered; only that of run has rows
	nulls   []*batch.Vector // what the other columns have beside it
	run     int
	rows    int64
	err     error // the first, which close returns
}

// createActionFile begins a file, which must be closed or aborted.
func createActionFile(ctx context.Context, st store.Store, key string, schema *batch.Schema) (*actionFile, error) {
	f := &actionFile{key: key, uri: st.URI(), schema: schema}
	for _, column := range schema.Fields {
		f.columns = append(f.columns, batch.NewVector(column.Type, 0))
		f.nulls = append(f.nulls, batch.NewNulls(column.Type, checkpointBatchRows))
	}
	var err error
	if f.object, err = st.Create(ctx, key); err != nil {
		return nil, f.failed(err)
	}
	if f.parquet, err = parquet.NewWriter(f.object, schema, parquet.WriterOptions{RowGroupRows: checkpointRowGroupRows}); err != nil {
		return nil, errors.Join(f.failed(err), f.abort())
	}
	return f, nil
}

func (f *actionFile) failed(err error) error {
	return fmt.Errorf("write %s of %s: %w", logFileName(f.key), f.uri, err)
}

// close makes the file durable and returns its size in bytes.
func (f *actionFile) close(ctx context.Context, ifAbsent bool) (int64, error) {
	f.flush()
	var summary parquet.Summary
	if f.err == nil {
		summary, f.err = f.parquet.Close()
	}
	if f.err != nil {
		return 0, errors.Join(f.failed(f.err), f.abort())
	}
	object := f.object
	f.object = nil
	if err := object.Commit(ctx, ifAbsent); err != nil {
		return 0, f.failed(err)
	}
	return summary.Bytes, nil
}

// abort drops the file. After close it does nothing.
func (f *actionFile) abort() error {
	if f.object == nil {
		return nil
	}
	object := f.object
	f.object = nil
	return object.Abort()
}

// row adds a row of one kind of action, whose fields are to follow.
func (f *actionFile) row(action string) rowWriter {
	i := f.schema.Index(action)
	if i != f.run || f.columns[i].Len >= checkpointBatchRows {
		f.flush()
		f.run = i
	}
	f.rows++
	return rowWriter{row: f.columns[i]}
}

func (f *actionFile) flush() {
	n := f.columns[f.run].Len
	if n == 0 {
		return
	}
	cols := make([]*batch.Vector, len(f.columns))
	for i := range cols {
		cols[i] = f.nulls[i].Slice(0, n)
	}
	cols[f.run] = f.columns[f.run]
	if f.err == nil {
		f.err = f.parquet.Write(&batch.Batch{Schema: f.schema, Cols: cols, Len: n})
	}
	f.columns[f.run].Reset()
}

// rowWriter gives a struct its fields, in order.
type rowWriter struct {
	row  *batch.Vector
	next int
}

func (w *rowWriter) field() *batch.Vector {
	w.next++
	return w.row.Children[w.next-1]
}

func (w *rowWriter) end() { w.row.EndRow() }

func (w *rowWriter) null() { w.field().AppendNull() }

func (w *rowWriter) text(s string) { w.field().AppendString(s) }

// orNull is text, but for the empty string, which is null.
func (w *rowWriter) orNull(s string) {
	if s == "" {
		w.null()
	} else {
		w.text(s)
	}
}

func (w *rowWriter) bytesOrNull(b []byte) {
	if len(b) == 0 {
		w.null()
	} else {
		w.field().AppendBytes(b)
	}
}

func (w *rowWriter) bool(b bool) { w.field().AppendBool(b) }

func (w *rowWriter) int(n int64) {
	if v := w.field(); v.Type == intType {
		v.AppendInt32(int32(n))
	} else {
		v.AppendInt64(n)
	}
}

// intOr is int, or null for nil.
func intOr[T int32 | int64](w *rowWriter, n *T) {
	if n == nil {
		w.null()
	} else {
		w.int(int64(*n))
	}
}

func (w *rowWriter) list(elements []string) {
	v := w.field()
	for _, e := range elements {
		v.Children[0].AppendString(e)
	}
	v.EndRow()
}

// listOr is list, or null for nil.
func (w *rowWriter) listOr(elements *[]string) {
	if elements == nil {
		w.null()
	} else {
		w.list(*elements)
	}
}

func (w *rowWriter) textMap(m map[string]string) {
	v := w.field()
	for _, k := range sortedKeys(m) {
		v.Children[0].AppendString(k)
		v.Children[1].AppendString(m[k])
	}
	v.EndRow()
}

// textMapOr is textMap, or null for an empty map.
func (w *rowWriter) textMapOr(m map[string]string) {
	if len(m) == 0 {
		w.null()
	} else {
		w.textMap(m)
	}
}

// partition has an entry for every partition column, as Spark writes it.
func (w *rowWriter) partition(columns []string, values map[string]string) {
	v := w.field()
	for _, c := range columns {
		v.Children[0].AppendString(c)
		if text := values[c]; text != "" {
			v.Children[1].AppendString(text)
		} else {
			v.Children[1].AppendNull()
		}
	}
	v.EndRow()
}

func (w *rowWriter) deletionVector(d *deletionVector) {
	v := w.field()
	if d == nil {
		v.AppendNull()
		return
	}
	in := rowWriter{row: v}
	in.text(d.storageType)
	in.text(d.pathOrInlineDv)
	intOr(&in, d.offset)
	in.int(int64(d.sizeInBytes))
	in.int(d.cardinality)
	in.null()
	in.end()
}
