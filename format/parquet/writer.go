package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
	"lakesql/version"
)

// ErrClosed says that a Writer was used after Close.
var ErrClosed = errors.New("the Parquet writer is closed")

// Writer writes batches to one Parquet file: data pages of version 1, PLAIN or dictionary encoded. It holds the encoded pages of one row
// group in memory. It is for one goroutine at a time. After an error every call returns it; the file is not usable then.
type Writer struct {
	out     io.Writer
	offset  int64 // bytes written
	schema  *batch.Schema
	opts    WriterOptions
	columns []*columnWriter
	rows    int64 // in the open row group
	groups  []format.RowGroup
	total   int64 // rows in groups
	summary Summary
	closed  bool
	err     error
	pick    []int32 // scratch: positions of rows
}

// NewWriter writes the file's first bytes to w. The schema's names must differ and its types be valid.
func NewWriter(w io.Writer, schema *batch.Schema, opts WriterOptions) (*Writer, error) {
	if opts.RowGroupRows <= 0 {
		opts.RowGroupRows = DefaultRowGroupRows
	}
	if opts.PageBytes <= 0 {
		opts.PageBytes = DefaultPageBytes
	}
	codec, err := codecOf(opts.Compression)
	if err != nil {
		return nil, err
	}
	if len(schema.Fields) == 0 {
		return nil, errors.New("write Parquet: the schema has no columns")
	}
	p := &Writer{out: w, schema: schema, opts: opts}
	for i, f := range schema.Fields {
		if f.Type.Layout() == batch.LayoutNone {
			return nil, fmt.Errorf("write Parquet: column %s has %s", f.Name, f.Type)
		}
		if schema.Index(f.Name) != i {
			return nil, fmt.Errorf("write Parquet: two columns are named %s", f.Name)
		}
		p.columns = append(p.columns, newColumnWriter(f, codec, opts.PageBytes))
	}
	p.write([]byte(magic))
	return p, p.err
}

// Write adds the selected rows of a batch whose columns have the schema's types, in its order. The batch may be reused afterwards.
func (w *Writer) Write(b *batch.Batch) error {
	if w.closed {
		return ErrClosed
	}
	if w.err != nil {
		return w.err
	}
	w.err = w.writeRows(b)
	return w.err
}

func (w *Writer) writeRows(b *batch.Batch) error {
	if err := w.check(b); err != nil {
		return err
	}
	for at, rows := 0, b.Rows(); at < rows; {
		n := min(rows-at, batch.MaxRows, w.opts.RowGroupRows-int(w.rows))
		pick := w.rowsOf(b, at, n)
		buffered := 0
		for i, c := range w.columns {
			if err := c.write(b.Cols[i], pick); err != nil {
				return err
			}
			buffered += c.buffered()
		}
		at += n
		w.rows += int64(n)
		if w.rows >= int64(w.opts.RowGroupRows) || buffered >= maxRowGroupBytes {
			if err := w.endRowGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Writer) check(b *batch.Batch) error {
	if len(b.Cols) != len(w.columns) {
		return fmt.Errorf("write Parquet: a batch of %d columns for the schema (%s)", len(b.Cols), w.schema)
	}
	for i, c := range b.Cols {
		if f := w.schema.Fields[i]; c.Type != f.Type {
			return fmt.Errorf("write Parquet: column %s is %s in the batch and %s in the schema", f.Name, c.Type, f.Type)
		}
	}
	return nil
}

// rowsOf returns the physical positions of the selected rows [at, at+n).
func (w *Writer) rowsOf(b *batch.Batch, at, n int) []int32 {
	if b.Sel != nil {
		return b.Sel[at : at+n]
	}
	w.pick = w.pick[:0]
	for i := range n {
		w.pick = append(w.pick, int32(at+i))
	}
	return w.pick
}

// endRowGroup writes the column chunks of the open row group, if it has rows.
func (w *Writer) endRowGroup() error {
	if w.rows == 0 {
		return nil
	}
	group := format.RowGroup{NumRows: w.rows, FileOffset: w.offset, Ordinal: int16(len(w.groups))}
	for _, c := range w.columns {
		dict, data, meta, err := c.endChunk()
		if err != nil {
			return err
		}
		if len(dict) > 0 {
			meta.DictionaryPageOffset = w.offset
			w.write(dict)
		}
		meta.DataPageOffset = w.offset
		w.write(data)
		if w.err != nil {
			return w.err
		}
		c.startChunk()
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: meta})
		group.TotalByteSize += meta.TotalUncompressedSize
		group.TotalCompressedSize += meta.TotalCompressedSize
	}
	w.groups = append(w.groups, group)
	w.total += w.rows
	w.rows = 0
	return nil
}

// write appends bytes to the file; w.err tells of failure.
func (w *Writer) write(data []byte) {
	n, err := w.out.Write(data)
	w.offset += int64(n)
	if err != nil {
		w.err = fmt.Errorf("write Parquet: %w", err)
	}
}

// Close writes the last row group and the footer, and returns what the file holds. It does not close the io.Writer. A second call returns
// the same.
func (w *Writer) Close() (Summary, error) {
	if w.closed || w.err != nil {
		return w.summary, w.err
	}
	w.closed = true
	if err := w.endRowGroup(); err != nil {
		w.err = err
		return Summary{}, err
	}
	if err := w.writeFooter(); err != nil {
		w.err = err
		return Summary{}, err
	}
	w.summary = Summary{Rows: w.total, Bytes: w.offset}
	for _, c := range w.columns {
		w.summary.Columns = append(w.summary.Columns, c.fileBounds.stats(c.field.Type, c.fileNulls))
	}
	return w.summary, nil
}

func (w *Writer) writeFooter() error {
	meta := format.FileMetaData{
		Version:   1,
		Schema:    schemaElements(w.schema),
		NumRows:   w.total,
		RowGroups: w.groups,
		CreatedBy: createdBy(),
	}
	for range w.columns {
		meta.ColumnOrders = append(meta.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return fmt.Errorf("encode the Parquet footer: %w", err)
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	w.write(append(footer, magic...))
	return w.err
}

// createdBy names this program as the specification wants it, without a build in parentheses.
func createdBy() string { return "lakesql version " + version.String() }

// schemaElements returns the file's schema: a root and a leaf a column.
func schemaElements(s *batch.Schema) []format.SchemaElement {
	out := []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(len(s.Fields)))}}
	for _, f := range s.Fields {
		physical, length := physicalType(f.Type)
		e := format.SchemaElement{Name: f.Name, Type: thrift.New(physical), RepetitionType: thrift.New(format.Required)}
		if f.Nullable {
			e.RepetitionType = thrift.New(format.Optional)
		}
		if length > 0 {
			e.TypeLength = thrift.New(int32(length))
		}
		annotate(&e, f.Type)
		out = append(out, e)
	}
	return out
}

// annotate sets the logical type, and the converted type for readers of the first version of the format.
func annotate(e *format.SchemaElement, t batch.Type) {
	micros := format.TimeUnit{Value: &format.MicroSeconds{}}
	switch t.Kind {
	case batch.Int8:
		e.LogicalType.Value, e.ConvertedType = &format.IntType{BitWidth: 8, IsSigned: true}, thrift.New(deprecated.Int8)
	case batch.Int16:
		e.LogicalType.Value, e.ConvertedType = &format.IntType{BitWidth: 16, IsSigned: true}, thrift.New(deprecated.Int16)
	case batch.Date:
		e.LogicalType.Value, e.ConvertedType = &format.DateType{}, thrift.New(deprecated.Date)
	case batch.String:
		e.LogicalType.Value, e.ConvertedType = &format.StringType{}, thrift.New(deprecated.UTF8)
	case batch.Timestamp:
		e.LogicalType.Value, e.ConvertedType = &format.TimestampType{IsAdjustedToUTC: true, Unit: micros}, thrift.New(deprecated.TimestampMicros)
	case batch.TimestampNTZ: // the converted type would mean an instant
		e.LogicalType.Value = &format.TimestampType{Unit: micros}
	case batch.Decimal:
		e.LogicalType.Value = &format.DecimalType{Precision: int32(t.Precision), Scale: int32(t.Scale)}
		e.ConvertedType = thrift.New(deprecated.Decimal)
		e.Precision, e.Scale = thrift.New(int32(t.Precision)), thrift.New(int32(t.Scale))
	}
}
