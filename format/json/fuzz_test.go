package json

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"lakesql/format"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const fuzzSchema = "a INT, b STRING, c DOUBLE, d DECIMAL(20,3), e STRUCT<x: BIGINT, y: ARRAY<STRUCT<z: STRING>>>, f MAP<STRING, BOOLEAN>, g VARIANT, h DATE, i TIMESTAMP, _corrupt_record STRING"

// FuzzReader: no panic with any options, and the same rows however the bytes are cut into reads. A line that encoding/json takes for an
// object is no malformed record, and one that it takes for something else is.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"b":"x","c":1.5,"d":0.125,"e":{"x":1,"y":[{"z":"q"},null]},"f":{"k":true},"g":[1],"h":"2024-02-29","i":1}` + "\n", `{"a":1}` + "\r\n" + `{"a":2}`, `[{"a":1},{"a":2}]`, "[\n{\"a\":1\n}\n,\n{}]", `{"a":`,
		`{'a':NaN}`, `{"b":"\ud83d\ude00\n"}`, `{"e":{"x":1},"e":7,"f":{"k":1,"k":true}}`, "\xEF\xBB\xBF{}", "{}\r{}", `{"a":1}x`, `{"b":"` + "\xff" + `"}`, `[]]`, `[1,{"a":2}`, "x{}", `{"a":1}{"a":2}`, `[,{}]`,
	} {
		for _, flags := range []byte{0, 1, 0xff} {
			f.Add([]byte(seed), flags)
		}
	}
	schema := schemaOf(f, fuzzSchema)
	f.Fuzz(func(t *testing.T, data []byte, flags byte) {
		opts := DefaultOptions()
		opts.MultiLine = flags&1 != 0
		opts.Mode = format.Mode((flags >> 1) % 3)
		opts.CaseSensitive = flags&8 == 0
		opts.AllowSingleQuotes, opts.AllowNonNumericNumbers = flags&16 == 0, flags&16 == 0
		if flags&32 != 0 {
			opts.LineSep = ";"
		}
		whole := readAll(t, bytes.NewReader(data), schema, opts)
		cut := readAll(t, iotest.OneByteReader(bytes.NewReader(data)), schema, opts)
		require.Equal(t, whole.rows, cut.rows)
		require.Equal(t, fmt.Sprint(whole.errors, whole.err), fmt.Sprint(cut.errors, cut.err))
		var in Inference
		if Infer(bytes.NewReader(data), opts, &in) == nil {
			if inferred, err := in.Schema(); err == nil {
				again := readAll(t, bytes.NewReader(data), inferred, opts)
				for _, e := range again.errors { // what was inferred from the whole of a file reads it, but for empty strings, which say nothing
					require.Regexp(t, `malformed|too early|no UTF-8|the string "" is no`, e)
				}
			}
		}
		if bytes.ContainsAny(data, "\r\n") || !utf8.Valid(data) || bytes.HasPrefix(data, []byte(format.ByteOrderMark)) {
			return
		}
		strict := Options{CaseSensitive: true}
		got := readAll(t, bytes.NewReader(data), schemaOf(t, "none INT"), strict)
		isObject := stdjson.Valid(data) && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
		isRows := stdjson.Valid(data) && bytes.HasPrefix(bytes.TrimSpace(data), []byte("["))
		switch {
		case isObject:
			require.Len(t, got.rows, 1)
			require.Empty(t, got.errors)
		case !isRows && len(bytes.TrimSpace(data)) > 0:
			require.NotEmpty(t, got.errors)
		}
	})
}

// document draws an object of a few keys, some twice and some that no column has, with values of any type.
func document(t *rapid.T, depth int) string {
	key := rapid.SampledFrom([]string{`"a"`, `"b"`, `"s"`, `"l"`, `"x"`, `"other"`, `"\u0061"`, `"A"`})
	space := rapid.SampledFrom([]string{"", "", "", " ", "\t"})
	var parts []string
	for range rapid.IntRange(0, 5).Draw(t, "keys") {
		parts = append(parts, key.Draw(t, "key")+space.Draw(t, "space")+":"+space.Draw(t, "space")+value(t, depth))
	}
	return "{" + space.Draw(t, "space") + strings.Join(parts, space.Draw(t, "space")+",") + "}"
}

func value(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	switch {
	case kind == 0:
		return "null"
	case kind == 1:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
	case kind == 2:
		return rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
	case kind <= 4 || depth == 0:
		text, err := stdjson.Marshal(rapid.String().Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	case kind == 5:
		return document(t, depth-1)
	}
	var parts []string
	for range rapid.IntRange(0, 3).Draw(t, "elements") {
		parts = append(parts, value(t, depth-1))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// TestAgainstEncodingJSON compares rows with what encoding/json reads, converted by the rules of the package's comment.
func TestAgainstEncodingJSON(t *testing.T) {
	schema := schemaOf(t, "a BIGINT, b STRING, s STRUCT<a: BIGINT, x: BOOLEAN>, l ARRAY<STRING>")
	rapid.Check(t, func(rt *rapid.T) {
		var lines, want []string
		for range rapid.IntRange(0, 8).Draw(rt, "lines") {
			line := document(rt, 3)
			lines = append(lines, line)
			want = append(want, modelRow(rt, line))
		}
		separator := rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(rt, "separator")
		opts := DefaultOptions()
		got := readAll(t, strings.NewReader(strings.Join(lines, separator)), schema, opts)
		require.NoError(rt, got.err)
		require.Equal(rt, want, got.rows)
		opts.MultiLine = true
		got = readAll(t, strings.NewReader("["+strings.Join(lines, ",\n")+"]"), schema, opts)
		require.Equal(rt, want, got.rows, "as an array")
		got = readAll(t, iotest.HalfReader(strings.NewReader(strings.Join(lines, "\n"))), schema, opts)
		require.Equal(rt, want, got.rows, "one after the other")
	})
}

// modelRow is the row of a document.
func modelRow(t *rapid.T, line string) string {
	doc := fields(t, []byte(line))
	cells := []string{"NULL", "NULL", "NULL", "NULL"}
	if n, ok := modelInt(doc["a"]); ok {
		cells[0] = n
	}
	if raw := doc["b"]; raw != nil && string(raw) != "null" {
		cells[1] = modelText(raw)
	}
	if raw := doc["s"]; len(raw) > 0 && raw[0] == '{' {
		s := fields(t, raw)
		a, x := "null", "null"
		if n, ok := modelInt(s["a"]); ok {
			a = n
		}
		if b := string(s["x"]); b == "true" || b == "false" {
			x = b
		}
		cells[2] = `{"a":` + a + `,"x":` + x + "}"
	}
	if raw := doc["l"]; len(raw) > 0 && raw[0] == '[' {
		var elements []stdjson.RawMessage
		require.NoError(t, stdjson.Unmarshal(raw, &elements))
		texts := []string{}
		for _, e := range elements {
			text := "null"
			if string(e) != "null" {
				var b bytes.Buffer
				enc := stdjson.NewEncoder(&b)
				enc.SetEscapeHTML(false)
				require.NoError(t, enc.Encode(modelText(e)))
				text = strings.TrimSpace(b.String())
			}
			texts = append(texts, text)
		}
		cells[3] = "[" + strings.Join(texts, ",") + "]"
	}
	cells[3] = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029", `\u007f`, "\u007f").Replace(cells[3])
	return strings.Join(cells, "|")
}

// fields are the members of an object, the last of each key.
func fields(t *rapid.T, raw []byte) map[string]stdjson.RawMessage {
	var out map[string]stdjson.RawMessage
	require.NoError(t, stdjson.Unmarshal(raw, &out), "%s", raw)
	return out
}

func modelInt(raw stdjson.RawMessage) (string, bool) {
	var n int64
	if len(raw) == 0 || raw[0] == 'n' || strings.ContainsAny(string(raw), ".eE") || stdjson.Unmarshal(raw, &n) != nil {
		return "", false
	}
	return fmt.Sprint(n), true
}

func modelText(raw stdjson.RawMessage) string {
	var text string
	if stdjson.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
