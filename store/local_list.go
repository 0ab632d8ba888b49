package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// someEntries is how many entries of a folder are read at a time where the first object is enough.
const someEntries = 64

// List implements Store. Links to files and folders are followed, except a link to a folder that it is in.
func (l *Local) List(ctx context.Context, prefix, startAfter, delimiter string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Info{}, l.wrapRead("list", "", err))
			return
		}
		root, err := os.Stat(l.dir)
		if err == nil && !root.IsDir() {
			err = fs.ErrNotExist
		}
		if err != nil {
			yield(Info{}, l.wrapRead("list", "", err))
			return
		}
		folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
		w := &walk{l: l, ctx: ctx, prefix: prefix, startAfter: startAfter, fold: delimiter == "/", yield: yield}
		if delimiter != "" && delimiter != "/" {
			w.yield = foldKeys(prefix, delimiter, yield)
		}
		above, err := w.ancestors(folder)
		if err == nil {
			_, err = w.folder(folder, above)
		}
		if err != nil {
			yield(Info{}, l.wrapRead("list", prefix, err))
		}
	}
}

// walk is one listing. Its order is that of the keys: a folder sorts as its name with a slash behind it.
type walk struct {
	l          *Local
	ctx        context.Context
	prefix     string
	startAfter string
	fold       bool // by "/"
	anyOrder   bool // the caller wants one object, whichever it is
	yield      func(Info, error) bool
}

// ancestors returns the folders from the root down to folder; empty when it is not there.
func (w *walk) ancestors(folder string) ([]fs.FileInfo, error) {
	var above []fs.FileInfo
	for i := 0; ; {
		info, err := os.Stat(w.l.path(folder[:i]))
		if err != nil {
			return nil, ignoreGone(err)
		}
		above = append(above, info)
		next := strings.IndexByte(folder[i:], '/')
		if next < 0 {
			return above, nil
		}
		i += next + 1
	}
}

// folder yields what is below the folder with that key ("" or ending with a slash). It returns false when the caller has had enough.
func (w *walk) folder(key string, above []fs.FileInfo) (more bool, err error) {
	if len(above) == 0 {
		return true, nil
	}
	if err := w.ctx.Err(); err != nil {
		return false, err
	}
	if w.anyOrder {
		return w.folderInAnyOrder(key, above)
	}
	entries, err := os.ReadDir(w.l.path(key))
	if err != nil {
		return true, ignoreGone(err)
	}
	for _, e := range w.sorted(key, entries) {
		if more, err := w.entry(e, above); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

// folderInAnyOrder reads a folder bit by bit and goes into other folders last: that of a table has many thousands of files, of which the first will do.
func (w *walk) folderInAnyOrder(key string, above []fs.FileInfo) (more bool, err error) {
	f, err := os.Open(w.l.path(key))
	if err != nil {
		return true, ignoreGone(err)
	}
	defer func() { _ = f.Close() }() // it is only read
	var folders []listed
	for err == nil {
		var entries []fs.DirEntry
		entries, err = f.ReadDir(someEntries)
		for _, e := range w.sorted(key, entries) {
			if strings.HasSuffix(e.key, "/") {
				folders = append(folders, e)
			} else if more, err := w.entry(e, above); !more || err != nil {
				return false, err
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		return true, ignoreGone(err)
	}
	for _, e := range folders {
		if more, err := w.entry(e, above); !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

// listed is one entry of a folder that a listing may have to show.
type listed struct {
	key  string // folders end with a slash
	info fs.FileInfo
}

// sorted returns the entries in question in the order of their keys.
func (w *walk) sorted(folder string, entries []fs.DirEntry) []listed {
	out := make([]listed, 0, len(entries))
	for _, e := range entries {
		if isTemp(e.Name()) {
			continue
		}
		item := listed{key: folder + e.Name()}
		isDir := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(w.l.path(item.key))
			if err != nil {
				continue // a link to nothing is no object
			}
			item.info, isDir = info, info.IsDir()
		}
		if isDir {
			item.key += "/"
		}
		if w.wants(item.key, isDir) {
			out = append(out, item)
		}
	}
	slices.SortFunc(out, func(a, b listed) int { return strings.Compare(a.key, b.key) })
	return out
}

// wants tells whether a key, or any key below a folder, matches prefix and startAfter.
func (w *walk) wants(key string, isDir bool) bool {
	if !strings.HasPrefix(key, w.prefix) {
		return false
	}
	return key > w.startAfter || isDir && strings.HasPrefix(w.startAfter, key)
}

func (w *walk) entry(e listed, above []fs.FileInfo) (more bool, err error) {
	isDir := strings.HasSuffix(e.key, "/")
	if e.info == nil {
		if e.info, err = os.Lstat(w.l.path(e.key)); err != nil {
			return true, ignoreGone(err)
		}
	}
	switch {
	case isDir && slices.ContainsFunc(above, func(a fs.FileInfo) bool { return os.SameFile(a, e.info) }):
		return true, nil
	case isDir && w.fold:
		return w.foldFolder(e, above)
	case isDir:
		return w.folder(e.key, append(above, e.info))
	case !e.info.Mode().IsRegular():
		return true, nil
	}
	return w.yield(localInfo(e.key, e.info), nil), nil
}

// foldFolder yields one Info for a folder that holds at least one object in question.
func (w *walk) foldFolder(e listed, above []fs.FileInfo) (more bool, err error) {
	found := false
	first := &walk{l: w.l, ctx: w.ctx, prefix: e.key, startAfter: w.startAfter, anyOrder: true, yield: func(Info, error) bool {
		found = true
		return false
	}}
	if _, err := first.folder(e.key, append(above, e.info)); err != nil {
		return false, err
	}
	return !found || w.yield(Info{Key: e.key, Prefix: true}, nil), nil
}

// ListNames implements NameLister: it asks for no file's size and time.
func (l *Local) ListNames(ctx context.Context, folder, startAfter string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		entries, err := l.names(ctx, folder)
		if err != nil {
			yield("", l.wrapRead("list", folder, err))
			return
		}
		for _, e := range entries {
			key := folder + e.Name()
			if key <= startAfter || isTemp(e.Name()) || e.IsDir() {
				continue
			}
			if e.Type() != 0 {
				if info, err := os.Stat(l.path(key)); err != nil || !info.Mode().IsRegular() {
					continue // a link to no file, a socket
				}
			}
			if !yield(key, nil) {
				return
			}
		}
	}
}

// names returns the entries of a folder in the order of their names; none when it is not there, unless it is the root.
func (l *Local) names(ctx context.Context, folder string) ([]fs.DirEntry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkPrefix(folder); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(l.path(folder))
	if err != nil && l.rootExists() {
		return nil, ignoreGone(err)
	}
	return entries, err
}

// ignoreGone drops the error of a file or folder that vanished while it was listed.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// foldKeys folds a listing in key order by a delimiter, as Store.List says.
func foldKeys(prefix, delimiter string, yield func(Info, error) bool) func(Info, error) bool {
	last := ""
	return func(info Info, err error) bool {
		if err != nil {
			return yield(info, err)
		}
		i := strings.Index(info.Key[len(prefix):], delimiter)
		if i < 0 {
			return yield(info, nil)
		}
		folded := info.Key[:len(prefix)+i+len(delimiter)]
		if folded == last {
			return true
		}
		last = folded
		return yield(Info{Key: folded, Prefix: true}, nil)
	}
}

// DeletePrefix implements PrefixDeleter.
func (l *Local) DeletePrefix(ctx context.Context, prefix string) error {
	folder := strings.TrimSuffix(prefix, "/")
	if prefix != "" && folder == prefix {
		return deleteListed(ctx, l, prefix)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := l.path(folder)
	if dir == filepath.Dir(dir) {
		return l.wrap("delete", folder, errors.New("the root folder of the file system is not deleted"))
	}
	if err := os.RemoveAll(dir); err != nil {
		return l.wrap("delete", folder, err)
	}
	if err := ignoreGone(syncDir(filepath.Dir(dir))); err != nil {
		return l.wrap("delete", folder, err)
	}
	return nil
}
