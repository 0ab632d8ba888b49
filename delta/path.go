package delta

import (
	"strings"
)

// The log writes the path of a file as a URI: relative to the table's root, or absolute. In memory a path is the decoded
// key below the root, or a whole URI in its encoded form. Decoding and encoding happen exactly once, here.

// decodePath turns a path of the log into its form in memory. root is the URI of the table.
func decodePath(root, path string) string {
	if !isAbsolute(path) {
		return relativePath(percentDecode(path))
	}
	uri := canonicalURI(path)
	if below, ok := strings.CutPrefix(uri, canonicalURI(root)+"/"); ok {
		return relativePath(percentDecode(below))
	}
	return uri
}

// here begins a key that would be taken for an absolute path without it.
const here = "./"

// relativePath is the form in memory of a key.
func relativePath(key string) string {
	if isAbsolute(key) {
		return here + key
	}
	return key
}

// encodePath is the inverse of decodePath: what the log says.
func encodePath(path string) string {
	if isAbsolute(path) {
		return path
	}
	return percentEncode(path)
}

// isAbsolute tells whether a path has a scheme or begins with a slash.
func isAbsolute(path string) bool {
	if strings.HasPrefix(path, "/") {
		return true
	}
	scheme, _, ok := strings.Cut(path, ":/")
	if !ok || scheme == "" {
		return false
	}
	for i := range len(scheme) {
		c := scheme[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return false
		}
	}
	return true
}

// canonicalURI gives /x, file:/x and file:///x one form, as Spark does.
func canonicalURI(path string) string {
	switch {
	case strings.HasPrefix(path, "file:"):
		return "file:///" + strings.TrimLeft(path[len("file:"):], "/")
	case strings.HasPrefix(path, "/"):
		return "file:///" + strings.TrimLeft(path, "/")
	}
	return path
}

// percentDecode decodes each %XX once. A sequence that is none stays: writers exist that never encoded.
func percentDecode(s string) string {
	i := strings.IndexByte(s, '%')
	if i < 0 {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, ok1 := unhex(s[i+1])
			lo, ok2 := unhex(s[i+2])
			if ok1 && ok2 {
				out = append(out, hi<<4|lo)
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

const upperHex = "0123456789ABCDEF"

// pathPunctuation is what java.net.URI leaves alone in a path beside ASCII letters and digits. It also leaves characters
// above U+007F, as does percentEncode.
const pathPunctuation = "-_.!~*'():@&=+$,/;"

func percentEncode(s string) string {
	i := 0
	for i < len(s) && legalInPath(s[i]) {
		i++
	}
	if i == len(s) {
		return s
	}
	out := append(make([]byte, 0, len(s)+8), s[:i]...)
	for ; i < len(s); i++ {
		if c := s[i]; legalInPath(c) {
			out = append(out, c)
		} else {
			out = append(out, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(out)
}

func legalInPath(c byte) bool { return inPath[c] }

var inPath = func() (table [256]bool) {
	for c := range table {
		table[c] = c >= 0x80 || isAlphanumeric(byte(c)) || strings.IndexByte(pathPunctuation, byte(c)) >= 0
	}
	return table
}()

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// hiveDefaultPartition stands for null in the name of a partition's folder.
const hiveDefaultPartition = "__HIVE_DEFAULT_PARTITION__"

// hiveEscapes are the characters that Hive, and so Spark, escapes in folder names, beside control characters.
const hiveEscapes = "\"#%'*/:=?\\{[]^\x7f"

// partitionFolder is the folder col=value/col=value/ of a data file, with Hive's escapes; "" without partition columns.
func partitionFolder(columns []string, values map[string]string) string {
	var out []byte
	for _, c := range columns {
		out = append(hiveEscape(out, c), '=')
		if v := values[c]; v != "" {
			out = hiveEscape(out, v)
		} else {
			out = append(out, hiveDefaultPartition...)
		}
		out = append(out, '/')
	}
	return string(out)
}

func hiveEscape(dst []byte, s string) []byte {
	for i := range len(s) {
		c := s[i]
		if c < 0x20 || strings.IndexByte(hiveEscapes, c) >= 0 {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}
