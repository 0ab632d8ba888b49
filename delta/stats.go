package delta

import (
	"bytes"
	"fmt"
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
type ColumnStats struct {
	Min, Max  *batch.Vector // one row each, of the column's type; nil unknown
	Exact     bool          // Min and Max are values that the file held when it was written. Never for strings, timestamps and floats
	NullCount int64         // -1 unknown
}

// timestampSlack is what the text of a timestamp may be too low: Spark cuts it to milliseconds.
const timestampSlack = 999 // microseconds

// numRecords finds the number of rows in the text of statistics; -1 without it.
func numRecords(text []byte) int64 {
	s := jsonScanner{text: text}
	if s.peek() != '{' {
		return -1
	}
	for key := range s.fields {
		if string(key) != "numRecords" {
			s.skip()
			continue
		}
		if n := s.int(); s.err == nil {
			return n
		}
		return -1
	}
	return -1
}

// parseStats reads the text of statistics. What the schema does not have is ignored. What cannot be read as the
// column's type is unknown: statistics may be older than the schema, and only ever save work.
func parseStats(text []byte, schema *batch.Schema) (*Stats, error) {
	s := &Stats{NumRecords: numRecords(text), TightBounds: true, Columns: make([]ColumnStats, len(schema.Fields))}
	for i := range s.Columns {
		s.Columns[i].NullCount = -1
	}
	byName := make(map[string]int, len(schema.Fields))
	for i, f := range schema.Fields {
		byName[f.Name] = i
	}
	in := jsonScanner{text: text}
	each := func(fn func(c *ColumnStats, t batch.Type, raw []byte)) {
		for key := range in.fields {
			raw := in.raw()
			if i, ok := byName[string(key)]; ok && in.err == nil {
				fn(&s.Columns[i], schema.Fields[i].Type, raw)
			}
		}
	}
	for key := range in.fields {
		switch string(key) {
		case "tightBounds":
			s.TightBounds = string(in.raw()) != "false"
		case "minValues":
			each(func(c *ColumnStats, t batch.Type, raw []byte) { c.Min = parseBound(raw, t, 0) })
		case "maxValues":
			each(func(c *ColumnStats, t batch.Type, raw []byte) { c.Max = parseBound(raw, t, timestampSlack) })
		case "nullCount":
			each(func(c *ColumnStats, _ batch.Type, raw []byte) {
				if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
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
	for i := range s.Columns {
		s.Columns[i].Exact = s.TightBounds && exactBounds(schema.Fields[i].Type.Kind)
	}
	return s, nil
}

func exactBounds(k batch.Kind) bool {
	switch k {
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64, batch.Decimal, batch.Date:
		return true
	}
	return false
}

// parseBound reads one bound; nil when it is not of the column's type. slack is added to timestamps.
func parseBound(raw []byte, t batch.Type, slack int64) *batch.Vector {
	isText := raw[0] == '"'
	text := raw
	if isText {
		text = unescape(raw[1 : len(raw)-1])
	}
	switch t.Kind {
	case batch.String:
		if !isText {
			return nil
		}
		v := batch.NewVector(t, 1)
		v.AppendBytes(text)
		return v
	case batch.Float32, batch.Float64:
		if isText && string(text) != "NaN" && string(text) != "Infinity" && string(text) != "-Infinity" {
			return nil
		}
	case batch.Date, batch.Timestamp, batch.TimestampNTZ:
		if !isText {
			return nil
		}
		if t.Kind == batch.TimestampNTZ { // some writers put a Z behind it
			text = bytes.TrimSuffix(text, []byte("Z"))
		}
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64, batch.Decimal:
		if isText {
			return nil
		}
	default: // booleans and binary have no bounds
		return nil
	}
	v := batch.NewVector(t, 1)
	if len(text) == 0 || appendPartitionValue(v, string(text)) != nil {
		return nil
	}
	if t.Kind == batch.Timestamp || t.Kind == batch.TimestampNTZ {
		v.I64[0] += slack
	}
	return v
}
