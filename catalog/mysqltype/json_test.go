package mysqltype

import (
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

func TestDocumentNumbersAreExact(t *testing.T) {
	for text, want := range map[string]any{
		"9007199254740993": int64(9007199254740993), "-0": 0.0, "7": 7.0, "18446744073709551615": uint64(18446744073709551615),
		"1.10": 1.1, "0.000000000000001": 1e-15, "1e300": 1e300, "null": nil, `"1"`: "1", "true": true,
	} {
		v, err := NewDocument([]byte(text)).ToInterface(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, v, text)
	}
	for _, text := range []string{"12345678901234567890.12", "18446744073709551616", "0.1234567890123456", "1234567890.1234567"} {
		v, err := NewDocument([]byte(text)).ToInterface(t.Context())
		require.NoError(t, err)
		require.Equal(t, text, v.(*apd.Decimal).Text('f'))
	}
	_, err := NewDocument([]byte("{")).ToInterface(t.Context())
	require.True(t, sql.ErrInvalidJson.Is(err))
	_, err = ParseDocument([]byte("[1,]"))
	require.True(t, sql.ErrInvalidJson.Is(err))
}

func TestNestedColumnsTakeWhatJSONColumnsDo(t *testing.T) {
	ctx := sql.NewEmptyContext()
	variant := batch.Type{Kind: batch.Variant}
	array := batch.ListOf(batch.Field{Type: batch.DecimalOf(30, 2), Nullable: true})
	for _, c := range []struct {
		t    batch.Type
		v    any
		want string
	}{
		{nested, `{"d": 1.5}`, `{"a":null,"d":1.50}`},
		{nested, []byte(`{"a": [1]}`), `{"a":[1],"d":null}`},
		{nested, types.JSONDocument{Val: map[string]any{"a": []any{int64(1), nil}, "d": apd.New(125, -2)}}, `{"a":[1,null],"d":1.25}`},
		{nested, NewDocument([]byte("null")), "null"},
		{array, NewDocument([]byte("[1234567890123456789012345678.25]")), "[1234567890123456789012345678.25]"},
		{variant, int64(5), "5"},
		{variant, apd.New(15, -1), "1.5"},
		{variant, "[]", "[]"},
		{variant, time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC), `"2024-01-02T00:00:00Z"`},
	} {
		b := batch.NewBuilder(batch.NewSchema(batch.Field{Name: "c", Type: c.t, Nullable: true}))
		require.NoError(t, AppendRow(ctx, b, sql.Row{c.v}))
		require.Equal(t, c.want, string(b.Column(0).AppendJSON(nil, 0)))
	}
	b := batch.NewBuilder(batch.NewSchema(batch.Field{Name: "c", Type: nested, Nullable: true}))
	require.ErrorContains(t, AppendRow(ctx, b, sql.Row{`{"a": ["x"]}`}), `column c: read JSON at $.a[0]: found "\"x\"", expected integer`)
	require.ErrorContains(t, AppendRow(ctx, b, sql.Row{"no JSON"}), `column c: read JSON at $: found "no JSON"`)
	require.Zero(t, b.Len())
}

// A variant that goes through rows keeps the types that JSON has no words for.
func TestVariantThroughRows(t *testing.T) {
	ctx := sql.NewEmptyContext()
	f := batch.Field{Name: "v", Type: batch.Type{Kind: batch.Variant}, Nullable: true}
	from := batch.NewVector(f.Type, 1)
	from.Children[0].AppendBytes([]byte{1, 0, 0})
	from.Children[1].AppendBytes([]byte{11 << 2, 1, 0, 0, 0}) // the date 1970-01-02
	from.EndRow()
	v := NewGetter(f, from)(0)
	require.Equal(t, `"1970-01-02"`, v.(*Document).String())
	b := batch.NewBuilder(batch.NewSchema(f))
	require.NoError(t, AppendRow(ctx, b, sql.Row{v}))
	require.Equal(t, from.Value(0), b.Column(0).Value(0))
}

func TestJSONColumnIsAString(t *testing.T) {
	ctx := sql.NewEmptyContext()
	f, err := Field(&sql.Column{Name: "js", Type: types.JSON, Nullable: true})
	require.NoError(t, err)
	require.Equal(t, batch.Field{Name: "js", Type: batch.Type{Kind: batch.String}, Nullable: true, Metadata: map[string]string{"lakesql.type": `"json"`}}, f)
	require.Equal(t, types.JSON, OfField(f))
	b := batch.NewBuilder(batch.NewSchema(f))
	require.NoError(t, AppendRow(ctx, b, sql.Row{NewDocument([]byte(`{"a": 1.10}`))}))
	require.NoError(t, AppendRow(ctx, b, sql.Row{types.JSONDocument{Val: map[string]any{"b": 2.0, "a": 1.5}}}))
	require.ErrorContains(t, AppendRow(ctx, b, sql.Row{"{"}), "column js: Invalid JSON")
	get := NewGetter(f, b.Column(0))
	require.Equal(t, `{"a": 1.10}`, get(0).(*Document).String())
	require.Equal(t, `{"a": 1.5, "b": 2}`, get(1).(*Document).String())
}

func TestVoidIsAlwaysNull(t *testing.T) {
	ctx := sql.NewEmptyContext()
	f := batch.Field{Name: "z", Type: batch.Type{Kind: batch.Void}, Nullable: true}
	require.Equal(t, Text, OfField(f))
	b := batch.NewBuilder(batch.NewSchema(f))
	require.NoError(t, AppendRow(ctx, b, sql.Row{nil}))
	require.ErrorContains(t, AppendRow(ctx, b, sql.Row{"x"}), "column z: a column of type void holds only NULL")
	require.Nil(t, NewGetter(f, b.Column(0))(0))
}

// A path is found in the text as it is in the value.
func TestLookup(t *testing.T) {
	const text = ` { "a" : [ 1 , {"b c": 1.50, "é\u0041": "}"} , [] ], "n": null, "a.b": true, "s": "\"]", "d": 1, "d": {"x": [[7]]} } `
	for path, want := range map[string]string{
		"$.a[0]": "1", `$.a[1]."b c"`: "1.50", `$.a[1]."éA"`: `"}"`, "$.a[2]": "[]", "$.a[3]": "", "$.n": "null", `$."a.b"`: "true", "$.s": `"\"]"`, "$.n[0]": "null", "$.n[1]": "", "$.d.x[0][0][0]": "7",
		"$.d.x[0][0]": "7", "$.none": "", "$.n.x": "", "$.s.x": "", "$.a.x": "", `$.a[1]`: `{"b c": 1.50, "é\u0041": "}"}`,
	} {
		got, err := NewDocument([]byte(text)).Lookup(t.Context(), path)
		require.NoError(t, err, path)
		if want == "" {
			require.Nil(t, got, path)
			continue
		}
		require.Equal(t, want, got.(*Document).String(), path)
	}
	for _, path := range []string{"$.a[*]", "$ .n", "$.a[1 to 2]", "$**.x", "a", `$."a`, "$.", `$."\u0061"`} { // left to GMS
		_, _, ok := lookup([]byte(text), path)
		require.False(t, ok, path)
	}
	for _, broken := range []string{"", " ", "{", `{"a"`, `{"a":`, `{"a":[1`, `{"a" 1}`, `{a:1}`, `{"a":"x`, `{"a":1]`} {
		_, err := NewDocument([]byte(broken)).Lookup(t.Context(), "$.a")
		require.True(t, sql.ErrInvalidJson.Is(err), broken)
	}
}

// FuzzLookup holds lookup to what the path's parts lead to in the value.
func FuzzLookup(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"x\"}"}],"b":{}}`), "$.a[1].b")
	f.Add([]byte(`[[1.5],{"\u0061":null}]`), `$[1]."a"[0]`)
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		part, found, ok := lookup(text, path)
		doc, err := ParseDocument(text)
		if err != nil || !ok {
			return
		}
		v, err := doc.ToInterface(t.Context())
		require.NoError(t, err)
		there := true
		for rest := path[1:]; rest != "" && there; {
			var name string
			var index int
			name, index, rest, _ = leg(rest)
			array, isArray := v.([]any)
			switch object, _ := v.(map[string]any); {
			case index < 0:
				v, there = object[name]
			case !isArray:
				there = index == 0
			case index < len(array):
				v = array[index]
			default:
				there = false
			}
		}
		require.Equal(t, there, found)
		if found {
			got, err := NewDocument(part).ToInterface(t.Context())
			require.NoError(t, err)
			require.Equal(t, v, got)
		}
	})
}
