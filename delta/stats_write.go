package delta

import (
	"math"
	"strings"
	"unicode/utf8"

	"lakesql/batch"
	"lakesql/format/parquet"
)

// Delta's defaults of statistics.
const (
	defaultIndexedColumns = 32
	defaultStringPrefix   = 32 // characters
)

// statsOptions say which columns of a table have statistics, and how long strings may be.
type statsOptions struct {
	columns []int // positions in the files' schema
	prefix  int   // characters
}

func newStatsOptions(meta *Metadata, data *batch.Schema) statsOptions {
	o := statsOptions{prefix: max(1, meta.count("delta.dataSkippingStringPrefixLength", defaultStringPrefix))}
	if names, ok := meta.Configuration["delta.dataSkippingStatsColumns"]; ok {
		for _, name := range splitColumnNames(names) {
			if i := data.Index(name); i >= 0 {
				o.columns = append(o.columns, i)
			}
		}
		return o
	}
	n := meta.count("delta.dataSkippingNumIndexedCols", defaultIndexedColumns)
	for i := range data.Fields {
		if n < 0 || i < n {
			o.columns = append(o.columns, i)
		}
	}
	return o
}

// splitColumnNames splits a list of names at commas outside of backticks, which quote a name and are doubled in it.
func splitColumnNames(list string) []string {
	var names []string
	var name strings.Builder
	quoted := false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '`' && quoted && strings.HasPrefix(list[i+1:], "`"):
			name.WriteByte('`')
			i++
		case c == '`':
			quoted = !quoted
		case c == ',' && !quoted:
			names = append(names, strings.TrimSpace(name.String()))
			name.Reset()
		default:
			name.WriteByte(c)
		}
	}
	return append(names, strings.TrimSpace(name.String()))
}

// format writes the statistics of one file as Spark does.
func (o statsOptions) format(schema *batch.Schema, s parquet.Summary) string {
	var mins, maxs, nulls []byte
	member := func(dst []byte, name string) []byte {
		if len(dst) > 0 {
			dst = append(dst, ',')
		}
		return append(appendJSONString(dst, name), ':')
	}
	for _, i := range o.columns {
		f, c := schema.Fields[i], s.Columns[i]
		if c.NullCount >= 0 {
			nulls = appendInt(member(nulls, f.Name), c.NullCount)
		}
		if !c.HasMinMax {
			continue
		}
		low, okLow := o.bound(c.Min, false)
		high, okHigh := o.bound(c.Max, true)
		if okLow {
			mins = append(member(mins, f.Name), low...)
		}
		if okHigh {
			maxs = append(member(maxs, f.Name), high...)
		}
	}
	out := appendInt([]byte(`{"numRecords":`), s.Rows)
	out = append(append(append(out, `,"minValues":{`...), mins...), '}')
	out = append(append(append(out, `,"maxValues":{`...), maxs...), '}')
	out = append(append(append(out, `,"nullCount":{`...), nulls...), '}')
	return string(append(out, '}'))
}

// bound writes one bound as JSON; false where the type, or the value, has none.
func (o statsOptions) bound(v *batch.Vector, upper bool) (text []byte, ok bool) {
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
		if s, ok = truncate(s, o.prefix, upper); !ok {
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
