package delta

import "lakesql/batch"

// ExactColumn is what the log tells for certain of one column of a file's live rows.
type ExactColumn struct {
	Values   int64         // rows that are not null; -1 unknown
	Bounded  bool          // Min and Max are known
	Min, Max *batch.Vector // the least and the greatest value, one row each; nil: there is no value
}

// Exact tells of columns of the schema what the log has for certain of a file with so many live rows. Partition values are certain, and so are
// statistics that no deleted row has gone into, of types whose values they hold uncut. The error is a partition value or statistics that
// cannot be read.
func (s *Snapshot) Exact(f File, live int64, columns []batch.Field) ([]ExactColumn, error) {
	out := make([]ExactColumn, len(columns))
	var stats *Stats
	for i, c := range columns {
		name, partition := s.partitionColumn(c.Name)
		switch {
		case live == 0 || c.Type.Kind == batch.Void:
			out[i] = ExactColumn{Bounded: true}
		case partition:
			v, err := ParsePartitionValue(f.PartitionValues[name], c.Type)
			if err != nil {
				return nil, err
			}
			out[i] = ExactColumn{Bounded: true}
			if !v.IsNull(0) {
				out[i] = ExactColumn{Values: live, Bounded: true, Min: v, Max: v}
			}
		default:
			if stats == nil {
				var err error
				if stats, err = f.Stats(); err != nil {
					return nil, err
				}
			}
			out[i] = stats.exact(s.schema.Index(c.Name), live, live+f.extra.deletedRows())
		}
	}
	return out, nil
}

// exact tells of the column at a position of the schema what is certain in a file of so many rows. s may be nil.
func (s *Stats) exact(column int, live, rows int64) ExactColumn {
	if s == nil || column < 0 {
		return ExactColumn{Values: -1}
	}
	c := s.Columns[column]
	switch nulls := c.NullCount; {
	case nulls == rows:
		return ExactColumn{Bounded: true}
	case nulls == 0:
		return ExactColumn{Values: live, Bounded: c.Exact, Min: c.Min, Max: c.Max}
	case 0 < nulls && nulls < rows && s.TightBounds:
		return ExactColumn{Values: live - nulls, Bounded: c.Exact, Min: c.Min, Max: c.Max}
	}
	return ExactColumn{Values: -1, Bounded: c.Exact, Min: c.Min, Max: c.Max}
}
