package files

import (
	"strings"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/format/parquet"
)

// parquetRescue reads the columns of a Parquet file that the schema lacks, and those whose type it does not have, and makes them the column of rescued data. The
// type is the whole column's: where it does not fit, all of its values are rescued.
type parquetRescue struct {
	schema  *batch.Schema
	columns []batch.Field // to be read: those of the schema that the file can give, then the rescued ones
	source  []int         // by column of the schema: where it is among columns; -1: NULL
	at      int           // of the column of rescued data
	rescued int           // of columns, where the rescued ones begin
	gather  *format.Rescue
	out     batch.Batch
}

func newParquetRescue(f *parquet.File, schema *batch.Schema, rescued *format.Rescued) *parquetRescue {
	r := &parquetRescue{schema: schema, at: rescued.Index(schema), gather: format.NewRescue(rescued, schema)}
	var misfits []batch.Field
	taken := map[string]bool{strings.ToLower(rescued.Column): true}
	for i, want := range schema.Fields {
		r.source = append(r.source, -1)
		if i == r.at {
			continue
		}
		taken[strings.ToLower(want.Name)] = true
		have := f.Schema().Index(want.Name)
		if have >= 0 && !readsWhole(f, f.Schema().Fields[have], want) {
			misfits = append(misfits, f.Schema().Fields[have])
			continue
		}
		r.source[i] = len(r.columns)
		r.columns = append(r.columns, want)
	}
	r.rescued = len(r.columns)
	r.columns = append(r.columns, misfits...)
	for _, have := range f.Schema().Fields {
		if !taken[strings.ToLower(have.Name)] {
			r.columns = append(r.columns, have)
		}
	}
	return r
}

// readsWhole tells whether all values of a column of the file fit the type that is wanted.
func readsWhole(f *parquet.File, have, want batch.Field) bool {
	have.Name = want.Name
	merged, err := batch.MergeFields([]batch.Field{want}, []batch.Field{have})
	if err != nil || f.Reads(want) != nil {
		return false
	}
	loose, err := batch.MergeFields(nil, []batch.Field{want})
	return err == nil && merged[0].Type.Alike(loose[0].Type)
}

// apply makes a batch of the schema of one of the columns.
func (r *parquetRescue) apply(b *batch.Batch) *batch.Batch {
	r.gather.NewBlock()
	for i := r.rescued; i < len(r.columns); i++ {
		for row := range b.Len {
			if !b.Cols[i].IsNull(row) {
				r.gather.Value(row, r.columns[i].Name, b.Cols[i], row)
			}
		}
	}
	cols := make([]*batch.Vector, len(r.source))
	for i, at := range r.source {
		if at >= 0 {
			cols[i] = b.Cols[at]
			continue
		}
		cols[i] = batch.NewVector(r.schema.Fields[i].Type, b.Len)
		if i == r.at {
			r.gather.Fill(cols[i], b.Len)
		} else {
			cols[i].AppendNulls(b.Len)
		}
	}
	r.out = batch.Batch{Schema: r.schema, Cols: cols, Len: b.Len, Sel: b.Sel}
	return &r.out
}
