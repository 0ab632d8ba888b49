package store

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

var _ LeftoverRemover = (*Local)(nil)

// RemoveLeftovers removes the temporary files below the folder prefix ("" or ending with a slash) that nobody has written to since before: writers that died left them
// behind. A writer that lives, and has slept for that long, fails at its Commit. A store whose writers leave nothing behind has nothing to do.
func RemoveLeftovers(ctx context.Context, s Store, prefix string, before time.Time) error {
	if r, ok := s.(LeftoverRemover); ok {
		return r.RemoveLeftovers(ctx, prefix, before)
	}
	return nil
}

// RemoveLeftovers implements LeftoverRemover. It follows no links.
func (l *Local) RemoveLeftovers(ctx context.Context, prefix string, before time.Time) error {
	if err := checkPrefix(prefix); err != nil {
		return l.wrap("clear", prefix, err)
	}
	err := filepath.WalkDir(l.path(prefix), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return ignoreGone(err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !e.Type().IsRegular() || !isTemp(e.Name()) {
			return nil
		}
		info, err := e.Info()
		if err != nil || !info.ModTime().Before(before) {
			return ignoreGone(err)
		}
		return removeTemp(path)
	})
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return l.wrap("clear", prefix, err)
}
