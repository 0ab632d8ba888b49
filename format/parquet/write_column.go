package parquet

import (
	"fmt"
	"hash/crc32"
	"math"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// columnWriter encodes one leaf of the schema. Its life is a list of column chunks, one a row group, each of them a list of pages:
//
//  1. write adds places to the open page; a full page is encoded into pages. A page begins where a row of the file does.
//  2. The first page of a chunk shows whether a dictionary pays off. If not, the whole chunk is plain, and so are the chunks after it.
//  3. A dictionary that has grown to its limit serves the pages so far; the rest of the chunk is plain.
//  4. endChunk gives the encoded chunk away.
type columnWriter struct {
	node      *node    // of the leaf
	stored    []string // path in the file
	codec     codec    // nil: none
	pageBytes int
	tryDict   bool // for the next chunk

	// The open page: values without nulls, either plain in values or as codes of dict.
	rows   int // of the file
	places int
	gaps   bool    // some places have no value; defs is kept
	defs   []uint8 // one a place
	reps   []uint8 // one a place, below lists
	values *batch.Vector
	codes  []int32

	// The open chunk.
	dict        *dictionary // nil: its next pages are plain
	dictDone    *dictionary // the dictionary of its first pages, when it is full
	pages       []byte
	index       *chunkIndex
	plainRaw    int64 // size of pages before compression
	dataPages   [2]int32
	chunkRows   int64
	chunkPlaces int64
	nulls       int64
	bounds      bounds

	// The whole file.
	fileNulls  int64
	fileBounds bounds

	present  []int32       // scratch: the rows that are not null
	codeRows []int32       // scratch: their codes in the source's dictionary
	distinct *batch.Vector // scratch: the distinct values of a page
	body     []byte        // scratch: a page before compression
	packed   []byte        // scratch: a page after compression
}

// Positions in dataPages.
const (
	plainPages = iota
	dictPages
)

func newColumnWriter(n *node, stored []string, codec codec, pageBytes int) *columnWriter {
	c := &columnWriter{node: n, stored: stored, codec: codec, pageBytes: pageBytes, tryDict: true}
	c.values, c.distinct = batch.NewVector(n.field.Type, 0), batch.NewVector(n.field.Type, 0)
	c.startChunk()
	return c
}

func (c *columnWriter) typ() batch.Type { return c.node.field.Type }

func (c *columnWriter) startChunk() {
	c.dict, c.dictDone = nil, nil
	if c.tryDict {
		c.dict = newDictionary(c.typ())
	}
	c.pages, c.index, c.plainRaw, c.dataPages = c.pages[:0], newChunkIndex(), 0, [2]int32{}
	c.chunkRows, c.chunkPlaces, c.nulls, c.bounds = 0, 0, 0, bounds{}
}

// write adds places of a vector of the leaf's type. Pages may end in between.
func (c *columnWriter) write(v *batch.Vector, s slots) error {
	for at := 0; at < len(s.rows); {
		end := s.recordEnd(min(at+c.fit(v), len(s.rows)))
		if err := c.add(v, s.slice(at, end)); err != nil {
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
		at = end
	}
	return nil
}

// fit returns how many places to add before the page is looked at again: those that fill a page, as far as the vector's average tells.
func (c *columnWriter) fit(v *batch.Vector) int {
	if v.Dict != nil {
		v = v.Dict
	}
	return max(1, c.pageBytes/(plainBytes(v)/max(1, v.Len)+1))
}

func (c *columnWriter) pageFull() bool {
	return len(c.codes)*4+plainBytes(c.values)+len(c.reps)+c.places/8 >= c.pageBytes || c.dictFull()
}

func (c *columnWriter) dictFull() bool { return c.dict != nil && c.dict.bytes() > maxDictBytes }

// add puts places into the open page.
func (c *columnWriter) add(v *batch.Vector, s slots) error {
	present, err := c.addLevels(v, s)
	if err != nil {
		return err
	}
	switch {
	case c.dict != nil:
		c.codes = c.dict.appendCodes(c.codes, v, present)
	case len(present) == 0:
	case v.Dict != nil:
		c.codeRows = c.codeRows[:0]
		for _, r := range present {
			c.codeRows = append(c.codeRows, int32(v.Codes[r]))
		}
		c.values.AppendRows(v.Dict, c.codeRows)
	default:
		full := *v
		full.Valid = nil // no null is picked
		c.values.AppendRows(&full, present)
	}
	return nil
}

// addLevels notes the levels of places and returns the rows that have a value.
func (c *columnWriter) addLevels(v *batch.Vector, s slots) ([]int32, error) {
	present, nulls := s.rows, 0
	if v.Valid != nil || s.defs != nil {
		present = c.present[:0]
		for _, r := range s.rows {
			switch {
			case r < 0:
			case v.IsNull(int(r)):
				nulls++
			default:
				present = append(present, r)
			}
		}
		c.present = present
	}
	if err := c.node.checkNulls(nulls, len(s.rows)); err != nil {
		return nil, err
	}
	if top := c.node.def; c.gaps || len(present) < len(s.rows) {
		if !c.gaps {
			c.gaps, c.defs = true, appendTimes(c.defs[:0], top, c.places)
		}
		if len(present) == len(s.rows) {
			c.defs = appendTimes(c.defs, top, len(s.rows))
		} else {
			c.defs = appendDefs(c.defs, v, s, top)
		}
	}
	c.reps = append(c.reps, s.reps...)
	c.places += len(s.rows)
	c.rows += s.records()
	return present, nil
}

// appendDefs appends the definition levels of places of a vector whose values have level top.
func appendDefs(dst []uint8, v *batch.Vector, s slots, top uint8) []uint8 {
	for i, r := range s.rows {
		level := top
		switch {
		case r < 0:
			level = s.defs[i]
		case v.IsNull(int(r)):
			level--
		}
		dst = append(dst, level)
	}
	return dst
}

func appendTimes(dst []uint8, x uint8, n int) []uint8 {
	for range n {
		dst = append(dst, x)
	}
	return dst
}

// endPage encodes the open page, if it has rows.
func (c *columnWriter) endPage() error {
	if c.places == 0 {
		return nil
	}
	c.chooseEncoding()
	header := format.DataPageHeader{
		NumValues:               int32(c.places),
		Encoding:                format.Plain,
		DefinitionLevelEncoding: format.RLE,
		RepetitionLevelEncoding: format.RLE,
	}
	if err := c.encodeLevels(); err != nil {
		return err
	}
	var page bounds
	count := c.values.Len
	if len(c.codes) > 0 {
		header.Encoding, count = format.RLEDictionary, len(c.codes)
		var err error
		if c.body, err = appendCodes(c.body, c.codes, c.dict.values.Len); err != nil {
			return err
		}
		c.dict.distinct(c.distinct, c.codes)
		page.add(c.distinct)
		c.distinct.Reset()
		c.dataPages[dictPages]++
	} else {
		page.add(c.values)
		c.body = appendPlain(c.body, c.values)
		c.dataPages[plainPages]++
	}
	nulls := int64(c.places - count)
	header.Statistics.NullCount = nulls
	at := format.PageLocation{Offset: int64(len(c.pages)), FirstRowIndex: c.chunkRows}
	var err error
	if c.pages, err = c.appendPage(c.pages, format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(header)}); err != nil {
		return err
	}
	at.CompressedPageSize = int32(int64(len(c.pages)) - at.Offset)
	c.index.add(c.typ(), at, nulls, &page)
	c.bounds.merge(&page, c.typ())
	c.nulls += nulls
	c.chunkRows += int64(c.rows)
	c.chunkPlaces += int64(c.places)
	c.startPage()
	return nil
}

// startPage empties the open page.
func (c *columnWriter) startPage() {
	c.rows, c.places, c.gaps, c.defs, c.reps, c.codes = 0, 0, false, c.defs[:0], c.reps[:0], c.codes[:0]
	c.values.Reset()
	if c.dictFull() {
		c.dictDone, c.dict = c.dict, nil
	}
}

// encodeLevels begins the page's body with its levels, as far as the column has them.
func (c *columnWriter) encodeLevels() (err error) {
	c.body = c.body[:0]
	if c.node.rep > 0 {
		if c.body, err = appendLevelsV1(c.body, c.reps, c.places, c.node.rep); err != nil {
			return err
		}
	}
	if c.node.def > 0 {
		defs := c.defs
		if !c.gaps {
			defs = nil
		}
		c.body, err = appendLevelsV1(c.body, defs, c.places, c.node.def)
	}
	return err
}

// chooseEncoding decides at a chunk's first page with values whether its dictionary is worth having.
func (c *columnWriter) chooseEncoding() {
	if len(c.codes) == 0 || c.dataPages[dictPages] > 0 {
		return
	}
	if float64(c.dict.values.Len) <= maxDictShare*float64(len(c.codes)) {
		return
	}
	c.values.AppendRows(c.dict.values, c.codes)
	c.dict, c.codes, c.tryDict = nil, c.codes[:0], false
}

// appendPage compresses body and appends it with its header. The header's sizes and checksum are filled in here.
func (c *columnWriter) appendPage(dst []byte, header format.PageHeader) ([]byte, error) {
	packed := c.body
	if c.codec != nil {
		var err error
		if c.packed, err = c.codec.Encode(c.packed[:cap(c.packed)], c.body); err != nil {
			return nil, fmt.Errorf("compress a page of column %s: %w", c.node.path, err)
		}
		packed = c.packed
	}
	if len(c.body) > math.MaxInt32 || len(packed) > math.MaxInt32 {
		return nil, fmt.Errorf("write column %s: a page of %d bytes; the format's limit is %d", c.node.path, len(c.body), math.MaxInt32)
	}
	header.UncompressedPageSize = int32(len(c.body))
	header.CompressedPageSize = int32(len(packed))
	header.CRC = int32(crc32.ChecksumIEEE(packed))
	text, err := thrift.Marshal(new(thrift.CompactProtocol), &header)
	if err != nil {
		return nil, fmt.Errorf("encode a page header of column %s: %w", c.node.path, err)
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
	physical, _ := physicalType(c.typ())
	meta = format.ColumnMetaData{
		Type:                  physical,
		Encoding:              []format.Encoding{format.RLE, format.Plain},
		PathInSchema:          c.stored,
		NumValues:             c.chunkPlaces,
		TotalUncompressedSize: c.plainRaw,
		TotalCompressedSize:   int64(len(dict) + len(c.pages)),
		Statistics:            c.bounds.footerStats(c.typ(), c.nulls),
	}
	if c.codec != nil {
		meta.Codec = c.codec.CompressionCodec()
	}
	meta.EncodingStats = c.encodingStats(len(dict) > 0)
	if len(dict) > 0 {
		meta.Encoding = append(meta.Encoding, format.RLEDictionary)
	}
	c.fileNulls += c.nulls
	c.fileBounds.merge(&c.bounds, c.typ())
	data = c.pages
	return dict, data, meta, nil
}

// dictionaryPage encodes the dictionary.
func (c *columnWriter) dictionaryPage() ([]byte, error) {
	c.body = appendPlain(c.body[:0], c.dict.values)
	return c.appendPage(nil, format.PageHeader{
		Type:                 format.DictionaryPage,
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(c.dict.values.Len), Encoding: format.Plain}),
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
	n := len(c.pages) + plainBytes(c.values) + len(c.codes)*4 + len(c.defs) + len(c.reps)
	for _, d := range []*dictionary{c.dict, c.dictDone} {
		if d != nil {
			n += d.memory()
		}
	}
	return n
}
