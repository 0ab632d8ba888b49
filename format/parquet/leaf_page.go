package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// oldDictionary is the encoding PLAIN_DICTIONARY, which the first writers gave to dictionaries and codes alike.
const oldDictionary format.Encoding = 2

// noEOF makes the end of the pages an error: the row group says that there are more rows.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return damaged("its pages end before the row group does")
	}
	return err
}

// nextPage goes to the next data page that has levels.
func (r *leafReader) nextPage() error { return noEOF(r.tryNextPage()) }

// tryNextPage is nextPage, but io.EOF says that there is none.
func (r *leafReader) tryNextPage() error {
	if err := r.endPage(); err != nil {
		return err
	}
	for r.left == 0 {
		h, err := r.chunk.header()
		if err != nil {
			return err
		}
		if err := r.page(&h); err != nil {
			return err
		}
	}
	return nil
}

// endPage checks that the open page, which is used up, had the rows that the offset index says.
func (r *leafReader) endPage() error {
	if r.pageEnd >= 0 && r.pageEnd != r.row {
		return damaged("its offset index says that a page ends before row %d, it ends before row %d", r.pageEnd, r.row)
	}
	r.pageEnd = -1
	return nil
}

// page reads the page with that header.
func (r *leafReader) page(h *pageHeader) error {
	if err := r.ends.now(); err != nil {
		return err
	}
	switch h.kind {
	case format.DictionaryPage:
		return r.readDictionary(h)
	case format.DataPage, format.DataPageV2:
		return r.openPage(h)
	}
	_, err := r.chunk.body(h) // an index page, or what a later version knows
	return err
}

// dictionaryPiece is how many values of a dictionary are read between two looks at whether the scan has ended.
const dictionaryPiece = 1 << 14

// lengthBytes is what the length of a text takes before it.
const lengthBytes = 4

// readDictionary reads the chunk's dictionary.
func (r *leafReader) readDictionary(h *pageHeader) error {
	body, err := r.chunk.body(h)
	if err != nil || r.conv == nil {
		return err
	}
	if r.dict != nil {
		return damaged("it has two dictionaries")
	}
	data, err := decompress(r.ends, r.codec, nil, body, h.size)
	if err != nil {
		return err
	}
	if h.encoding != format.Plain && h.encoding != oldDictionary {
		return fmt.Errorf("%w: a dictionary in the encoding %s", ErrUnsupported, h.encoding)
	}
	d, err := newDecoder(r.leaf, format.Plain, data)
	if err != nil {
		return err
	}
	dict := batch.NewVector(r.typ, min(h.values, len(data))) // a value takes a byte, unless the header is wrong
	if r.typ.Layout() == batch.LayoutBytes {
		dict.Bytes = make([]byte, 0, max(0, len(data)-lengthBytes*h.values))
	}
	for dict.Len < h.values {
		if err := r.ends.now(); err != nil {
			return err
		}
		values, err := d.next(min(dictionaryPiece, h.values-dict.Len))
		if err != nil {
			return err
		}
		if err := r.conv(dict, &values); err != nil {
			return err
		}
	}
	r.dict = dict
	return nil
}

// openPage opens a data page.
func (r *leafReader) openPage(h *pageHeader) error {
	body, err := r.chunk.body(h)
	if err != nil {
		return err
	}
	var data []byte
	if h.kind == format.DataPageV2 {
		data, err = r.openV2(h, body)
	} else {
		data, err = r.openV1(h, body)
	}
	if err != nil {
		return err
	}
	r.left, r.skipped, r.vals = h.values, 0, nil
	if r.conv == nil {
		return nil
	}
	if h.encoding == format.RLEDictionary || h.encoding == oldDictionary {
		return r.openCodes(data)
	}
	r.vals, err = newDecoder(r.leaf, h.encoding, data)
	return err
}

// plainPage decompresses a page.
func (r *leafReader) plainPage(body []byte, size int) ([]byte, error) {
	if r.codec == format.Uncompressed {
		return body, nil
	}
	if r.buffer == nil {
		r.buffer = pageBuffers.Get().(*[]byte)
	}
	data, err := decompress(r.ends, r.codec, *r.buffer, body, size)
	if cap(data) > cap(*r.buffer) {
		*r.buffer = data
	}
	return data, err
}

// openV1 opens the levels of a page of the first version and returns its values.
func (r *leafReader) openV1(h *pageHeader, body []byte) ([]byte, error) {
	data, err := r.plainPage(body, h.size)
	if err != nil {
		return nil, err
	}
	if r.leaf.maxRep > 0 {
		if r.reps, data, err = levelsV1(h.repEncoding, data, r.leaf.maxRep, h.values); err != nil {
			return nil, err
		}
	}
	if r.leaf.maxDef > 0 {
		if r.defs, data, err = levelsV1(h.defEncoding, data, r.leaf.maxDef, h.values); err != nil {
			return nil, err
		}
	}
	return data, nil
}

func levelsV1(encoding format.Encoding, data []byte, max uint8, n int) (hybrid, []byte, error) {
	switch encoding {
	case format.RLE:
		part, rest, err := sized(data)
		return newLevels(part, max), rest, err
	case format.BitPacked:
		return oldLevels(data, max, n)
	}
	return hybrid{}, nil, damaged("levels in the encoding %s", encoding)
}

// openV2 opens the levels of a page of the second version and returns its values.
func (r *leafReader) openV2(h *pageHeader, body []byte) ([]byte, error) {
	before := h.repBytes + h.defBytes
	if before > len(body) || before > h.size {
		return nil, damaged("a page of %d bytes has %d bytes of levels", len(body), before)
	}
	r.reps = newLevels(body[:h.repBytes], r.leaf.maxRep)
	r.defs = newLevels(body[h.repBytes:before], r.leaf.maxDef)
	if r.conv == nil {
		return nil, nil
	}
	if h.uncompressed {
		return body[before:], nil
	}
	return r.plainPage(body[before:], h.size-before)
}

// openCodes opens values that are codes of the dictionary.
func (r *leafReader) openCodes(data []byte) error {
	if r.dict == nil {
		return damaged("a page uses a dictionary, and there is none before it")
	}
	r.code = hybrid{}
	if len(data) == 0 || r.dict.Len == 0 { // all rows are null
		return nil
	}
	if data[0] > 32 {
		return damaged("codes of %d bits", data[0])
	}
	r.code = newHybrid(data[1:], uint(data[0]), uint32(r.dict.Len-1))
	return nil
}
