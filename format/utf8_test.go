package format

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestAppendUTF8 has what Java's new String(bytes, UTF_8) gives: runs of wrong bytes are not joined.
func TestAppendUTF8(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"é日😀":                    "é日😀",
		"\xff\xfe":               "\uFFFD\uFFFD",
		"a\x80\x80b":             "a\uFFFD\uFFFDb",
		"\xe6\x97":               "\uFFFD",
		"\xe6\x97x":              "\uFFFDx",
		"\xf0\x9f\x98":           "\uFFFD",
		"\xf0\x9f\x98\xf0\x9fé":  "\uFFFD\uFFFDé",
		"\xe0\x80\x80":           "\uFFFD\uFFFD\uFFFD",
		"\xed\xa0\x80":           "\uFFFD\uFFFD\uFFFD",
		"\xc0\xafx":              "\uFFFD\uFFFDx",
		"\xf4\x90\x80\x80":       "\uFFFD\uFFFD\uFFFD\uFFFD",
		"caf\xe9 au lait, \xfc.": "caf\uFFFD au lait, \uFFFD.",
	} {
		require.Equal(t, want, string(AppendUTF8(nil, []byte(text))), "%q", text)
	}
}

func TestAppendUTF8IsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.Byte()).Draw(t, "text")
		out := AppendUTF8(nil, text)
		if !utf8.Valid(out) {
			t.Fatalf("%q", out)
		}
		if utf8.Valid(text) && string(out) != string(text) {
			t.Fatalf("%q became %q", text, out)
		}
	})
}
