package parquet

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// columnWriter encodes one column. Its life is a list of column chunks, one a row group, each of them a list of pages:
//
//  1. write adds rows to the open page; a full page is encoded into pages.
//  2. The first page of a chunk shows whether a dictionary pays off. If not, the whole chunk is plain, and so are the chunks after it.
//  3. A dictionary that has grown to its limit serves the pages so far; the rest of the chunk is plain.
//  4. endChunk gives the encoded chunk away.
type columnWriter struct {
	field     batch.Field
	codec     codec // nil: none
	pageBytes int
	tryDict   bool // for the next chunk

	// The open page: values without nulls, either plain in values or as codes of dict.
	rows   int
	levels []byte // one a row; nil: no nulls so far
	values *batch.Vector
	codes  []int32

	// The open chunk.
	dict      *dictionary // nil: its next pages are plain
	dictDone  *dictionary // the dictionary of its first pages, when it is full
	pages     []byte
	plainRaw  int64 // size of pages before compression
	dataPages [2]int32
	chunkRows int64
	nulls     int64
	bounds    bounds

	// The whole file.
	fileNulls  int64
	fileBounds bounds

	present []int32 // scratch: the rows that are not null
	body    []byte  // scratch: a page before compression
	packed  []byte  // scratch: a page after compression
}

// Positions in dataPages.
const (
	plainPages = iota
	dictPages
)

func newColumnWriter(field batch.Field, codec codec, pageBytes int) *columnWriter {
	c := &columnWriter{field: field, codec: codec, pageBytes: pageBytes, tryDict: true, values: batch.NewVector(field.Type, 0)}
	c.startChunk()
	return c
}

func (c *columnWriter) startChunk() {
	c.dict, c.dictDone = nil, nil
	if c.tryDict {
		c.dict = newDictionary(c.field.Type)
	}
	c.pages, c.plainRaw, c.dataPages = c.pages[:0], 0, [2]int32{}
	c.chunkRows, c.nulls, c.bounds = 0, 0, bounds{}
}

// write adds rows of a vector of the column's type. Pages may end in between.
func (c *columnWriter) write(v *batch.Vector, rows []int32) error {
	for len(rows) > 0 {
		n := c.fit(v, len(rows))
		if err := c.add(v, rows[:n]); err != nil {
			return err
		}
		if len(c.codes) >= dictSample {
			c.chooseEncoding()
		}
		if c.pageFull() {
			if err := c.endPage(); err != nil {
				return err
			}
		}
		rows = rows[n:]
	}
	return nil
}

// fit returns how many of n rows to add before the page is looked at again: fewer than all only for long strings.
func (c *columnWriter) fit(v *batch.Vector, n int) int {
	if v.Type.Layout() != batch.LayoutBytes || v.Len == 0 {
		return n
	}
	if v.Dict != nil {
		v = v.Dict
	}
	average := int(v.Off[v.Len]-v.Off[0])/max(1, v.Len) + 1
	return min(n, max(1, c.pageBytes/average))
}

func (c *columnWriter) pageFull() bool {
	return len(c.codes)*4+plainBytes(c.values)+c.rows/8 >= c.pageBytes || c.dictFull()
}

func (c *columnWriter) dictFull() bool { return c.dict != nil && c.dict.bytes() > maxDictBytes }

// add puts rows into the open page.
func (c *columnWriter) add(v *batch.Vector, rows []int32) error {
	present, err := c.addLevels(v, rows)
	if err != nil {
		return err
	}
	c.rows += len(rows)
	if c.dict != nil {
		c.codes = c.dict.appendCodes(c.codes, v, present)
		return nil
	}
	if len(present) > 0 {
		full := *v
		full.Valid = nil // no null is picked
		c.values.AppendRows(full.Decode(), present)
	}
	return nil
}

// addLevels notes which rows are null and returns the others.
func (c *columnWriter) addLevels(v *batch.Vector, rows []int32) ([]int32, error) {
	present := rows
	if v.Valid != nil {
		present = c.present[:0]
		for _, r := range rows {
			if v.Valid.Get(int(r)) {
				present = append(present, r)
			}
		}
		c.present = present
	}
	nulls := len(rows) - len(present)
	if nulls > 0 && !c.field.Nullable {
		return nil, fmt.Errorf("write column %s: it is NOT NULL, and %d of %d rows are null", c.field.Name, nulls, len(rows))
	}
	if nulls > 0 && c.levels == nil {
		c.levels = bytes.Repeat([]byte{1}, c.rows)
	}
	if c.levels != nil {
		for _, r := range rows {
			level := byte(1)
			if v.IsNull(int(r)) {
				level = 0
			}
			c.levels = append(c.levels, level)
		}
	}
	c.nulls += int64(nulls)
	return present, nil
}

// endPage encodes the open page, if it has rows.
func (c *columnWriter) endPage() error {
	if c.rows == 0 {
		return nil
	}
	c.chooseEncoding()
	header := format.DataPageHeader{
		NumValues:               int32(c.rows),
		Encoding:                format.Plain,
		DefinitionLevelEncoding: format.RLE,
		RepetitionLevelEncoding: format.RLE,
	}
	count := c.values.Len
	var err error
	c.body = c.body[:0]
	if c.field.Nullable {
		if c.body, err = appendLevelsV1(c.body, c.levels, c.rows); err != nil {
			return err
		}
	}
	if len(c.codes) > 0 {
		header.Encoding, count = format.RLEDictionary, len(c.codes)
		if c.body, err = appendCodes(c.body, c.codes, c.dict.values.Len); err != nil {
			return err
		}
		c.dataPages[dictPages]++
	} else {
		c.bounds.add(c.values)
		c.body = appendPlain(c.body, c.values)
		c.dataPages[plainPages]++
	}
	header.Statistics.NullCount = int64(c.rows - count)
	if c.pages, err = c.appendPage(c.pages, format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(header)}); err != nil {
		return err
	}
	c.chunkRows += int64(c.rows)
	c.rows, c.levels, c.codes = 0, nil, c.codes[:0]
	c.values.Reset()
	if c.dictFull() {
		c.dictDone, c.dict = c.dict, nil
	}
	return nil
}

// chooseEncoding decides at a chunk's first page with values whether its dictionary is worth having.
func (c *columnWriter) chooseEncoding() {
	if len(c.codes) == 0 || c.dataPages[dictPages] > 0 {
		return
	}
	if float64(c.dict.values.Len) <= maxDictShare*float64(len(c.codes)) {
		return
	}
	for _, code := range c.codes {
		c.values.AppendFrom(c.dict.values, int(code))
	}
	c.dict, c.codes, c.tryDict = nil, c.codes[:0], false
}

// appendPage compresses body and appends it with its header. The header's sizes and checksum are filled in here.
func (c *columnWriter) appendPage(dst []byte, header format.PageHeader) ([]byte, error) {
	packed := c.body
	if c.codec != nil {
		var err error
		if c.packed, err = c.codec.Encode(c.packed[:cap(c.packed)], c.body); err != nil {
			return nil, fmt.Errorf("compress a page of column %s: %w", c.field.Name, err)
		}
		packed = c.packed
	}
	if len(c.body) > math.MaxInt32 || len(packed) > math.MaxInt32 {
		return nil, fmt.Errorf("write column %s: a page of %d bytes; the format's limit is %d", c.field.Name, len(c.body), math.MaxInt32)
	}
	header.UncompressedPageSize = int32(len(c.body))
	header.CompressedPageSize = int32(len(packed))
	header.CRC = int32(crc32.ChecksumIEEE(packed))
	text, err := thrift.Marshal(new(thrift.CompactProtocol), &header)
	if err != nil {
		return nil, fmt.Errorf("encode a page header of column %s: %w", c.field.Name, err)
	}
	c.plainRaw += int64(len(text) + len(c.body))
	return append(append(dst, text...), packed...), nil
}

// endChunk ends the chunk and returns its dictionary page, which may be empty, its data pages, and its metadata without offsets. The slices
// are valid until the next write.
func (c *columnWriter) endChunk() (dict, data []byte, meta format.ColumnMetaData, err error) {
	if err := c.endPage(); err != nil {
		return nil, nil, meta, err
	}
	if c.dict == nil {
		c.dict = c.dictDone
	}
	if c.dict != nil && c.dataPages[dictPages] > 0 {
		if dict, err = c.dictionaryPage(); err != nil {
			return nil, nil, meta, err
		}
	}
	physical, _ := physicalType(c.field.Type)
	meta = format.ColumnMetaData{
		Type:                  physical,
		Encoding:              []format.Encoding{format.RLE, format.Plain},
		PathInSchema:          []string{c.field.Name},
		NumValues:             c.chunkRows,
		TotalUncompressedSize: c.plainRaw,
		TotalCompressedSize:   int64(len(dict) + len(c.pages)),
		Statistics:            c.bounds.footerStats(c.field.Type, c.nulls),
	}
	if c.codec != nil {
		meta.Codec = c.codec.CompressionCodec()
	}
	meta.EncodingStats = c.encodingStats(len(dict) > 0)
	if len(dict) > 0 {
		meta.Encoding = append(meta.Encoding, format.RLEDictionary)
	}
	c.fileNulls += c.nulls
	c.fileBounds.merge(&c.bounds, c.field.Type)
	data = c.pages
	return dict, data, meta, nil
}

// dictionaryPage encodes the dictionary. All of its values are in the chunk, so its bounds are those of the pages that use it.
func (c *columnWriter) dictionaryPage() ([]byte, error) {
	values := c.dict.values
	c.bounds.add(values)
	c.body = appendPlain(c.body[:0], values)
	return c.appendPage(nil, format.PageHeader{
		Type:                 format.DictionaryPage,
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(values.Len), Encoding: format.Plain}),
	})
}

func (c *columnWriter) encodingStats(dict bool) []format.PageEncodingStats {
	var out []format.PageEncodingStats
	if dict {
		out = append(out, format.PageEncodingStats{PageType: format.DictionaryPage, Encoding: format.Plain, Count: 1})
	}
	for at, encoding := range [...]format.Encoding{plainPages: format.Plain, dictPages: format.RLEDictionary} {
		if n := c.dataPages[at]; n > 0 {
			out = append(out, format.PageEncodingStats{PageType: format.DataPage, Encoding: encoding, Count: n})
		}
	}
	return out
}

// buffered returns the bytes that the open chunk and page hold.
func (c *columnWriter) buffered() int {
	return len(c.pages) + plainBytes(c.values) + len(c.codes)*4
}
