package batch

import "fmt"

// New returns a batch of these columns. It panics unless there is one column a field, all of the same length and of the field's type:
// a producer that breaks this is a fault of the program.
func New(schema *Schema, cols ...*Vector) *Batch {
	if len(cols) != len(schema.Fields) {
		panic(fmt.Sprintf("batch: %d columns for the schema (%s)", len(cols), schema))
	}
	b := &Batch{Schema: schema, Cols: cols}
	for i, c := range cols {
		if c.Type != schema.Fields[i].Type || c.Len != cols[0].Len {
			panic(fmt.Sprintf("batch: column %s has type %s and %d rows; want %s and %d", schema.Fields[i].Name, c.Type, c.Len, schema.Fields[i].Type, cols[0].Len))
		}
		b.Len = c.Len
	}
	return b
}

// Rows returns how many rows are selected.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.Len
}

// Row returns the physical position of the i-th selected row.
func (b *Batch) Row(i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// Compact returns a batch of the selected rows alone, without a selection: b itself when it has none.
func (b *Batch) Compact() *Batch {
	if b.Sel == nil {
		return b
	}
	out := &Batch{Schema: b.Schema, Cols: make([]*Vector, len(b.Cols)), Len: len(b.Sel)}
	for i, c := range b.Cols {
		out.Cols[i] = c.Gather(b.Sel)
	}
	return out
}

// Slice returns the selected rows [lo, hi) as a batch that shares memory with b.
func (b *Batch) Slice(lo, hi int) *Batch {
	out := &Batch{Schema: b.Schema, Cols: b.Cols, Len: b.Len}
	if b.Sel != nil {
		out.Sel = b.Sel[lo:hi:hi]
		return out
	}
	out.Cols, out.Len = make([]*Vector, len(b.Cols)), hi-lo
	for i, c := range b.Cols {
		out.Cols[i] = c.Slice(lo, hi)
	}
	return out
}

// Clone returns a deep copy of the selected rows that stays valid whatever the producer of b does.
func (b *Batch) Clone() *Batch { return Concat(b.Schema, b) }

// Concat returns the selected rows of these batches, all of the given schema's types, as one new batch of its own memory.
// It may be longer than MaxRows.
func Concat(schema *Schema, batches ...*Batch) *Batch {
	rows := 0
	for _, b := range batches {
		rows += b.Rows()
	}
	out := &Batch{Schema: schema, Cols: make([]*Vector, len(schema.Fields)), Len: rows}
	for i := range out.Cols {
		out.Cols[i] = NewVector(schema.Fields[i].Type, rows)
		for _, b := range batches {
			out.Cols[i].AppendRows(b.Cols[i], b.Sel)
		}
	}
	return out
}
