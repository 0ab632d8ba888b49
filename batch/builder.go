package batch

import "fmt"

// Builder gathers rows into batches. Callers append one value to each column, through Column's Append methods or AppendRow.
type Builder struct {
	schema *Schema
	cols   []*Vector
}

// NewBuilder returns an empty builder.
func NewBuilder(schema *Schema) *Builder {
	b := &Builder{schema: schema}
	b.start()
	return b
}

func (b *Builder) start() {
	b.cols = make([]*Vector, len(b.schema.Fields))
	for i, f := range b.schema.Fields {
		b.cols[i] = NewVector(f.Type, 64)
	}
}

// Schema returns the schema of the batches.
func (b *Builder) Schema() *Schema { return b.schema }

// Column returns the vector that collects column i until the next Finish.
func (b *Builder) Column(i int) *Vector { return b.cols[i] }

// Len returns the number of rows so far, which is that of the first column.
func (b *Builder) Len() int {
	if len(b.cols) == 0 {
		return 0
	}
	return b.cols[0].Len
}

// AppendRow appends one value a column, as Vector.AppendValue takes them. On an error no row is added.
func (b *Builder) AppendRow(values ...any) error {
	if len(values) != len(b.cols) {
		return fmt.Errorf("append row: %d values for %d columns (%s)", len(values), len(b.cols), b.schema)
	}
	before := b.Len()
	for i, v := range values {
		if err := b.cols[i].AppendValue(v); err != nil {
			for _, c := range b.cols[:i] {
				c.Truncate(before)
			}
			return fmt.Errorf("append row: column %s: %w", b.schema.Fields[i].Name, err)
		}
	}
	return nil
}

// Finish hands over the rows as a batch that nothing else refers to, and starts anew.
func (b *Builder) Finish() *Batch {
	out := New(b.schema, b.cols...)
	b.start()
	return out
}
