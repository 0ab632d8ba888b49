package files

import (
	"context"
	"errors"
	"io"

	"lakesql/store"
)

const (
	// rangeBytes is how much of a file is asked of the store at a time where the caller wants less: it bounds memory, and is large against the cost of a
	// request.
	rangeBytes = 1 << 20
	// directBytes is what a caller wants at the least that is read into its own memory.
	directBytes = 128 << 10
)

// contents reads the bytes of one file as it was listed.
type contents struct {
	ctx   context.Context
	st    store.Store
	key   string
	file  File
	off   int64
	chunk []byte // read, and not given
	buf   []byte // what chunk is of
}

// openContents checks that the file is as it was listed.
func openContents(ctx context.Context, open store.Opener, f File) (*contents, error) {
	folder, name, err := splitURI(f.URI)
	if err != nil {
		return nil, &UnreadableError{File: f, Err: err}
	}
	st, err := open(folder)
	if err != nil {
		return nil, &UnreadableError{File: f, Err: err}
	}
	c := &contents{ctx: ctx, st: st, key: name, file: f}
	return c, c.verify(ctx)
}

// verify compares the file with what was listed.
func (c *contents) verify(ctx context.Context) error {
	info, err := c.st.Stat(ctx, c.key)
	if err != nil {
		return c.failed(err)
	}
	now := File{URI: c.file.URI, Size: info.Size, ModTime: info.ModTime, ETag: info.ETag}
	// A listing kept in a log may have its times in milliseconds only.
	sameTime := now.ModTime.UnixMilli() == c.file.ModTime.UnixMilli()
	sameTag := now.ETag == c.file.ETag || now.ETag == "" || c.file.ETag == ""
	if now.Size != c.file.Size || !sameTime || !sameTag {
		return &ChangedError{File: c.file, Now: now}
	}
	return nil
}

// failed turns the store's error into this package's.
func (c *contents) failed(err error) error {
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, store.ErrNotFound):
		return &GoneError{File: c.file, Err: err}
	}
	return &UnreadableError{File: c.file, Err: err}
}

// Read implements io.Reader. It never reads beyond the size that was listed.
func (c *contents) Read(p []byte) (int, error) {
	if len(c.chunk) == 0 {
		left := c.file.Size - c.off
		if left <= 0 {
			return 0, io.EOF
		}
		if len(p) >= directBytes {
			p = p[:min(int64(len(p)), left)]
			return len(p), c.fill(p)
		}
		if n := min(rangeBytes, left); int64(cap(c.buf)) < n {
			c.buf = make([]byte, n)
		}
		c.buf = c.buf[:min(int64(cap(c.buf)), left)]
		if err := c.fill(c.buf); err != nil {
			return 0, err
		}
		c.chunk = c.buf
	}
	n := copy(p, c.chunk)
	c.chunk = c.chunk[n:]
	return n, nil
}

// fill reads the next bytes, which the file must have.
func (c *contents) fill(p []byte) error {
	n, err := store.ReadRange(c.ctx, c.st, c.key, c.off, p)
	if err != nil {
		return c.failed(err)
	}
	c.off += int64(n)
	if n < len(p) {
		now := c.file
		now.Size = c.off
		return &ChangedError{File: c.file, Now: now}
	}
	return nil
}

// ours says whether an error is this package's or the context's, and complete as it is.
func ours(err error) bool {
	var gone *GoneError
	var changed *ChangedError
	var unreadable *UnreadableError
	return errors.As(err, &gone) || errors.As(err, &changed) || errors.As(err, &unreadable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
