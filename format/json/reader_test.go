package json

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"lakesql/batch"
	"lakesql/format"

	"github.com/stretchr/testify/require"
)

// schemaOf reads "a INT, b STRING".
func schemaOf(t testing.TB, text string) *batch.Schema {
	t.Helper()
	fields, err := batch.ParseFields(text)
	require.NoError(t, err)
	return batch.NewSchema(fields...)
}

// result is what a reader gave: rows as texts with "|" between the columns, and the errors as "line column message".
type result struct {
	rows   []string
	errors []string
	raws   []string
	extra  []string
	err    error
}

func readAll(t testing.TB, in io.Reader, schema *batch.Schema, opts Options) (res result) {
	t.Helper()
	opts.OnError = func(e format.RowError) {
		res.errors = append(res.errors, strings.Join(strings.Fields(fmt.Sprint(e.Line, " ", e.Column, " ", e.Message)), " "))
		res.raws = append(res.raws, string(e.Raw))
	}
	r, err := NewReader(in, schema, opts)
	if err != nil {
		res.err = err
		return res
	}
	for {
		b, err := r.Next()
		if err == io.EOF {
			res.extra = r.Extra()
			return res
		}
		if err != nil {
			res.err = err
			return res
		}
		require.LessOrEqual(t, b.Len, batch.MaxRows)
		for i := range b.Rows() {
			cells := make([]string, len(b.Cols))
			for c, v := range b.Cols {
				require.Equal(t, b.Len, v.Len)
				cells[c] = v.Format(b.Row(i))
			}
			res.rows = append(res.rows, strings.Join(cells, "|"))
		}
	}
}

func with(change func(*Options)) Options {
	o := DefaultOptions()
	if change != nil {
		change(&o)
	}
	return o
}

// TestReader holds Spark's rules, and what departs from them as doc.go says.
func TestReader(t *testing.T) {
	plain := with(nil)
	multi := with(func(o *Options) { o.MultiLine = true })
	tests := []struct {
		name   string
		opts   Options
		schema string
		in     string
		rows   []string
		errors []string
	}{
		{"lines", plain, "a INT, b STRING", "{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\",\"a\":2}\n", []string{"1|x", "2|y"}, nil},
		{"missing keys and null are null", plain, "a INT, b STRING", "{\"a\":null}\n{}\n{\"b\":null,\"a\":2}", []string{"NULL|NULL", "NULL|NULL", "2|NULL"}, nil},
		{"blanks", plain, "a INT, b STRING", " \n\t{ \"a\" : 1 , \"b\" : \"x\" }  \r\n\n{\"a\": 2, \"b\": \"y\"}\r\n \r\n", []string{"1|x", "2|y"}, nil},
		{"no final line end", plain, "a INT", `{"a":1}`, []string{"1"}, nil},
		{"empty file", plain, "a INT", "", nil, nil},
		{"byte-order mark", plain, "a INT", "\xEF\xBB\xBF{\"a\":1}\n", []string{"1"}, nil},
		{"CR alone", plain, "a INT", "{\"a\":1}\r{\"a\":2}\r", []string{"1", "2"}, nil},
		{"lineSep", with(func(o *Options) { o.LineSep = ";" }), "a INT", "{\"a\":\n1};{\"a\":2}\n;", []string{"1", "2"}, nil},
		{"the last of a key that is there twice counts", plain, "a INT, s STRUCT<x: INT, y: INT>", `{"a":1,"s":{"x":1,"y":2},"a":2,"s":{"y":3}}`, []string{`2|{"x":null,"y":3}`}, nil},
		{"twice, the last is of another type", plain, "s STRUCT<x: INT>", `{"s":{"x":1},"s":7}`, []string{"NULL"}, []string{`1 s "7" is no struct<x:int>`}},
		{"names differ by case", plain, "a INT, B INT", `{"A":1,"b":2,"B":3}`, []string{"NULL|3"}, nil},
		{"names in any case", with(func(o *Options) { o.CaseSensitive = false }), "a INT, s STRUCT<x: INT>", `{"A":1,"S":{"X":2}}`, []string{`1|{"x":2}`}, nil},
		{"keys with escapes", plain, "`a\"b` INT, `ä\\` INT, c INT", `{"a\"b":1,"\u00e4\\":2,"\u0063":3}`, []string{"1|2|3"}, nil},
		{"array of a line", plain, "a INT", "[{\"a\":1}, {\"a\":2}]\n{\"a\":3}\n[]\n", []string{"1", "2", "3"}, nil},

		{"multiLine", multi, "a INT, b STRING", "{\n\"a\":1,\n\"b\":\"x\"\n}\n{\"a\":2}{\"a\":3}\n", []string{"1|x", "2|NULL", "3|NULL"}, nil},
		{"multiLine, an array", multi, "a INT", "[\n{\"a\":1},\n{\"a\":2}\n]\n[{\"a\":3}] {\"a\":4}", []string{"1", "2", "3", "4"}, nil},
		{"multiLine, an empty array", multi, "a INT", " [ ] \n", nil, nil},
		{"multiLine, a malformed record among others", multi, "a INT", "[{\"a\":1},\n{\"a\":tru, \"b\":[1,{}]},\n{\"a\":3}]", []string{"1", "NULL", "3"},
			[]string{`2 the record is malformed at byte 6, "tru, \"b\":[1,{}]}": it is no JSON`}},
		{"multiLine, records that are none", multi, "a INT", "[1,\n[2],{\"a\":3}]\nx {\"a\":4}", []string{"NULL", "NULL", "3", "NULL", "4"},
			[]string{`1 the record is malformed at byte 1, "1": it is no JSON object`, `2 the record is malformed at byte 1, "[2]": it is no JSON object`, `3 the record is malformed at byte 1, "x ": it is no JSON`}},
		{"multiLine, cut off", multi, "a INT", "[{\"a\":1},\n{\"a\":2", []string{"1", "NULL"}, []string{`2 the record ends too early, behind 6 bytes: it is no JSON`}},
		{"multiLine, array not closed", multi, "a INT", "[{\"a\":1}\n", []string{"1", "NULL"}, []string{"2 the record ends too early, behind 0 bytes: an array of records is not closed"}},
		{"multiLine, comma at the end", multi, "a INT", "[{\"a\":1},", []string{"1", "NULL"}, []string{"1 the record ends too early, behind 0 bytes: an array of records is not closed"}},
		{"multiLine, comma missing", multi, "a INT", "[{\"a\":1} {\"a\":2},{\"a\":3}]", []string{"1", "NULL", "3"}, []string{`1 the record is malformed at byte 1, "{\"a\":2}": a comma or ] is expected between records`}},

		{"malformed lines", plain, "a INT, b STRING", "{\"a\":1}\n{\"a\":2,\n{\"a\":3}}\nx\n7\n{\"a\":4} {\"a\":5}\n{\"a\":6}", []string{"1|NULL", "NULL|NULL", "NULL|NULL", "NULL|NULL", "NULL|NULL", "NULL|NULL", "6|NULL"},
			[]string{"2 the record ends too early, behind 7 bytes: it is no JSON",
				`3 the record is malformed at byte 8, "}": something follows the document: multiLine => true reads several documents of a line`,
				`4 the record is malformed at byte 1, "x": it is no JSON`, `5 the record is malformed at byte 1, "7": it is no JSON object`,
				`6 the record is malformed at byte 9, "{\"a\":5}": something follows the document: multiLine => true reads several documents of a line`}},
		{"malformed in the middle", plain, "a INT, b STRING", `{"a":1,"b":"x" "c":1}`, []string{"NULL|NULL"}, []string{`1 the record is malformed at byte 16, "\"c\":1}": it is no JSON`}},
		{"numbers that JSON has not", plain, "a INT", "{\"a\":01}\n{\"a\":+1}\n{\"a\":1.}\n{\"a\":.5}\n{\"a\":0x1}\n{\"a\":-}", []string{"NULL", "NULL", "NULL", "NULL", "NULL", "NULL"}, []string{
			`1 the record is malformed at byte 6, "01}": it is no JSON`, `2 the record is malformed at byte 6, "+1}": it is no JSON`, `3 the record is malformed at byte 8, "}": it is no JSON`,
			`4 the record is malformed at byte 6, ".5}": it is no JSON`, `5 the record is malformed at byte 7, "x1}": it is no JSON`, `6 the record is malformed at byte 7, "}": it is no JSON`}},
		{"array of a line, malformed", plain, "a INT", "[{\"a\":1},{\"a\":x},{\"a\":3}]\n[{\"a\":4}\n[{\"a\":5}] 6\n{\"a\":7}", []string{"1", "NULL", "4", "NULL", "5", "NULL", "7"}, []string{
			`1 the record is malformed at byte 6, "x},{\"a\":3}]": it is no JSON`, "2 the record ends too early, behind 0 bytes: an array of records is not closed",
			`3 the record is malformed at byte 1, "6": something follows the document: multiLine => true reads several documents of a line`}},
		{"DROPMALFORMED", with(func(o *Options) { o.Mode = format.DropMalformed }), "a INT", "{\"a\":1}\nx\n{\"a\":\"y\"}\n{\"a\":4}\n", []string{"1", "4"},
			[]string{`2 the record is malformed at byte 1, "x": it is no JSON`, `3 a the string "y" is no integer`}},
		{"corrupt record", plain, "a INT, _corrupt_record STRING", "{\"a\":1}\n{\"a\":x}\n{\"a\":\"y\"}\n{\"_corrupt_record\":\"z\"}\n", []string{"1|NULL", `NULL|{"a":x}`, `NULL|{"a":"y"}`, "NULL|NULL"},
			[]string{`2 the record is malformed at byte 6, "x}": it is no JSON`, `3 a the string "y" is no integer`}},
		{"a bad field leaves the others", plain, "a INT, s STRUCT<x: INT, y: INT>, b STRING", `{"a":"x","s":{"x":true,"y":5},"b":"z"}`, []string{`NULL|{"x":null,"y":5}|z`}, []string{`1 a the string "x" is no integer`, `1 s.x "true" is no integer`}},

		{"integers", plain, "a TINYINT, b SMALLINT, c INT, d BIGINT", "{\"a\":127,\"b\":-32768,\"c\":-0,\"d\":9223372036854775807}\n{\"a\":128,\"b\":1.0,\"c\":1e2,\"d\":9223372036854775808}\n{\"a\":\"1\",\"b\":true,\"c\":[],\"d\":{}}",
			[]string{"127|-32768|0|9223372036854775807", "NULL|NULL|NULL|NULL", "NULL|NULL|NULL|NULL"},
			[]string{`2 a "128" does not fit into byte`, `2 b "1.0" is no short`, `2 c "1e2" is no integer`, `2 d "9223372036854775808" does not fit into long`,
				`3 a the string "1" is no byte`, `3 b "true" is no short`, `3 c an array is no integer`, `3 d an object is no long`}},
		{"floating point", plain, "a DOUBLE, b FLOAT", `{"a":1.5,"b":-2.25}` + "\n" + `{"a":1e999,"b":0}` + "\n" + `{"a":NaN,"b":-Infinity}` + "\n" + `{"a":"NaN","b":"+INF"}` + "\n" + `{"a":"1.5","b":"x"}`,
			[]string{"1.5|-2.25", "+Inf|0", "NaN|-Inf", "NaN|+Inf", "NULL|NULL"}, []string{`5 a the string "1.5" is no double`, `5 b the string "x" is no float`}},
		{"no NaN", with(func(o *Options) { o.AllowNonNumericNumbers = false }), "a DOUBLE", "{\"a\":NaN}\n{\"a\":\"NaN\"}", []string{"NULL", "NULL"}, []string{`1 the record is malformed at byte 6, "NaN}": it is no JSON`, `2 a the string "NaN" is no double`}},
		{"decimals are exact", plain, "a DECIMAL(38,3), b DECIMAL(5,2)", `{"a":12345678901234567890123456789012345.125,"b":"1.5"}` + "\n" + `{"a":0.1,"b":1.005}` + "\n" + `{"a":1e2,"b":1000}`,
			[]string{"12345678901234567890123456789012345.125|1.50", "0.100|1.01", "100.000|NULL"}, []string{`3 b "1000" is no decimal(5,2)`}},
		{"strings", plain, "a STRING", `{"a":"x\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}` + "\n" + `{"a":'it is "x"'}` + "\n" + `{"a":""}`, []string{"x\"\\/\b\f\n\r\té😀", `it is "x"`, ""}, nil},
		{"half of a pair", plain, "a STRING", `{"a":"\ud83dx"}`, []string{"\uFFFDx"}, nil},
		{"a string of anything else is its text", plain, "a STRING", "{\"a\":1.50}\n{\"a\": true}\n{\"a\":{ \"x\":[1, 2]}}\n{\"a\":[\"é\"]}\n", []string{"1.50", "true", `{ "x":[1, 2]}`, `["é"]`}, nil},
		{"no single quotes", with(func(o *Options) { o.AllowSingleQuotes = false }), "a STRING", `{"a":'x'}`, []string{"NULL"}, []string{`1 the record is malformed at byte 6, "'x'}": it is no JSON`}},
		{"control characters and line ends in strings", plain, "a STRING", "{\"a\":\"x\ty\"}\n{\"a\":\"x\ny\"}\n", []string{"NULL", "NULL", "NULL"}, []string{
			`1 the record is malformed at byte 8, "\ty\"}": it is no JSON`, `2 the record ends too early, behind 7 bytes: it is no JSON`, `3 the record is malformed at byte 1, "y\"}": it is no JSON`}},
		{"invalid UTF-8", plain, "a STRING, b STRING", "{\"a\":\"x\xff\",\"b\":\"é\"}\n", []string{"x\uFFFD|é"}, []string{`1 a "x\xff" is no UTF-8; such bytes are read as U+FFFD`}},
		{"booleans", plain, "a BOOLEAN", "{\"a\":true}\n{\"a\":false}\n{\"a\":\"true\"}\n{\"a\":1}", []string{"true", "false", "NULL", "NULL"}, []string{`3 a the string "true" is no boolean`, `4 a "1" is no boolean`}},
		{"times", plain, "a TIMESTAMP, b TIMESTAMP_NTZ, c DATE", `{"a":"2024-01-02T03:04:05.678901Z","b":"2024-01-02 03:04:05","c":"2024-02-29"}` + "\n" + `{"a":1704164645,"b":1,"c":"2024-02-30"}` + "\n" + `{"a":"2024-01-02 03:04:05+01:00","c":"2024\u002d01-02"}`,
			[]string{"2024-01-02 03:04:05.678901|2024-01-02 03:04:05|2024-02-29", "2024-01-02 03:04:05|NULL|NULL", "2024-01-02 02:04:05|NULL|2024-01-02"}, []string{`2 b "1" is no timestamp_ntz`, `2 c the string "2024-02-30" is no date`}},
		{"patterns", with(func(o *Options) { o.DateFormat, o.TimestampFormat = "dd/MM/yyyy", "yyyyMMdd HHmm" }), "a DATE, b TIMESTAMP", `{"a":"31\/12\/2024","b":"20240102 0304"}` + "\n" + `{"a":"2024-12-31"}`, []string{"2024-12-31|2024-01-02 03:04:00", "NULL|NULL"},
			[]string{`2 a the string "2024-12-31" is no date by dateFormat 'dd/MM/yyyy'`}},
		{"binary", plain, "a BINARY", "{\"a\":\"yv4=\"}\n{\"a\":\"?\"}\n{\"a\":7}", []string{"0xCAFE", "NULL", "NULL"}, []string{`2 a the string "?" is no binary`, `3 a "7" is no binary`}},

		{"structs", plain, "s STRUCT<x: INT, t: STRUCT<y: STRING, z: DOUBLE>>, a INT", `{"s":{"t":{"z":1.5,"y":"q"},"x":1},"a":9}` + "\n" + `{"s":{"t":null},"a":8}` + "\n" + `{"s":null}` + "\n" + `{"s":[]}`,
			[]string{`{"x":1,"t":{"y":"q","z":1.5}}|9`, `{"x":null,"t":null}|8`, "NULL|NULL", "NULL|NULL"}, []string{"4 s an array is no struct<x:int,t:struct<y:string,z:double>>"}},
		{"arrays", plain, "l ARRAY<INT>, o ARRAY<STRUCT<x: INT, y: ARRAY<STRING>>>", `{"l":[1, 2,null ],"o":[{"x":1,"y":["a","b"]},null,{"y":[]}]}` + "\n" + `{"l":[],"o":[]}` + "\n" + `{"l":null}` + "\n" + `{"l":[3,"x"],"o":{}}`,
			[]string{`[1,2,null]|[{"x":1,"y":["a","b"]},null,{"x":null,"y":[]}]`, "[]|[]", "NULL|NULL", "[3,null]|NULL"},
			[]string{`4 l[] the string "x" is no integer`, "4 o an object is no array<struct<x:int,y:array<string>>>"}},
		{"maps", plain, "m MAP<STRING, INT>, n MAP<STRING, ARRAY<INT>>", `{"m":{"a":1,"b":null,"\u0061":3},"n":{"x":[1],"y":[2,3]}}` + "\n" + `{"m":{},"n":null}`, []string{`{"a":3,"b":null}|{"x":[1],"y":[2,3]}`, "{}|NULL"}, nil},
		{"variants", plain, "v VARIANT", `{"v":{"a":[1,"x"]}}` + "\n" + `{"v":null}` + "\n" + `{}`, []string{`{"a":[1,"x"]}`, "null", "NULL"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			schema := schemaOf(t, tt.schema)
			for _, in := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				got := readAll(t, in, schema, tt.opts)
				require.NoError(t, got.err)
				require.Equal(t, tt.rows, got.rows)
				require.Equal(t, tt.errors, got.errors)
			}
		})
	}
}

func TestExtraKeys(t *testing.T) {
	res := readAll(t, strings.NewReader("{\"a\":1,\"New\":2,\"none\":null,\"A\":1}\n{\"s\":{\"more\":1},\"later\":{},\"New\":3}\n"), schemaOf(t, "a INT, s STRUCT<x: INT>"), DefaultOptions())
	require.NoError(t, res.err)
	require.Equal(t, []string{"New", "A", "later"}, res.extra)
}

// TestManyKeys: keys that are data take no unbounded memory, and columns are found among them.
func TestManyKeys(t *testing.T) {
	var in strings.Builder
	for i := range 3 * maxKeys {
		fmt.Fprintf(&in, "{\"k%d\":1,\"A\":%d,\"z%d\":2}\n", i, i, i)
	}
	opts := with(func(o *Options) { o.CaseSensitive = false })
	r, err := NewReader(strings.NewReader(in.String()), schemaOf(t, "a INT"), opts)
	require.NoError(t, err)
	rows := 0
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		require.Zero(t, b.Cols[0].NullCount())
		rows += b.Len
	}
	require.Equal(t, 3*maxKeys, rows)
	require.LessOrEqual(t, len(r.Extra()), maxKeys)
}
