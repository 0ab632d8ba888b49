package store

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// checkKey refuses what is no key; see Store.
func checkKey(key string) error {
	for rest, more := key, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, "/")
		if name == "" || name == "." || name == ".." || strings.ContainsRune(name, 0) {
			return fmt.Errorf("key %q has the name %q in it: %w", key, name, fs.ErrInvalid)
		}
		if isTemp(name) {
			return fmt.Errorf("key %q names a temporary file: %w", key, fs.ErrInvalid)
		}
	}
	return nil
}

// checkPrefix refuses prefixes that could lead out of the root. What stands behind the last slash is the beginning of a name.
func checkPrefix(prefix string) error {
	folders := prefix[:max(0, strings.LastIndexByte(prefix, '/'))]
	if path.Clean("/" + folders)[1:] != folders || strings.HasPrefix(prefix, "/") || strings.ContainsRune(prefix, 0) {
		return fmt.Errorf("prefix %q is not a clean relative path: %w", prefix, fs.ErrInvalid)
	}
	return nil
}

// isTemp tells the files of writers that have not committed. Spark names its own the same way: .7.<uuid>.tmp.
func isTemp(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp")
}

// CleanPrefix returns the folder that Sub means by a prefix, without slashes at its ends. ".." never leads above the root.
func CleanPrefix(prefix string) string {
	return strings.TrimPrefix(path.Clean("/"+prefix), "/")
}

// ObjectURI is the absolute URI of an object of s.
func ObjectURI(s Store, key string) string {
	if key == "" {
		return s.URI()
	}
	return s.URI() + "/" + escapePath(key)
}
