package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Open opens the store at a URI (file:///data/in) or at an absolute path (/data/in). It is an Opener.
func Open(uri string) (Store, error) {
	dir := uri
	switch scheme := uriScheme(uri); {
	case scheme == "file":
		var err error
		if dir, err = ParseFileURI(uri); err != nil {
			return nil, err
		}
	case scheme != "":
		return nil, unsupportedScheme(uri, scheme)
	}
	return NewLocal(dir)
}

// SchemeError says that a URI's scheme is one that this version does not reach.
type SchemeError struct{ URI, Scheme string }

func (e *SchemeError) Error() string {
	return fmt.Sprintf("%q: %s: is not supported yet; use a local folder, as a path or as file:///path", e.URI, e.Scheme)
}

func unsupportedScheme(uri, scheme string) error { return &SchemeError{URI: uri, Scheme: scheme} }

// uriScheme returns what stands before ":/" in lower case, or "file" for "file:" alone. A path such as "a:b" has none.
func uriScheme(s string) string {
	scheme, rest, found := strings.Cut(s, ":")
	if !found || scheme == "" {
		return ""
	}
	for i, c := range []byte(scheme) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return ""
		}
	}
	scheme = strings.ToLower(scheme)
	if scheme != "file" && !strings.HasPrefix(rest, "/") {
		return ""
	}
	return scheme
}

// FileURI returns the URI of an absolute path, in the very spelling that Spark's logs have: java.net.URI's, with three
// slashes. The root folder is "file://", so that a key can be put behind URI + "/".
func FileURI(absPath string) string {
	return "file://" + escapePath(strings.TrimSuffix(filepath.ToSlash(absPath), "/"))
}

// ParseFileURI returns the path of a URI that begins with file:/ or file:///. It is FileURI's inverse, and reads any other
// percent-encoding too. The path is not cleaned.
func ParseFileURI(uri string) (absPath string, err error) {
	if uriScheme(uri) != "file" {
		return "", malformed(uri, "is not a file: URI; write file:///path")
	}
	rest := uri[len("file:"):]
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, _, _ := strings.Cut(after, "/")
		if host != "" && host != "localhost" {
			return "", malformed(uri, "names the host %q; a local path is written file:///%s", host, after)
		}
		rest = after[len(host):]
		if rest == "" {
			rest = "/"
		}
	}
	if !strings.HasPrefix(rest, "/") {
		return "", malformed(uri, "is a relative URI; write file:///path")
	}
	p, err := unescapePath(rest)
	if err != nil {
		return "", malformed(uri, "%w", err)
	}
	return p, nil
}

// legalPath are the bytes beside letters and digits that java.net.URI leaves as they are in a path.
const legalPath = "/-_.!~'()*,;:$&+=@"

// escapePath encodes as java.net.URI's constructors do: ASCII outside of the legal set, Unicode spaces and controls become
// %XX of their UTF-8 bytes, other non-ASCII letters stay. Bytes that are not UTF-8 become %XX as well, so that they come back.
func escapePath(p string) string {
	const hex = "0123456789ABCDEF"
	if isPlainPath(p) {
		return p
	}
	var b strings.Builder
	b.Grow(len(p) + 8)
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRuneInString(p[i:])
		if keepInPath(r, n) {
			b.WriteString(p[i : i+n])
		} else {
			for _, c := range []byte(p[i : i+n]) {
				b.WriteByte('%')
				b.WriteByte(hex[c>>4])
				b.WriteByte(hex[c&15])
			}
		}
		i += n
	}
	return b.String()
}

// plainPath are the bytes that are a character of their own, and stay as they are: a listing asks of each name.
var plainPath = func() (plain [256]bool) {
	for c := range utf8.RuneSelf {
		plain[c] = keepInPath(rune(c), 1)
	}
	return plain
}()

func isPlainPath(p string) bool {
	for i := range len(p) {
		if !plainPath[p[i]] {
			return false
		}
	}
	return true
}

func keepInPath(r rune, size int) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return true
	case r < utf8.RuneSelf:
		return strings.ContainsRune(legalPath, r)
	case r == utf8.RuneError && size == 1: // a byte that is not UTF-8
		return false
	}
	return !unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Cc)
}

func unescapePath(p string) (string, error) {
	if strings.IndexByte(p, 0) >= 0 {
		return "", fmt.Errorf("a path cannot hold a NUL byte")
	}
	if strings.IndexByte(p, '%') < 0 {
		return p, nil
	}
	b := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		if p[i] != '%' {
			b = append(b, p[i])
			continue
		}
		if i+2 >= len(p) {
			return "", fmt.Errorf("incomplete percent-encoding %q", p[i:])
		}
		hi, okHi := unhex(p[i+1])
		lo, okLo := unhex(p[i+2])
		if !okHi || !okLo {
			return "", fmt.Errorf("%q is no percent-encoding; a percent sign itself is written %%25", p[i:i+3])
		}
		if hi<<4|lo == 0 {
			return "", fmt.Errorf("a path cannot hold a NUL byte")
		}
		b = append(b, hi<<4|lo)
		i += 2
	}
	return string(b), nil
}

func unhex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// URIError says that a text cannot be the URI of a file.
type URIError struct {
	URI string
	Err error
}

func (e *URIError) Error() string { return fmt.Sprintf("%q: %v", e.URI, e.Err) }

// Unwrap returns what is wrong.
func (e *URIError) Unwrap() error { return e.Err }

func malformed(uri, format string, args ...any) error {
	return &URIError{URI: uri, Err: fmt.Errorf(format, args...)}
}
