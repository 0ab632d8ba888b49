package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

const (
	// maxPageBytes bounds a page. Writers make pages of a megabyte, and larger ones only for a single large value.
	maxPageBytes = 1 << 30
	// slack is how many bytes behind a page can be read, which unpacking bits in wide steps does.
	slack = 32
	// maxBlownUp bounds a page that a codec without a limit of its own makes of far fewer bytes.
	maxBlownUp = 256 << 20
	// suspicious is the ratio from which on memory is only taken for bytes that have really come out, where a codec knows no limit.
	suspicious = 64
)

// maxRatio is how many bytes one byte can become at the most: in snappy a copy of 64 takes three bytes, in deflate one of 258 two bits, in
// LZ4 a byte of a length stands for 255. zstd and brotli know no limit that would be of use.
var maxRatio = map[format.CompressionCodec]int{format.Snappy: 32, format.Gzip: 1032, format.Lz4Raw: 255, format.Lz4: 255}

// checkCodec says whether pages of that codec can be read.
func checkCodec(codec format.CompressionCodec) error {
	switch codec {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4, format.Lz4Raw:
		return nil
	}
	return fmt.Errorf("%w: it is compressed with %s; rewrite the file with snappy or zstd", ErrUnsupported, codec)
}

// ending tells a scan in the middle of a page that its context has ended; nil never does.
type ending struct{ ctx context.Context }

func (e *ending) now() error {
	if e == nil || e.ctx == nil {
		return nil
	}
	return e.ctx.Err()
}

// decompress returns the size bytes that src stands for. They are in buf's memory where that is large enough, and have slack behind them.
// Uncompressed bytes are returned as they are. It ends with ends, between two pieces where the codec goes by pieces.
func decompress(ends *ending, codec format.CompressionCodec, buf, src []byte, size int) ([]byte, error) {
	if codec == format.Uncompressed {
		return src, nil
	}
	limit := max(maxBlownUp, suspicious*len(src))
	if ratio := maxRatio[codec]; ratio > 0 {
		limit = ratio*len(src) + slack
	}
	limit = min(limit, maxPageBytes)
	if size > limit {
		return nil, damaged("a page of %d bytes in %s is said to have %d bytes", len(src), codec, size)
	}
	if size == 0 {
		return nil, nil
	}
	if maxRatio[codec] == 0 && size > suspicious*len(src)+1<<16 {
		return decompressSlowly(ends, codec, src, size)
	}
	if cap(buf) < size+slack {
		buf = make([]byte, size, size+size/4+slack)
	}
	n, err := decompressInto(ends, codec, buf[:size], src)
	if ended := ends.now(); ended != nil {
		return nil, ended
	}
	if err == nil && n != size {
		err = fmt.Errorf("it has %d bytes", n)
	}
	if err != nil {
		return nil, damaged("a page of %d bytes in %s, said to have %d bytes: %v", len(src), codec, size, err)
	}
	return buf[:size], nil
}

// decompressInto fills dst and returns how much there was, at most one byte more than dst has.
func decompressInto(ends *ending, codec format.CompressionCodec, dst, src []byte) (int, error) {
	switch codec {
	case format.Snappy:
		if n, err := s2.DecodedLen(src); err != nil || n != len(dst) {
			return n, err
		}
		out, err := s2.Decode(dst, src)
		return len(out), err
	case format.Zstd:
		if len(dst) > largePage {
			if n, err := zstdByPieces(ends, dst, src); !errors.Is(err, zstd.ErrWindowSizeExceeded) {
				return n, err
			}
		}
		out, err := zstdDecoder().DecodeAll(src, dst[:0:cap(dst)])
		copy(dst, out) // as far as it was not put there
		return len(out), err
	case format.Gzip:
		r := gzipReaders.Get().(*gzip.Reader)
		defer gzipReaders.Put(r)
		if err := r.Reset(bytes.NewReader(src)); err != nil {
			return 0, err
		}
		return readInto(ends, dst, r)
	case format.Brotli:
		return readInto(ends, dst, brotli.NewReader(bytes.NewReader(src)))
	case format.Lz4Raw:
		return lz4.UncompressBlock(src, dst)
	case format.Lz4:
		if err := hadoopLZ4(dst, src); err == nil {
			return len(dst), nil
		}
		return lz4.UncompressBlock(src, dst) // early writers left the frames away
	}
	return 0, fmt.Errorf("unknown codec")
}

// zstdDecoder never makes more of a page than the destination that it is given has room for. It may be used by several goroutines at once.
var zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // the options are wrong
	}
	return d
})

// largePage is the size above which a page in zstd goes by pieces, for which it takes memory as large as its window.
const largePage = 32 << 20

// zstdByPieces is decompressInto for a page that takes long.
func zstdByPieces(ends *ending, dst, src []byte) (int, error) {
	r, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	return readInto(ends, dst, r)
}

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

// pieceBytes is how much is decompressed between two looks at whether the scan has ended.
const pieceBytes = 1 << 20

// readInto fills dst and looks for a byte behind.
func readInto(ends *ending, dst []byte, r io.Reader) (n int, err error) {
	for n < len(dst) {
		if err := ends.now(); err != nil {
			return n, err
		}
		got, err := io.ReadFull(r, dst[n:min(n+pieceBytes, len(dst))])
		if n += got; err != nil {
			return n, err
		}
	}
	var more [1]byte
	extra, err := io.ReadFull(r, more[:])
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n + extra, err
}

// maxZstdWindow is the largest window that zstd's own levels use.
const maxZstdWindow = 128 << 20

// decompressSlowly takes memory for what comes out and not for what is said to come.
func decompressSlowly(ends *ending, codec format.CompressionCodec, src []byte, size int) ([]byte, error) {
	var r io.Reader
	if codec == format.Zstd {
		d, err := zstd.NewReader(bytes.NewReader(src), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, damaged("a page in %s: %v", codec, err)
		}
		defer d.Close()
		r = d
	} else {
		r = brotli.NewReader(bytes.NewReader(src))
	}
	out := make([]byte, 0, suspicious*len(src)+1<<16)
	for len(out) < size {
		if err := ends.now(); err != nil {
			return nil, err
		}
		if len(out) == cap(out) {
			out = append(make([]byte, 0, min(2*cap(out), size+slack)), out...)
		}
		n, err := io.ReadFull(r, out[len(out):min(cap(out), size, len(out)+pieceBytes)])
		if out = out[:len(out)+n]; err != nil {
			return nil, damaged("a page of %d bytes in %s, said to have %d bytes, has %d: %v", len(src), codec, size, len(out), err)
		}
	}
	if n, err := readInto(nil, nil, r); n > 0 || err != nil {
		return nil, damaged("a page of %d bytes in %s, said to have %d bytes, has more: %v", len(src), codec, size, err)
	}
	return append(out, make([]byte, slack)...)[:size], nil
}

// hadoopLZ4 fills dst from frames as Hadoop writes them: the size of a block of plain bytes, then compressed pieces of it, each with its
// size before it, until the block is full. Sizes are big-endian.
func hadoopLZ4(dst, src []byte) error {
	next := func() (int, bool) {
		if len(src) < 4 {
			return 0, false
		}
		n := binary.BigEndian.Uint32(src)
		src = src[4:]
		return int(n), int64(n) <= 1<<31-1
	}
	for len(dst) > 0 {
		block, ok := next()
		if !ok || block > len(dst) {
			return damaged("a frame of LZ4 is out of bounds")
		}
		for block > 0 {
			packed, ok := next()
			if !ok || packed > len(src) {
				return damaged("a frame of LZ4 is out of bounds")
			}
			n, err := lz4.UncompressBlock(src[:packed], dst[:block])
			if err != nil || n == 0 {
				return damaged("a frame of LZ4 gives %d bytes: %v", n, err)
			}
			src, dst, block = src[packed:], dst[n:], block-n
		}
	}
	return nil
}

// pageBuffers holds the memory of pages that are read up, for scans to come: fresh memory costs more than decompressing into it.
var pageBuffers = sync.Pool{New: func() any { return new([]byte) }}

// maxKeptBuffer is the size above which a buffer is not kept. DuckDB makes a page of a whole chunk: some 10 MB of strings in its row group of default size.
const maxKeptBuffer = 32 << 20

// keepBuffer gives a buffer back.
func keepBuffer(buf *[]byte) {
	if cap(*buf) <= maxKeptBuffer {
		pageBuffers.Put(buf)
	}
}
