package parquet

import (
	"fmt"

	"lakesql/batch"
)

// node is a field of the file's schema: a leaf, whose values go to one column chunk a row group, or a group of children.
//
// A batch is shredded from the root down. What goes down is a slots: which row of the node's vector stands at each place of the columns
// below, with the levels of Parquet (the specification's "Nested Encoding", after Dremel). A struct takes out the rows where it is
// null, a list puts in a place for each element, a leaf writes what comes.
type node struct {
	field    batch.Field
	path     string        // names from the column down
	def, rep uint8         // levels of a value that is there
	leaf     *columnWriter // nil: a group
	children []*node       // by position in batch.Vector.Children; nil: void

	nulls  int64 // rows of the file without a value, for a group outside of lists and maps
	kept   slots // scratch of present
	spread slots // scratch of elements
}

// slots are places of a column in the file, each a row of a vector or a gap: a null, or a list without elements, somewhere above.
type slots struct {
	rows []int32 // -1: a gap
	reps []uint8 // repetition levels; nil: there is no list above
	defs []uint8 // definition levels at the gaps; nil: there are none
}

// slice returns the places [lo, hi).
func (s slots) slice(lo, hi int) slots {
	out := slots{rows: s.rows[lo:hi]}
	if s.reps != nil {
		out.reps = s.reps[lo:hi]
	}
	if s.defs != nil {
		out.defs = s.defs[lo:hi]
	}
	return out
}

// recordEnd returns the first place not before at where a row of the file begins, or the number of places.
func (s slots) recordEnd(at int) int {
	for s.reps != nil && at < len(s.reps) && s.reps[at] > 0 {
		at++
	}
	return min(at, len(s.rows))
}

// records returns how many rows of the file begin in these places.
func (s slots) records() int {
	if s.reps == nil {
		return len(s.rows)
	}
	n := 0
	for _, r := range s.reps {
		if r == 0 {
			n++
		}
	}
	return n
}

// gaps returns how many places have no row.
func (s slots) gaps() int {
	n := 0
	if s.defs == nil {
		return n
	}
	for _, r := range s.rows {
		if r < 0 {
			n++
		}
	}
	return n
}

// write writes the places of a vector of the node's type.
func (n *node) write(v *batch.Vector, s slots) error {
	if n.leaf != nil {
		return n.leaf.write(v, s)
	}
	s, err := n.present(v, s)
	if err != nil {
		return err
	}
	if s.reps == nil {
		n.nulls += int64(s.gaps())
	}
	if v.Type.Layout() == batch.LayoutList {
		s = n.elements(v, s)
	}
	for i, child := range n.children {
		if child == nil {
			continue
		}
		if err := child.write(v.Children[i], s); err != nil {
			return err
		}
	}
	return nil
}

// present turns the places where the group is null into gaps.
func (n *node) present(v *batch.Vector, s slots) (slots, error) {
	if v.Valid == nil {
		return s, nil
	}
	kept := slots{rows: append(n.kept.rows[:0], s.rows...), reps: s.reps, defs: n.kept.defs[:0]}
	if s.defs != nil {
		kept.defs = append(kept.defs, s.defs...)
	} else {
		kept.defs = append(kept.defs, make([]uint8, len(s.rows))...)
	}
	n.kept = kept
	nulls := 0
	for i, r := range kept.rows {
		if r >= 0 && !v.Valid.Get(int(r)) {
			kept.rows[i], kept.defs[i] = -1, n.def-1
			nulls++
		}
	}
	if nulls == 0 {
		return s, nil
	}
	return kept, n.checkNulls(nulls, len(s.rows))
}

// checkNulls refuses nulls of a NOT NULL field.
func (n *node) checkNulls(nulls, places int) error {
	if nulls > 0 && !n.field.Nullable {
		return fmt.Errorf("write column %s: it is NOT NULL, and %d of %d rows are null", n.path, nulls, places)
	}
	return nil
}

// elements returns the places of a list's elements, or of a map's keys and values. An empty list is a gap.
func (n *node) elements(v *batch.Vector, s slots) slots {
	out := slots{rows: n.spread.rows[:0], reps: n.spread.reps[:0], defs: n.spread.defs[:0]}
	add := func(row int32, rep, def uint8) {
		out.rows, out.reps, out.defs = append(out.rows, row), append(out.reps, rep), append(out.defs, def)
	}
	for i, r := range s.rows {
		rep := uint8(0)
		if s.reps != nil {
			rep = s.reps[i]
		}
		if r < 0 {
			add(-1, rep, s.defs[i])
			continue
		}
		from, to := v.Off[r], v.Off[r+1]
		if from == to {
			add(-1, rep, n.def)
			continue
		}
		for at := from; at < to; at++ {
			add(at, rep, 0)
			rep = n.rep + 1
		}
	}
	n.spread = out
	return out
}

// stats returns the facts about the column over the file's rows.
func (n *node) stats() ColumnStats {
	if n.leaf != nil {
		return n.leaf.fileBounds.stats(n.field.Type, n.leaf.fileNulls)
	}
	return ColumnStats{NullCount: n.nulls}
}

// columnStats returns the facts about columns, or the fields of a struct, in a file of that many rows.
func columnStats(nodes []*node, rows int64) []ColumnStats {
	out := make([]ColumnStats, len(nodes))
	for i, n := range nodes {
		if n == nil {
			out[i].NullCount = rows
			continue
		}
		out[i] = n.stats()
		if n.field.Type.Kind == batch.Struct {
			out[i].Fields = columnStats(n.children, rows)
		}
	}
	return out
}
