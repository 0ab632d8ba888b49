package stream

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"lakesql/batch"
	"lakesql/format/csv"
	"lakesql/stream/source"
	"lakesql/vector"
)

// texts reads the texts of some columns' values as values of the types that the target has for them: JSON where that is a nested one, else what a
// file has for it. A text that is no value of the type is what ON ERROR makes of a bad field.
type texts struct {
	vector.Operator
	columns map[int]batch.Type // by position: what the target has
	schema  *batch.Schema
	mode    ErrorMode
	bad     func([]source.RowError)
}

// newTexts returns an operator over child that gives its columns at these positions other types.
func newTexts(child vector.Operator, columns map[int]batch.Type, mode ErrorMode, bad func([]source.RowError)) vector.Operator {
	if len(columns) == 0 {
		return child
	}
	schema := &batch.Schema{Fields: slices.Clone(child.Schema().Fields)}
	for i, t := range columns {
		schema.Fields[i].Type = t
	}
	return &texts{Operator: child, columns: columns, schema: schema, mode: mode, bad: bad}
}

// Schema is the child's, with the target's types.
func (o *texts) Schema() *batch.Schema { return o.schema }

// Next reads the next batch's texts.
func (o *texts) Next(ctx context.Context) (*batch.Batch, error) {
	in, err := o.Operator.Next(ctx)
	if err != nil {
		return nil, err
	}
	in = in.Compact()
	out := &batch.Batch{Schema: o.schema, Cols: slices.Clone(in.Cols), Len: in.Len}
	faults := make([][]source.RowError, in.Len)
	var text []byte
	for i := range o.schema.Fields {
		t, ok := o.columns[i]
		if !ok {
			continue
		}
		out.Cols[i] = batch.NewVector(t, in.Len)
		for row := range in.Len {
			if in.Cols[i].IsNull(row) {
				out.Cols[i].AppendNull()
				continue
			}
			text = in.Cols[i].AppendText(text[:0], row)
			if err := appendText(out.Cols[i], text); err != nil {
				out.Cols[i].AppendNull()
				raw := slices.Clone(text[:min(len(text), maxRawText)])
				if o.mode == DeadLetter {
					raw = rowText(in, row)
				}
				faults[row] = append(faults[row], source.RowError{Column: o.schema.Fields[i].Name, Raw: raw, Message: err.Error()})
			}
		}
	}
	return o.settle(out, faults)
}

func appendText(v *batch.Vector, text []byte) error {
	if v.Type.Fields() != nil {
		return v.AppendFromJSON(text)
	}
	return csv.AppendValue(v, string(text), csv.DefaultOptions())
}

// rowText is all values of a row as a record of CSV.
func rowText(b *batch.Batch, row int) (text []byte) {
	var cell []byte
	for i, v := range b.Cols {
		if i > 0 {
			text = append(text, ',')
		}
		if !v.IsNull(row) {
			cell = v.AppendText(cell[:0], row)
			text = AppendCell(text, cell)
		}
	}
	return text
}

// AppendCell appends a value to the record of a row that was left out: in double quotes where a comma, a quote or the end of a line is in it, or nothing, which would
// be NULL.
func AppendCell(dst, value []byte) []byte {
	if len(value) > 0 && !bytes.ContainsAny(value, ",\"\r\n") {
		return append(dst, value...)
	}
	dst = append(dst, '"')
	dst = append(dst, bytes.ReplaceAll(value, []byte{'"'}, []byte(`""`))...)
	return append(dst, '"')
}

// maxRawText bounds the text of a bad field in an error, in bytes.
const maxRawText = 1000

// settle does what ON ERROR says with the rows that have faults.
func (o *texts) settle(b *batch.Batch, faults [][]source.RowError) (*batch.Batch, error) {
	whole := make([]int32, 0, b.Len)
	for row, bad := range faults {
		switch {
		case len(bad) == 0:
			whole = append(whole, int32(row))
		case o.mode == Fail:
			return nil, fmt.Errorf("column %q: %s; text: %s", bad[0].Column, bad[0].Message, bad[0].Raw)
		default:
			o.bad(bad)
		}
	}
	if o.mode.LeavesOut() && len(whole) < b.Len {
		b.Sel = whole
	}
	return b, nil
}
