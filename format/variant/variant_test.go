package variant

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	other "github.com/parquet-go/parquet-go/variant"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// goValue is a value as Go has it, for comparisons with the encoding of parquet-go.
func goValue(t require.TestingT, v Value) any {
	switch v.Kind() {
	case Null:
		return nil
	case Bool:
		return v.Bool()
	case Int:
		return v.Int()
	case Float32, Float64:
		return v.Float()
	case Decimal:
		n, scale := v.Decimal()
		return fmt.Sprintf("%se-%d", n.BigInt(), scale)
	case String:
		return string(v.Bytes())
	case Object:
		out := map[string]any{}
		for i := range v.Len() {
			name, child, err := v.Field(i)
			require.NoError(t, err)
			out[string(name)] = goValue(t, child)
		}
		return out
	case Array:
		out := []any{}
		for i := range v.Len() {
			child, err := v.Element(i)
			require.NoError(t, err)
			out = append(out, goValue(t, child))
		}
		return out
	case Binary, UUID:
		return bytes.Clone(v.Bytes())
	}
	return v.Int()
}

// drawVariant builds a random value and returns what it is.
func drawVariant(t *rapid.T, b *Builder, depth int) any {
	most := 9
	if depth > 3 {
		most = 7
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		b.Null()
		return nil
	case 1:
		x := rapid.Bool().Draw(t, "bool")
		b.Bool(x)
		return x
	case 2:
		x := rapid.Int64().Draw(t, "int")
		b.Int(x)
		return x
	case 3:
		x := float64(rapid.Int32().Draw(t, "float")) / 8
		b.Float64(x)
		return x
	case 4:
		x := float64(rapid.Int8().Draw(t, "float32")) / 8
		b.Float32(float32(x))
		return x
	case 5, 6:
		x := strings.Repeat(rapid.StringMatching("[a-z]{0,9}").Draw(t, "string"), rapid.SampledFrom([]int{1, 8, 40}).Draw(t, "times"))
		b.String([]byte(x))
		return x
	case 7:
		x, scale := rapid.Int64().Draw(t, "decimal"), rapid.Uint8Range(0, 18).Draw(t, "scale")
		b.Decimal(decimal128.FromI64(x), scale)
		return fmt.Sprintf("%de-%d", x, scale)
	case 8:
		out := map[string]any{}
		b.BeginObject()
		for range rapid.SampledFrom([]int{0, 1, 3, 300}).Draw(t, "fields") {
			name := rapid.StringMatching("[a-zé]{0,3}").Draw(t, "name")
			if _, twice := out[name]; !twice {
				b.Key([]byte(name))
				out[name] = drawVariant(t, b, depth+2)
			}
		}
		b.EndObject()
		return out
	}
	out := []any{}
	b.BeginArray()
	for range rapid.SampledFrom([]int{0, 1, 3, 260}).Draw(t, "elements") {
		out = append(out, drawVariant(t, b, depth+2))
	}
	b.EndArray()
	return out
}

// plain is a value of parquet-go's reader as goValue has it.
func plain(x any) any {
	switch x := x.(type) {
	case int8:
		return int64(x)
	case int16:
		return int64(x)
	case int32:
		return int64(x)
	case float32:
		return float64(x)
	case []any:
		for i := range x {
			x[i] = plain(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = plain(x[k])
		}
	}
	return x
}

func TestBuildAndRead(t *testing.T) {
	var b Builder
	rapid.Check(t, func(t *rapid.T) {
		b.Reset()
		want := drawVariant(t, &b, 0)
		metadata, value, err := b.Finish()
		require.NoError(t, err)
		require.NoError(t, Check(metadata, value))
		v, err := Parse(metadata, append(bytes.Clone(value), "more"...))
		require.NoError(t, err)
		require.Equal(t, want, goValue(t, v))
		if strings.Contains(fmt.Sprint(want), "e-") {
			return // the other reader gives decimals another form
		}
		theirs, err := other.Unmarshal(metadata, value)
		require.NoError(t, err)
		require.Equal(t, want, plain(theirs))
	})
}

func TestReadsWhatOthersWrite(t *testing.T) {
	for _, x := range []any{
		nil, true, int8(-3), int32(1 << 20), int64(math.MinInt64), 1.5, float32(2.5), "short", strings.Repeat("long", 30),
		[]any{"a", nil, []any{}}, map[string]any{"b": "x", "a": map[string]any{"b": int64(1 << 40)}},
	} {
		metadata, value, err := other.Marshal(x)
		require.NoError(t, err)
		require.NoError(t, Check(metadata, value))
		v, err := Parse(metadata, value)
		require.NoError(t, err)
		require.Equal(t, plain(x), goValue(t, v))
	}
}

func TestDecimalsTakeTheFewestBytes(t *testing.T) {
	ten38 := decimal128.FromU64(1)
	for range 38 {
		ten38 = ten38.Mul(decimal128.FromU64(10))
	}
	for _, c := range []struct {
		n    decimal128.Num
		size int
	}{
		{decimal128.FromI64(-999_999_999), 6}, {decimal128.FromI64(1_000_000_000), 10}, {decimal128.FromI64(-999_999_999_999_999_999), 10},
		{decimal128.FromI64(1_000_000_000_000_000_000), 18}, {ten38.Sub(decimal128.FromU64(1)).Negate(), 18},
	} {
		var b Builder
		b.Decimal(c.n, 38)
		metadata, value, err := b.Finish()
		require.NoError(t, err)
		require.Len(t, value, c.size)
		v, err := Parse(metadata, value)
		require.NoError(t, err)
		n, scale := v.Decimal()
		require.Equal(t, c.n, n)
		require.Equal(t, uint8(38), scale)
	}
	var b Builder
	b.Decimal(ten38, 0)
	require.ErrorContains(t, b.Err(), "more than 38 digits")
}

// A shredded object is put together from typed parts and the fields that were left over.
func TestBuildOnGivenMetadata(t *testing.T) {
	var whole Builder
	whole.BeginObject()
	whole.Key([]byte("z"))
	whole.Int(1)
	whole.Key([]byte("rest"))
	whole.BeginArray()
	whole.String([]byte("x"))
	whole.EndArray()
	whole.EndObject()
	metadata, value, err := whole.Finish()
	require.NoError(t, err)
	rest, err := Parse(metadata, value)
	require.NoError(t, err)

	var b Builder
	for range 2 {
		require.NoError(t, b.ResetTo(metadata))
		b.BeginObject()
		b.Key([]byte("new"))
		b.Bool(true)
		require.NoError(t, b.Fields(rest))
		b.EndObject()
		again, out, err := b.Finish()
		require.NoError(t, err)
		v, err := Parse(again, out)
		require.NoError(t, err)
		require.Equal(t, map[string]any{"new": true, "z": int64(1), "rest": []any{"x"}}, goValue(t, v))
		require.NoError(t, Check(again, out))
	}
	require.NoError(t, b.ResetTo(metadata))
	b.Value(rest)
	again, out, err := b.Finish()
	require.NoError(t, err)
	require.Equal(t, metadata, again)
	require.Equal(t, value, out)
}

func TestBuilderReportsMistakes(t *testing.T) {
	for want, build := range map[string]func(*Builder){
		"not complete":         func(b *Builder) {},
		"is not complete":      func(b *Builder) { b.BeginArray() },
		"more than one value":  func(b *Builder) { b.Null(); b.Null() },
		"without a key":        func(b *Builder) { b.BeginObject(); b.Null() },
		`key "a" in the wrong`: func(b *Builder) { b.BeginArray(); b.Key([]byte("a")) },
		`key "b" in the wrong`: func(b *Builder) { b.BeginObject(); b.Key([]byte("a")); b.Key([]byte("b")) },
		"ended in the wrong":   func(b *Builder) { b.BeginObject(); b.Key([]byte("a")); b.EndObject() },
		"array ended in the":   func(b *Builder) { b.BeginObject(); b.EndArray() },
		`field "a" twice`: func(b *Builder) {
			b.BeginObject()
			b.Key([]byte("a"))
			b.Null()
			b.Key([]byte("a"))
			b.Null()
			b.EndObject()
		},
		"more than 1000 levels": func(b *Builder) {
			for range MaxDepth + 1 {
				b.BeginArray()
			}
		},
		"kind 1 is no moment": func(b *Builder) { b.Moment(Bool, 1) },
	} {
		var b Builder
		build(&b)
		_, _, err := b.Finish()
		require.ErrorContains(t, err, want)
		b.Reset()
		b.Null()
		_, value, err := b.Finish()
		require.NoError(t, err)
		require.Equal(t, []byte{0}, value)
	}
}

func TestCheckRefusesDamage(t *testing.T) {
	empty := []byte{1, 0, 0}
	one := []byte{1, 1, 0, 1, 'a'}
	deep := []byte{0}
	for range MaxDepth + 1 {
		deep = append(binary.LittleEndian.AppendUint32([]byte{3<<2 | basicArray, 1, 0, 0, 0, 0}, uint32(len(deep))), deep...)
	}
	for want, c := range map[string][2][]byte{
		"metadata of no bytes":              {nil, {0}},
		"metadata of version 2":             {{2, 0, 0}, {0}},
		"metadata of 3 bytes with 9 names":  {{1, 9, 0}, {0}},
		"metadata of 2 bytes":               {{0xC1, 0}, {0}},
		"value of no bytes":                 {empty, nil},
		"unknown type 63":                   {empty, {0xFC}},
		"value of 8 bytes in 1":             {empty, {typeInt64 << 2, 1}},
		"value of 4294967295 bytes in 0":    {empty, {typeString << 2, 0xFF, 0xFF, 0xFF, 0xFF}},
		"without its length":                {empty, {typeBinary << 2, 0}},
		"decimal of more than 38 digits":    {empty, {typeDecimal4 << 2, 39, 0, 0, 0, 0}},
		"time of -1 microseconds":           {empty, {typeTime << 2, 255, 255, 255, 255, 255, 255, 255, 255}},
		"array of 1 bytes":                  {empty, {basicArray}},
		"array of 2 bytes with 3 values":    {empty, {basicArray, 3}},
		"array of 0 bytes whose values":     {empty, {basicArray, 1, 0, 9}},
		"value at byte 9 of 1":              {empty, {basicArray, 1, 9, 1, 0}},
		"field id 1; the metadata has 1":    {one, {basicObject, 1, 1, 0, 1, 0}},
		"field name 0 at bytes 5 to 1 of 1": {{1, 1, 5, 1, 'a'}, {basicObject, 1, 0, 0, 1, 0}},
		`field "a" twice`:                   {one, {basicObject, 2, 0, 0, 0, 1, 2, 0, 0}},
		"values overlap":                    {empty, {basicArray, 2, 0, 0, 1, 0}},
		"more than 1000 levels":             {empty, deep},
	} {
		err := Check(c[0], c[1])
		require.ErrorContains(t, err, want)
		var damage *DamagedError
		require.ErrorAs(t, err, &damage)
	}
}

func FuzzCheck(f *testing.F) {
	var b Builder
	b.BeginObject()
	b.Key([]byte("a"))
	b.BeginArray()
	b.Int(1 << 40)
	b.String([]byte("x"))
	b.EndArray()
	b.Key([]byte("b"))
	b.Decimal(decimal128.FromI64(150), 2)
	b.EndObject()
	metadata, value, err := b.Finish()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(metadata, value)
	f.Add([]byte{1, 0, 0}, []byte{0})
	f.Fuzz(func(t *testing.T, metadata, value []byte) {
		err := Check(metadata, value)
		var b Builder
		if b.ResetTo(metadata) != nil || err != nil {
			return
		}
		v, err := Parse(metadata, value)
		require.NoError(t, err)
		goValue(t, v)
		b.Value(v)
		_, again, err := b.Finish()
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(value, again))
	})
}

// sample is one variant of a table that Spark wrote, as its INDEX shows it.
func TestSparkSample(t *testing.T) {
	v, err := Parse([]byte("\x01\x01\x00\x03key"), []byte("\x02\x01\x00\x00\x02\x0c\x07"))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"key": int64(7)}, goValue(t, v))
	var b Builder
	b.BeginObject()
	b.Key([]byte("key"))
	b.Int(7)
	b.EndObject()
	metadata, value, err := b.Finish()
	require.NoError(t, err)
	require.Equal(t, "\x01\x01\x00\x03key", string(metadata))
	require.Equal(t, "\x02\x01\x00\x00\x02\x0c\x07", string(value))
}
