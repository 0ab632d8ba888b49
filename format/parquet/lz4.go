package parquet

import (
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// lz4MaxRatio is what LZ4 makes of one byte at the most: a byte of a length stands for 255.
const lz4MaxRatio = 255

// checkLZ4 decompresses the pages of an LZ4_RAW column chunk into buffers of the size that their headers say. parquet-go's codec takes any
// failure for a buffer that is too small and doubles it for ever, so damaged pages must not reach it.
func checkLZ4(r io.ReaderAt, meta *format.ColumnMetaData) error {
	start := meta.DataPageOffset
	if meta.DictionaryPageOffset > 0 {
		start = min(start, meta.DictionaryPageOffset)
	}
	chunk := make([]byte, meta.TotalCompressedSize)
	if n, err := r.ReadAt(chunk, start); n < len(chunk) {
		return err
	}
	for len(chunk) > 0 {
		reader := new(thrift.CompactProtocol).NewReaderFromBytes(chunk)
		var header format.PageHeader
		if err := thrift.NewDecoder(reader).Decode(&header); err != nil {
			return damaged("a page header: %v", err)
		}
		chunk = chunk[reader.BytesRead():]
		packed, size := int(header.CompressedPageSize), int(header.UncompressedPageSize)
		if packed < 0 || packed > len(chunk) || size < 0 {
			return damaged("a page of %d bytes (%d decompressed) in a chunk with %d left", packed, size, len(chunk))
		}
		body := chunk[:packed]
		if v2 := header.DataPageHeaderV2; v2.Valid {
			levels := int(v2.V.DefinitionLevelsByteLength) + int(v2.V.RepetitionLevelsByteLength)
			if levels < 0 || levels > min(packed, size) {
				return damaged("a page with %d bytes of levels", levels)
			}
			body, size = body[levels:], size-levels
			if v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
				body = nil
			}
		}
		chunk = chunk[packed:]
		if len(body) == 0 {
			continue
		}
		if size > lz4MaxRatio*len(body) { // before a buffer of that size is made
			return damaged("an LZ4 page of %d bytes is said to decompress to %d", len(body), size)
		}
		if n, err := lz4.UncompressBlock(body, make([]byte, size)); err != nil || n != size {
			return damaged("an LZ4 page decompresses to %d bytes instead of %d: %v", n, size, err)
		}
	}
	return nil
}
