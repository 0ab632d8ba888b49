package delta

import (
	"encoding/json"
	"math/big"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// parsedStats turns the struct add.stats_parsed of a checkpoint back to JSON. Tables may have it in place of the text.
type parsedStats struct {
	name     string
	column   *leafColumn // of a leaf
	children []*parsedStats
}

// parsedStats opens the leaves below a path; nil when the file has none.
func (c *actionColumns) parsedStats(path ...string) *parsedStats {
	root := &parsedStats{}
	for _, p := range c.schema.Columns() {
		if len(p) <= len(path) || p[0] != path[0] || p[1] != path[1] {
			continue
		}
		leaf, ok := c.schema.Lookup(p...)
		if !ok || leaf.MaxRepetitionLevel > 0 {
			continue
		}
		node := root
		for _, name := range p[len(path):] {
			node = node.child(name)
		}
		node.column = c.open(leaf)
	}
	if root.children == nil {
		return nil
	}
	return root
}

// child is the last child, or a new one when it has another name: leaves come in the order of the tree.
func (s *parsedStats) child(name string) *parsedStats {
	if n := len(s.children); n > 0 && s.children[n-1].name == name {
		return s.children[n-1]
	}
	s.children = append(s.children, &parsedStats{name: name})
	return s.children[len(s.children)-1]
}

// json is the current row's statistics; nil when there are none.
func (s *parsedStats) json() []byte {
	if s == nil {
		return nil
	}
	out, _ := s.append(nil)
	return out
}

func (s *parsedStats) append(dst []byte) ([]byte, bool) {
	if s.column != nil {
		if s.column.null() {
			return dst, false
		}
		return appendStatsValue(dst, s.column.node.Type(), s.column.row[0])
	}
	start, any := len(dst), false
	for _, child := range s.children {
		mark := len(dst)
		if any {
			dst = append(dst, ',')
		} else {
			dst = append(dst, '{')
		}
		dst = append(appendJSONString(dst, child.name), ':')
		var ok bool
		if dst, ok = child.append(dst); !ok {
			dst = dst[:mark]
			continue
		}
		any = true
	}
	if !any {
		return dst[:start], false
	}
	return append(dst, '}'), true
}

// appendStatsValue writes one value as statistics in text form have it; false for types that have none.
func appendStatsValue(dst []byte, t parquet.Type, v parquet.Value) ([]byte, bool) {
	var logical format.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	if d, ok := logical.(*format.DecimalType); ok {
		return batch.AppendDecimal(dst, unscaled(v), uint8(d.Scale)), true
	}
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.AppendBool(dst, v.Boolean()), true
	case parquet.Int32:
		if _, ok := logical.(*format.DateType); ok {
			return append(batch.AppendDate(append(dst, '"'), v.Int32()), '"'), true
		}
		return strconv.AppendInt(dst, int64(v.Int32()), 10), true
	case parquet.Int64:
		if ts, ok := logical.(*format.TimestampType); ok {
			return appendStatsTimestamp(dst, ts, v.Int64()), true
		}
		return strconv.AppendInt(dst, v.Int64(), 10), true
	case parquet.Float:
		return appendStatsFloat(dst, float64(v.Float()), 32), true
	case parquet.Double:
		return appendStatsFloat(dst, v.Double(), 64), true
	case parquet.ByteArray:
		if _, ok := logical.(*format.StringType); ok {
			return appendJSONString(dst, string(v.ByteArray())), true
		}
	}
	return dst, false // INT96 and binary
}

func appendStatsTimestamp(dst []byte, t *format.TimestampType, n int64) []byte {
	switch t.Unit.Value.(type) {
	case *format.MilliSeconds:
		n *= 1000
	case *format.NanoSeconds:
		n /= 1000
	}
	zone := ""
	if t.IsAdjustedToUTC {
		zone = "Z"
	}
	return append(appendISO(append(dst, '"'), n, 6, zone), '"')
}

// appendStatsFloat writes a number, or the quoted names that Spark gives to what JSON has no number for.
func appendStatsFloat(dst []byte, f float64, bits int) []byte {
	text := formatFloat(f, bits)
	if !json.Valid([]byte(text)) {
		return append(append(append(dst, '"'), text...), '"')
	}
	return append(dst, text...)
}

// unscaled reads a decimal in any of its physical forms.
func unscaled(v parquet.Value) decimal128.Num {
	switch v.Kind() {
	case parquet.Int32, parquet.Int64:
		return decimal128.FromI64(integer(v))
	}
	n := new(big.Int).SetBytes(v.ByteArray())
	if b := v.ByteArray(); len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return decimal128.FromBigInt(n)
}
