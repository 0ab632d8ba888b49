package avro

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/avro"

	"lakesql/batch"
)

// vectors are empty ones of a schema's columns.
func vectors(s *Schema) []*batch.Vector {
	cols := make([]*batch.Vector, len(s.Columns().Fields))
	for i, f := range s.Columns().Fields {
		cols[i] = batch.NewVector(f.Type, 0)
	}
	return cols
}

func row(cols []*batch.Vector, i int) string {
	cells := make([]string, len(cols))
	for c, v := range cols {
		cells[c] = v.Format(i)
	}
	return strings.Join(cells, "|")
}

// written is a value as another library writes it.
func written(t *testing.T, schema string, value any) []byte {
	t.Helper()
	data, err := avro.MustParse(schema).Encode(value)
	require.NoError(t, err)
	return data
}

// TestTypes reads values that another library has written: the columns are those of Spark's from_avro.
func TestTypes(t *testing.T) {
	at := time.Date(2024, 2, 29, 12, 30, 0, 123456000, time.UTC)
	for _, c := range []struct {
		name, schema string
		value        any
		columns, row string
	}{
		{"primitives", `{"type":"record","name":"r","fields":[{"name":"b","type":"boolean"},{"name":"i","type":"int"},{"name":"l","type":"long"},{"name":"f","type":"float"},
			{"name":"d","type":"double"},{"name":"s","type":"string"},{"name":"y","type":"bytes"},{"name":"x","type":{"type":"fixed","name":"three","size":3}},{"name":"n","type":"null"}]}`,
			map[string]any{"b": true, "i": int32(math.MinInt32), "l": int64(math.MaxInt64), "f": float32(1.5), "d": -0.25, "s": "zoë", "y": []byte{1, 255}, "x": [3]byte{1, 2, 3}, "n": nil},
			"b boolean, i integer, l long, f float, d double, s string, y binary, x binary, n void", "true|-2147483648|9223372036854775807|1.5|-0.25|zoë|0x01FF|0x010203|NULL"},
		{"logical types", `{"type":"record","name":"r","fields":[{"name":"d","type":{"type":"int","logicalType":"date"}},{"name":"ms","type":{"type":"long","logicalType":"timestamp-millis"}},
			{"name":"us","type":{"type":"long","logicalType":"timestamp-micros"}},{"name":"lms","type":{"type":"long","logicalType":"local-timestamp-millis"}},
			{"name":"lus","type":{"type":"long","logicalType":"local-timestamp-micros"}},{"name":"tm","type":{"type":"int","logicalType":"time-millis"}},
			{"name":"u","type":{"type":"string","logicalType":"uuid"}}]}`,
			map[string]any{"d": at, "ms": at, "us": at, "lms": at, "lus": at, "tm": int32(1000), "u": "f47ac10b-58cc-4372-a567-0e02b2c3d479"},
			"d date, ms timestamp, us timestamp, lms timestamp_ntz, lus timestamp_ntz, tm integer, u string",
			"2024-02-29|2024-02-29 12:30:00.123000|2024-02-29 12:30:00.123456|2024-02-29 12:30:00.123000|2024-02-29 12:30:00.123456|1000|f47ac10b-58cc-4372-a567-0e02b2c3d479"},
		{"decimals", `{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
			{"name":"b","type":{"type":"fixed","name":"f","size":16,"logicalType":"decimal","precision":38,"scale":0}},{"name":"c","type":["null","f"]}]}`,
			map[string]any{"a": big.NewRat(-1234567, 100), "b": new(big.Rat).SetInt(exp10(37)), "c": new(big.Rat).SetInt(new(big.Int).Neg(exp10(37)))},
			"a decimal(9,2), b decimal(38,0), c decimal(38,0)", "-12345.67|1" + strings.Repeat("0", 37) + "|-1" + strings.Repeat("0", 37)},
		{"nested", `{"type":"record","name":"o","namespace":"x.y","fields":[{"name":"e","type":{"type":"enum","name":"color","symbols":["RED","BLUE"]}},
			{"name":"list","type":{"type":"array","items":["null","int"]}},{"name":"m","type":{"type":"map","values":"long"}},
			{"name":"in","type":["null",{"type":"record","name":"inner","fields":[{"name":"c","type":"color"},{"name":"z","type":["null","string"]}]}]},{"name":"more","type":{"type":"array","items":"x.y.inner"}}]}`,
			map[string]any{"e": "BLUE", "list": []any{int32(1), nil, int32(3)}, "m": map[string]any{"k": int64(7)}, "in": map[string]any{"c": "RED", "z": nil},
				"more": []any{map[string]any{"c": "BLUE", "z": "q"}}},
			"e string, list array<int>, m map<string,bigint>, in struct<c:string,z:string>, more array<struct<c:string,z:string>>",
			`BLUE|[1,null,3]|{"k":7}|{"c":"RED","z":null}|[{"c":"BLUE","z":"q"}]`},
		{"unions", `{"type":"record","name":"r","fields":[{"name":"a","type":["int","long"]},{"name":"b","type":["double","null","float"]},{"name":"c","type":["string","null","int"]},
			{"name":"d","type":["null","string","int"]},{"name":"e","type":["string"]},{"name":"f","type":["string","null"]}]}`,
			map[string]any{"a": int32(5), "b": float32(0.5), "c": "x", "d": nil, "e": "y", "f": nil},
			"a long, b double, c struct<member0:string,member1:int>, d struct<member0:string,member1:int>, e string, f string", `5|0.5|{"member0":"x","member1":null}|NULL|y|NULL`},
		{"a long", `"long"`, int64(-3), "value long", "-3"},
		{"a list or null", `["null",{"type":"array","items":"string"}]`, []any{"a", "b"}, "value array<string>", `["a","b"]`},
		{"a record or null", `["null",{"type":"record","name":"r","fields":[{"name":"a","type":"int"}]}]`, map[string]any{"a": int32(1)}, "a integer", "1"},
		{"null of a record", `["null",{"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}]`, nil, "a integer, b integer", "NULL|NULL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse(c.schema)
			require.NoError(t, err)
			require.Equal(t, c.columns, s.Columns().String())
			cols, data := vectors(s), written(t, c.schema, c.value)
			require.NoError(t, s.Append(cols, data))
			require.Equal(t, c.row, row(cols, 0))
			for n := range len(data) { // what is cut off is malformed wherever that is, and leaves nothing
				var bad *MalformedError
				require.ErrorAs(t, s.Append(cols, data[:n]), &bad)
			}
			require.ErrorContains(t, s.Append(cols, append(data, 0)), "goes on for 1 bytes")
			require.NoError(t, s.Append(cols, data))
			require.Equal(t, c.row, row(cols, 1))
			for _, col := range cols {
				require.Equal(t, 2, col.Len)
			}
		})
	}
}

func exp10(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }

// TestBlocks: the items of an array may come in several blocks, which may name their size.
func TestBlocks(t *testing.T) {
	s, err := Parse(`{"type":"array","items":"int"}`)
	require.NoError(t, err)
	cols := vectors(s)
	require.NoError(t, s.Append(cols, []byte{2, 2, 3, 4, 4, 6, 0})) // 1 item; -2 items of 2 bytes; 0
	require.Equal(t, "[1,2,3]", row(cols, 0))
}

func TestMalformedValues(t *testing.T) {
	const record = `{"type":"record","name":"r","fields":[{"name":"id","type":"int"},{"name":"o","type":{"type":"record","name":"p","fields":[%s]}}]}`
	for _, c := range []struct{ schema, data, want, column string }{
		{`"int"`, "80808080808020", "is no int", ""},
		{`"long"`, "ffffffffffffffffffff01", "more bytes than its type", ""},
		{`"boolean"`, "02", "a boolean is 2", ""},
		{`"string"`, "03", "a length is -2", ""},
		{`"string"`, "feffffffffffffffff01", "ends in the middle", ""},
		{`{"type":"enum","name":"e","symbols":["A"]}`, "02", "an enum of 1 symbols has no symbol 1", ""},
		{`["null","int"]`, "04", "a union of 2 types has no type 2", ""},
		{`["string","int"]`, "03", "a union of 2 types has no type -2", ""},
		{`{"type":"array","items":"null"}`, "feffffffffffffffff01", "longer than the value", ""},
		{`{"type":"array","items":"int"}`, "ffffffffffffffffff01", "more bytes than its type", ""},
		{`{"type":"long","logicalType":"timestamp-millis"}`, "feffffffffffffffff01", "beyond what a column has", ""},
		{`{"type":"bytes","logicalType":"decimal","precision":2,"scale":1}`, "0464ff", "more than a decimal(2,1) has", ""},
		{`{"type":"bytes","logicalType":"decimal","precision":38,"scale":1}`, "22" + "01" + strings.Repeat("00", 16), "more than a decimal(38,1) has", ""},
		{fmt.Sprintf(record, `{"name":"x","type":"boolean"}`), "0209", "field x: a boolean is 9", "o"},
	} {
		s, err := Parse(c.schema)
		require.NoError(t, err)
		data, err := hex.DecodeString(c.data)
		require.NoError(t, err)
		cols := vectors(s)
		err = s.Append(cols, data)
		require.ErrorContains(t, err, c.want, c.schema)
		var bad *MalformedError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, c.column, bad.Column)
		require.Zero(t, cols[0].Len)
	}
}

func TestSchemasThatNoColumnHas(t *testing.T) {
	double := `"long"`
	for i := range 20 {
		double = fmt.Sprintf(`{"type":"record","name":"r%d","fields":[{"name":"a","type":%s},{"name":"b","type":%s}]}`, i, double,
			map[bool]string{true: `"long"`, false: fmt.Sprintf(`"r%d"`, i-1)}[i == 0])
	}
	for schema, want := range map[string]string{
		`{`: "", `{"type":"record","name":"r","fields":[]}`: "has no fields", `{"type":"record","name":"r","fields":[{"name":"a","type":"nobody"}]}`: "nobody",
		`{"type":"record","name":"n.r","fields":[{"name":"next","type":["null","r"]}]}`:            "record n.r holds itself",
		`{"type":"bytes","logicalType":"decimal","precision":39,"scale":1}`:                        "more than 38 digits",
		`{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array","items":"r"}}]}`: "field a: items: record r holds itself",
		double: "more than 100000 fields",
	} {
		_, err := Parse(schema)
		require.ErrorContains(t, err, want, schema)
	}
}

// FuzzAppend: whatever a value holds, a row is added whole or not at all.
func FuzzAppend(f *testing.F) {
	const text = `{"type":"record","name":"r","fields":[{"name":"i","type":"int"},{"name":"u","type":["null","string",{"type":"map","values":{"type":"array","items":["null","double"]}}]},
		{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":20,"scale":3}},{"name":"n","type":{"type":"array","items":{"type":"array","items":"null"}}},
		{"name":"e","type":{"type":"enum","name":"e","symbols":["A","B"]}},{"name":"t","type":{"type":"long","logicalType":"timestamp-millis"}}]}`
	s, err := Parse(text)
	require.NoError(f, err)
	other := avro.MustParse(text)
	for _, u := range []any{nil, "x", map[string]any{"k": []any{1.5, nil}}} {
		data, err := other.Encode(map[string]any{"i": int32(1), "u": u, "d": big.NewRat(5, 1), "n": []any{[]any{nil, nil}, []any{}}, "e": "B", "t": time.UnixMilli(7)})
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cols := vectors(s)
		err := s.Append(cols, data)
		want := 1
		if bad := (*MalformedError)(nil); err != nil {
			want = 0
			require.True(t, errors.As(err, &bad))
		}
		for _, col := range cols {
			require.Equal(t, want, col.Len)
			for i := range col.Len {
				_ = col.Format(i)
			}
		}
	})
}
