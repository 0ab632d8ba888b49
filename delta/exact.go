package delta

import (
	"context"
	"maps"
	"math/bits"

	"lakesql/batch"
)

// ExactColumn is what the log tells for certain of one column of some live rows.
type ExactColumn struct {
	Values   int64         // rows that are not null; -1 unknown
	Bounded  bool          // Min and Max are known
	Min, Max *batch.Vector // the least and the greatest value, one row each; nil: there is no value. They are shared: do not change them
}

var (
	noValues = ExactColumn{Bounded: true}
	notKnown = ExactColumn{Values: -1}
)

// Add takes in what is certain of other rows.
func (c *ExactColumn) Add(o ExactColumn) {
	if c.Values < 0 || o.Values < 0 {
		c.Values = -1
	} else {
		c.Values += o.Values
	}
	if c.Bounded = c.Bounded && o.Bounded; !c.Bounded {
		c.Min, c.Max = nil, nil
		return
	}
	if o.Min != nil && (c.Min == nil || batch.Compare(o.Min, 0, c.Min, 0) < 0) {
		c.Min = o.Min
	}
	if o.Max != nil && (c.Max == nil || batch.Compare(o.Max, 0, c.Max, 0) > 0) {
		c.Max = o.Max
	}
}

// Exact tells what is certain of columns of the schema. Partition values are certain, and so are statistics that no deleted row has gone into,
// of types whose values they hold uncut. What cannot be read is unknown: a scan says what is wrong with it.
//
// What it finds out is kept with the log, so that it costs what has changed since it was asked last.
func (s *Snapshot) Exact(ctx context.Context, columns []batch.Field) ([]ExactColumn, error) {
	out := noneOf(columns)
	x := s.exactness(columns)
	if s.own != nil { // a statement's own changes are few, but hide files of any chunk
		for f := range s.Files() {
			x.addFile(out, f, liveRecords(f.records, f.extra))
		}
		return out, ctx.Err()
	}
	kept := s.files.exact.Load()
	if kept == nil || kept.version != s.Version() || kept.shape != s.shape {
		kept = &viewExact{version: s.Version(), keptExact: keptExact{shape: s.shape}}
	}
	if !kept.has(x.columns) {
		fileAt := s.files.fileAt(s)
		for n, c := range s.files.chunks {
			if n%64 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if alive := s.files.aliveIn(c, n); alive != 0 {
				x.addChunk(out, c, alive, fileAt)
			}
		}
		kept = &viewExact{version: kept.version, keptExact: kept.with(x.columns, out)}
		s.files.exact.Store(kept)
	}
	return kept.of(x.columns), nil
}

// ExactFile tells what is certain of columns of a file with so many live rows.
func (s *Snapshot) ExactFile(f File, live int64, columns []batch.Field) []ExactColumn {
	out := noneOf(columns)
	s.exactness(columns).addFile(out, f, live)
	return out
}

// exactness finds out what is certain of columns.
type exactness struct {
	shape   *statsShape // of the snapshot
	narrow  *statsShape // of the columns whose statistics are looked at
	columns []exactTarget
}

// exactTarget is a column to be exact of.
type exactTarget struct {
	field     batch.Field
	position  int    // in the schema
	partition string // its name as partition column; "": it is none
}

func (s *Snapshot) exactness(columns []batch.Field) *exactness {
	x := &exactness{shape: s.shape, columns: make([]exactTarget, len(columns))}
	var stored []int
	for i, c := range columns {
		name, _ := s.partitionColumn(c.Name)
		x.columns[i] = exactTarget{field: c, position: s.schema.Index(c.Name), partition: name}
		if name == "" {
			stored = append(stored, x.columns[i].position)
		}
	}
	x.narrow = s.shape.only(stored)
	return x
}

// addFile adds to out what is certain of a file. Fewer live rows than none: their number is not known.
func (x *exactness) addFile(out []ExactColumn, f File, live int64) {
	f.shape = x.narrow
	var stats *Stats
	for i, c := range x.columns {
		found := notKnown
		switch {
		case live == 0 || c.field.Type.Kind == batch.Void:
			found = noValues
		case live < 0:
		case c.partition != "":
			if v, err := ParsePartitionValue(f.PartitionValues[c.partition], c.field.Type); err == nil {
				found = exactValue(v, live)
			}
		default:
			if stats == nil {
				if read, err := f.Stats(); err == nil && read != nil {
					stats = read
				} else {
					stats = &Stats{Columns: x.narrow.unknown()}
				}
			}
			found = stats.exact(c.position, live, live+f.extra.deletedRows())
		}
		out[i].Add(found)
	}
}

// exactValue is a column with one value in all rows.
func exactValue(v *batch.Vector, rows int64) ExactColumn {
	if v.IsNull(0) {
		return noValues
	}
	return ExactColumn{Values: rows, Bounded: true, Min: v, Max: v}
}

// exact tells of the column at a position of the schema what is certain in a file of so many rows.
func (s *Stats) exact(column int, live, rows int64) ExactColumn {
	c := s.Columns[column]
	out := ExactColumn{Values: -1, Bounded: c.Exact, Min: c.Min, Max: c.Max}
	switch nulls := c.NullCount; {
	case nulls == rows:
		return noValues
	case nulls == 0:
		out.Values = live
	case 0 < nulls && nulls < rows && s.TightBounds:
		out.Values = live - nulls
	}
	return out
}

// keptExact is what is certain of columns, kept for the next who asks. It is immutable.
type keptExact struct {
	shape   *statsShape         // under which metadata
	columns map[int]ExactColumn // by position in the schema
}

// viewExact is that of all files of a view, and chunkExact of some of a chunk's.
type (
	viewExact struct {
		version int64
		keptExact
	}
	chunkExact struct {
		alive uint64 // bit i is the file at i
		keptExact
	}
)

func (k keptExact) has(columns []exactTarget) bool {
	for _, t := range columns {
		if _, ok := k.columns[t.position]; !ok {
			return false
		}
	}
	return true
}

// of is what is kept of columns.
func (k keptExact) of(columns []exactTarget) []ExactColumn {
	out := make([]ExactColumn, len(columns))
	for i, t := range columns {
		out[i] = k.columns[t.position]
	}
	return out
}

// with is k and what has been found out of columns.
func (k keptExact) with(columns []exactTarget, found []ExactColumn) keptExact {
	out := keptExact{shape: k.shape, columns: make(map[int]ExactColumn, len(k.columns)+len(columns))}
	maps.Copy(out.columns, k.columns)
	for i, t := range columns {
		out.columns[t.position] = found[i]
	}
	return out
}

// addChunk adds what is certain of the live files of a chunk.
func (x *exactness) addChunk(out []ExactColumn, c *fileChunk, alive uint64, fileAt func(c *fileChunk, i int) File) {
	kept := c.exact.Load()
	if kept == nil || kept.alive != alive || kept.shape != x.shape {
		kept = &chunkExact{alive: alive, keptExact: keptExact{shape: x.shape}}
	}
	if !kept.has(x.columns) {
		kept = &chunkExact{alive: alive, keptExact: kept.with(x.columns, x.readChunk(c, alive, fileAt))}
		c.exact.Store(kept)
	}
	for i, t := range x.columns {
		out[i].Add(kept.columns[t.position])
	}
}

// readChunk finds out what is certain of the live files of a chunk.
func (x *exactness) readChunk(c *fileChunk, alive uint64, fileAt func(c *fileChunk, i int) File) []ExactColumn {
	found := noneOf(x.columns)
	for ; alive != 0; alive &= alive - 1 {
		i := bits.TrailingZeros64(alive)
		x.addFile(found, fileAt(c, i), liveRecords(c.records[i], c.extra[i]))
	}
	return found
}

// noneOf is what is certain of columns without rows.
func noneOf[T any](columns []T) []ExactColumn {
	out := make([]ExactColumn, len(columns))
	for i := range out {
		out[i] = noValues
	}
	return out
}
