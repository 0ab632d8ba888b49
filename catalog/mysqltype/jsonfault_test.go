package mysqltype

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJSONFaultsAsMySQLWordsThem has what a MySQL server said of these texts.
func TestJSONFaultsAsMySQLWordsThem(t *testing.T) {
	for text, want := range map[string]string{
		"":           `"The document is empty." at position 0`,
		"   ":        `"The document is empty." at position 3`,
		"x":          `"Invalid value." at position 0`,
		"nope":       `"Invalid value." at position 1`,
		"tru":        `"Invalid value." at position 3`,
		"-":          `"Invalid value." at position 1`,
		"[":          `"Invalid value." at position 1`,
		"[1,]":       `"Invalid value." at position 3`,
		`["ü", ü]`:   `"Invalid value." at position 7`,
		`{"a":}`:     `"Invalid value." at position 5`,
		"01":         `"The document root must not be followed by other values." at position 1`,
		"1 2":        `"The document root must not be followed by other values." at position 2`,
		"1.":         `"Miss fraction part in number." at position 2`,
		"1e":         `"Miss exponent in number." at position 2`,
		"[1 2]":      `"Missing a comma or ']' after an array element." at position 3`,
		"[1":         `"Missing a comma or ']' after an array element." at position 2`,
		`{"a":1 "b"`: `"Missing a comma or '}' after an object member." at position 7`,
		`{"a":1`:     `"Missing a comma or '}' after an object member." at position 6`,
		"{":          `"Missing a name for object member." at position 1`,
		`{"a":1,}`:   `"Missing a name for object member." at position 7`,
		`{"a"`:       `"Missing a colon after a name of object member." at position 4`,
		`"abc`:       `"Missing a closing quotation mark in string." at position 4`,
		`"a\x"`:      `"Invalid escape character in string." at position 2`,
		`"\u12"`:     `"Incorrect hex digit after \\u escape in string." at position 1`,
		"\"\n\"":     `"Invalid encoding in string." at position 1`,
	} {
		require.Equal(t, strings.ReplaceAll(want, `\\`, `\`), JSONFault(text), text)
	}
	require.NotEmpty(t, JSONFault(strings.Repeat("[", 1<<20)))
}

func FuzzJSONFault(f *testing.F) {
	for _, text := range []string{`{"a": [1, -2.5e+3, null, true, false, "\u00e4\n"]}`, "[", `{"a" 1}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if json.Valid([]byte(text)) != (JSONFault(text) == "") {
			t.Fatalf("%q: %s", text, JSONFault(text))
		}
	})
}
