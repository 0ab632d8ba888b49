package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
	"lakesql/version"
)

// ErrClosed says that a Writer was used after Close.
var ErrClosed = errors.New("the Parquet writer is closed")

// Writer writes batches to one Parquet file: data pages of version 1, PLAIN or dictionary encoded, with column and offset indexes. It holds
// the encoded pages of one row group in memory, and the indexes of all. It is for one goroutine at a time. After an error every call
// returns it; the file is not usable then.
type Writer struct {
	out      io.Writer
	offset   int64 // bytes written
	schema   *batch.Schema
	opts     WriterOptions
	nodes    []*node // by column; nil: void
	elements []format.SchemaElement
	leaves   []*columnWriter
	rows     int64 // in the open row group
	groups   []format.RowGroup
	indexes  [][]*chunkIndex // by row group and leaf
	total    int64           // rows in groups
	summary  Summary
	closed   bool
	err      error
	pick     []int32 // scratch: positions of rows
}

// NewWriter writes the file's first bytes to w. The stored names must differ, ignoring case, and the types be valid. Void columns are not
// in the file; all void is refused.
func NewWriter(w io.Writer, schema *batch.Schema, opts WriterOptions) (*Writer, error) {
	if opts.RowGroupRows <= 0 {
		opts.RowGroupRows = DefaultRowGroupRows
	}
	if opts.RowGroupBytes <= 0 {
		opts.RowGroupBytes = DefaultRowGroupBytes
	}
	if opts.PageBytes <= 0 {
		opts.PageBytes = DefaultPageBytes
	}
	codec, err := codecOf(opts.Compression)
	if err != nil {
		return nil, err
	}
	tree := treeBuilder{naming: opts.Naming, codec: codec, pageBytes: opts.PageBytes}
	p := &Writer{out: w, schema: schema, opts: opts}
	if p.nodes, err = tree.root(schema); err != nil {
		return nil, err
	}
	p.elements, p.leaves = tree.elements, tree.leaves
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
		for i, node := range w.nodes {
			if node == nil {
				continue
			}
			if err := node.write(b.Cols[i], slots{rows: pick}); err != nil {
				return err
			}
		}
		at += n
		w.rows += int64(n)
		if w.rows >= int64(w.opts.RowGroupRows) || w.Buffered() >= w.opts.RowGroupBytes {
			if err := w.endRowGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Buffered returns how many bytes the open row group holds in memory. What it will take in the file is less: its open pages are not
// compressed yet.
func (w *Writer) Buffered() int {
	n := 0
	for _, c := range w.leaves {
		n += c.buffered()
	}
	return n
}

// Size returns how many bytes the file has with the row group that is in memory, but for its open pages.
func (w *Writer) Size() int64 {
	n := w.offset
	for _, c := range w.leaves {
		n += int64(len(c.pages))
	}
	return n
}

// EndRowGroup writes the open row group, if it has rows, and lets go of its memory: for who writes several files at once.
func (w *Writer) EndRowGroup() error {
	if w.closed {
		return ErrClosed
	}
	if w.err == nil {
		w.err = w.endRowGroup()
	}
	for _, c := range w.leaves {
		c.pages = nil
	}
	return w.err
}

func (w *Writer) check(b *batch.Batch) error {
	if len(b.Cols) != len(w.nodes) {
		return fmt.Errorf("write Parquet: a batch of %d columns for the schema (%s)", len(b.Cols), w.schema)
	}
	for i, c := range b.Cols {
		if f := w.schema.Fields[i]; c.Type != f.Type && c.Type.WithoutMetadata() != f.Type.WithoutMetadata() {
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
	var indexes []*chunkIndex
	for _, c := range w.leaves {
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
		c.index.shift(meta.DataPageOffset)
		indexes = append(indexes, c.index)
		c.startChunk()
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: meta})
		group.TotalByteSize += meta.TotalUncompressedSize
		group.TotalCompressedSize += meta.TotalCompressedSize
	}
	w.groups = append(w.groups, group)
	w.indexes = append(w.indexes, indexes)
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
	if err := w.writeIndexes(); err != nil {
		w.err = err
		return Summary{}, err
	}
	if err := w.writeFooter(); err != nil {
		w.err = err
		return Summary{}, err
	}
	w.summary = Summary{Rows: w.total, Bytes: w.offset, Columns: columnStats(w.nodes, w.total)}
	return w.summary, nil
}

// writeIndexes writes the column indexes of all chunks, then their offset indexes, where parquet-java has them: before the footer.
func (w *Writer) writeIndexes() error {
	put := func(index any) (offset int64, length int32, err error) {
		text, err := thrift.Marshal(new(thrift.CompactProtocol), index)
		if err != nil {
			return 0, 0, fmt.Errorf("encode a Parquet page index: %w", err)
		}
		offset = w.offset
		w.write(text)
		return offset, int32(len(text)), w.err
	}
	for g, group := range w.indexes {
		for c, x := range group {
			if x.unbounded {
				continue
			}
			x.columns.BoundaryOrder = x.order()
			var err error
			chunk := &w.groups[g].Columns[c]
			if chunk.ColumnIndexOffset, chunk.ColumnIndexLength, err = put(&x.columns); err != nil {
				return err
			}
		}
	}
	for g, group := range w.indexes {
		for c, x := range group {
			var err error
			chunk := &w.groups[g].Columns[c]
			if chunk.OffsetIndexOffset, chunk.OffsetIndexLength, err = put(&x.offsets); err != nil {
				return err
			}
		}
	}
	return nil
}

// calendarMark is a key of the footer by which Spark knows that dates are in the proleptic Gregorian calendar: the version of Spark that
// wrote them, from 3.0 on. Without it Spark 3 refuses dates before 1582 and timestamps before 1900.
var calendarMark = format.KeyValue{Key: "org.apache.spark.version", Value: "3.5.0"}

func (w *Writer) writeFooter() error {
	meta := format.FileMetaData{
		Version:          1,
		Schema:           w.elements,
		NumRows:          w.total,
		RowGroups:        w.groups,
		KeyValueMetadata: []format.KeyValue{calendarMark},
		CreatedBy:        createdBy(),
	}
	for range w.leaves {
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
