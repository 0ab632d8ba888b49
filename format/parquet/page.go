package parquet

import (
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/format"
)

// pageHeader is what the header of a page says.
type pageHeader struct {
	kind     format.PageType
	size     int // bytes of the page when it is decompressed, levels included
	packed   int // bytes that follow the header
	crc      uint32
	hasCRC   bool
	values   int // nulls, and empty and null lists, included
	encoding format.Encoding

	repEncoding, defEncoding format.Encoding // first version only

	rows               int  // -1: not told
	repBytes, defBytes int  // second version only: the levels, never compressed, before the values
	uncompressed       bool // second version only: the values are not compressed, whatever the codec
}

// parsePageHeader reads a header and returns its length; ok is false when the bytes hold no whole valid one.
func parsePageHeader(data []byte) (h pageHeader, length int, ok bool) {
	t := &thriftReader{data: data}
	h.rows = -1
	seen := 0
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id <= 4 && kind != thriftI32:
			return false
		case id == 1:
			h.kind = format.PageType(t.int())
		case id == 2:
			h.size = int(t.int())
		case id == 3:
			h.packed = int(t.int())
		case id == 4:
			h.crc, h.hasCRC = uint32(t.int()), true
			return true
		case id == 5 && kind == thriftStruct:
			h.parseV1(t)
			return true
		case id == 7 && kind == thriftStruct:
			h.parseDictionary(t)
			return true
		case id == 8 && kind == thriftStruct:
			h.parseV2(t)
			return true
		default:
			return false
		}
		seen |= 1 << id
		return true
	})
	sizes := []int{h.size, h.packed, h.values, h.repBytes, h.defBytes}
	for _, n := range sizes {
		if n < 0 || int64(n) > 1<<31-1 {
			t.bad = true
		}
	}
	return h, t.pos, !t.bad && seen == 1<<1|1<<2|1<<3
}

func (h *pageHeader) parseV1(t *thriftReader) {
	t.fields(func(id int16, kind byte) bool {
		if kind != thriftI32 {
			return false
		}
		switch id {
		case 1:
			h.values = int(t.int())
		case 2:
			h.encoding = format.Encoding(t.int())
		case 3:
			h.defEncoding = format.Encoding(t.int())
		case 4:
			h.repEncoding = format.Encoding(t.int())
		default:
			return false
		}
		return true
	})
}

func (h *pageHeader) parseDictionary(t *thriftReader) {
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id == 1 && kind == thriftI32:
			h.values = int(t.int())
		case id == 2 && kind == thriftI32:
			h.encoding = format.Encoding(t.int())
		default:
			return false
		}
		return true
	})
}

func (h *pageHeader) parseV2(t *thriftReader) {
	t.fields(func(id int16, kind byte) bool {
		switch {
		case id == 1 && kind == thriftI32:
			h.values = int(t.int())
		case id == 3 && kind == thriftI32:
			h.rows = int(t.int())
		case id == 4 && kind == thriftI32:
			h.encoding = format.Encoding(t.int())
		case id == 5 && kind == thriftI32:
			h.defBytes = int(t.int())
		case id == 6 && kind == thriftI32:
			h.repBytes = int(t.int())
		case id == 7 && kind == thriftFalse:
			h.uncompressed = true
			return true
		default:
			return false
		}
		return true
	})
}

// chunk is the bytes of one column chunk: pages, each a header and a body.
type chunk struct {
	mapped []byte // the file's bytes; nil: read by ranges
	reader io.ReaderAt
	pos    int64 // in the file
	end    int64

	window []byte // bytes of the file from the position at on, when it is read by ranges
	at     int64
}

// chunkOf returns the bytes of a column chunk, at their beginning.
func (f *File) chunkOf(m *format.ColumnMetaData, reader io.ReaderAt) (chunk, error) {
	start := m.DataPageOffset
	if m.DictionaryPageOffset > 0 {
		start = min(start, m.DictionaryPageOffset)
	}
	if m.TotalCompressedSize > f.source.size-start {
		return chunk{}, damaged("its pages end outside of the file")
	}
	return chunk{mapped: f.source.mapped, reader: reader, pos: start, end: start + m.TotalCompressedSize}, nil
}

// firstHeaderBytes holds nearly all headers; those with long strings in their statistics take more.
const firstHeaderBytes = 1 << 10

// peek returns the next n bytes, fewer at the end of the chunk. They are valid until the next peek.
func (c *chunk) peek(n int64) ([]byte, error) {
	n = min(n, c.end-c.pos)
	if c.mapped != nil {
		return c.mapped[c.pos : c.pos+n], nil
	}
	if c.pos < c.at || c.pos+n > c.at+int64(len(c.window)) {
		want := min(max(n, rangeBuffer), c.end-c.pos)
		if int64(cap(c.window)) < want {
			c.window = make([]byte, want, want+slack)
		}
		c.window, c.at = c.window[:want], c.pos
		if read, err := c.reader.ReadAt(c.window, c.pos); read < len(c.window) {
			c.window = nil
			return nil, readError(c.reader, err)
		}
	}
	return c.window[c.pos-c.at:][:n], nil
}

// header reads the header of the next page and goes to its body. io.EOF is the end of the chunk.
func (c *chunk) header() (pageHeader, error) {
	if c.pos >= c.end {
		return pageHeader{}, io.EOF
	}
	for n := int64(firstHeaderBytes); ; n *= 16 {
		data, err := c.peek(n)
		if err != nil {
			return pageHeader{}, err
		}
		h, length, ok := parsePageHeader(data)
		switch {
		case ok && int64(h.packed) > c.end-c.pos-int64(length):
			return h, damaged("a page of %d bytes in a column chunk with %d left", h.packed, c.end-c.pos-int64(length))
		case ok:
			c.pos += int64(length)
			return h, nil
		case int64(len(data)) < n:
			return h, damaged("no page header at byte %d", c.pos)
		}
	}
}

// body reads the body of the page with that header and goes behind it. It is valid until the next call.
func (c *chunk) body(h *pageHeader) ([]byte, error) {
	data, err := c.peek(int64(h.packed))
	if err != nil {
		return nil, err
	}
	if h.hasCRC && crc32.ChecksumIEEE(data) != h.crc {
		return nil, damaged("the checksum of the page that ends at byte %d is wrong", c.pos+int64(h.packed))
	}
	c.pos += int64(h.packed)
	return data, nil
}
