package parquet

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"
)

// rawFile is a file made by hand: a schema in the text form of the specification, and a column chunk a leaf.
type rawFile struct {
	schema string // the fields: "optional group l (LIST) { repeated int32 array } required int64 n"
	rows   int64
	chunks []rawChunk
	keys   map[string]string
}

// rawChunk is the pages of a column.
type rawChunk struct {
	codec format.CompressionCodec
	dict  []byte // the values of the dictionary, plain; nil: none
	count int    // of the dictionary's values
	pages []rawPage
}

// rawPage is a data page.
type rawPage struct {
	reps, defs string // levels, a digit each; "": there are none
	n          int    // values; 0: as many as levels
	encoding   format.Encoding
	values     []byte
	v2         bool
	oldLevels  bool
	rows       int
}

// rleLevels writes levels as runs.
func rleLevels(levels string) []byte {
	var out []byte
	for len(levels) > 0 {
		n := 1
		for n < len(levels) && levels[n] == levels[0] {
			n++
		}
		out = append(binary.AppendUvarint(out, uint64(n)<<1), levels[0]-'0')
		levels = levels[n:]
	}
	return out
}

// bitLevels writes levels in the deprecated encoding BIT_PACKED.
func bitLevels(levels string, width int) []byte {
	out := make([]byte, (len(levels)*width+7)/8)
	for i := range levels {
		for b := range width {
			bit := i*width + b
			out[bit/8] |= (levels[i] - '0') >> (width - 1 - b) & 1 << (7 - bit%8)
		}
	}
	return out
}

func sizedBytes(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// page returns a page with its header, uncompressed. max are the highest levels.
func (p *rawPage) page(t testing.TB, maxRep, maxDef uint8) []byte {
	n := max(p.n, len(p.reps), len(p.defs))
	var body []byte
	h := format.PageHeader{}
	switch {
	case p.v2:
		reps, defs := rleLevels(p.reps), rleLevels(p.defs)
		body = append(append(append(body, reps...), defs...), p.values...)
		h.Type = format.DataPageV2
		h.DataPageHeaderV2 = thrift.New(format.DataPageHeaderV2{NumValues: int32(n), NumRows: int32(p.rows), Encoding: p.encoding,
			RepetitionLevelsByteLength: int32(len(reps)), DefinitionLevelsByteLength: int32(len(defs)), IsCompressed: thrift.New(false)})
	default:
		levels := format.RLE
		if p.oldLevels {
			levels = format.BitPacked
		}
		for _, l := range []struct {
			text string
			max  uint8
		}{{p.reps, maxRep}, {p.defs, maxDef}} {
			switch {
			case l.max == 0:
			case p.oldLevels:
				body = append(body, bitLevels(l.text, bitsOf(l.max))...)
			default:
				body = append(body, sizedBytes(rleLevels(l.text))...)
			}
		}
		body = append(body, p.values...)
		h.Type = format.DataPage
		h.DataPageHeader = thrift.New(format.DataPageHeader{NumValues: int32(n), Encoding: p.encoding, RepetitionLevelEncoding: levels, DefinitionLevelEncoding: levels})
	}
	h.UncompressedPageSize, h.CompressedPageSize = int32(len(body)), int32(len(body))
	return append(thriftOf(t, &h), body...)
}

func bitsOf(max uint8) (n int) {
	for ; max > 0; max >>= 1 {
		n++
	}
	return n
}

func thriftOf(t testing.TB, v any) []byte {
	data, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	require.NoError(t, err)
	return data
}

// bytes returns the file.
func (f *rawFile) bytes(t testing.TB) []byte {
	out := []byte(magic)
	meta := format.FileMetaData{Version: 1, Schema: parseSchema(t, f.schema), NumRows: f.rows, CreatedBy: "by hand"}
	_, leaves, err := readSchema(meta.Schema)
	require.NoError(t, err)
	require.Len(t, f.chunks, len(leaves))
	group := format.RowGroup{NumRows: f.rows}
	for i, c := range f.chunks {
		start := int64(len(out))
		m := format.ColumnMetaData{Type: leaves[i].physical, Codec: c.codec, PathInSchema: []string{leaves[i].path}, DataPageOffset: start}
		if c.dict != nil {
			h := format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(len(c.dict)), CompressedPageSize: int32(len(c.dict)),
				DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(c.count), Encoding: format.Plain})}
			out = append(append(out, thriftOf(t, &h)...), c.dict...)
			m.DictionaryPageOffset, m.DataPageOffset = start, int64(len(out))
		}
		for _, p := range c.pages {
			out = append(out, p.page(t, leaves[i].maxRep, leaves[i].maxDef)...)
			m.NumValues += int64(max(p.n, len(p.reps), len(p.defs)))
		}
		m.TotalCompressedSize, m.TotalUncompressedSize = int64(len(out))-start, int64(len(out))-start
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: m, FileOffset: start})
	}
	meta.RowGroups = []format.RowGroup{group}
	for k, v := range f.keys {
		meta.KeyValueMetadata = append(meta.KeyValueMetadata, format.KeyValue{Key: k, Value: v})
	}
	return withFooter(out, thriftOf(t, &meta))
}

func withFooter(data, footer []byte) []byte {
	out := append(append([]byte{}, data...), footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), magic...)
}

func (f *rawFile) open(t testing.TB) *File {
	file, err := openBytes(f.bytes(t))
	require.NoError(t, err)
	return file
}

var schemaToken = regexp.MustCompile(`[{}]|\([^)]*\)|[^\s{}()]+`)

// parseSchema reads fields in the specification's text form. A type may have its length behind it: fixed_len_byte_array(16).
func parseSchema(t testing.TB, text string) []format.SchemaElement {
	tokens := schemaToken.FindAllString(text, -1)
	next := func() string {
		require.NotEmpty(t, tokens, text)
		token := tokens[0]
		tokens = tokens[1:]
		return token
	}
	peek := func() string {
		if len(tokens) == 0 {
			return ""
		}
		return tokens[0]
	}
	types := map[string]format.Type{"boolean": format.Boolean, "int32": format.Int32, "int64": format.Int64, "int96": format.Int96, "float": format.Float,
		"double": format.Double, "binary": format.ByteArray, "fixed_len_byte_array": format.FixedLenByteArray}
	repetitions := map[string]format.FieldRepetitionType{"required": format.Required, "optional": format.Optional, "repeated": format.Repeated}
	elements := []format.SchemaElement{{Name: "root"}}
	var fields func(parent int)
	fields = func(parent int) {
		count := int32(0)
		for ; len(tokens) > 0 && peek() != "}"; count++ {
			repetition, known := repetitions[next()]
			require.True(t, known, text)
			kind := next()
			e := format.SchemaElement{RepetitionType: thrift.New(repetition)}
			if kind != "group" {
				typ, known := types[kind]
				require.True(t, known, kind)
				e.Type = thrift.New(typ)
				if typ == format.FixedLenByteArray {
					length := next()
					n, err := strconv.Atoi(length[1 : len(length)-1])
					require.NoError(t, err)
					e.TypeLength = thrift.New(int32(n))
				}
			}
			e.Name = next()
			if note := peek(); note != "" && note[0] == '(' {
				annotateElement(t, &e, next())
			}
			at := len(elements)
			elements = append(elements, e)
			if kind == "group" {
				require.Equal(t, "{", next())
				fields(at)
				require.Equal(t, "}", next())
			}
		}
		elements[parent].NumChildren = thrift.New(count)
	}
	fields(0)
	return elements
}

func annotateElement(t testing.TB, e *format.SchemaElement, note string) {
	converted := map[string]deprecated.ConvertedType{"(LIST)": deprecated.List, "(MAP)": deprecated.Map, "(MAP_KEY_VALUE)": deprecated.MapKeyValue, "(UTF8)": deprecated.UTF8,
		"(DATE)": deprecated.Date, "(TIMESTAMP_MICROS)": deprecated.TimestampMicros, "(TIMESTAMP_MILLIS)": deprecated.TimestampMillis, "(INT_8)": deprecated.Int8}
	var precision, scale int32
	switch c, known := converted[note]; {
	case known:
		e.ConvertedType = thrift.New(c)
	case note == "(VARIANT)":
		e.LogicalType.Value = &format.VariantType{}
	case note == "(UUID)":
		e.LogicalType.Value = &format.UUIDType{}
	case note == "(NULL)":
		e.LogicalType.Value = &format.NullType{}
	case note == "(NANOS)":
		e.LogicalType.Value = &format.TimestampType{IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.NanoSeconds{}}}
	case note == "(TIME)":
		e.LogicalType.Value = &format.TimeType{Unit: format.TimeUnit{Value: &format.MicroSeconds{}}}
	default:
		n, _ := fmt.Sscanf(note, "(DECIMAL %d %d)", &precision, &scale)
		require.Equal(t, 2, n, note)
		e.ConvertedType = thrift.New(deprecated.Decimal)
		e.Precision, e.Scale = thrift.New(precision), thrift.New(scale)
	}
}

// int32s and others are values in the encoding PLAIN.
func int32s(xs ...int32) (out []byte) {
	for _, x := range xs {
		out = binary.LittleEndian.AppendUint32(out, uint32(x))
	}
	return out
}

func int64s(xs ...int64) (out []byte) {
	for _, x := range xs {
		out = binary.LittleEndian.AppendUint64(out, uint64(x))
	}
	return out
}

func strings32(xs ...string) (out []byte) {
	for _, x := range xs {
		out = append(out, sizedBytes([]byte(x))...)
	}
	return out
}
