package delta

import (
	"encoding/json"

	"lakesql/batch"
)

// A checkpoint may have the statistics and the partition values of an add as structs too, or alone: stats_parsed and partitionValues_parsed,
// with the values in their own types.

// parsedPartition turns a row of partitionValues_parsed back to texts.
func parsedPartition(v *batch.Vector, row int) map[string]string {
	if v.Type.Kind != batch.Struct || v.IsNull(row) {
		return nil
	}
	out := make(map[string]string)
	for i, f := range v.Type.Fields() {
		if text, ok := formatPartitionValue(v.Children[i], row); ok {
			out[f.Name] = text
		}
	}
	return out
}

// appendParsedStats turns a row of stats_parsed back to text. What is null or has no statistics is left out; "" when nothing is left.
func appendParsedStats(dst []byte, v *batch.Vector, row int) []byte {
	if v.Type.Kind == batch.Struct {
		dst, _ = appendStatsValue(dst, v, row)
	}
	return dst
}

// appendStatsValue writes one value as statistics in text form have it; false for null, and for types that have none.
func appendStatsValue(dst []byte, v *batch.Vector, row int) ([]byte, bool) {
	if v.IsNull(row) {
		return dst, false
	}
	switch v.Type.Kind {
	case batch.Struct:
		return appendStatsStruct(dst, v, row)
	case batch.Bool, batch.Int8, batch.Int16, batch.Int32, batch.Int64, batch.Decimal:
		return v.AppendText(dst, row), true
	case batch.Float32:
		return appendStatsFloat(dst, float64(v.F32[row]), 32), true
	case batch.Float64:
		return appendStatsFloat(dst, v.F64[row], 64), true
	case batch.Date:
		return append(batch.AppendDate(append(dst, '"'), v.I32[row]), '"'), true
	case batch.Timestamp:
		return appendStatsTimestamp(dst, v.I64[row], "Z"), true
	case batch.TimestampNTZ:
		return appendStatsTimestamp(dst, v.I64[row], ""), true
	case batch.String:
		return appendJSONString(dst, string(v.BytesAt(row))), true
	}
	return dst, false
}

func appendStatsStruct(dst []byte, v *batch.Vector, row int) ([]byte, bool) {
	start := len(dst)
	for i, f := range v.Type.Fields() {
		mark := len(dst)
		dst = append(dst, ',')
		if mark == start {
			dst[mark] = '{'
		}
		dst = append(appendJSONString(dst, f.Name), ':')
		var ok bool
		if dst, ok = appendStatsValue(dst, v.Children[i], row); !ok {
			dst = dst[:mark]
		}
	}
	if len(dst) == start {
		return dst, false
	}
	return append(dst, '}'), true
}

// appendStatsTimestamp writes microseconds only where there are some: the struct is made from text, in which writers cut them off, and who
// reads the text must see that.
func appendStatsTimestamp(dst []byte, us int64, zone string) []byte {
	digits := 6
	if us%1000 == 0 {
		digits = 3
	}
	return append(appendISO(append(dst, '"'), us, digits, zone), '"')
}

// appendStatsFloat writes a number, or the quoted names that Spark gives to what JSON has no number for.
func appendStatsFloat(dst []byte, f float64, bits int) []byte {
	text := formatFloat(f, bits)
	if !json.Valid([]byte(text)) {
		return append(append(append(dst, '"'), text...), '"')
	}
	return append(dst, text...)
}
