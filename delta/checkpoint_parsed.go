package delta

import (
	"slices"

	"lakesql/batch"
)

// parsedColumns writes what the protocol calls stats_parsed and partitionValues_parsed: the statistics and partition values of an add as
// structs, in their own types. Readers that want them need not parse text a million times.
type parsedColumns struct {
	stats      *parsedStruct
	partitions *parsedStruct // nil: the table has no partitions
}

func newParsedColumns(s *Snapshot) *parsedColumns {
	var data, partitions []batch.Field
	for _, f := range s.schema.Fields {
		if slices.Contains(s.metadata.PartitionColumns, f.Name) {
			partitions = append(partitions, f)
		} else {
			data = append(data, f)
		}
	}
	p := &parsedColumns{stats: newParsedStats(s, data)}
	if len(partitions) > 0 {
		p.partitions = new(parsedStruct)
		for _, name := range s.metadata.PartitionColumns { // in their own order, as partition values are
			i := slices.IndexFunc(partitions, func(f batch.Field) bool { return f.Name == name })
			p.partitions.add(s.metadata.physicalName(partitions[i]), partitions[i].Type, nil)
		}
	}
	return p
}

// columns are those of an add.
func (p *parsedColumns) columns() []batch.Field {
	var out []batch.Field
	if p.partitions != nil {
		out = append(out, nullable("partitionValues_parsed", batch.StructOf(p.partitions.fields...)))
	}
	return append(out, nullable("stats_parsed", batch.StructOf(p.stats.fields...)))
}

// newParsedStats has the columns that the table wants statistics of, by the names that its files have.
func newParsedStats(s *Snapshot, data []batch.Field) *parsedStruct {
	wanted := targets(s.metadata, nil, data, s.metadata.statsPick())
	bounds := parsedLeaves(s.metadata, data, wanted, func(t batch.Type) (batch.Type, bool) { return t, hasBounds(t.Kind) })
	nulls := parsedLeaves(s.metadata, data, wanted, func(batch.Type) (batch.Type, bool) { return longType, true })
	stats := new(parsedStruct)
	stats.add("numRecords", longType, nil)
	for _, part := range []struct {
		name string
		in   *parsedStruct
	}{{"minValues", bounds}, {"maxValues", bounds}, {"nullCount", nulls}} {
		if len(part.in.fields) > 0 {
			stats.add(part.name, batch.StructOf(part.in.fields...), part.in)
		}
	}
	if s.protocol.Supports("deletionVectors") {
		stats.add("tightBounds", boolType, nil)
	}
	return stats
}

// hasBounds tells whether columns of a kind have a least and a greatest value in statistics.
func hasBounds(k batch.Kind) bool {
	switch k {
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64, batch.Float32, batch.Float64, batch.Decimal, batch.Date, batch.Timestamp, batch.TimestampNTZ,
		batch.String:
		return true
	}
	return false
}

// parsedLeaves has the wanted leaves of fields that leaf gives a type.
func parsedLeaves(m *Metadata, fields []batch.Field, wanted []statsTarget, leaf func(batch.Type) (batch.Type, bool)) *parsedStruct {
	out := new(parsedStruct)
	for i, f := range fields {
		if f.Type.Kind == batch.Struct {
			if in := parsedLeaves(m, f.Type.Fields(), wanted[i].fields, leaf); len(in.fields) > 0 {
				out.add(m.physicalName(f), batch.StructOf(in.fields...), in)
			}
		} else if t, ok := leaf(f.Type); ok && wanted[i].wanted {
			out.add(m.physicalName(f), t, nil)
		}
	}
	return out
}

// parsedStruct turns JSON objects into rows of a struct.
type parsedStruct struct {
	fields []batch.Field
	within []*parsedStruct // of fields that are structs
	byName map[string]int
	filled []bool // scratch: the fields that the row has
}

func (p *parsedStruct) add(name string, t batch.Type, in *parsedStruct) {
	if p.byName == nil {
		p.byName = make(map[string]int)
	}
	p.byName[name] = len(p.fields)
	p.fields, p.within, p.filled = append(p.fields, nullable(name, t)), append(p.within, in), append(p.filled, false)
}

// appendJSON adds the object at hand as a row. What is no value of a field's type is null.
func (p *parsedStruct) appendJSON(v *batch.Vector, in *jsonScanner) {
	clear(p.filled)
	for key := range in.fields {
		i, ok := p.byName[string(key)]
		if !ok || p.filled[i] || (p.within[i] != nil) != (in.peek() == '{') {
			in.skip()
			continue
		}
		p.filled[i] = true
		if p.within[i] != nil {
			p.within[i].appendJSON(v.Children[i], in)
		} else {
			appendStatsText(v.Children[i], in.raw())
		}
	}
	for i, filled := range p.filled {
		if !filled {
			v.Children[i].AppendNull()
		}
	}
	v.EndRow()
}

// appendStatsText adds a literal of JSON as a row of a flat vector.
func appendStatsText(v *batch.Vector, raw []byte) {
	isText := len(raw) > 0 && raw[0] == '"'
	var wantsText, either bool
	switch v.Type.Kind {
	case batch.String, batch.Date, batch.Timestamp, batch.TimestampNTZ:
		wantsText = true
	case batch.Float32, batch.Float64:
		either = true // NaN and the infinities are quoted
	}
	text := raw
	if isText {
		text = unescape(raw[1 : len(raw)-1])
	}
	if len(raw) == 0 || isText != wantsText && !either || appendPartitionValue(v, string(text)) != nil {
		v.AppendNull()
	}
}

// appendStats adds the statistics of an add as a row.
func (p *parsedColumns) appendStats(v *batch.Vector, text []byte) {
	in := jsonScanner{text: text}
	if len(text) == 0 || !validJSON(text) || in.peek() != '{' {
		v.AppendNull()
		return
	}
	p.stats.appendJSON(v, &in)
}

// appendPartitions adds partition values, by the names that files have, as a row.
func (p *parsedColumns) appendPartitions(v *batch.Vector, values map[string]string) {
	for i, f := range p.partitions.fields {
		text := values[f.Name]
		if text == "" || appendPartitionValue(v.Children[i], text) != nil {
			v.Children[i].AppendNull()
		}
	}
	v.EndRow()
}
