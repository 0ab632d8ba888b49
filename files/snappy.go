package files

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
)

// snappyStream is how a file in Snappy's framing format begins.
const snappyStream = "\xff\x06\x00\x00sNaPpY"

// maxSnappyBlock bounds the memory that a file may ask for; Hadoop writes 256 KiB.
const maxSnappyBlock = 64 << 20

// newSnappy reads a .snappy file, which has one of two forms: Snappy's framing format, or the blocks of Hadoop, and so of Spark.
func newSnappy(r io.Reader) io.Reader {
	buffered := bufio.NewReader(r)
	if head, err := buffered.Peek(len(snappyStream)); err == nil && string(head) == snappyStream {
		return snappy.NewReader(buffered)
	}
	return &hadoopSnappy{r: buffered}
}

// hadoopSnappy reads Hadoop's BlockCompressorStream: a block is the length of its data, then chunks until that many bytes have come out, each the
// length of what is compressed and then that. Lengths are big-endian, of 32 bits.
type hadoopSnappy struct {
	r          io.Reader
	left       int // of the block
	compressed []byte
	buf, rest  []byte
}

// Read implements io.Reader.
func (h *hadoopSnappy) Read(p []byte) (int, error) {
	for len(h.rest) == 0 {
		if err := h.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, h.rest)
	h.rest = h.rest[n:]
	return n, nil
}

// next reads a chunk into rest.
func (h *hadoopSnappy) next() error {
	for h.left == 0 {
		n, err := h.length()
		if err != nil {
			return err // io.EOF between blocks is the end
		}
		h.left = n
	}
	n, err := h.length()
	if err != nil {
		return cutOff(err)
	}
	if cap(h.compressed) < n {
		h.compressed = make([]byte, n)
	}
	h.compressed = h.compressed[:n]
	if _, err := io.ReadFull(h.r, h.compressed); err != nil {
		return cutOff(err)
	}
	size, err := snappy.DecodedLen(h.compressed)
	if err != nil || size > h.left {
		return errors.Join(fmt.Errorf("a chunk of %d bytes for the %d that its block still has", size, h.left), err)
	}
	h.buf, err = snappy.Decode(h.buf[:cap(h.buf)], h.compressed)
	h.rest, h.left = h.buf, h.left-size
	return err
}

func (h *hadoopSnappy) length() (int, error) {
	var b [4]byte
	if _, err := io.ReadFull(h.r, b[:]); err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(b[:])
	if n > maxSnappyBlock {
		return 0, fmt.Errorf("a block of %d bytes", n)
	}
	return int(n), nil
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
