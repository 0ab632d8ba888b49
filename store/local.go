package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Local is a store in a folder. Every object is a file; keys are paths below the folder.
//
// An object is published in this order, so that power loss at any point leaves either all of it or nothing:
//
//  1. missing folders below the root are made, and each parent whose entry is new is synced;
//  2. the bytes go to a temporary dot file in the object's own folder, which is synced;
//  3. link(2) gives it its name where the name must be free, rename(2) where it may be replaced;
//  4. the folder is synced.
type Local struct {
	dir string // absolute and clean
	uri string
}

var (
	_ Store     = (*Local)(nil)
	_ Mapper    = (*Local)(nil)
	_ RootMaker = (*Local)(nil)
	_ Renamer   = (*Local)(nil)
	_ Subber    = (*Local)(nil)

	_ PrefixDeleter = (*Local)(nil)
	_ NameLister    = (*Local)(nil)
	_ RangeReader   = (*Local)(nil)
	_ KeysDeleter   = (*Local)(nil)
)

// NewLocal returns the store in dir, which must be absolute. It does not touch the disk.
func NewLocal(dir string) (*Local, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("the folder %q of a store is not absolute", dir)
	}
	if strings.ContainsRune(dir, 0) {
		return nil, fmt.Errorf("the folder %q of a store holds a NUL byte", dir)
	}
	dir = filepath.Clean(dir)
	return &Local{dir: dir, uri: FileURI(dir)}, nil
}

// URI implements Store.
func (l *Local) URI() string { return l.uri }

// Sub implements Subber.
func (l *Local) Sub(prefix string) Store {
	dir := filepath.Join(l.dir, filepath.FromSlash(CleanPrefix(prefix)))
	return &Local{dir: dir, uri: FileURI(dir)}
}

func (l *Local) path(key string) string {
	return filepath.Join(l.dir, filepath.FromSlash(key))
}

// begin is the first step of every operation on one object.
func (l *Local) begin(ctx context.Context, key string) (path string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := checkKey(key); err != nil {
		return "", err
	}
	return l.path(key), nil
}

// wrap gives an error its operation and URI, and turns the system's "not there" and "there already" into this package's.
func (l *Local) wrap(op, key string, err error) error {
	if err == nil {
		return nil
	}
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err // the URI says it already
	}
	if linkErr := (*os.LinkError)(nil); errors.As(err, &linkErr) {
		err = linkErr.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = ErrNotFound
		if !l.rootExists() {
			err = ErrRootMissing
		}
	case errors.Is(err, fs.ErrExist):
		err = ErrExists
	}
	return fmt.Errorf("%s %s: %w", op, ObjectURI(l, key), err)
}

// wrapRead is wrap for reading, where a name below a file, or that of a folder, is the name of no object.
func (l *Local) wrapRead(op, key string, err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
		err = fs.ErrNotExist
	}
	return l.wrap(op, key, err)
}

func (l *Local) rootExists() bool {
	info, err := os.Stat(l.dir)
	return err == nil && info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// MakeRoot implements RootMaker.
func (l *Local) MakeRoot(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := makeDirs(l.dir, filepath.VolumeName(l.dir)+string(filepath.Separator))
	if errors.Is(err, fs.ErrNotExist) { // not that the root is missing, which is why it is made: where it should be, none can be
		return fmt.Errorf("make folder %s: %s", l.dir, err.Error())
	}
	return l.wrap("make folder", "", err)
}

// makeDirs makes dir and its parents, but nothing at or above stop, and syncs each parent that got a new entry.
func makeDirs(dir, stop string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s is a file, a folder is needed", dir)
		}
		return nil
	}
	if dir == stop {
		return fs.ErrNotExist
	}
	parent := filepath.Dir(dir)
	if err := makeDirs(parent, stop); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// Get implements Store.
func (l *Local) Get(ctx context.Context, key string) ([]byte, error) {
	path, err := l.begin(ctx, key)
	if err != nil {
		return nil, l.wrapRead("read", key, err)
	}
	data, err := readWhole(path)
	if err != nil {
		return nil, l.wrapRead("read", key, err)
	}
	return data, nil
}

// GetRange implements Store.
func (l *Local) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	path, err := l.begin(ctx, key)
	if err == nil && (off < 0 || n < 0) {
		err = fmt.Errorf("range of %d bytes at %d: %w", n, off, fs.ErrInvalid)
	}
	if err != nil {
		return nil, l.wrapRead("read", key, err)
	}
	f, err := openFile(path)
	if err != nil {
		return nil, l.wrapRead("read", key, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, l.wrapRead("read", key, err)
	}
	buf := make([]byte, max(0, min(n, info.Size()-off)))
	got, err := f.ReadAt(buf, off)
	if err != nil && err != io.EOF {
		return nil, l.wrapRead("read", key, err)
	}
	return buf[:got], nil
}

// ReadRange implements RangeReader.
func (l *Local) ReadRange(ctx context.Context, key string, off int64, p []byte) (int, error) {
	path, err := l.begin(ctx, key)
	if err == nil && off < 0 {
		err = fmt.Errorf("range at %d: %w", off, fs.ErrInvalid)
	}
	if err != nil {
		return 0, l.wrapRead("read", key, err)
	}
	f, err := openFile(path)
	if err != nil {
		return 0, l.wrapRead("read", key, err)
	}
	defer f.Close()
	n, err := f.ReadAt(p, off)
	if err != nil && err != io.EOF {
		return 0, l.wrapRead("read", key, err)
	}
	return n, nil
}

// openFile opens a file for reading; a folder is no object.
func openFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		f.Close()
		return nil, errors.Join(fs.ErrNotExist, err)
	}
	return f, nil
}

// Stat implements Store.
func (l *Local) Stat(ctx context.Context, key string) (Info, error) {
	path, err := l.begin(ctx, key)
	if err != nil {
		return Info{}, l.wrapRead("stat", key, err)
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Info{}, l.wrapRead("stat", key, err)
	}
	return localInfo(key, info), nil
}

func localInfo(key string, info fs.FileInfo) Info {
	return Info{Key: key, Size: info.Size(), ModTime: info.ModTime(), ETag: localETag(info.Size(), info.ModTime(), inode(info))}
}

// localETag changes when a file is written, replaced or touched: size, modification time in ns, inode.
func localETag(size int64, mod time.Time, inode uint64) string {
	return fmt.Sprintf("%x-%x-%x", size, mod.UnixNano(), inode)
}

// Delete implements Store.
func (l *Local) Delete(ctx context.Context, key string) error {
	return l.DeleteKeys(ctx, []string{key})
}

// DeleteKeys implements KeysDeleter: each folder is synced once.
func (l *Local) DeleteKeys(ctx context.Context, keys []string) error {
	changed := make(map[string]string) // folder -> one of its keys
	var failed error
	for _, key := range keys {
		path, err := l.remove(ctx, key)
		if err != nil {
			failed = l.wrap("delete", key, err)
			break
		}
		if path != "" {
			changed[filepath.Dir(path)] = key
		}
	}
	for dir, key := range changed { // also after an error: what is gone must not come back
		if err := syncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, l.wrap("delete", key, err))
		}
	}
	return failed
}

// remove removes one file and returns its path; "" when there was none.
func (l *Local) remove(ctx context.Context, key string) (path string, err error) {
	path, err = l.begin(ctx, key)
	if err != nil {
		return "", err
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), err == nil && info.IsDir():
		return "", nil
	case err != nil:
		return "", err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return path, nil
}

// Rename implements Renamer.
func (l *Local) Rename(ctx context.Context, fromPrefix, toPrefix string) error {
	fromPrefix, toPrefix = strings.TrimSuffix(fromPrefix, "/"), strings.TrimSuffix(toPrefix, "/")
	from, err := l.begin(ctx, fromPrefix)
	if err != nil {
		return l.wrap("rename", fromPrefix, err)
	}
	to, err := l.begin(ctx, toPrefix)
	if err != nil {
		return l.wrap("rename", toPrefix, err)
	}
	if _, err := os.Lstat(from); err != nil {
		return l.wrap("rename", fromPrefix, err)
	}
	if err := makeDirs(filepath.Dir(to), l.dir); err != nil {
		return l.wrap("rename to", toPrefix, err)
	}
	if err := renameNoReplace(from, to); err != nil {
		return l.wrap("rename "+ObjectURI(l, fromPrefix)+" to", toPrefix, err)
	}
	if err := errors.Join(syncDir(filepath.Dir(to)), syncDir(filepath.Dir(from))); err != nil {
		return l.wrap("rename to", toPrefix, err)
	}
	return nil
}

// renameIfFree is the fallback where the system has no rename that refuses an existing target. It is not safe between processes.
func renameIfFree(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	}
	return os.Rename(from, to)
}

// syncDir makes the entries of a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return fsyncDir(d)
}
