package vector

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
)

// Coverage is how many of some rows a predicate can be true for.
type Coverage uint8

// The coverages.
const (
	NoRows   Coverage = iota
	SomeRows          // or it is not known
	AllRows
)

// FileFilter tells from partition values and statistics what a predicate is for the rows of files. It may be used by one goroutine at a
// time.
type FileFilter struct {
	columns   []scanColumn
	predicate Expr // nil: true for every row
	needed    []int
	naming    parquet.Naming // how the columns are found in files
	byID      bool
}

// scanColumn is where a column of a scan comes from.
type scanColumn struct {
	field     batch.Field
	position  int // in the snapshot's schema; -1: the column is no column of the table
	partition bool
}

// NewFileFilter returns the filter of a predicate over the named columns of a snapshot: it refers to them by their position in columns.
// Names that the snapshot does not have are those of address columns.
func NewFileFilter(snap *delta.Snapshot, columns []string, predicate Expr) (*FileFilter, error) {
	f := &FileFilter{predicate: predicate}
	f.naming, f.byID = snap.Naming()
	partition := make(map[string]bool)
	for _, name := range snap.Metadata().PartitionColumns {
		partition[name] = true
	}
	for _, name := range columns {
		i := snap.Schema().Index(name)
		switch {
		case i >= 0:
			field := snap.Schema().Fields[i]
			f.columns = append(f.columns, scanColumn{field: field, position: i, partition: partition[field.Name]})
		case name == FileColumn || name == RowColumn:
			f.columns = append(f.columns, scanColumn{field: AddressField(name), position: -1})
		default:
			return nil, fmt.Errorf("no column %q in version %d; it has %s", name, snap.Version(), strings.Join(snap.Schema().Names(), ", "))
		}
	}
	if predicate != nil {
		f.needed = columnsOf(predicate)
		for _, i := range f.needed {
			if i >= len(f.columns) {
				return nil, fmt.Errorf("the filter looks at column %d of %d", i, len(f.columns))
			}
		}
	}
	return f, nil
}

// and adds a predicate to the filter's own.
func (f *FileFilter) and(predicate Expr) {
	switch f.predicate {
	case nil:
		f.predicate = predicate
	case predicate: // it is known already
	default:
		f.predicate = &logic{args: append(slices.Clone(conjuncts(f.predicate)), conjuncts(predicate)...)}
	}
	f.needed = columnsOf(f.predicate)
}

// with is a filter of the same columns by another predicate.
func (f *FileFilter) with(predicate Expr) *FileFilter {
	other := *f
	other.predicate, other.needed = predicate, columnsOf(predicate)
	return &other
}

// Match tells for how many rows of a file the predicate is true, by the file's partition values first and then by its statistics, which
// are parsed only when those leave it open. Statistics that cannot be read are none: they only ever save work. The error is a partition
// value that cannot be read.
func (f *FileFilter) Match(file delta.File) (Coverage, error) {
	known, err := f.partitionBounds(file)
	if err != nil {
		return SomeRows, err
	}
	c := f.coverage(known)
	if c != SomeRows || !f.readsData() {
		return c, nil
	}
	stats, err := file.Stats()
	if err != nil || stats == nil {
		return SomeRows, nil
	}
	for _, i := range f.needed {
		if c := f.columns[i]; c.stored() {
			column := stats.Columns[c.position]
			known[i] = boundsOf(c.field.Type, column.Min, column.Max, column.NullCount, stats.NumRecords)
		}
	}
	return f.coverage(known), nil
}

// OnlyPartitions tells whether the predicate looks at nothing but partition columns.
func (f *FileFilter) OnlyPartitions() bool { return !f.readsData() }

func (f *FileFilter) readsData() bool {
	return slices.ContainsFunc(f.needed, func(i int) bool { return f.columns[i].stored() })
}

// stored tells whether the column lies in the data files.
func (c scanColumn) stored() bool { return c.position >= 0 && !c.partition }

func (f *FileFilter) coverage(known []bounds) Coverage {
	if f.predicate == nil {
		return AllRows
	}
	switch o := (pruner{func(i int) bounds { return known[i] }}).outcome(f.predicate); {
	case !o.isTrue:
		return NoRows
	case !o.isFalse && !o.isNull:
		return AllRows
	default:
		return SomeRows
	}
}

// partitionBounds are the partition values that the predicate looks at, and no bounds for the other columns.
func (f *FileFilter) partitionBounds(file delta.File) ([]bounds, error) {
	known := make([]bounds, len(f.columns))
	for i := range known {
		known[i] = unbounded
	}
	for _, i := range f.needed {
		c := f.columns[i]
		if !c.partition {
			continue
		}
		v, err := delta.ParsePartitionValue(file.PartitionValues[c.field.Name], c.field.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s of %s: %w", c.field.Name, file.Path, err)
		}
		if v.IsNull(0) {
			known[i] = bounds{null: true}
		} else {
			known[i] = bounds{min: v, max: v, value: true}
		}
	}
	return known, nil
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
