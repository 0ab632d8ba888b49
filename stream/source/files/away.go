package files

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"lakesql/files"
)

// away is an error, which passes, when the folder of files that were read is not there. A folder that nothing was read of may come later.
func (s *Source) away(ctx context.Context) error {
	if len(s.seen) == 0 {
		return nil
	}
	folder, err := s.set.Away(ctx, func(uri string) bool { _, ok := s.seen[uri]; return ok })
	if err != nil || folder == "" {
		return err
	}
	return fmt.Errorf("the folder %s is not there, and %d files of it were read: mount it, or make it again", folder, len(s.seen))
}

// awayInstead is the error that a file is gone, or rather that its whole folder is.
func (s *Source) awayInstead(ctx context.Context, err error) error {
	if gone := (*files.GoneError)(nil); errors.As(err, &gone) {
		if away := s.away(ctx); away != nil {
			return away
		}
	}
	return err
}

// ofTheFile are the system's errors that say something about a file, and not about the disk or the network that it lies on.
var ofTheFile = []syscall.Errno{
	syscall.ENOENT, syscall.EACCES, syscall.EPERM, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EINVAL, syscall.ENXIO,
}

// isOutside says whether a file could not be read for a reason that is none of its own and may pass, such as an I/O error of its disk.
func isOutside(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) && !slices.Contains(ofTheFile, errno)
}
