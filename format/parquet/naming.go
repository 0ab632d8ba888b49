package parquet

import "lakesql/batch"

// Naming tells how a field is stored in files where that differs from its own name: its stored name, and its Parquet field id (0: none).
// It is asked for each column and for the fields at every level below; of list elements, map keys and map values only the id counts,
// because their names are the format's. nil: by its own name, without an id.
type Naming func(f batch.Field) (name string, id int32)

// of returns the stored name and the id of a field.
func (n Naming) of(f batch.Field) (name string, id int32) {
	if n == nil {
		return f.Name, 0
	}
	return n(f)
}
