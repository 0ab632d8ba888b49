package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteOwnFile makes a file of the local disk that is no object of a store, such as one with accounts or a key: a new file beside it, synced, takes its name, and the
// folder is synced, so that after a crash it is there whole or not at all. With ifAbsent a file that is there stays, which is no error.
func WriteOwnFile(path string, mode fs.FileMode, ifAbsent bool, parts ...[]byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	for _, part := range parts {
		_, writeErr := f.Write(part)
		err = errors.Join(err, writeErr)
	}
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	switch {
	case err != nil:
	case ifAbsent:
		if err = os.Link(f.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
			err = os.Remove(f.Name())
			return errors.Join(err, syncDir(filepath.Dir(path)))
		}
	default:
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(path))
}
