package files

import (
	"strings"
	"testing"
	"unicode/utf8"

	"lakesql/store"

	"github.com/stretchr/testify/require"
)

// FuzzLocation: no pattern panics, and a name without wildcards matches itself.
func FuzzLocation(f *testing.F) {
	for _, seed := range []string{"/a/*.csv", "/a/{b,c{d,e}}/**/x?", "/a/[!b-c]/%5B%25", `/a\*b`, "/{a", "/[", "/a/b%"} {
		f.Add(seed, "b.csv")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		loc, err := parseLocation("file://" + pattern)
		if err != nil {
			return
		}
		require.True(t, strings.HasPrefix(loc.base, "file:"))
		for _, glob := range loc.globs {
			for _, segment := range glob {
				matchName(segment, name)
			}
		}
		if name == "" || !utf8.ValidString(name) || strings.ContainsAny(name, "\x00/"+wildcards) {
			return
		}
		loc, err = parseLocation(store.FileURI("/in/" + name))
		require.NoError(t, err)
		require.Nil(t, loc.globs)
		folder, decoded, err := splitURI(loc.base)
		require.NoError(t, err)
		require.Equal(t, "file:///in", folder)
		require.Equal(t, name, decoded)
	})
}

// FuzzOptions: no text of an option panics, and a list of columns that is read has columns.
func FuzzOptions(f *testing.F) {
	f.Add("schema", "a INT, `b``c` DECIMAL(10,2)")
	f.Add("cloudFiles.maxBytesPerTrigger", "10g")
	f.Add("timeZone", "GMT+1")
	f.Add("sep", `\t`)
	f.Fuzz(func(t *testing.T, name, value string) {
		o, err := ParseOptions(map[string]string{"format": "csv", name: value})
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		if o.Schema() != nil {
			require.NotEmpty(t, o.Schema().Fields)
		}
	})
}
