package files

import (
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lakesql/store"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// rangeBytes is how much of a file is asked of the store at a time: it bounds memory, and is large against the cost of a
// request.
const rangeBytes = 1 << 20

// contents reads the bytes of one file as it was listed.
type contents struct {
	ctx   context.Context
	st    store.Store
	key   string
	file  File
	off   int64
	chunk []byte
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
		n := min(rangeBytes, c.file.Size-c.off)
		if n <= 0 {
			return 0, io.EOF
		}
		chunk, err := c.st.GetRange(c.ctx, c.key, c.off, n)
		if err != nil {
			return 0, c.failed(err)
		}
		if int64(len(chunk)) < n {
			now := c.file
			now.Size = c.off + int64(len(chunk))
			return 0, &ChangedError{File: c.file, Now: now}
		}
		c.chunk = chunk
		c.off += n
	}
	n := copy(p, c.chunk)
	c.chunk = c.chunk[n:]
	return n, nil
}

// maxZstdWindow bounds the memory that a zstd file may ask for.
const maxZstdWindow = 128 << 20

// laterCompressions are endings of compressed files that cannot be read yet.
var laterCompressions = []string{".lz4", ".snappy", ".deflate", ".xz", ".zip", ".7z", ".br", ".lzo", ".z", ".tar", ".tgz"}

// decompress unpacks by the ending of the file's name: .gz, .zst, .bz2. release frees what it holds.
func decompress(uri string, size int64, r io.Reader) (out io.Reader, release func(), err error) {
	release = func() {}
	lower := strings.ToLower(uri)
	ending := lower[max(strings.LastIndexByte(lower, '.'), 0):]
	switch {
	case size == 0:
		return r, release, nil
	case ending == ".gz" || ending == ".gzip":
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, notCompressed("gzip", err)
		}
		return namedErrors{"gzip", unzipped}, release, nil
	case ending == ".zst" || ending == ".zstd":
		dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, nil, notCompressed("zstd", err)
		}
		return namedErrors{"zstd", dec}, dec.Close, nil
	case ending == ".bz2":
		return namedErrors{"bzip2", bzip2.NewReader(r)}, release, nil
	case slices.Contains(laterCompressions, ending):
		return nil, nil, fmt.Errorf("files that end with %s are not supported yet; .gz, .zst and .bz2 are", ending)
	}
	return r, release, nil
}

func notCompressed(kind string, err error) error {
	if ours(err) {
		return err
	}
	return fmt.Errorf("its name says %s: %w", kind, err)
}

// ours says whether an error is this package's or the context's, and complete as it is.
func ours(err error) bool {
	var gone *GoneError
	var changed *ChangedError
	var unreadable *UnreadableError
	return errors.As(err, &gone) || errors.As(err, &changed) || errors.As(err, &unreadable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// namedErrors says of a decompressor's errors what they are about.
type namedErrors struct {
	kind string
	io.Reader
}

func (n namedErrors) Read(p []byte) (int, error) {
	got, err := n.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = notCompressed(n.kind, err)
	}
	return got, err
}
