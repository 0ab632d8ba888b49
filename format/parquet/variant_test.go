package parquet

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/format/variant"
)

// randomVariant adds a value of at most that many levels.
func randomVariant(r *rand.Rand, b *variant.Builder, depth int) {
	if depth > 0 && r.IntN(3) > 0 {
		if r.IntN(3) == 0 {
			b.BeginArray()
			for range r.IntN(4) {
				randomVariant(r, b, depth-1)
			}
			b.EndArray()
			return
		}
		b.BeginObject()
		for _, name := range []string{"a", "b", "c", "d", "ä"} {
			if r.IntN(2) == 0 {
				b.Key([]byte(name))
				randomVariant(r, b, depth-1)
			}
		}
		b.EndObject()
		return
	}
	n := r.Int64N(1 << r.IntN(40))
	switch r.IntN(11) {
	case 0:
		b.Null()
	case 1:
		b.Bool(n%2 == 0)
	case 2:
		b.Float32(float32(n) / 2)
	case 3:
		b.Float64(float64(n) / 4)
	case 4:
		b.Decimal(decimal128.FromI64(n), 2)
	case 5:
		b.Date(int32(n % 100_000))
	case 6:
		b.Moment(variant.Timestamp, n)
	case 7:
		b.Moment(variant.TimestampNTZ, n)
	case 8:
		b.Binary(binary.BigEndian.AppendUint64(nil, uint64(n)))
	case 9:
		b.String([]byte(fmt.Sprint("text ", n)))
	default:
		b.Int(n)
	}
}

// typedColumns returns a type for typed values, at random.
func typedColumns(r *rand.Rand, depth int) batch.Type {
	if depth > 0 && r.IntN(4) > 0 {
		if r.IntN(4) == 0 {
			return batch.ListOf(batch.Field{Type: pairColumns(r, depth-1)})
		}
		var fields []batch.Field
		for _, name := range []string{"c", "a", "ä", "x"} {
			if len(fields) == 0 || r.IntN(2) == 0 {
				fields = append(fields, batch.Field{Name: name, Type: pairColumns(r, depth-1)})
			}
		}
		return batch.StructOf(fields...)
	}
	return []batch.Type{{Kind: batch.Bool}, {Kind: batch.Int64}, {Kind: batch.Int16}, {Kind: batch.Float32}, {Kind: batch.Float64}, {Kind: batch.Date}, {Kind: batch.Timestamp},
		{Kind: batch.TimestampNTZ}, {Kind: batch.Binary}, {Kind: batch.String}, batch.DecimalOf(38, 2), batch.DecimalOf(18, 2)}[r.IntN(12)]
}

// pairColumns returns the type of a group of value and typed_value. Sometimes there is only the one that can hold everything.
func pairColumns(r *rand.Rand, depth int) batch.Type {
	value := batch.Field{Name: variantValue, Type: batch.Type{Kind: batch.Binary}, Nullable: true}
	if r.IntN(6) == 0 {
		return batch.StructOf(value)
	}
	return batch.StructOf(value, batch.Field{Name: variantTyped, Type: typedColumns(r, depth), Nullable: true})
}

// shredder spreads values over columns, as a writer of shredded variants does.
type shredder struct {
	t        *testing.T
	metadata []byte
	builder  variant.Builder
}

// pair adds a row to the columns of a pair; v is nil where there is no value.
func (s *shredder) pair(v *variant.Value, pair *batch.Vector) {
	value, typed := pair.Children[len(pair.Children)-1], (*batch.Vector)(nil)
	if n := len(pair.Children); n > 1 && pair.Type.Fields()[n-1].Name == variantTyped {
		value, typed = pair.Children[n-2], pair.Children[n-1]
	}
	switch {
	case v == nil:
		value.AppendNull()
		if typed != nil {
			typed.AppendNull()
		}
	case typed == nil:
		value.AppendBytes(s.encode(*v))
	case s.typed(*v, value, typed):
	default:
		value.AppendBytes(s.encode(*v))
		typed.AppendNull()
	}
	pair.EndRow()
}

func (s *shredder) encode(v variant.Value) []byte {
	require.NoError(s.t, s.builder.ResetTo(s.metadata))
	s.builder.Value(v)
	_, value, err := s.builder.Finish()
	require.NoError(s.t, err)
	return value
}

// typed adds a value to the typed column, and nothing or the other fields of an object to value, if it is of that type.
func (s *shredder) typed(v variant.Value, value, typed *batch.Vector) bool {
	switch typed.Type.Kind {
	case batch.List:
		if v.Kind() != variant.Array {
			return false
		}
		for i := range v.Len() {
			e, err := v.Element(i)
			require.NoError(s.t, err)
			s.pair(&e, typed.Children[0])
		}
		typed.EndRow()
		value.AppendNull()
		return true
	case batch.Struct:
		return v.Kind() == variant.Object && s.object(v, value, typed)
	}
	kinds := map[batch.Kind]variant.Kind{batch.Bool: variant.Bool, batch.Int64: variant.Int, batch.Int16: variant.Int, batch.Float32: variant.Float32, batch.Float64: variant.Float64,
		batch.Date: variant.Date, batch.Timestamp: variant.Timestamp, batch.TimestampNTZ: variant.TimestampNTZ, batch.Binary: variant.Binary, batch.String: variant.String, batch.Decimal: variant.Decimal}
	if v.Kind() != kinds[typed.Type.Kind] || typed.Type.Kind == batch.Int16 && v.Int() > 32767 {
		return false
	}
	switch typed.Type.Kind {
	case batch.Bool:
		typed.AppendBool(v.Bool())
	case batch.Int16:
		typed.AppendInt16(int16(v.Int()))
	case batch.Date:
		typed.AppendInt32(int32(v.Int()))
	case batch.Float32:
		typed.AppendFloat32(float32(v.Float()))
	case batch.Float64:
		typed.AppendFloat64(v.Float())
	case batch.String, batch.Binary:
		typed.AppendBytes(v.Bytes())
	case batch.Decimal:
		unscaled, scale := v.Decimal()
		require.Equal(s.t, uint8(2), scale)
		typed.AppendDecimal(unscaled)
	default:
		typed.AppendInt64(v.Int())
	}
	value.AppendNull()
	return true
}

func (s *shredder) object(v variant.Value, value, typed *batch.Vector) bool {
	parts := map[string]variant.Value{}
	for i := range v.Len() {
		name, part, err := v.Field(i)
		require.NoError(s.t, err)
		parts[string(name)] = part
	}
	for i, f := range typed.Type.Fields() {
		if part, there := parts[f.Name]; there {
			s.pair(&part, typed.Children[i])
			delete(parts, f.Name)
		} else {
			s.pair(nil, typed.Children[i])
		}
	}
	typed.EndRow()
	if len(parts) == 0 {
		value.AppendNull()
		return true
	}
	require.NoError(s.t, s.builder.ResetTo(s.metadata))
	s.builder.BeginObject()
	for name, part := range parts {
		s.builder.Key([]byte(name))
		s.builder.Value(part)
	}
	s.builder.EndObject()
	_, rest, err := s.builder.Finish()
	require.NoError(s.t, err)
	value.AppendBytes(rest)
	return true
}

// Variants that were spread over any typed columns are the same again.
func TestShreddedVariants(t *testing.T) {
	trials := 200
	if testing.Short() {
		trials = 50
	}
	for seed := range trials {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		pair := pairColumns(r, 3)
		whole := batch.StructOf(append([]batch.Field{{Name: variantMetadata, Type: batch.Type{Kind: batch.Binary}}}, pair.Fields()...)...)
		schema := batch.NewSchema(
			batch.Field{Name: "v", Type: whole, Nullable: true},
			batch.Field{Name: "l", Type: batch.ListOf(batch.Field{Type: whole, Nullable: true}), Nullable: true})
		shreddedRows := batch.NewVector(whole, 0)
		want := batch.NewVector(batch.Type{Kind: batch.Variant}, 0)
		const rows = 60
		var b variant.Builder
		for range rows {
			if r.IntN(8) == 0 {
				shreddedRows.AppendNull()
				want.AppendNull()
				continue
			}
			b.Reset()
			randomVariant(r, &b, 4)
			metadata, value, err := b.Finish()
			require.NoError(t, err)
			want.Children[0].AppendBytes(metadata)
			want.Children[1].AppendBytes(value)
			want.EndRow()
			s := &shredder{t: t, metadata: metadata}
			v, err := variant.Parse(metadata, value)
			require.NoError(t, err)
			shreddedRows.Children[0].AppendBytes(metadata)
			s.pair(&v, shreddedRows)
		}
		lists := batch.NewVector(schema.Fields[1].Type, 0)
		lists.Children[0] = shreddedRows
		for at := 0; at <= rows; at += 3 {
			if at > 0 {
				lists.Off = append(lists.Off, int32(at))
				lists.Len++
			}
		}
		lists.AppendNulls(rows - lists.Len)
		data, _ := encodeFile(t, schema, WriterOptions{RowGroupRows: 40, PageBytes: 200}, batch.New(schema, shreddedRows, lists))
		f, err := openBytes(data)
		require.NoError(t, err)
		variants := batch.Type{Kind: batch.Variant}
		got, err := readAll(f, ScanOptions{Columns: []batch.Field{{Name: "v", Type: variants, Nullable: true}, {Name: "l", Type: batch.ListOf(batch.Field{Type: variants, Nullable: true}), Nullable: true}}})
		require.NoError(t, err, "seed %d, %s", seed, whole)
		require.Equal(t, rows, got.Len)
		for i := range rows {
			require.Equal(t, string(want.AppendJSON(nil, i)), string(got.Cols[0].AppendJSON(nil, i)), "seed %d, row %d of %s", seed, i, whole)
			if !got.Cols[0].IsNull(i) {
				require.NoError(t, variant.Check(got.Cols[0].Children[0].BytesAt(i), got.Cols[0].Children[1].BytesAt(i)))
			}
			require.Equal(t, string(want.AppendJSON(nil, i)), string(got.Cols[1].Children[0].AppendJSON(nil, i)))
		}
	}
}

// Types that no column of a table has, and layouts that break the rules.
func TestShreddedByHand(t *testing.T) {
	var b variant.Builder
	b.BeginObject()
	b.Key([]byte("k"))
	b.Int(5)
	b.EndObject()
	metadata, object, err := b.Finish()
	require.NoError(t, err)
	metadata, object = append([]byte{}, metadata...), append([]byte{}, object...)
	field := batch.Field{Name: "v", Type: batch.Type{Kind: batch.Variant}, Nullable: true}
	names := rawChunk{pages: []rawPage{{defs: "111", values: append(append(sizedBytes(metadata), sizedBytes(metadata)...), sizedBytes(metadata)...)}}}
	value := func(defs string, values ...[]byte) rawChunk {
		page := rawPage{defs: defs}
		for _, v := range values {
			page.values = append(page.values, sizedBytes(v)...)
		}
		return rawChunk{pages: []rawPage{page}}
	}
	read := func(typed string, chunks ...rawChunk) ([]string, error) {
		f := (&rawFile{schema: "optional group v (VARIANT) { required binary metadata optional binary value " + typed + " }", rows: 3, chunks: append([]rawChunk{names}, chunks...)}).open(t)
		require.Equal(t, batch.Variant, f.Schema().Fields[0].Type.Kind)
		b, err := readAll(f, ScanOptions{Columns: []batch.Field{field}})
		if err != nil {
			return nil, err
		}
		var out []string
		for i := range b.Len {
			require.NoError(t, variant.Check(b.Cols[0].Children[0].BytesAt(i), b.Cols[0].Children[1].BytesAt(i)))
			out = append(out, string(b.Cols[0].AppendJSON(nil, i)))
		}
		return out, nil
	}
	got, err := read("optional int64 typed_value (NANOS)", value("121", object), rawChunk{pages: []rawPage{{defs: "211", values: int64s(1_000_000_001)}}})
	require.NoError(t, err)
	require.Equal(t, []string{`"1970-01-01 00:00:01.000000001"`, `{"k":5}`, "null"}, got)
	got, err = read("optional int64 typed_value (TIME)", value("111"), rawChunk{pages: []rawPage{{defs: "211", values: int64s(1_000_001)}}})
	require.NoError(t, err)
	require.Equal(t, []string{`"00:00:01.000001"`, "null", "null"}, got)
	got, err = read("optional fixed_len_byte_array(16) typed_value (UUID)", value("111"), rawChunk{pages: []rawPage{{defs: "211", values: []byte("0123456789abcdef")}}})
	require.NoError(t, err)
	require.Equal(t, []string{`"30313233-3435-3637-3839-616263646566"`, "null", "null"}, got)
	got, err = read("optional group typed_value { required group k { optional int32 typed_value } }", value("211", object), rawChunk{pages: []rawPage{{defs: "132", values: int32s(8)}}})
	require.NoError(t, err)
	require.Equal(t, []string{`{"k":5}`, `{"k":8}`, `{}`}, got)

	for _, c := range []struct {
		typed  string
		chunks []rawChunk
		want   string
	}{
		{"optional int32 typed_value", []rawChunk{value("211", object), {pages: []rawPage{{defs: "211", values: int32s(8)}}}}, "a value and a typed value that is no object"},
		{"optional group typed_value { required group k { optional int32 typed_value } }", []rawChunk{value("211", object), {pages: []rawPage{{defs: "311", values: int32s(8)}}}}, `field "k" twice`},
		{"optional group typed_value { required group k { optional int32 typed_value } }", []rawChunk{value("211", []byte{12, 7}), {pages: []rawPage{{defs: "311", values: int32s(8)}}}}, "a value that is no object"},
		{"optional int32 typed_value", []rawChunk{value("211", []byte{2, 9, 9}), {pages: []rawPage{{defs: "111"}}}}, "damaged"},
		{"optional int96 typed_value (NULL)", []rawChunk{value("111"), {pages: []rawPage{{defs: "111"}}}}, "not supported"},
	} {
		_, err := read(c.typed, c.chunks...)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "read column v")
	}
}
