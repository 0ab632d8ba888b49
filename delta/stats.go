package delta

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"lakesql/batch"
)

// Stats are the statistics of one file.
type Stats struct {
	NumRecords  int64         // physical rows; -1 unknown
	TightBounds bool          // false: deletion vectors may have removed the rows that Min, Max and NullCount come from
	Columns     []ColumnStats // by position in Snapshot.Schema(); partition columns have none
}

// ColumnStats are bounds of one column of one file: Min <= v <= Max for every v that is not null. NaN is the exception:
// writers disagree whether Max counts it, so a float column may hold NaN whatever Max says.
//
// Where Stats.TightBounds is false the bounds hold all the same, but NullCount says something only when it is 0 or the number of rows.
type ColumnStats struct {
	Min, Max  *batch.Vector // one row each, of the column's type; nil unknown
	Exact     bool          // Min and Max are values that rows of the file have. Never for strings, timestamps and floats
	NullCount int64         // -1 unknown; of a struct's field it includes the rows where the struct is null
	Fields    []ColumnStats // of a struct, by the position of its fields; nil: nothing is known
}

// statsShape is how the statistics of a table are laid out: by the names that its files have, nested as its structs are.
type statsShape struct {
	columns []statsColumn
	byName  map[string]int
}

type statsColumn struct {
	typ       batch.Type
	wasFloat  bool        // of type double, but the texts may be those of floats
	structure *statsShape // of a struct; else nil
}

// newStatsShape lays out the statistics of fields of a table.
func newStatsShape(m *Metadata, fields []batch.Field) *statsShape {
	s := &statsShape{columns: make([]statsColumn, len(fields)), byName: make(map[string]int, len(fields))}
	for i, f := range fields {
		s.columns[i] = statsColumn{typ: f.Type, wasFloat: f.Type.Kind == batch.Float64 && f.Metadata[typeChangesKey] != ""}
		if f.Type.Kind == batch.Struct {
			s.columns[i].structure = newStatsShape(m, f.Type.Fields())
		}
		s.byName[m.physicalName(f)] = i
	}
	return s
}

// only returns the shape with which parseStats looks at nothing but the columns at these positions.
func (s *statsShape) only(positions []int) *statsShape {
	out := &statsShape{columns: s.columns, byName: make(map[string]int, len(positions))}
	for name, i := range s.byName {
		if slices.Contains(positions, i) {
			out.byName[name] = i
		}
	}
	return out
}

// unknown returns statistics that say nothing.
func (s *statsShape) unknown() []ColumnStats {
	out := make([]ColumnStats, len(s.columns))
	for i := range out {
		out[i].NullCount = -1
	}
	return out
}

// numRecords finds the number of rows in the text of statistics; -1 without it.
func numRecords(text []byte) int64 {
	if n, ok := leadingRecords(text); ok {
		return n
	}
	s := jsonScanner{text: text}
	if s.peek() != '{' {
		return -1
	}
	for key := range s.fields {
		if string(key) != "numRecords" {
			s.skip()
			continue
		}
		if n := s.int(); s.err == nil && n >= 0 {
			return n
		}
		return -1
	}
	return -1
}

// leadingRecords finds the number where most writers put it: at the front.
func leadingRecords(text []byte) (n int64, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"numRecords":`))
	if !ok {
		return 0, false
	}
	for i, b := range rest {
		switch {
		case '0' <= b && b <= '9' && i < 18:
			n = 10*n + int64(b-'0')
		default:
			return n, i > 0 && (b == ',' || b == '}')
		}
	}
	return 0, false
}

// parseStats reads the text of statistics. What the schema does not have is ignored. What cannot be read as the
// column's type is unknown: statistics may be older than the schema, and only ever save work.
func parseStats(text []byte, shape *statsShape) (*Stats, error) {
	s := &Stats{NumRecords: numRecords(text), TightBounds: true, Columns: shape.unknown()}
	in := jsonScanner{text: text}
	for key := range in.fields {
		switch string(key) {
		case "tightBounds":
			s.TightBounds = string(in.raw()) != "false"
		case "minValues":
			shape.read(&in, s.Columns, func(c *ColumnStats, of statsColumn, raw []byte) { c.Min, c.Exact = of.lower(raw) })
		case "maxValues":
			shape.read(&in, s.Columns, func(c *ColumnStats, of statsColumn, raw []byte) {
				high, exact := of.upper(raw)
				c.Max, c.Exact = high, exact && c.Exact
			})
		case "nullCount":
			shape.read(&in, s.Columns, func(c *ColumnStats, _ statsColumn, raw []byte) {
				if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && n >= 0 {
					c.NullCount = n
				}
			})
		default:
			in.skip()
		}
	}
	if err := in.end(); err != nil {
		return nil, fmt.Errorf("%w: %w: %.120q", ErrCorrupt, err, text)
	}
	settle(s.Columns, s.TightBounds)
	return s, nil
}

// widen says that rows may have been deleted since the statistics were made.
func (s *Stats) widen() {
	s.TightBounds = false
	settle(s.Columns, false)
}

// read passes the members of the object at hand to fn, those of structs too. An object where a flat value belongs, or the reverse, says
// nothing.
func (s *statsShape) read(in *jsonScanner, columns []ColumnStats, fn func(c *ColumnStats, of statsColumn, raw []byte)) {
	for key := range in.fields {
		i, ok := s.byName[string(key)]
		if !ok || (in.peek() == '{') != (s.columns[i].structure != nil) {
			in.skip()
			continue
		}
		of, c := s.columns[i], &columns[i]
		if of.structure == nil {
			if raw := in.raw(); in.err == nil {
				fn(c, of, raw)
			}
			continue
		}
		if c.Fields == nil {
			c.Fields = of.structure.unknown()
		}
		of.structure.read(in, c.Fields, fn)
	}
}

// settle makes Exact what it says: both bounds are there, and no row that they come from is deleted.
func settle(columns []ColumnStats, tight bool) {
	for i := range columns {
		c := &columns[i]
		c.Exact = c.Exact && tight && c.Min != nil && c.Max != nil
		settle(c.Fields, tight)
	}
}
