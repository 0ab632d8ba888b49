package files

import (
	"compress/bzip2"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow bounds the memory that a zstd file may ask for.
const maxZstdWindow = 128 << 20

// laterCompressions are endings of compressed files that cannot be read yet.
var laterCompressions = []string{".lz4", ".xz", ".zip", ".7z", ".br", ".lzo", ".z", ".tar", ".tgz"}

// decompress unpacks by the ending of the file's name: .gz, .zst, .bz2, .snappy, .deflate. release frees what it holds.
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
	case ending == ".snappy":
		return namedErrors{"snappy", newSnappy(r)}, release, nil
	case ending == ".deflate":
		inflated, err := zlib.NewReader(r)
		if err != nil {
			return nil, nil, notCompressed("zlib", err)
		}
		return namedErrors{"zlib", inflated}, release, nil
	case slices.Contains(laterCompressions, ending):
		return nil, nil, fmt.Errorf("files that end with %s are not supported yet; .gz, .zst, .bz2, .snappy and .deflate are", ending)
	}
	return r, release, nil
}

func notCompressed(kind string, err error) error {
	if ours(err) {
		return err
	}
	return fmt.Errorf("its name says %s: %w", kind, err)
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
