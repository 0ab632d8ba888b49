package files

import (
	"context"
	"errors"
	"time"

	"lakesql/store"
)

// Fence says which URIs may be reached; *store.Fence is one.
type Fence interface{ Check(uri string) error }

// Set is the files that a path or glob names.
type Set struct{}

// NewSet makes the set of the files that pattern names: an absolute URI of a file or folder, or one with * ? [] {} **.
// It touches nothing.
func NewSet(open store.Opener, fence Fence, pattern string, opts *Options) (*Set, error) {
	return nil, errors.ErrUnsupported
}

// List returns the set's files, sorted by modification time, then path. ready are whole; waiting may still be written.
// A folder that does not exist has no files. A caller that reads once and cannot wait takes both.
func (s *Set) List(ctx context.Context) (ready, waiting []File, err error) {
	return s.ListNew(ctx, nil)
}

// ListNew is List without the files whose URI known says yes to. It is cheaper: a known file costs no look at the disk.
func (s *Set) ListNew(ctx context.Context, known func(uri string) bool) (ready, waiting []File, err error) {
	return nil, nil, errors.ErrUnsupported
}

// RecheckAfter is how long after the last listing the first waiting file may become ready; 0: none waits.
func (s *Set) RecheckAfter() time.Duration { return 0 }

// Watch begins to watch the set's folders.
func (s *Set) Watch(ctx context.Context) (*Watcher, error) { return nil, errors.ErrUnsupported }
