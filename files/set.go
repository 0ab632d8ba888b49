package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"lakesql/store"
)

// Fence says which URIs may be reached; *store.Fence is one.
type Fence interface {
	Check(uri string) error
	Kept(folder string) (names []string, err error) // what a listing of the folder passes over
}

// Set is the files that a path or glob names. List and ListNew are for one goroutine at a time.
type Set struct {
	open     store.Opener
	fence    Fence // nil: everything may be reached
	location location
	opts     *Options
	now      func() time.Time
	gate     *gate
	folders  map[string]folderCache // by key; what the last listing found
	touched  []string               // what Touched returns

	mu      sync.Mutex
	wait    time.Duration // after the last listing, until a waiting file may be whole
	watcher *Watcher
}

// NewSet makes the set of the files that pattern names: the absolute URI of a file or folder, or one with wildcards:
// * ? [a-z] within a name, {a,b}, and ** for any number of folders. Of a folder, its files count, those of its key=value
// folders, and with recursiveFileLookup those of all its folders. Names that begin with "." or "_" are hidden.
// It lists nothing. The fence may be nil.
func NewSet(open store.Opener, fence Fence, pattern string, opts *Options) (*Set, error) {
	loc, err := parseLocation(pattern)
	if err != nil {
		return nil, argumentError(err)
	}
	s := &Set{
		open: open, fence: fence, location: loc, opts: opts,
		now: time.Now, gate: newGate(), folders: map[string]folderCache{},
	}
	return s, s.check(loc.base)
}

// Base is the URI of the deepest folder without wildcards that the set names, or of the one file.
func (s *Set) Base() string { return s.location.base }

func (s *Set) check(uri string) error {
	if s.fence == nil {
		return nil
	}
	return s.fence.Check(uri)
}

// List returns the set's files, sorted by modification time, then path. ready are whole; waiting may still be written.
// A folder that does not exist has no files. A caller that reads once and cannot wait takes both.
func (s *Set) List(ctx context.Context) (ready, waiting []File, err error) {
	return s.ListNew(ctx, nil)
}

// ListNew is List without the files whose URI known says yes to. Of such a file only its name is read, not its inode, and
// while its folder does not change not even that: when known comes to know less, call Reread.
func (s *Set) ListNew(ctx context.Context, known func(uri string) bool) (ready, waiting []File, err error) {
	if err := s.check(s.location.base); err != nil {
		return nil, nil, err
	}
	st, err := s.open(s.location.base)
	if err != nil {
		return nil, nil, err
	}
	l := &listing{
		Set: s, ctx: ctx, tree: newTree(st), known: known, start: s.now(),
		seen: map[string]bool{}, folders: map[string]folderCache{},
	}
	s.gate.begin()
	if err := l.run(); err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", s.location.base, err)
	}
	s.folders = l.folders
	s.touched = nil
	for _, path := range s.gate.forget() {
		if uri := store.FileURI(path); known != nil && known(uri) {
			s.touched = append(s.touched, uri)
		}
	}
	s.finish(l)
	sortFiles(l.ready)
	sortFiles(l.waiting)
	return l.ready, l.waiting, nil
}

// Reread makes the next listing read all folders: known has come to know less.
func (s *Set) Reread() { clear(s.folders) }

// Touched returns the known files that the watcher saw being written to, or replaced, between the last two listings. Nothing
// is missed that was closed while a watcher watched; what happened before is not told.
func (s *Set) Touched() []string { return s.touched }

// sortFiles sorts by modification time, then path: the order in which files are read.
func sortFiles(list []File) {
	slices.SortFunc(list, func(a, b File) int {
		return cmp.Or(a.ModTime.Compare(b.ModTime), cmp.Compare(a.URI, b.URI))
	})
}

// RecheckAfter is how long after the last listing the first waiting file may become ready; 0: none waits. A watcher gives a
// hint then by itself.
func (s *Set) RecheckAfter() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wait
}

// finish tells the watcher which folders count, and when to look again.
func (s *Set) finish(l *listing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wait = l.wait
	if s.watcher == nil {
		return
	}
	paths := make([]string, 0, len(l.folders)+1)
	for key := range l.folders {
		paths = append(paths, l.tree.path(key))
	}
	s.watcher.follow(paths, l.tree.path(""))
	s.watcher.recheck(l.wait)
}

// listing is one walk over the set's folders.
type listing struct {
	*Set
	ctx     context.Context
	tree    tree
	known   func(uri string) bool
	start   time.Time
	seen    map[string]bool // keys met, where two globs may meet the same
	folders map[string]folderCache

	ready, waiting []File
	wait           time.Duration
}

// folderCache is what a folder held that was not known, while its version stays.
type folderCache struct {
	version time.Time
	sure    bool // the version was old enough, when the folder was read, for any later change to move it
	entries []entry
}

// versionMargin is how much older than the listing a folder's version must be: coarser than any file system's clock.
const versionMargin = time.Second

func (l *listing) run() error {
	if l.location.globs == nil {
		err := l.folder("")
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return l.single()
		}
		return err
	}
	for _, glob := range l.location.globs {
		if err := l.glob("", glob); err != nil {
			return err
		}
	}
	return nil
}

// single is the set of one file, named without wildcards. There may be none of that name.
func (l *listing) single() error {
	dir, name, err := splitURI(l.location.base)
	if err != nil {
		return err
	}
	st, err := l.open(dir)
	if err != nil {
		return err
	}
	l.tree = newTree(st)
	l.folders = map[string]folderCache{"": {}}
	_, err = l.file(name, entry{name: name})
	return err
}

// each calls visit for what is in the folder; hidden names are left out. What visit calls known is not looked at again
// while the folder does not change. A folder that is not there is empty, unless it is the base.
func (l *listing) each(folder string, visit func(entry) (known bool, err error)) error {
	version, sure := l.tree.version(folder)
	old, cached := l.Set.folders[folder]
	now := folderCache{version: version, sure: sure && version.Before(l.start.Add(-versionMargin))}
	kept, err := l.kept(folder)
	if err != nil {
		return err
	}
	var failed error
	look := func(e entry) {
		if failed != nil || hidden(e.name) && l.location.globs == nil || slices.Contains(kept, e.name) {
			return
		}
		if e.link {
			if failed = l.check(l.tree.uri(path.Join(folder, e.name))); failed != nil {
				return
			}
		}
		known, err := visit(e)
		if failed = err; err == nil && !known {
			now.entries = append(now.entries, e)
		}
	}
	if twice, again := l.folders[folder]; again {
		each(twice.entries, look)
	} else if cached && sure && old.sure && old.version.Equal(version) {
		each(old.entries, look)
	} else if err := l.tree.entries(l.ctx, folder, look); err != nil {
		if folder != "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) {
			return nil
		}
		return err
	}
	if failed != nil {
		return failed
	}
	l.folders[folder] = now
	return nil
}

func each(entries []entry, look func(entry)) {
	for _, e := range entries {
		look(e)
	}
}

// kept are the names in a folder that the fence passes over.
func (l *listing) kept(folder string) ([]string, error) {
	if l.fence == nil {
		return nil, nil
	}
	return l.fence.Kept(l.tree.uri(folder))
}

// folder lists the files of a folder.
func (l *listing) folder(folder string) error {
	return l.each(folder, func(e entry) (bool, error) {
		key := path.Join(folder, e.name)
		switch {
		case hidden(e.name):
			return false, nil
		case !e.folder:
			return l.file(key, e)
		case l.opts.recursive || strings.Contains(e.name, "="):
			return false, l.folder(key)
		}
		return false, nil
	})
}

// glob lists what matches the segments below a folder.
func (l *listing) glob(folder string, segments []string) error {
	segment, rest := segments[0], segments[1:]
	if segment == "**" {
		if len(rest) == 0 {
			rest = []string{"*"}
		}
		if err := l.glob(folder, rest); err != nil {
			return err
		}
		return ignoreMissing(l.each(folder, func(e entry) (bool, error) {
			if !e.folder || hidden(e.name) {
				return false, nil
			}
			return false, l.glob(path.Join(folder, e.name), segments)
		}))
	}
	return ignoreMissing(l.each(folder, func(e entry) (bool, error) {
		if !matchName(segment, e.name) {
			return false, nil
		}
		key := path.Join(folder, e.name)
		switch {
		case !e.folder && len(rest) == 0:
			return l.file(key, e)
		case e.folder && len(rest) == 0:
			return false, l.folder(key)
		case e.folder:
			return false, l.glob(key, rest)
		}
		return false, nil
	}))
}

// ignoreMissing drops the error of a base that does not exist.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// file takes one file into the listing.
func (l *listing) file(key string, e entry) (known bool, err error) {
	if l.opts.pathGlobFilter != nil && !slices.ContainsFunc(l.opts.pathGlobFilter, func(glob string) bool { return matchName(glob, e.name) }) {
		return false, nil
	}
	if l.location.globs != nil {
		if l.seen[key] {
			return false, nil
		}
		l.seen[key] = true
	}
	uri := l.tree.uri(key)
	if l.known != nil && l.known(uri) {
		return true, nil
	}
	st := e.stat
	if st == nil {
		found, err := l.tree.stat(l.ctx, key)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil // it went away while the folder was listed
		}
		if err != nil {
			return false, err
		}
		st = &found
	}
	if !l.opts.modifiedAfter.IsZero() && !st.modTime.After(l.opts.modifiedAfter) ||
		!l.opts.modifiedBefore.IsZero() && !st.modTime.Before(l.opts.modifiedBefore) {
		return false, nil
	}
	if st.size == 0 && !l.tree.whole() {
		return false, nil // it has no rows, and may get some: many programs make a file, close it, and open it again to write
	}
	f := File{URI: uri, Size: st.size, ModTime: st.modTime, ETag: st.etag}
	whole, wait := true, time.Duration(0)
	if !l.tree.whole() {
		path := l.tree.path(key)
		whole, wait = l.gate.judge(path, *st, l.now())
		if whole && l.now().Sub(st.modTime) < openCheckAge && isOpenForWriting(path) {
			whole, wait = false, QuietPeriod
		}
	}
	if whole {
		l.ready = append(l.ready, f)
		return false, nil
	}
	l.waiting = append(l.waiting, f)
	if l.wait == 0 || wait < l.wait {
		l.wait = wait
	}
	return false, nil
}
