package csv

import (
	"strings"
	"testing"

	"lakesql/batch"
	"lakesql/format"

	"github.com/stretchr/testify/require"
)

func infer(t testing.TB, opts Options, files ...string) string {
	t.Helper()
	var in Inference
	for _, f := range files {
		require.NoError(t, Infer(strings.NewReader(f), opts, &in))
	}
	return schemaText(in.Schema())
}

func schemaText(s *batch.Schema) string {
	var out []string
	for _, f := range s.Fields {
		out = append(out, f.Name+" "+f.Type.String())
	}
	return strings.Join(out, ", ")
}

func TestInferTypes(t *testing.T) {
	tests := []struct{ values, want string }{
		{"1 2 -3 +4", "integer"},
		{"1 2147483648", "long"},
		{"2147483648 1", "long"},
		{"1 9223372036854775808", "decimal(19,0)"},
		{"2147483648 9223372036854775808", "decimal(20,0)"},
		{"12345678901234567890123456789012345678 1", "decimal(38,0)"},
		{"123456789012345678901234567890123456789", "double"},
		{"9223372036854775808 1.5", "double"},
		{"1 2.5", "double"},
		{"1e3", "double"},
		{"NaN 1", "double"},
		{"Inf", "double"},
		{"2024-01-02", "date"},
		{"2024-1-2", "timestamp"},
		{"2024-01-02 2024-01-02T03:04:05", "timestamp"},
		{"2024-01-02T03:04:05Z 2024-01-02", "timestamp"},
		{"true FALSE", "boolean"},
		{"true 1", "string"},
		{"1 true", "string"},
		{"1.5 2024-01-02", "string"},
		{"2024-01-02 1", "string"},
		{"2024-02-30", "string"},
		{"x", "string"},
		{"", "string"},
		{"1 NA", "integer"},
	}
	opts := DefaultOptions()
	opts.Header, opts.NullValue = true, "NA"
	for _, tt := range tests {
		in := "a\n" + strings.ReplaceAll(tt.values, " ", "\n")
		require.Equal(t, "a "+tt.want, infer(t, opts, in), tt.values)
	}
}

func TestInferOptions(t *testing.T) {
	opts := DefaultOptions()
	require.Equal(t, "_c0 integer, _c1 string", infer(t, opts, "\n1,a\n2,b\n"))
	opts.Header = true
	require.Equal(t, "id integer, name string", infer(t, opts, " \nid,name\n\n1,a\nid,name\n"), "lines like the header are none")
	opts.PreferDate = false
	require.Equal(t, "d timestamp", infer(t, opts, "d\n2024-01-02\n"))
	opts.PreferDate = true
	opts.DateFormat, opts.TimestampFormat = "dd.MM.yyyy", "dd.MM.yyyy HH:mm"
	require.Equal(t, "d date, t timestamp, m string", infer(t, opts, "d,t,m\n31.12.2024,31.12.2024 10:30,31.12.2024\n31.12.2024,31.12.2024 10:30,31.12.2024 10:30\n"))
	opts.InferTypes = false
	require.Equal(t, "d string", infer(t, opts, "d\n1\n"))
}

func TestInferMergesFiles(t *testing.T) {
	opts := DefaultOptions()
	opts.Header = true
	require.Equal(t, "id double, name string, more date", infer(t, opts, "id,name\n1,a\n", "", "\n", "NAME,more,ID\nb,2024-01-02,2.5\n"))
}

func TestInferSamples(t *testing.T) {
	opts := DefaultOptions()
	opts.Header = true
	data := "a\n" + strings.Repeat("1\n", 10*format.BufferBytes) + "x\n"
	in := Inference{MaxBytes: 100}
	require.NoError(t, Infer(strings.NewReader(data), opts, &in))
	require.Equal(t, "a integer", schemaText(in.Schema()))
	require.Equal(t, "a string", infer(t, opts, data))
}

func TestInferAdd(t *testing.T) {
	var in Inference
	for _, v := range []string{"1", "2"} {
		require.NoError(t, in.Add("a", v, false, DefaultOptions()))
	}
	require.NoError(t, in.Add("b", "", true, DefaultOptions()))
	require.NoError(t, in.Add("c", "true", false, DefaultOptions()))
	require.Equal(t, "a integer, b string, c string", schemaText(in.Schema()))
}

// headerOf returns the names of the columns of a file.
func headerOf(in string, opts Options) ([]string, error) {
	d, err := opts.compile()
	if err != nil {
		return nil, err
	}
	names, _, err := readHeader(newScanner(strings.NewReader(in), d), &opts)
	return names, err
}

func TestHeader(t *testing.T) {
	opts := DefaultOptions()
	opts.Header = true
	header := func(in string) string {
		names, err := headerOf(in, opts)
		require.NoError(t, err)
		return strings.Join(names, "|")
	}
	require.Equal(t, "id|name", header("\n\nid,name\n1,2"))
	require.Equal(t, "a0|_c1|A2|b", header("a,,A,b\n"))
	require.Equal(t, "a b|c,d", header("a b,\"c,d\"\n"))
	require.Equal(t, 1000, len(strings.Split(header(strings.Repeat("x,", 999)+"y\n"), "|")))
	opts.Header = false
	require.Equal(t, "_c0|_c1", header("a,b\n"))
	opts.Header = true
	_, err := headerOf("a,a,a1\n", opts)
	require.ErrorContains(t, err, "line 1: the header names two columns")
}
