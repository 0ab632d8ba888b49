package parquet

import (
	"io"

	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// columnShape is how a column is put together.
type columnShape uint8

const (
	missingShape columnShape = iota // the file has no such column: all null
	leafShape
	structShape
	listShape // lists and maps
	variantShape
)

// columnReader reads one wanted column, or a field or element of one, of one row group after the other. A nested column is put together
// from its leaves' levels, a column at a time: first every leaf reads the values of the batch's rows, dense and without nulls, then each node of the
// column makes its rows' nulls and lengths of the levels of one leaf below it.
type columnReader struct {
	file     *File
	path     string // for errors
	shape    columnShape
	slot     slot
	def      uint8       // the definition level from which on a row is not null
	elements slot        // of the children; lists and maps only
	leaf     *leafReader // the values; of another shape than a leaf's, the one whose levels tell, or nil: no row is null
	alone    bool        // leaf is read for the levels alone and belongs to no child
	children []*columnReader
	variant  *shredded     // variants only
	leaves   []*leafReader // all leaves, in columns below the root only
	valid    []byte
	view     batch.Vector // see viewed
}

// open goes to the column's chunks in a row group.
func (c *columnReader) open(meta *format.RowGroup, r io.ReaderAt, ends *ending) error {
	for _, l := range c.leaves {
		if err := guard(c.file.uri, l.path, func() error { return l.open(meta, r, ends) }); err != nil {
			return err
		}
	}
	return nil
}

// close lets go of the pages and the chunks.
func (c *columnReader) close() {
	for _, l := range c.leaves {
		l.close()
	}
}

// viewed returns n rows, as read reads them, without a copy of their values; nil when that cannot be.
func (c *columnReader) viewed(from int64, n int) (v *batch.Vector, err error) {
	if c.shape != leafShape {
		return nil, nil
	}
	err = guard(c.file.uri, c.leaf.path, func() error {
		ok, err := c.leaf.view(&c.view, from, n)
		if ok {
			v = &c.view
		}
		return err
	})
	return v, err
}

// read fills dst, which is empty, with n rows, from position from of the row group on, which is not before the end of the last read; or with those of them at
// the positions in rows, if that is not nil.
func (c *columnReader) read(dst *batch.Vector, from int64, n int, rows []int32) error {
	if rows != nil {
		return c.readPicked(dst, from, n, rows)
	}
	if err := c.load(dst, from, n); err != nil || c.shape == missingShape {
		return err
	}
	return guard(c.file.uri, c.path, func() error { return c.fill(dst, n) })
}

// readPicked is read for some of the rows. Only flat columns are spared the others.
func (c *columnReader) readPicked(dst *batch.Vector, from int64, n int, rows []int32) error {
	switch {
	case c.shape == missingShape:
		dst.AppendNulls(len(rows))
		return nil
	case c.shape == leafShape && c.leaf.leaf.maxRep == 0:
		if err := guard(c.file.uri, c.leaf.path, func() error { return c.leaf.pick(dst, from, rows) }); err != nil {
			return err
		}
		return guard(c.file.uri, c.path, func() error { return c.fill(dst, len(rows)) })
	}
	all := batch.NewVector(dst.Type, n)
	if err := c.read(all, from, n, nil); err != nil {
		return err
	}
	if len(rows) > 0 { // nil would be all rows
		dst.AppendRows(all, rows)
	}
	return nil
}

// load reads the leaves: levels, and the values without nulls.
func (c *columnReader) load(dst *batch.Vector, from int64, n int) error {
	switch {
	case c.shape == missingShape:
		dst.AppendNulls(n)
		return nil
	case c.shape == leafShape || c.alone:
		if err := guard(c.file.uri, c.leaf.path, func() error { return c.leaf.read(dst, from, n) }); err != nil {
			return err
		}
	case c.shape == variantShape:
		return c.variant.load(from, n)
	}
	for i, child := range c.children {
		if child.shape == missingShape {
			continue // how many rows it has is not known yet
		}
		if err := child.load(dst.Children[i], from, n); err != nil {
			return err
		}
	}
	return nil
}

// fill makes rows of what load has read, of which there must be as many as rows says.
func (c *columnReader) fill(dst *batch.Vector, rows int) error {
	switch c.shape {
	case missingShape:
		dst.AppendNulls(rows)
		return nil
	case variantShape:
		return c.fillVariant(dst, rows)
	case listShape:
		return c.fillList(dst, rows)
	case structShape:
		if err := c.fillValidity(dst, rows); err != nil {
			return err
		}
		for i, child := range c.children {
			if err := child.fill(dst.Children[i], rows); err != nil {
				return err
			}
		}
		if dst.Type.Kind == batch.Variant {
			return checkVariants(dst)
		}
		return nil
	}
	valid := c.rowsValid()
	if valid == nil && dst.Len == rows {
		return nil
	}
	if len(valid) != rows {
		return disagree(rows, max(dst.Len, len(valid)))
	}
	spreadNulls(dst, valid)
	return nil
}

// disagree is the error of leaves that say different things of the lists around them.
func disagree(want, have int) error {
	return damaged("the columns of a list or struct disagree: one has %d rows where another has %d", have, want)
}

// fillValidity sets the rows of a struct.
func (c *columnReader) fillValidity(dst *batch.Vector, rows int) error {
	dst.Len = rows
	if c.leaf == nil {
		return nil
	}
	valid := c.rowsValid()
	if valid == nil {
		return nil
	}
	if len(valid) != rows {
		return disagree(rows, len(valid))
	}
	if countOnes(valid) < rows {
		dst.Valid = validOf(valid)
	}
	return nil
}

// rowsValid returns a level for each row of the column, 1 where it is not null and else 0; nil: none is null. It is valid until the next call.
func (c *columnReader) rowsValid() []byte {
	leaf, got := c.leaf.leaf, &c.leaf.got
	if c.def == c.slot.def || c.leaf.whole > 0 {
		return nil
	}
	if c.slot == (slot{}) && leaf.maxRep == 0 && leaf.maxDef == 1 {
		return got.defs
	}
	c.valid = grown(c.valid, len(got.defs))
	out, def, low := c.valid, uint32(c.def), uint32(c.slot.def)
	switch {
	case leaf.maxRep > c.slot.rep:
		n, rep := 0, uint32(c.slot.rep)
		for i, d := range got.defs {
			out[n] = atLeast(uint32(d), def)
			n += int(atLeast(uint32(d), low) & atLeast(rep, uint32(got.reps[i])))
		}
		return out[:n]
	case low > 0:
		n := 0
		for _, d := range got.defs {
			out[n] = atLeast(uint32(d), def)
			n += int(atLeast(uint32(d), low))
		}
		return out[:n]
	}
	for i, d := range got.defs {
		out[i] = atLeast(uint32(d), def)
	}
	return out
}

// atLeast returns 1 if a >= b, else 0, for small numbers and without a branch.
func atLeast(a, b uint32) byte { return byte(1 - (a-b)>>31) }

// fillList makes the offsets and nulls of a list or map, and its children.
func (c *columnReader) fillList(dst *batch.Vector, rows int) error {
	got := &c.leaf.got
	c.valid = grown(c.valid, rows)
	off := append(dst.Off[:0], make([]int32, rows+1)...)
	n, count, nulls := 0, int32(0), 0
	for i, rep := range got.reps {
		def := got.defs[i]
		if rep <= c.slot.rep {
			if def < c.slot.def {
				continue // the struct or list around it has no such row
			}
			if n == rows {
				return disagree(rows, n+1)
			}
			level := atLeast(uint32(def), uint32(c.def))
			off[n], c.valid[n] = count, level
			n, nulls = n+1, nulls+1-int(level)
		}
		if rep <= c.elements.rep && def >= c.elements.def {
			count++
		}
	}
	if n != rows {
		return disagree(rows, n)
	}
	off[rows] = count
	dst.Off, dst.Len = off, rows
	if nulls > 0 {
		dst.Valid = validOf(c.valid)
	}
	for i, child := range c.children {
		if err := child.fill(dst.Children[i], int(count)); err != nil {
			return err
		}
	}
	return nil
}
