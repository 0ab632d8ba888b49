package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/uuid"
)

var _ Syncer = (*localWriter)(nil)

// localWriter writes one object of a Local. It is not safe for several goroutines.
type localWriter struct {
	l    *Local
	key  string
	path string   // where the object will be
	tmp  string   // where its bytes are until then
	f    *os.File // nil once Commit or Abort was called
	err  error    // the first failed write; Commit returns it
}

// Create implements Store.
func (l *Local) Create(ctx context.Context, key string) (Writer, error) {
	path, err := l.begin(ctx, key)
	if err != nil {
		return nil, l.wrap("create", key, err)
	}
	w := &localWriter{l: l, key: key, path: path, tmp: tempPath(path)}
	for range 3 { // another process may remove an empty folder between the two steps
		if err = makeDirs(filepath.Dir(path), l.dir); err != nil {
			break
		}
		w.f, err = os.OpenFile(w.tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, l.wrap("create", key, err)
	}
	return w, nil
}

// tempPath names the temporary file as Spark does: .<name>.<uuid>.tmp. Long names are cut to fit the system's 255 bytes.
func tempPath(path string) string {
	const room = 255 - len("..tmp.") - 36
	dir, name := filepath.Split(path)
	if len(name) > room {
		name = name[:room]
	}
	return dir + "." + name + "." + uuid.NewString() + ".tmp"
}

// Write implements io.Writer.
func (w *localWriter) Write(p []byte) (int, error) {
	if w.f == nil {
		return 0, w.l.wrap("write", w.key, fs.ErrClosed)
	}
	n, err := w.f.Write(p)
	if err != nil {
		err = w.l.wrap("write", w.key, err)
		w.err = cmp.Or(w.err, err)
	}
	return n, err
}

// Sync implements Syncer.
func (w *localWriter) Sync() error {
	if w.f == nil {
		return w.l.wrap("sync", w.key, fs.ErrClosed)
	}
	return w.l.wrap("sync", w.key, w.f.Sync())
}

// Commit implements Writer.
func (w *localWriter) Commit(ctx context.Context, ifAbsent bool) error {
	if w.f == nil {
		return w.l.wrap("commit", w.key, fs.ErrClosed)
	}
	err := errors.Join(w.err, ctx.Err())
	if err == nil {
		err = w.l.wrap("sync", w.key, w.f.Sync())
	}
	if closeErr := w.f.Close(); err == nil {
		err = w.l.wrap("close", w.key, closeErr)
	}
	w.f = nil
	if err != nil {
		return errors.Join(err, removeTemp(w.tmp))
	}
	if err := w.publish(ifAbsent); err != nil {
		return errors.Join(w.l.wrap("commit", w.key, err), removeTemp(w.tmp))
	}
	if err := syncDir(filepath.Dir(w.path)); err != nil {
		// The name is there, but might not survive a power loss.
		return fmt.Errorf("commit %s: sync its folder: %w: %w", ObjectURI(w.l, w.key), ErrAmbiguous, err)
	}
	return nil
}

// publish gives the temporary file its name.
func (w *localWriter) publish(ifAbsent bool) error {
	if !ifAbsent {
		return os.Rename(w.tmp, w.path)
	}
	err := os.Link(w.tmp, w.path)
	switch {
	case err == nil:
		// A temporary file that stays behind is a second name of the same bytes: never listed, never read.
		_ = os.Remove(w.tmp)
		return nil
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS):
		return renameExclusive(w.tmp, w.path) // a file system without hard links
	}
	return err
}

// Abort implements Writer. After Commit it does nothing.
func (w *localWriter) Abort() error {
	if w.f == nil {
		return nil
	}
	err := w.f.Close()
	w.f = nil
	return w.l.wrap("abort", w.key, errors.Join(err, removeTemp(w.tmp)))
}

func removeTemp(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove temporary file: %w", err)
	}
	return nil
}

// PutIfAbsent implements Store.
func (l *Local) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	path, err := l.begin(ctx, key)
	if err != nil {
		return l.wrap("write", key, err)
	}
	if _, err := os.Lstat(path); err == nil { // spares the sync of a lost race; link(2) decides
		return l.wrap("write", key, fs.ErrExist)
	}
	w, err := l.Create(ctx, key)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit(ctx, true)
}
