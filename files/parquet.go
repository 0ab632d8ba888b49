package files

import (
	"context"
	"fmt"
	"io"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/format/parquet"
	"lakesql/store"
)

// unmapped is a store without its optional powers: a file in a landing folder may be cut short while it is read, which a mapping does
// not survive.
type unmapped struct{ store.Store }

// openFooter opens a file as Parquet.
func openFooter(c *contents) (*parquet.File, error) {
	return parquet.Open(c.ctx, unmapped{c.st}, c.key, c.file.Size)
}

// parquetRows reads the columns of a Parquet file by their names.
type parquetRows struct {
	contents *contents
	file     *parquet.File
	schema   *batch.Schema
	rescued  *format.Rescued
	columns  []batch.Field // that are read
	scan     *parquet.Scanner
	extra    []string
	rescue   *parquetRescue // nil: nothing is rescued
	given    int            // row groups that cut has given
}

func openParquet(c *contents, schema *batch.Schema, rescued *format.Rescued) (formatReader, func(), error) {
	f, err := openFooter(c)
	if err != nil {
		return nil, nil, err
	}
	r := &parquetRows{contents: c, file: f, schema: schema, rescued: rescued}
	for _, column := range f.Schema().Fields {
		if schema.Index(column.Name) < 0 {
			r.extra = append(r.extra, column.Name)
		}
	}
	r.bind()
	r.begin(nil)
	release := func() {
		r.close()
		_ = f.Close() // it has no mapping
	}
	return r, release, nil
}

// bind finds out which columns are read.
func (r *parquetRows) bind() {
	r.columns = r.schema.Fields
	if r.rescued.Index(r.schema) >= 0 {
		r.rescue = newParquetRescue(r.file, r.schema, r.rescued)
		r.columns = r.rescue.columns
	}
}

// begin makes the rows those of some row groups; nil: all.
func (r *parquetRows) begin(groups []int) {
	r.scan = r.file.Scan(context.WithoutCancel(r.contents.ctx), parquet.ScanOptions{Columns: r.columns, RowGroups: groups})
}

func (r *parquetRows) cut(Piece) (Piece, error) {
	if r.given == len(r.file.RowGroups()) {
		return Piece{}, io.EOF
	}
	r.given++
	return Piece{group: r.given - 1}, nil
}

func (r *parquetRows) fork(c *contents, _ func(RowError)) (partedRows, func(), error) {
	out := &parquetRows{contents: c, file: r.file, schema: r.schema, rescued: r.rescued, extra: r.extra}
	out.bind()
	return out, out.close, nil
}

func (r *parquetRows) take(p Piece) {
	r.close()
	r.begin([]int{p.group})
}

func (r *parquetRows) close() {
	if r.scan != nil {
		_ = r.scan.Close() // it has only buffers to let go
	}
}

// Next returns the next rows, or io.EOF.
func (r *parquetRows) Next() (*batch.Batch, error) {
	b, err := r.scan.Next(r.contents.ctx)
	if err != nil || r.rescue == nil {
		return b, err
	}
	return r.rescue.apply(b), nil
}

// Extra names the file's columns that the schema does not have.
func (r *parquetRows) Extra() []string { return r.extra }

// Rejected is 0: a file either has the types that are wanted, or cannot be read.
func (r *parquetRows) Rejected() int64 { return 0 }

// parquetInference merges the schemas of footers: a column has the type that holds the values of all files.
type parquetInference struct{ fields []batch.Field }

func (in *parquetInference) add(c *contents) error {
	f, err := openFooter(c)
	if err != nil {
		return err
	}
	found := f.Schema().Fields
	if err := f.Close(); err != nil {
		return err
	}
	in.fields, err = batch.MergeFields(in.fields, found)
	if err != nil {
		return fmt.Errorf("%w; schemaHints says which type is to be read", err)
	}
	return nil
}

func (in *parquetInference) schema() (*batch.Schema, error) {
	return batch.NewSchema(in.fields...), nil
}
