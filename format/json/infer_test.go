package json

import (
	"strconv"
	"strings"
	"testing"

	"lakesql/batch"
	"lakesql/format"

	"github.com/stretchr/testify/require"
)

func schemaText(schema *batch.Schema) string {
	var parts []string
	for _, f := range schema.Fields {
		parts = append(parts, f.Name+" "+f.Type.String())
	}
	return strings.Join(parts, ", ")
}

// infer looks at files.
func infer(t *testing.T, opts Options, files ...string) string {
	t.Helper()
	var in Inference
	for _, f := range files {
		require.NoError(t, Infer(strings.NewReader(f), opts, &in))
	}
	schema, err := in.Schema()
	require.NoError(t, err)
	return schemaText(schema)
}

// TestInfer holds the rules of JsonInferSchema.
func TestInfer(t *testing.T) {
	for _, tt := range []struct{ values, want string }{
		{`1`, "long"},
		{`1 -9223372036854775808`, "long"},
		{`9223372036854775808`, "decimal(19,0)"},
		{`1 9223372036854775808`, "decimal(20,0)"},
		{`1234567890123456789012345678901234567890`, "double"},
		{`1.5`, "double"},
		{`1 1.5`, "double"},
		{`9223372036854775808 1.5`, "double"},
		{`1e3`, "double"},
		{`NaN 1`, "double"},
		{`true`, "boolean"},
		{`true 1`, "string"},
		{`"x"`, "string"},
		{`"2024-01-02"`, "string"},
		{`"1" 1`, "string"},
		{`null`, "string"},
		{`"" null 1`, "long"},
		{`""`, "string"},
		{`{}`, "string"},
		{`{"x":1} null {"y":"z"} {"x":2.5}`, "struct<x:double,y:string>"},
		{`{"x":1} 1`, "string"},
		{`{"x":null}`, "struct<x:string>"},
		{`[]`, "array<string>"},
		{`[] [1,null] [2.5]`, "array<double>"},
		{`[{"x":1},{"y":[true]}]`, "array<struct<x:bigint,y:array<boolean>>>"},
		{`[1] {"x":1}`, "string"},
		{`[[1],["x"]]`, "array<array<string>>"},
	} {
		var in strings.Builder
		for _, v := range strings.Split(tt.values, " ") {
			in.WriteString(`{"a":` + v + "}\n")
		}
		require.Equal(t, "a "+tt.want, infer(t, DefaultOptions(), in.String()), tt.values)
	}
}

func TestInferOptions(t *testing.T) {
	in := `{"n":1,"d":1.25,"t":"2024-01-02 03:04:05","b":true,"z":null,"s":{"x":1},"q":"2.5"}`
	for _, tt := range []struct {
		change func(*Options)
		want   string
	}{
		{nil, "n long, d double, t string, b boolean, z string, s struct<x:bigint>, q string"},
		{func(o *Options) { o.PrimitivesAsString = true }, "n string, d string, t string, b string, z string, s struct<x:string>, q string"},
		{func(o *Options) { o.PrefersDecimal = true }, "n long, d decimal(3,2), t string, b boolean, z string, s struct<x:bigint>, q decimal(2,1)"},
		{func(o *Options) { o.InferTimestamp = true }, "n long, d double, t timestamp, b boolean, z string, s struct<x:bigint>, q string"},
		{func(o *Options) { o.DropFieldIfAllNull = true }, "n long, d double, t string, b boolean, s struct<x:bigint>, q string"},
		{func(o *Options) { o.InferTypes = false }, "n string, d string, t string, b string, z string, s string, q string"},
	} {
		require.Equal(t, tt.want, infer(t, with(tt.change), in))
	}
	require.Equal(t, "a double", infer(t, with(func(o *Options) { o.CaseSensitive = false }), `{"a":1}`+"\n"+`{"A":1.5}`))
	require.Equal(t, "a long", infer(t, with(func(o *Options) { o.MultiLine = true }), "[{\n\"a\":1},{}]"))
}

func TestInferMergesFiles(t *testing.T) {
	require.Equal(t, "id double, name string, more boolean", infer(t, DefaultOptions(), "{\"id\":1,\"name\":\"a\"}\n", "", "\n", "{\"more\":true,\"id\":2.5}\n"))
}

func TestInferSamples(t *testing.T) {
	data := strings.Repeat("{\"a\":1}\n", 10*format.BufferBytes/8) + "{\"a\":\"x\"}\n"
	in := Inference{MaxBytes: 100}
	require.NoError(t, Infer(strings.NewReader(data), DefaultOptions(), &in))
	schema, err := in.Schema()
	require.NoError(t, err)
	require.Equal(t, "a long", schemaText(schema))
	require.Equal(t, "a string", infer(t, DefaultOptions(), data))
}

// TestInferOfMalformed: what is malformed says nothing of columns, and a file that is no JSON is no file without rows.
func TestInferOfMalformed(t *testing.T) {
	require.Equal(t, "a long", infer(t, DefaultOptions(), "x\n{\"a\":1}\n{\"b\":"))
	var in Inference
	require.NoError(t, Infer(strings.NewReader("\nid,name\n1,a\n"), DefaultOptions(), &in))
	_, err := in.Schema()
	require.ErrorContains(t, err, `line 2: the record is malformed at byte 1, "id,name": it is no JSON; is this a JSON file?`)

	err = Infer(strings.NewReader("{\"a\":1}\nx\n"), with(func(o *Options) { o.Mode = format.FailFast }), &Inference{})
	var record *format.RecordError
	require.ErrorAs(t, err, &record)
	require.EqualValues(t, 2, record.Row.Line)
}

func TestInferNames(t *testing.T) {
	var in Inference
	require.NoError(t, Infer(strings.NewReader(`{"s":{"id":1,"ID":2}}`), DefaultOptions(), &in))
	_, err := in.Schema()
	require.ErrorContains(t, err, `[COLUMN_ALREADY_EXISTS] the records have the keys "s.id" and "s.ID"`)

	var many strings.Builder
	for i := range maxFields + 1 {
		many.WriteString(`{"k` + strings.Repeat("k", i%7) + string(rune('a'+i%26)) + strconv.Itoa(i) + "\":1}\n")
	}
	require.ErrorContains(t, Infer(strings.NewReader(many.String()), DefaultOptions(), &Inference{}), "more than 20480 different keys")
}
