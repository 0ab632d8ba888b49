package batch

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/format/variant"
)

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(everyType).Draw(t, "type")
		v := NewVector(typ, 1)
		require.NoError(t, v.AppendValue(drawValue(t, typ)))
		text := v.AppendJSON(nil, 0)
		require.True(t, json.Valid(text), "%s", text)
		back := NewVector(typ, 1)
		require.NoError(t, back.AppendFromJSON(text), "%s", text)
		require.Equal(t, string(text), string(back.AppendJSON(nil, 0)))
		if typ.Kind != Variant && !strings.Contains(typ.String(), "variant") { // whose null comes back as the variant's own null
			require.Empty(t, diffValues(values(v), values(back)))
		}
	})
}

// fromJSON appends each text and returns the rows as JSON again.
func fromJSON(t *testing.T, typ string, texts ...string) []string {
	t.Helper()
	parsed, err := ParseType(typ)
	require.NoError(t, err)
	v := NewVector(parsed, 0)
	rows := make([]string, len(texts))
	for i, text := range texts {
		require.NoError(t, v.AppendFromJSON([]byte(text)))
		rows[i] = string(v.AppendJSON(nil, i))
	}
	return rows
}

func TestJSONOfEachType(t *testing.T) {
	for _, c := range []struct{ typ, text, want string }{
		{"boolean", " true ", "true"},
		{"boolean", "0", "false"},
		{"tinyint", "-128", "-128"},
		{"int", "1.20e1", "12"},
		{"bigint", "9223372036854775807", "9223372036854775807"},
		{"bigint", "-9223372036854775808.0", "-9223372036854775808"},
		{"float", "1e-7", "1e-07"},
		{"float", "16777216", "1.6777216e+07"},
		{"double", "5", "5.0"},
		{"double", `"-Infinity"`, `"-Infinity"`},
		{"double", `"NaN"`, `"NaN"`},
		{"decimal(38,3)", "12345678901234567890123456789012345.678", "12345678901234567890123456789012345.678"},
		{"decimal(5,2)", "1.5", "1.50"},
		{"date", `"2024-02-29"`, `"2024-02-29"`},
		{"date", `"-0001-01-01"`, `"-0001-01-01"`},
		{"timestamp", `"2024-02-29T12:00:00.5+02:00"`, `"2024-02-29 10:00:00.500000"`},
		{"timestamp_ntz", `"2024-02-29 12:00:00"`, `"2024-02-29 12:00:00"`},
		{"string", `"a\u00e9\ud83d\ude00\"\\\/\n\u0001"`, "\"aé😀\\\"\\\\/\\n\\u0001\""},
		{"binary", `"AP8="`, `"AP8="`},
		{"void", "null", "null"},
		{"array<int>", " [ 1 , null ] ", "[1,null]"},
		{"array<int>", "[]", "[]"},
		{"struct<a:int,`B c`:string>", `{"b C":"x"}`, `{"a":null,"B c":"x"}`},
		{"struct<a:int,A:int>", `{"A":1,"a":2}`, `{"a":2,"A":1}`},
		{"struct<>", "{}", "{}"},
		{"map<string,int>", `{"a":1,"b":null}`, `{"a":1,"b":null}`},
		{"map<int,boolean>", `{"1":true}`, `{"1":true}`},
		{"map<date,int>", `{"2024-01-01":1}`, `{"2024-01-01":1}`},
		{"map<struct<a:string>,int>", `{"{\"a\":\"x\"}":1}`, `{"{\"a\":\"x\"}":1}`},
		{"variant", "null", "null"},
		{"variant", `{"b":[1,1.50,1e2,true,null,"x"],"a":{}}`, `{"a":{},"b":[1,1.50,100.0,true,null,"x"]}`},
		{"variant", "12345678901234567890", "12345678901234567890"},
	} {
		if c.typ == "struct<a:int,A:int>" { // the parser refuses what Delta would, but a file may have it
			fields := []Field{{Name: "a", Type: Type{Kind: Int32}}, {Name: "A", Type: Type{Kind: Int32}}}
			v := NewVector(StructOf(fields...), 0)
			require.NoError(t, v.AppendFromJSON([]byte(c.text)))
			require.Equal(t, c.want, string(v.AppendJSON(nil, 0)))
			continue
		}
		require.Equal(t, []string{c.want}, fromJSON(t, c.typ, c.text), "%s from %s", c.typ, c.text)
	}
}

func TestJSONErrorsNameThePath(t *testing.T) {
	const nested = "struct<a:array<struct<`b c`:int>>,m:map<int,decimal(3,1)>,s:string,v:variant,z:void>"
	for _, c := range []struct{ typ, text, want string }{
		{nested, `{"a":[{},{"b c":"x"}]}`, `at $.a[1]."b c": found "\"x\"", expected integer`},
		{nested, `{"a":[{"b c":2147483648}]}`, `at $.a[0]."b c": found 2147483648 (out of the type's range), expected integer`},
		{nested, `{"a":[{"b c":1.5}]}`, `found 1.5 (has more digits than the type's scale), expected integer`},
		{nested, `{"a":{}}`, "at $.a: found an object, expected array<struct<`b c`:int>>"},
		{nested, `{"a":[{}`, `at $.a[0]: found the end of the text, expected a comma or ]`},
		{nested, `{"m":{"x":1}}`, `at $.m.x: found "x", expected integer`},
		{nested, `{"m":{"null":1}}`, `at $.m.null: found null, expected integer as the key`},
		{nested, `{"m":{"1":1.25}}`, `at $.m."1": found 1.25 (has more digits than the type's scale), expected decimal(3,1)`},
		{nested, `{"m":{"1":1,"1":2}}`, `at $.m."1": found a key twice`},
		{nested, `{"s":5}`, `at $.s: found "5", expected string`},
		{nested, `{"s":"a","S":"b"}`, `at $.S: found a field twice`},
		{nested, `{"t":"a"}`, `at $.t: found a field that is not in the type`},
		{nested, `{"z":1}`, `at $.z: found "1", expected null`},
		{nested, `{"v":{"a":1,"b":{"x":1,"x":2}}}`, `at $.v.b: found build variant: field "x" twice in one object`},
		{nested, `{"v":1e999}`, `at $.v: found 1e999 (out of the type's range), expected a number that a double can hold`},
		{nested, `{"v":` + strings.Repeat("[", variant.MaxDepth+2), `found more levels, expected 1000 at the most`},
		{nested, `{} x`, `at $: found "x", expected the end of the text`},
		{nested, `{"s" "x"}`, `at $.s: found "\"x\"", expected a colon`},
		{nested, "", `at $: found the end of the text`},
		{nested, "{\"s\":\"\xff\"}", `found a string that is not UTF-8`},
		{nested, "{\"s\":\"\n\"}", `found a control character in a string`},
		{nested, `{"s":"\ud800"}`, `found a bad escape in a string`},
		{nested, `{"s":"x`, `found a string without its end`},
		{"boolean", "2", `found "2", expected true or false`},
		{"double", `"Inf"`, `found "Inf", expected double`},
		{"float", "1e39", `found 1e39 (out of the type's range), expected float`},
		{"int", "01", `found "01", expected integer`},
		{"int", "-", `found "-", expected integer`},
		{"binary", `"?"`, `found ? (not of the right form), expected base64`},
		{"timestamp_ntz", `"2024-01-01 00:00:00Z"`, `found "2024-01-01 00:00:00Z" (not of the right form), expected timestamp_ntz`},
		{"date", `"2024-13-01"`, `found "2024-13-01" (out of the type's range), expected date`},
	} {
		typ, err := ParseType(c.typ)
		require.NoError(t, err)
		v := NewVector(typ, 0)
		v.AppendNull()
		err = v.AppendFromJSON([]byte(c.text))
		var jsonErr *JSONError
		require.ErrorAs(t, err, &jsonErr, c.text)
		require.ErrorContains(t, err, c.want, c.text)
		require.Equal(t, 1, v.Len)
		v.AppendNull()
		require.Equal(t, []any{nil, nil}, values(v), "usable after the error")
	}
}

func TestVariantTextOfEveryType(t *testing.T) {
	uuid := [16]byte{0: 0x00, 1: 0x11, 6: 0x42, 15: 0xFF}
	for want, build := range map[string]func(*variant.Builder){
		`"2024-02-29"`:                           func(b *variant.Builder) { b.Date(19782) },
		`"23:59:59.999999"`:                      func(b *variant.Builder) { b.Moment(variant.Time, MicrosPerDay-1) },
		`"00:00:00"`:                             func(b *variant.Builder) { b.Moment(variant.Time, 0) },
		`"1970-01-01 00:00:00.000001"`:           func(b *variant.Builder) { b.Moment(variant.Timestamp, 1) },
		`"1969-12-31 23:59:59"`:                  func(b *variant.Builder) { b.Moment(variant.TimestampNTZ, -MicrosPerSecond) },
		`"1969-12-31 23:59:59.999999999"`:        func(b *variant.Builder) { b.Moment(variant.Nanos, -1) },
		`"1970-01-01 00:00:00.000000012"`:        func(b *variant.Builder) { b.Moment(variant.NanosNTZ, 12) },
		`"1970-01-01 00:00:00.000012"`:           func(b *variant.Builder) { b.Moment(variant.NanosNTZ, 12000) },
		`"00110000-0000-4200-0000-0000000000ff"`: func(b *variant.Builder) { b.UUID(uuid) },
		`"AAE="`:                                 func(b *variant.Builder) { b.Binary([]byte{0, 1}) },
		`1.5`:                                    func(b *variant.Builder) { b.Float32(1.5) },
		`"NaN"`:                                  func(b *variant.Builder) { b.Float64(math.NaN()) },
	} {
		var b variant.Builder
		build(&b)
		metadata, value, err := b.Finish()
		require.NoError(t, err)
		require.NoError(t, variant.Check(metadata, value))
		v := NewVector(Type{Kind: Variant}, 1)
		v.Children[0].AppendBytes(metadata)
		v.Children[1].AppendBytes(value)
		v.EndRow()
		require.Equal(t, want, string(v.AppendJSON(nil, 0)))
		require.Equal(t, want, v.Format(0))
	}
}

// FuzzJSON holds the parser to encoding/json's idea of what is JSON, and to reading back what it wrote.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a":[1,null,{"b":"\u00e9"}]}`, `[1e5,-0.25,"\ud83d\ude00",true]`, `{"a":{"a":1}}`, `"x"`, `12345678901234567890.5`, `-0e1`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, typ := range []Type{{Kind: Variant}, deepType} {
			v := NewVector(typ, 1)
			if err := v.AppendFromJSON(text); err != nil {
				if v.Len != 0 || v.Children[0].Len != 0 {
					t.Fatal("rows are left behind an error")
				}
				continue
			}
			if !json.Valid(text) {
				t.Fatal("taken, but no JSON")
			}
			if typ.Kind == Variant {
				if err := variant.Check(v.Children[0].BytesAt(0), v.Children[1].BytesAt(0)); err != nil {
					t.Fatal(err)
				}
			}
			out := v.AppendJSON(nil, 0)
			again := NewVector(typ, 1)
			if err := again.AppendFromJSON(out); err != nil {
				t.Fatalf("%s: %v", out, err)
			}
			if back := again.AppendJSON(nil, 0); string(back) != string(out) {
				t.Fatalf("%s came back as %s", out, back)
			}
		}
	})
}
