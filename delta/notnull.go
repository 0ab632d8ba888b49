package delta

import (
	"fmt"
	"slices"

	"lakesql/batch"
)

// checkNotNull enforces NOT NULL on the selected rows, at every depth. What lies within a null says nothing.
func checkNotNull(b *batch.Batch) error {
	for i, f := range b.Schema.Fields {
		if !demands(f) {
			continue
		}
		rows := b.Sel
		if rows == nil {
			rows = upTo(b.Len)
		}
		if err := notNull(f.Name, f, b.Cols[i], rows); err != nil {
			return err
		}
	}
	return nil
}

func upTo(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// demands tells whether a field, or something in it, must not be null. The parts of a variant are the format's own.
func demands(f batch.Field) bool {
	return !f.Nullable || f.Type.Kind != batch.Variant && slices.ContainsFunc(f.Type.Fields(), demands)
}

// notNull checks the rows of one field and of what is in it.
func notNull(path string, f batch.Field, v *batch.Vector, rows []int32) error {
	live := rows
	if v.Valid != nil {
		live = slices.DeleteFunc(slices.Clone(rows), func(row int32) bool { return v.IsNull(int(row)) })
	}
	if !f.Nullable && len(live) < len(rows) {
		return fmt.Errorf("%w: [DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: %s", ErrNull, path)
	}
	if f.Type.Kind == batch.List || f.Type.Kind == batch.Map {
		live = elements(v, live)
	}
	for i, inner := range f.Type.Fields() {
		if f.Type.Kind == batch.Variant || !demands(inner) {
			continue
		}
		if err := notNull(path+"."+inner.Name, inner, v.Children[i], live); err != nil {
			return err
		}
	}
	return nil
}

// elements are the positions, in the children of a list or map, of what the rows hold.
func elements(v *batch.Vector, rows []int32) []int32 {
	var out []int32
	for _, row := range rows {
		for at := v.Off[row]; at < v.Off[row+1]; at++ {
			out = append(out, at)
		}
	}
	return out
}
