package delta

import (
	"errors"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"lakesql/batch"
	"lakesql/format/parquet"
)

// Delta's defaults of statistics.
const (
	defaultIndexedColumns = 32 // leaves
	defaultStringPrefix   = 32 // characters
)

// statsWriter writes statistics: of which columns, by which names, and how long strings may be.
type statsWriter struct {
	columns []statsTarget // by position in the files' schema
	prefix  int           // characters
}

// statsTarget is a column, or a field of a struct.
type statsTarget struct {
	key    string // its name in the files as a JSON string and a colon
	wanted bool   // of a leaf
	fields []statsTarget
}

func newStatsWriter(meta *Metadata, data *batch.Schema) statsWriter {
	return statsWriter{prefix: max(1, meta.count("delta.dataSkippingStringPrefixLength", defaultStringPrefix)), columns: targets(meta, nil, data.Fields, meta.statsPick())}
}

// FormatStats writes statistics of a file with the columns of data as the log has them, for files that no FileWriter has written.
func (m *Metadata) FormatStats(data *batch.Schema, s parquet.Summary) string {
	w := newStatsWriter(m, data)
	return w.format(s)
}

// targets asks pick for each leaf in the order of the schema.
func targets(meta *Metadata, path []string, fields []batch.Field, pick func(path []string) bool) []statsTarget {
	out := make([]statsTarget, len(fields))
	for i, f := range fields {
		at := append(path[:len(path):len(path)], f.Name)
		out[i].key = string(appendJSONString(nil, meta.physicalName(f))) + ":"
		if f.Type.Kind == batch.Struct {
			out[i].fields = targets(meta, at, f.Type.Fields(), pick)
		} else {
			out[i].wanted = pick(at) && f.Type.Kind != batch.Void
		}
	}
	return out
}

// statsPick tells of each leaf, asked in the order of the schema, whether the table wants its statistics: those that the table names, or
// the first ones.
func (m *Metadata) statsPick() func(path []string) bool {
	if list, ok := m.Configuration["delta.dataSkippingStatsColumns"]; ok {
		if names, err := splitColumnNames(list); err == nil {
			return func(path []string) bool {
				return slices.ContainsFunc(names, func(name []string) bool { return len(name) <= len(path) && equalFoldAll(name, path[:len(name)]) })
			}
		}
	}
	leaves, limit := 0, m.count("delta.dataSkippingNumIndexedCols", defaultIndexedColumns)
	return func([]string) bool {
		leaves++
		return limit < 0 || leaves <= limit
	}
}

func equalFoldAll(a, b []string) bool {
	return slices.EqualFunc(a, b, strings.EqualFold)
}

var errColumnNames = errors.New("not a list of column names")

// splitColumnNames splits a list of names at commas, and each at its dots. Back quotes quote a part of a name and are doubled in it.
func splitColumnNames(list string) ([][]string, error) {
	var names [][]string
	var name []string
	var part strings.Builder
	quoted, wasQuoted := false, false
	endPart := func() error {
		text := part.String()
		if !wasQuoted {
			text = strings.TrimSpace(text)
		}
		if text == "" {
			return errColumnNames
		}
		name = append(name, text)
		part.Reset()
		wasQuoted = false
		return nil
	}
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '`' && quoted && strings.HasPrefix(list[i+1:], "`"):
			part.WriteByte('`')
			i++
		case c == '`' && !quoted && strings.TrimSpace(part.String()) != "":
			return nil, errColumnNames
		case c == '`':
			if !quoted {
				part.Reset()
			}
			quoted, wasQuoted = !quoted, true
		case quoted:
			part.WriteByte(c)
		case c == ',' || c == '.':
			if err := endPart(); err != nil {
				return nil, err
			}
			if c == ',' {
				names, name = append(names, name), nil
			}
		case wasQuoted && c != ' ':
			return nil, errColumnNames
		case !wasQuoted:
			part.WriteByte(c)
		}
	}
	if quoted {
		return nil, errColumnNames
	}
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	if err := endPart(); err != nil {
		return nil, err
	}
	return append(names, name), nil
}

// joinColumnNames is the inverse of splitColumnNames.
func joinColumnNames(names [][]string) string {
	var out strings.Builder
	for i, name := range names {
		if i > 0 {
			out.WriteByte(',')
		}
		for j, part := range name {
			if j > 0 {
				out.WriteByte('.')
			}
			if strings.ContainsAny(part, "`., ") {
				part = "`" + strings.ReplaceAll(part, "`", "``") + "`"
			}
			out.WriteString(part)
		}
	}
	return out.String()
}

// format writes the statistics of one file as Spark does.
func (w statsWriter) format(s parquet.Summary) string {
	lists := statsLists{writer: w}
	lists.add(w.columns, s.Columns)
	out := appendInt([]byte(`{"numRecords":`), s.Rows)
	out = append(append(append(out, `,"minValues":{`...), lists.mins...), '}')
	out = append(append(append(out, `,"maxValues":{`...), lists.maxs...), '}')
	out = append(append(append(out, `,"nullCount":{`...), lists.nulls...), '}')
	return string(append(out, '}'))
}

// statsLists are the members of the three objects.
type statsLists struct {
	writer            statsWriter
	mins, maxs, nulls []byte
}

func (l *statsLists) add(targets []statsTarget, stats []parquet.ColumnStats) {
	for i, t := range targets {
		if t.fields != nil {
			l.addStruct(t, stats[i].Fields)
		} else if t.wanted {
			l.addLeaf(t.key, stats[i])
		}
	}
}

func (l *statsLists) addLeaf(key string, c parquet.ColumnStats) {
	if c.NullCount >= 0 {
		l.nulls = appendInt(appendMember(l.nulls, key), c.NullCount)
	}
	if !c.HasMinMax {
		return
	}
	if low, ok := l.writer.bound(c.Min, false); ok {
		l.mins = append(appendMember(l.mins, key), low...)
	}
	if high, ok := l.writer.bound(c.Max, true); ok {
		l.maxs = append(appendMember(l.maxs, key), high...)
	}
}

// addStruct adds the members of a struct, where there are any.
func (l *statsLists) addStruct(t statsTarget, stats []parquet.ColumnStats) {
	inside := statsLists{writer: l.writer}
	inside.add(t.fields, stats)
	object := func(dst, members []byte) []byte {
		if len(members) == 0 {
			return dst
		}
		return append(append(append(appendMember(dst, t.key), '{'), members...), '}')
	}
	l.mins, l.maxs, l.nulls = object(l.mins, inside.mins), object(l.maxs, inside.maxs), object(l.nulls, inside.nulls)
}

// appendMember begins a member of an object.
func appendMember(dst []byte, key string) []byte {
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	return append(dst, key...)
}

// bound writes one bound as JSON; false where the type, or the value, has none.
func (w statsWriter) bound(v *batch.Vector, upper bool) (text []byte, ok bool) {
	switch v.Type.Kind {
	case batch.Int8, batch.Int16, batch.Int32, batch.Int64, batch.Decimal:
		return v.AppendText(nil, 0), true
	case batch.Float32:
		return appendStatsFloat(nil, signedZero(float64(v.F32[0]), upper), 32), true
	case batch.Float64:
		return appendStatsFloat(nil, signedZero(v.F64[0], upper), 64), true
	case batch.Date:
		return append(batch.AppendDate([]byte{'"'}, v.I32[0]), '"'), fourDigitYear(int64(v.I32[0]))
	case batch.Timestamp:
		return append(appendISO([]byte{'"'}, v.I64[0], 3, "Z"), '"'), fourDigitYear(v.I64[0] / batch.MicrosPerDay)
	case batch.TimestampNTZ:
		return append(appendISO([]byte{'"'}, v.I64[0], 3, ""), '"'), fourDigitYear(v.I64[0] / batch.MicrosPerDay)
	case batch.String:
		s := string(v.BytesAt(0))
		if !utf8.ValidString(s) {
			return nil, false
		}
		if s, ok = truncate(s, w.prefix, upper); !ok {
			return nil, false
		}
		return appendJSONString(nil, s), true
	}
	return nil, false // booleans and binary have no bounds
}

// fourDigitYear tells whether other engines can read the date: years 1 to 9999, and not the first and last day, so that
// rounding cannot leave the range.
func fourDigitYear(days int64) bool {
	const firstDay, lastDay = -719_162, 2_932_896
	return firstDay < days && days < lastDay
}

// signedZero makes a zero the lower or the upper one of the two: -0 and 0 are equal, but some readers order them.
func signedZero(f float64, upper bool) float64 {
	if f != 0 {
		return f
	}
	if upper {
		return 0
	}
	return math.Copysign(0, -1)
}

// truncate cuts a string to n characters. An upper bound gets a last character that makes it greater than what was cut:
// U+007F where the cut begins with less, else U+10FFFF; where the cut begins with U+10FFFF itself, more is kept. Without
// anything greater there is no upper bound.
func truncate(s string, n int, upper bool) (string, bool) {
	chars, end := 0, -1
	for i, r := range s {
		if chars++; chars <= n {
			continue
		}
		if !upper {
			return s[:i], true
		}
		if r < utf8.MaxRune {
			end = i
			break
		}
	}
	switch {
	case end >= 0 && s[end] < 0x7F:
		return s[:end] + "\x7f", true
	case end >= 0:
		return s[:end] + string(utf8.MaxRune), true
	}
	return s, chars <= n
}
