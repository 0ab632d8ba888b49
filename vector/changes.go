package vector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
)

// ChangeFields are the columns that a change feed has behind those of the table.
var ChangeFields = []batch.Field{
	delta.ChangeTypeField,
	{Name: "_commit_version", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
	{Name: "_commit_timestamp", Type: batch.Type{Kind: batch.Timestamp}, Nullable: true},
}

// Changes reads the rows of change sets, one set after the other, each row with ChangeFields behind its columns.
type Changes struct {
	table   *delta.Table
	snap    *delta.Snapshot
	columns []batch.Field
	cache   *parquet.Cache
	schema  *batch.Schema
	next    func() (delta.ChangeSet, error, bool)
	stop    func()

	set    delta.ChangeSet
	reader *delta.FileReader // of set; nil between files
}

var _ Operator = (*Changes)(nil)

// NewChanges returns a reader of these columns of a snapshot, by whose schema all sets are read. cache may be nil.
func NewChanges(table *delta.Table, snap *delta.Snapshot, columns []batch.Field, sets iter.Seq2[delta.ChangeSet, error], cache *parquet.Cache) *Changes {
	c := &Changes{table: table, snap: snap, columns: columns, cache: cache, schema: batch.NewSchema(slices.Concat(columns, ChangeFields)...)}
	c.next, c.stop = iter.Pull2(sets)
	return c
}

// Schema is the columns, then ChangeFields.
func (c *Changes) Schema() *batch.Schema { return c.schema }

// Next returns the next changed rows.
func (c *Changes) Next(ctx context.Context) (*batch.Batch, error) {
	for {
		if c.reader == nil {
			if err := c.openNext(ctx); err != nil {
				return nil, err // io.EOF too
			}
		}
		b, err := c.reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			err = c.closeFile()
			if err == nil {
				continue
			}
		}
		if err != nil {
			return nil, c.failed(err)
		}
		if out := c.changed(b); out.Rows() > 0 {
			return out, nil
		}
	}
}

func (c *Changes) openNext(ctx context.Context) error {
	set, err, ok := c.next()
	if !ok {
		return io.EOF
	}
	if err != nil {
		return err
	}
	c.set = set
	columns := c.columns
	if set.Type == "" {
		columns = append(columns[:len(columns):len(columns)], delta.ChangeTypeField)
	}
	c.reader, err = c.table.OpenFile(ctx, c.snap, set.File, delta.FileReaderOptions{Columns: columns, Cache: c.cache, Deleted: set.Rows != nil})
	if err != nil {
		return c.failed(err)
	}
	return nil
}

func (c *Changes) failed(err error) error {
	return fmt.Errorf("changes of version %d of %s: %w", c.set.Version, c.table.Store().URI(), err)
}

// changed is the batch of a file with what the set says of its rows, without those that the set does not have.
func (c *Changes) changed(b *batch.Batch) *batch.Batch {
	out := &batch.Batch{Schema: c.schema, Len: b.Len, Sel: b.Sel}
	out.Cols = append(out.Cols, b.Cols...)
	if c.set.Type != "" {
		kind := batch.NewVector(ChangeFields[0].Type, 1)
		kind.AppendString(c.set.Type)
		out.Cols = append(out.Cols, spread(kind, b.Len))
	}
	version, at := batch.NewVector(ChangeFields[1].Type, 1), batch.NewVector(ChangeFields[2].Type, 1)
	version.AppendInt64(c.set.Version)
	at.AppendInt64(c.set.Timestamp.UnixMicro())
	out.Cols = append(out.Cols, spread(version, b.Len), spread(at, b.Len))
	if c.set.Rows == nil {
		return out
	}
	first := c.reader.Position()
	sel := make([]int32, 0, b.Rows())
	for i := range b.Rows() {
		if row := b.Row(i); c.set.Rows.Contains(first + int64(row)) {
			sel = append(sel, int32(row))
		}
	}
	out.Sel = sel
	return out
}

// spread is one value as often as there are rows.
func spread(one *batch.Vector, n int) *batch.Vector { return one.Gather(make([]int32, n)) }

func (c *Changes) closeFile() error {
	r := c.reader
	c.reader = nil
	return r.Close()
}

// Close closes the open file.
func (c *Changes) Close() error {
	c.stop()
	if c.reader == nil {
		return nil
	}
	return c.closeFile()
}
