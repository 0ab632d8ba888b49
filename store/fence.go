package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Fence decides which paths statements may reach: those that lie, links resolved, in one of its root folders, and not in one that is the
// server's own. Of roots in one another the innermost decides.
//
// It judges names, not open files: somebody who may change links below a root while a statement runs can lead it astray.
type Fence struct {
	base  string
	roots []fenceRoot
	own   []fenceRoot // what the server keeps for itself
}

type fenceRoot struct {
	name string // as given, absolute and clean
	real string // links resolved
}

// OutsideError says that a statement named a path that it may not reach.
type OutsideError struct {
	Path  string   // absolute
	Real  string   // what it is after following links
	Roots []string // the folders that statements may reach
	Own   string   // the server's own folder or file that it lies in; "": none, it lies outside of the roots
}

func (e *OutsideError) Error() string {
	leads := ""
	if e.Real != e.Path {
		leads = fmt.Sprintf(" (which leads to %s)", e.Real)
	}
	if e.Own != "" {
		return fmt.Sprintf("%s%s lies in %s, which the server keeps for itself: no statement reaches it, whatever --allow-path says; put the files elsewhere", e.Path, leads, e.Own)
	}
	dir, _ := splitGlob(e.Real)
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	return fmt.Sprintf("%s%s is outside of the folders that statements may reach (%s); start the server with --allow-path %s to allow it",
		e.Path, leads, strings.Join(e.Roots, ", "), dir)
}

// NewFence allows the roots. Relative roots, and later the relative paths of statements, resolve against base.
func NewFence(base string, roots ...string) (*Fence, error) {
	abs, err := filepath.Abs(base)
	if err != nil {
		return nil, fmt.Errorf("resolve the base folder %q: %w", base, err)
	}
	f := &Fence{base: abs}
	for _, root := range roots {
		r, err := f.root(root)
		if err != nil {
			return nil, fmt.Errorf("allowed path %q: %w", root, err)
		}
		f.roots = append(f.roots, r)
	}
	return f, nil
}

// KeepOut takes folders and files that the server keeps for itself, such as its accounts, keys and secrets, from what statements may reach. It is
// called before the first statement.
func (f *Fence) KeepOut(paths ...string) error {
	for _, path := range paths {
		r, err := f.root(path)
		if err != nil {
			return fmt.Errorf("the server's own path %q: %w", path, err)
		}
		f.own = append(f.own, r)
	}
	return nil
}

// Kept is the names in a folder that the server keeps for itself: listings pass over them, as over hidden ones.
func (f *Fence) Kept(folder string) (names []string, err error) {
	if len(f.own) == 0 {
		return nil, nil
	}
	path, err := ParseFileURI(folder)
	if err != nil {
		return nil, err
	}
	real, err := resolveLinks(path)
	if err != nil {
		return nil, err
	}
	for _, r := range f.own {
		if filepath.Dir(r.real) == real {
			names = append(names, filepath.Base(r.real))
		}
	}
	return names, nil
}

func (f *Fence) root(path string) (fenceRoot, error) {
	name, err := f.absolute(path)
	if err != nil {
		return fenceRoot{}, err
	}
	real, err := resolveLinks(name)
	return fenceRoot{name: name, real: real}, err
}

// Roots returns the allowed folders as they were given, absolute.
func (f *Fence) Roots() []string {
	names := make([]string, len(f.roots))
	for i, r := range f.roots {
		names[i] = r.name
	}
	return names
}

// Resolve turns what a statement names into an absolute URI: an absolute or relative path, or a URI with file: and one or three
// slashes. ".." is resolved by name. Links are followed for the check only, so that the URI is spelled as Spark would
// spell it. The tail may hold globs (from the first name with one of * ? [ { on); what they match must pass Check.
// A path outside of the roots is an *OutsideError.
func (f *Fence) Resolve(pathOrURI string) (uri string, err error) {
	path, err := f.absolute(pathOrURI)
	if err != nil {
		return "", err
	}
	if err := f.check(path); err != nil {
		return "", err
	}
	return FileURI(path), nil
}

// Check tests a file: URI that was listed or stored. A path outside of the roots is an *OutsideError.
func (f *Fence) Check(uri string) error {
	path, err := ParseFileURI(uri)
	if err != nil {
		return err
	}
	return f.check(filepath.Clean(path))
}

// Follow returns the URI with the links of its path followed, so that a folder has one name. Links that globs match stay.
func (f *Fence) Follow(uri string) (string, error) {
	path, err := ParseFileURI(uri)
	if err != nil {
		return "", err
	}
	fixed, tail := splitGlob(path)
	real, err := resolveLinks(fixed)
	if err != nil {
		return "", err
	}
	return FileURI(filepath.Join(real, tail)), nil
}

func (f *Fence) absolute(pathOrURI string) (string, error) {
	path := pathOrURI
	switch scheme := uriScheme(pathOrURI); {
	case pathOrURI == "":
		return "", malformed("", "the path is empty: name a folder or a file")
	case strings.ContainsRune(pathOrURI, 0):
		return "", malformed(pathOrURI, "the path holds a NUL byte")
	case scheme == "file":
		var err error
		if path, err = ParseFileURI(pathOrURI); err != nil {
			return "", err
		}
	case scheme != "":
		return "", unsupportedScheme(pathOrURI, scheme)
	}
	if fixed, tail := splitGlob(path); tail != "" && hasDotDot(tail) {
		return "", malformed(pathOrURI, "the path has .. behind the wildcard; write it without, after %s", fixed)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.base, path)
	}
	return filepath.Clean(path), nil
}

func hasDotDot(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if name == ".." {
			return true
		}
	}
	return false
}

// splitGlob cuts a path before the first name that holds a wildcard.
func splitGlob(path string) (fixed, tail string) {
	i := strings.IndexAny(path, "*?[{")
	if i < 0 {
		return path, ""
	}
	cut := strings.LastIndexByte(path[:i], '/') + 1
	return path[:cut], path[cut:]
}

// check tests a clean path. A name that does not exist, such as one with wildcards, counts as lying in the folder before it.
func (f *Fence) check(path string) error {
	real, err := resolveLinks(path)
	if err != nil {
		return err
	}
	allowed, own := innermost(real, f.roots), innermost(real, f.own)
	if allowed.real == "" || len(own.real) >= len(allowed.real) {
		return &OutsideError{Path: path, Real: real, Roots: f.Roots(), Own: own.name}
	}
	return nil
}

// innermost is the deepest of the roots that a path lies in; none: the zero value.
func innermost(path string, roots []fenceRoot) (in fenceRoot) {
	for _, r := range roots {
		if inFolder(path, r.real) && len(r.real) > len(in.real) {
			in = r
		}
	}
	return in
}

func inFolder(path, folder string) bool {
	sep := string(filepath.Separator)
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, sep)+sep)
}

// maxLinks is how many links one path may lead through, as in the Linux kernel.
const maxLinks = 40

// resolveLinks follows the links in an absolute path, also those to nothing; names that do not exist stay as they are.
func resolveLinks(path string) (string, error) {
	sep := string(filepath.Separator)
	done := filepath.VolumeName(path) + sep
	rest := strings.TrimPrefix(filepath.Clean(path), done)
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, sep)
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			done = next
			continue
		case err != nil:
			return "", fmt.Errorf("follow the links of %s: %w", path, err)
		case info.Mode()&fs.ModeSymlink == 0:
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("follow the links of %s: %w", path, syscall.ELOOP)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", fmt.Errorf("follow the links of %s: %w", path, err)
		}
		if filepath.IsAbs(target) {
			done = filepath.VolumeName(target) + sep
		}
		rest = target + sep + rest
	}
	return done, nil
}
