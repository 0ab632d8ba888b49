package vector

import (
	"bytes"
	"slices"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
)

// columnsOf returns the positions of the columns that an expression looks at, each once.
func columnsOf(e Expr) []int {
	var out []int
	var walk func(e Expr)
	walk = func(e Expr) {
		switch e := e.(type) {
		case *column:
			if !slices.Contains(out, e.index) {
				out = append(out, e.index)
			}
		case *logic:
			for _, a := range e.args {
				walk(a)
			}
		case *not:
			walk(e.arg)
		case *isNull:
			walk(e.arg)
		case *compare:
			walk(e.l)
			walk(e.r)
		case *set:
			walk(e.arg)
		case *like:
			walk(e.arg)
		case *cast:
			walk(e.arg)
		case *arith:
			walk(e.l)
			walk(e.r)
		}
	}
	walk(e)
	return out
}

// fileCanMatch reports whether the filter can be true for a row of the file, by its partition values first and then by its statistics,
// which are parsed only when those leave it open. Statistics that cannot be read are none: they only ever save work.
func (s *Scan) fileCanMatch(f delta.File, constants []constant) bool {
	if s.filter == nil {
		return true
	}
	known := s.knownBounds(constants)
	if !canMatch(s.filter, func(i int) bounds { return known[i] }) {
		return false
	}
	if !slices.ContainsFunc(s.needed, func(i int) bool { return !s.columns[i].partition }) {
		return true
	}
	stats, err := f.Stats()
	if err != nil || stats == nil {
		return true
	}
	for _, i := range s.needed {
		if c := s.columns[i]; !c.partition {
			column := stats.Columns[c.position]
			known[i] = boundsOf(c.field.Type, column.Min, column.Max, column.NullCount, stats.NumRecords)
		}
	}
	return canMatch(s.filter, func(i int) bounds { return known[i] })
}

// knownBounds are the partition values, and no bounds for the other columns.
func (s *Scan) knownBounds(constants []constant) []bounds {
	known := make([]bounds, len(s.columns))
	for i, c := range s.columns {
		switch v := constants[i].value; {
		case !c.partition:
			known[i] = unbounded
		case v == nil:
			known[i] = bounds{null: true}
		default:
			known[i] = bounds{min: v, max: v, value: true}
		}
	}
	return known
}

// rowGroups returns the row groups of a file in which the filter can be true for some row.
func (s *Scan) rowGroups(file *parquet.File, constants []constant) []int {
	all := file.RowGroups()
	groups := make([]int, 0, len(all))
	known := s.knownBounds(constants)
	for g := range all {
		for _, i := range s.needed {
			if c := s.columns[i]; !c.partition {
				stats := all[g].Stats(c.field, nil, false)
				known[i] = boundsOf(c.field.Type, stats.Min, stats.Max, stats.NullCount, all[g].NumRows)
			}
		}
		if s.filter == nil || canMatch(s.filter, func(i int) bounds { return known[i] }) {
			groups = append(groups, g)
		}
	}
	s.count(func(c *ScanStats) {
		c.RowGroups += len(all)
		c.RowGroupsSkipped += len(all) - len(groups)
	})
	return groups
}

// replacementCharacter ends maxima that Spark before Delta 3.3 cut off. It is less than the characters beyond U+FFFF.
const replacementCharacter = "\uFFFD"

// boundsOf turns statistics into bounds. Counts of nulls say something only at their extremes: between them, deletion vectors may
// have taken any of the rows. A negative count or number of rows is unknown.
func boundsOf(t batch.Type, low, high *batch.Vector, nulls, rows int64) bounds {
	b := bounds{min: low, max: high, null: nulls != 0, value: nulls < 0 || nulls != rows, nan: isFloat(t.Kind)}
	if high != nil && t.Kind == batch.String && bytes.HasSuffix(high.BytesAt(0), []byte(replacementCharacter)) {
		b.max = nil
	}
	return b
}
