package stream

import (
	"net/url"
	"path"
	"strings"

	"lakesql/store"
)

// canonicalURI is the one spelling of a folder's URI, so that two spellings of one checkpoint are seen to be one. Links
// are resolved already, by the fence.
func canonicalURI(uri string) string {
	abs, err := store.ParseFileURI(uri)
	if err != nil {
		if scheme, rest, ok := strings.Cut(uri, "://"); ok {
			return scheme + "://" + strings.TrimPrefix(path.Clean("/"+rest), "/")
		}
		return strings.TrimRight(uri, "/")
	}
	return store.FileURI(path.Clean(abs))
}

// within reports whether a is b, or lies below it. Both are canonical.
func within(a, b string) bool { return a == b || strings.HasPrefix(a, strings.TrimRight(b, "/")+"/") }

// globChars are those that make a name a pattern; a backslash takes the meaning of the next.
const globChars = `*?[{\`

// decoded is a segment of a URI as people write it: encoding hides some of its glob characters.
func decoded(segment string) string {
	if text, err := url.PathUnescape(segment); err == nil {
		return text
	}
	return segment
}

// fixedPart is the folder above the first component of a pattern that has a glob character.
func fixedPart(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, p := range parts {
		if strings.ContainsAny(decoded(p), globChars) {
			return strings.Join(parts[:i], "/")
		}
	}
	return pattern
}

// canonicalPattern is the one spelling of a pattern: its fixed part is canonical, the rest stays as it is.
func canonicalPattern(pattern string) string {
	fixed := fixedPart(pattern)
	return canonicalURI(fixed) + strings.TrimPrefix(pattern, fixed)
}

// mayMatchAbove reports whether the pattern may name uri or a folder above it.
func mayMatchAbove(pattern, uri string) bool {
	parts, have := strings.Split(pattern, "/"), strings.Split(uri, "/")
	for i, p := range parts {
		p = decoded(p)
		if strings.Contains(p, "**") || strings.Contains(p, "{") {
			return true // {} may hold a slash, and ** any number of them: better refuse than read a checkpoint's files
		}
		if i >= len(have) {
			return false
		}
		if ok, err := path.Match(p, decoded(have[i])); err == nil && !ok {
			return false
		}
	}
	return true
}
