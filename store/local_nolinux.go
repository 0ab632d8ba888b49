//go:build !linux

package store

import "errors"

// renameExclusive renames unless the target exists, in one step; here no system call does that.
func renameExclusive(_, _ string) error {
	return errors.New("the file system has no hard links, and without them a log cannot be written safely")
}

func renameNoReplace(from, to string) error { return renameIfFree(from, to) }
