package format

import (
	"cmp"
	"encoding/json"
	"slices"

	"lakesql/batch"
)

// Rescued says what a column of rescued data gets: NULL, or a JSON object with the values of a row that no column of the schema takes, by their names in the file,
// and at last the file's path as _file_path. That is Auto Loader's rescuedDataColumn.
type Rescued struct {
	Column string // the name; counts where the schema has it as a string. "": none
	File   string // the value of _file_path; "": it is left out
	Path   []byte // members of the object of every row, which the file's path gives, with commas between them; empty: none
}

// FilePath is the member that names the file.
const FilePath = "_file_path"

// Index is the position in a schema of the column of rescued data, -1 where it has none.
func (o *Rescued) Index(schema *batch.Schema) int {
	if o.Column == "" {
		return -1
	}
	at := schema.Index(o.Column)
	if at < 0 || schema.Fields[at].Type.Kind != batch.String {
		return -1
	}
	return at
}

// Rescue gathers the rescued values of a block's rows. A value that it takes is no fault of its row.
type Rescue struct {
	path, file []byte // members, without and with what follows the last
	parts      []rescuedValue
	text       []byte // of the parts: members
	out        []byte // scratch
}

// rescuedValue is one member of a row's object.
type rescuedValue struct {
	row        int32
	start, end int // in text
}

// NewRescue returns what gathers for the schema; nil where it has no column of rescued data.
func NewRescue(o *Rescued, schema *batch.Schema) *Rescue {
	if o.Index(schema) < 0 {
		return nil
	}
	r := &Rescue{path: o.Path}
	if o.File != "" {
		r.file = append(batch.AppendJSONString(nil, []byte(FilePath)), ':')
		r.file = batch.AppendJSONString(r.file, []byte(o.File))
	}
	return r
}

// NewBlock forgets the rows of the block before.
func (r *Rescue) NewBlock() { r.parts, r.text = r.parts[:0], r.text[:0] }

// Text adds a value that is a text.
func (r *Rescue) Text(row int, name string, text []byte) {
	r.add(row, name, func(dst []byte) []byte { return batch.AppendJSONString(dst, text) })
}

// JSON adds a value that is written as JSON, or nearly so: what is none becomes a text.
func (r *Rescue) JSON(row int, name string, text []byte) {
	if !json.Valid(text) {
		r.Text(row, name, text)
		return
	}
	r.add(row, name, func(dst []byte) []byte { return append(dst, text...) })
}

// Value adds row i of a vector, as AppendJSON writes it.
func (r *Rescue) Value(row int, name string, v *batch.Vector, i int) {
	r.add(row, name, func(dst []byte) []byte { return v.AppendJSON(dst, i) })
}

func (r *Rescue) add(row int, name string, value func(dst []byte) []byte) {
	start := len(r.text)
	r.text = append(batch.AppendJSONString(r.text, []byte(name)), ':')
	r.text = value(r.text)
	r.parts = append(r.parts, rescuedValue{int32(row), start, len(r.text)})
}

// Fill appends the values of the block's rows to the column.
func (r *Rescue) Fill(v *batch.Vector, rows int) {
	if len(r.parts) == 0 && len(r.path) == 0 {
		v.AppendNulls(rows)
		return
	}
	slices.SortStableFunc(r.parts, func(a, b rescuedValue) int { return cmp.Compare(a.row, b.row) })
	rest := r.parts
	for row := range int32(rows) {
		r.out = append(r.out[:0], '{')
		for ; len(rest) > 0 && rest[0].row == row; rest = rest[1:] {
			r.member(r.text[rest[0].start:rest[0].end])
		}
		r.member(r.path)
		if len(r.out) == 1 {
			v.AppendNull()
			continue
		}
		r.member(r.file)
		v.AppendBytes(append(r.out, '}'))
	}
}

// member adds members to the object that is being written.
func (r *Rescue) member(text []byte) {
	if len(text) > 0 && len(r.out) > 1 {
		r.out = append(r.out, ',')
	}
	r.out = append(r.out, text...)
}
