package store

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameExclusive renames unless the target exists, in one step.
func renameExclusive(from, to string) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}

func renameNoReplace(from, to string) error {
	err := renameExclusive(from, to)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return renameIfFree(from, to) // a file system without the flag
	}
	return err
}
