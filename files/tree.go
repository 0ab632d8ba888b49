package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"lakesql/store"
)

// entry is one name in a folder.
type entry struct {
	name   string
	folder bool
	link   bool  // a symbolic link to one
	stat   *stat // where the listing gave it for free
}

// stat is what is known of a file without reading it.
type stat struct {
	size    int64
	modTime time.Time
	changed time.Time // of its inode; zero where the system does not tell
	etag    string
}

// tree is the folders below a base, by slash-separated keys; "" is the base itself.
type tree interface {
	// entries yields what is in a folder, in any order; fs.ErrNotExist when there is no such folder.
	entries(ctx context.Context, folder string, yield func(entry)) error
	// stat looks at one file; fs.ErrNotExist when it is none.
	stat(ctx context.Context, key string) (stat, error)
	// version changes whenever an entry of the folder is made, renamed or removed; false where that cannot be told for sure.
	version(folder string) (time.Time, bool)
	// uri is the URI of a file or folder.
	uri(key string) string
	// whole says that files appear whole, so that there is nothing to wait for.
	whole() bool
	// path is the folder's path on the local disk; "" where there is none.
	path(folder string) string
}

// localPather is the power of stores whose objects are files of the local disk.
type localPather interface{ LocalPath(key string) string }

func newTree(st store.Store) tree {
	if local, ok := st.(localPather); ok {
		return localTree{st: st, local: local}
	}
	return objectTree{st: st}
}

// localTree lists folders of the local disk itself, because a listing by the store looks at each file, and because the
// store does not tell when an inode changed.
type localTree struct {
	st    store.Store
	local localPather
}

// pageEntries is how many names of a folder are read at a time.
const pageEntries = 1024

func (t localTree) whole() bool           { return false }
func (t localTree) uri(key string) string { return store.ObjectURI(t.st, key) }

func (t localTree) version(folder string) (time.Time, bool) { return folderVersion(t.path(folder)) }

func (t localTree) path(folder string) string {
	if folder == "" {
		return strings.TrimSuffix(t.local.LocalPath("x"), string(os.PathSeparator)+"x")
	}
	return t.local.LocalPath(folder)
}

func (t localTree) entries(ctx context.Context, folder string, yield func(entry)) error {
	dir, err := os.Open(t.path(folder))
	if err != nil {
		return err
	}
	defer dir.Close()
	pages := pagesOf(ctx, dir)
	for first, err := range pages {
		if err != nil {
			return err
		}
		t.page(folder, dir.Name(), first, yield)
		if len(first) == pageEntries { // there may be very many
			pages = store.Ahead(pages, 1)
		}
		break
	}
	for page, err := range pages {
		if err != nil {
			return err
		}
		t.page(folder, dir.Name(), page, yield)
	}
	return nil
}

// pagesOf goes on reading a folder.
func pagesOf(ctx context.Context, dir *os.File) iter.Seq2[[]fs.DirEntry, error] {
	return func(yield func([]fs.DirEntry, error) bool) {
		for {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			page, err := dir.ReadDir(pageEntries)
			if len(page) > 0 && !yield(page, nil) {
				return
			}
			if err != nil {
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
		}
	}
}

func (t localTree) page(folder, dir string, page []fs.DirEntry, yield func(entry)) {
	for _, e := range page {
		isFolder, regular := e.IsDir(), e.Type().IsRegular()
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(dir + string(os.PathSeparator) + e.Name())
			if err != nil {
				continue // a link to nothing is no file
			}
			isFolder, regular = info.IsDir(), info.Mode().IsRegular()
			if isFolder && t.loops(folder, e.Name()) {
				continue
			}
		}
		if isFolder || regular {
			yield(entry{name: e.Name(), folder: isFolder, link: e.Type()&fs.ModeSymlink != 0})
		}
	}
}

// loops says whether a link in the folder leads to one of the folders on the way to it: following it would find the same
// files again and again, under other names.
func (t localTree) loops(folder, link string) bool {
	target, err := filepath.EvalSymlinks(filepath.Join(t.path(folder), link))
	if err != nil {
		return true // a loop of links
	}
	for {
		on, err := filepath.EvalSymlinks(t.path(folder))
		if err != nil || on == target || strings.HasPrefix(on, target+string(os.PathSeparator)) {
			return true
		}
		if folder == "" {
			return false
		}
		folder = strings.TrimPrefix(path.Dir(folder), ".")
	}
}

func (t localTree) stat(ctx context.Context, key string) (stat, error) {
	if err := ctx.Err(); err != nil {
		return stat{}, err
	}
	info, err := os.Stat(t.local.LocalPath(key))
	if err != nil {
		return stat{}, err
	}
	if !info.Mode().IsRegular() {
		return stat{}, fs.ErrNotExist
	}
	seen, err := t.st.Stat(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return stat{}, fs.ErrNotExist
	}
	return stat{size: seen.Size, modTime: seen.ModTime, changed: changeTime(info), etag: seen.ETag}, err
}

// objectTree lists through the store. What a store shows is whole: nothing is visible before it is committed.
type objectTree struct{ st store.Store }

func (t objectTree) whole() bool           { return true }
func (t objectTree) path(string) string    { return "" }
func (t objectTree) uri(key string) string { return store.ObjectURI(t.st, key) }

func (t objectTree) version(string) (time.Time, bool) { return time.Time{}, false }

func (t objectTree) entries(ctx context.Context, folder string, yield func(entry)) error {
	prefix := folder
	if prefix != "" {
		prefix += "/"
	}
	found := false
	for info, err := range t.st.List(ctx, prefix, "", "/") {
		if errors.Is(err, store.ErrNotFound) {
			return fs.ErrNotExist
		}
		if err != nil {
			return err
		}
		found = true
		e := entry{name: strings.TrimSuffix(info.Key[len(prefix):], "/"), folder: info.Prefix}
		if !e.folder {
			e.stat = &stat{size: info.Size, modTime: info.ModTime, etag: info.ETag}
		}
		yield(e)
	}
	if !found {
		return fs.ErrNotExist
	}
	return nil
}

func (t objectTree) stat(ctx context.Context, key string) (stat, error) {
	info, err := t.st.Stat(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return stat{}, fs.ErrNotExist
	}
	return stat{size: info.Size, modTime: info.ModTime, etag: info.ETag}, err
}
