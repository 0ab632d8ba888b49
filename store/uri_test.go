package store_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// TestFileURI has the table of what java.net.URI does.
func TestFileURI(t *testing.T) {
	for path, uri := range map[string]string{
		"/data/in/a b.csv":         "file:///data/in/a%20b.csv",
		"/100%":                    "file:///100%25",
		"/#?[]":                    "file:///%23%3F%5B%5D",
		"/{}|^`\"<>\\":             "file:///%7B%7D%7C%5E%60%22%3C%3E%5C",
		"/+&=,;@:$!*'()~_-.":       "file:///+&=,;@:$!*'()~_-.",
		"/é/日本/😀":                  "file:///é/日本/😀",
		"/a\u00a0b\u2003c\u2028d":  "file:///a%C2%A0b%E2%80%83c%E2%80%A8d",
		"/\x01\x7f\u0085":          "file:///%01%7F%C2%85",
		"/\xff\xfe":                "file:///%FF%FE",
		"/\ufffd":                  "file:///\ufffd",
		"/":                        "file://",
		"/a%20b":                   "file:///a%2520b",
		"/_lakesql/year=2024/a,b;": "file:///_lakesql/year=2024/a,b;",
	} {
		require.Equal(t, uri, store.FileURI(path))
		back, err := store.ParseFileURI(uri)
		require.NoError(t, err)
		require.Equal(t, path, back)
	}
}

func TestParseFileURI(t *testing.T) {
	for uri, path := range map[string]string{
		"file:/data/x":            "/data/x",
		"file:///data/x":          "/data/x",
		"FILE:///data/x":          "/data/x",
		"file://localhost/data/x": "/data/x",
		"file:///a%2fb%2Fc":       "/a/b/c",
		"file:///a b?[x]":         "/a b?[x]",
		"file:///%2e%2e/x":        "/../x",
	} {
		got, err := store.ParseFileURI(uri)
		require.NoError(t, err)
		require.Equal(t, path, got, uri)
	}
	for uri, text := range map[string]string{
		"/data":           "is not a file: URI",
		"s3://b/k":        "is not a file: URI",
		"file:data":       "relative URI",
		"file://data/in":  `names the host "data"; a local path is written file:///data/in`,
		"file:///a%":      "incomplete",
		"file:///a%2":     "incomplete",
		"file:///a%zz":    `"%zz" is no percent-encoding`,
		"file:///a%00b":   "NUL",
		"file:///a\x00b":  "NUL",
		"file://../etc/x": "names the host",
		"":                "is not a file: URI",
	} {
		_, err := store.ParseFileURI(uri)
		require.ErrorContains(t, err, text, uri)
	}
}

func TestOpen(t *testing.T) {
	for _, uri := range []string{"file:///data/in", "/data/in", "file:/data/in/", "/data/x/../in"} {
		s, err := store.Open(uri)
		require.NoError(t, err)
		require.Equal(t, "file:///data/in", s.URI())
	}
	for uri, text := range map[string]string{
		"s3://bucket/k": "s3: is not supported yet",
		"abfss://c@a/k": "is not supported yet",
		"hdfs:/k":       "is not supported yet",
		"data/in":       "is not absolute",
		"":              "is not absolute",
	} {
		_, err := store.Open(uri)
		require.ErrorContains(t, err, text, uri)
	}
}

func FuzzFileURI(f *testing.F) {
	for _, seed := range []string{"/a b", "/%41", "/é\u00a0", "/\xff", "/a//b/../c", "/日\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if !strings.HasPrefix(path, "/") || strings.ContainsRune(path, 0) || strings.HasSuffix(path, "/") {
			return
		}
		uri := store.FileURI(path)
		require.True(t, utf8.ValidString(uri))
		require.NotContains(t, uri, " ")
		back, err := store.ParseFileURI(uri)
		require.NoError(t, err)
		require.Equal(t, path, back)
	})
}

func FuzzParseFileURI(f *testing.F) {
	for _, seed := range []string{"file:///a%20b", "file:/x", "file://h/x", "file:///%2e%2e/%00", "file:///%zz"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		path, err := store.ParseFileURI(uri)
		if err != nil {
			return
		}
		require.True(t, strings.HasPrefix(path, "/"))
		require.NotContains(t, path, "\x00")
		if !strings.HasSuffix(path, "/") {
			again, err := store.ParseFileURI(store.FileURI(path))
			require.NoError(t, err)
			require.Equal(t, path, again)
		}
	})
}
