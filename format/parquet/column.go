package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// maxVectorBytes is what a vector's offsets can address.
const maxVectorBytes = math.MaxInt32

// columnReader reads one wanted column of one row group after the other.
//
// Invariants: page is nil or has rows left; levels[pos:] are its levels to come (none: no row is null); values holds the page's values
// without the nulls, of which those before used have been handed out. The memory of values may be the page's, so the page is released only when
// it is used up.
type columnReader struct {
	file  *File
	field batch.Field
	leaf  *leaf // nil: the file has no such column
	conv  converter

	reader  io.ReaderAt
	pages   pq.Pages
	page    pq.Page
	rows    int    // of the page
	pos     int    // rows handed out or left out
	row     int64  // of the row group, the next one
	levels  []byte // definition levels, 0 or 1; nil: no nulls
	values  *batch.Vector
	used    int // values handed out or left out
	scratch *batch.Vector

	dictOf pq.Dictionary // the dictionary that dict was made from
	dict   *batch.Vector // in the wanted type
}

func newColumnReader(f *File, field batch.Field, l *leaf) (*columnReader, error) {
	c := &columnReader{file: f, field: field, leaf: l, scratch: batch.NewVector(field.Type, 0)}
	if c.leaf == nil {
		return c, nil
	}
	var err error
	if c.conv, err = converterFor(c.leaf, field.Type); err != nil {
		return nil, &Error{File: f.uri, Column: field.Name, Err: err}
	}
	return c, nil
}

// open goes to the column's chunk in a row group.
func (c *columnReader) open(group pq.RowGroup, meta *format.RowGroup, r io.ReaderAt) error {
	c.close()
	if c.leaf == nil {
		return nil
	}
	c.reader, c.row = r, 0
	return guard(c.file.uri, c.field.Name, func() error {
		chunk := &meta.Columns[c.leaf.index].MetaData
		switch chunk.Codec {
		case format.Lz4Raw:
			if err := checkLZ4(r, chunk); err != nil {
				return readError(r, err)
			}
		case format.LZO, format.Lz4:
			return fmt.Errorf("%w: it is compressed with %s, which the specification gave up; rewrite the file with snappy or zstd", ErrUnsupported, chunk.Codec)
		}
		c.pages = group.ColumnChunks()[c.leaf.index].(*pq.FileColumnChunk).PagesFrom(r)
		return nil
	})
}

// close lets go of the page and the chunk.
func (c *columnReader) close() {
	c.releasePage()
	if c.pages != nil {
		_ = c.pages.Close() // of a chunk in memory: it has nothing to report
		c.pages = nil
	}
	c.dictOf, c.dict = nil, nil
}

func (c *columnReader) releasePage() {
	if c.page != nil {
		pq.Release(c.page)
	}
	c.page, c.values, c.levels, c.rows, c.pos, c.used = nil, nil, nil, 0, 0, 0
}

// read appends n rows to dst, from position from of the row group on, which is not before the end of the last read. Missing columns are null.
func (c *columnReader) read(dst *batch.Vector, from int64, n int) error {
	if c.leaf == nil {
		dst.AppendNulls(n)
		return nil
	}
	return guard(c.file.uri, c.field.Name, func() error {
		for n > 0 {
			if c.pos == c.rows {
				if err := c.nextPage(); err != nil {
					return err
				}
				continue
			}
			left := c.rows - c.pos
			if c.row < from {
				c.skip(int(min(int64(left), from-c.row)))
				continue
			}
			take := min(n, left)
			c.take(dst, take)
			n -= take
		}
		return nil
	})
}

// skip leaves out the next n rows of the page.
func (c *columnReader) skip(n int) {
	valid := n
	if c.levels != nil {
		valid = countOnes(c.levels[c.pos : c.pos+n])
	}
	c.pos, c.used, c.row = c.pos+n, c.used+valid, c.row+int64(n)
}

// take appends the next n rows of the page.
func (c *columnReader) take(dst *batch.Vector, n int) {
	valid := n
	var levels []byte
	if c.levels != nil {
		levels = c.levels[c.pos : c.pos+n]
		valid = countOnes(levels)
	}
	switch {
	case valid == 0 && n > 0 && dst.Dict == nil:
		dst.AppendNulls(n)
	case valid == n:
		appendDense(dst, c.values, c.used, c.used+n)
	default:
		c.takeSpread(dst, levels)
	}
	c.pos, c.used, c.row = c.pos+n, c.used+valid, c.row+int64(n)
}

// takeSpread appends rows with nulls among them, which needs both sides in the same encoding.
func (c *columnReader) takeSpread(dst *batch.Vector, levels []byte) {
	if dst.Len == 0 && c.values.Dict != nil {
		dst.Dict = c.values.Dict
	}
	if dst.Dict != c.values.Dict {
		if dst.Dict != nil {
			*dst = *dst.Decode()
		}
		c.values = c.values.Decode()
	}
	appendSpread(dst, c.values, c.used, levels)
}

// countOnes returns how many levels are 1.
func countOnes(levels []byte) int {
	n := 0
	for _, l := range levels {
		n += int(l)
	}
	return n
}

// nextPage goes to the next data page that has rows.
func (c *columnReader) nextPage() error {
	c.releasePage()
	page, err := c.pages.ReadPage()
	switch {
	case errors.Is(err, io.EOF):
		return damaged("its pages end before the row group does")
	case err != nil:
		return readError(c.reader, err)
	}
	c.page = page
	rows, nulls := int(page.NumRows()), 0
	if levels := page.DefinitionLevels(); len(levels) > 0 {
		for _, l := range levels {
			if l > 1 {
				return damaged("definition level %d in a flat column", l)
			}
		}
		if nulls = len(levels) - countOnes(levels); nulls > 0 {
			c.levels = levels
		}
	}
	if c.values, err = c.convert(page, rows-nulls); err != nil {
		return err
	}
	if err := c.checkCalendar(); err != nil {
		return err
	}
	c.rows = rows
	return nil
}

// convert turns the page's values, without the nulls, into the wanted type.
func (c *columnReader) convert(page pq.Page, n int) (*batch.Vector, error) {
	c.scratch.Reset()
	dict := page.Dictionary()
	if dict == nil {
		return c.conv(page.Data(), n, c.scratch)
	}
	if c.dictOf != dict {
		values, err := c.conv(dict.Page().Data(), dict.Len(), batch.NewVector(c.field.Type, 0))
		if err != nil {
			return nil, err
		}
		c.dictOf, c.dict = dict, values
	}
	codes, err := c.codes(page, n)
	if err != nil {
		return nil, err
	}
	if c.field.Type.Layout() == batch.LayoutBytes && c.dict.Len > 0 {
		return &batch.Vector{Type: c.field.Type, Len: n, Codes: unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(codes))), n), Dict: c.dict}, nil
	}
	if n > 0 {
		c.scratch.AppendRows(c.dict, codes)
	}
	return c.scratch, nil
}

// codes returns the page's n indices into the dictionary, checked.
func (c *columnReader) codes(page pq.Page, n int) ([]int32, error) {
	values := page.Data()
	codes := values.Int32()
	if err := need(len(codes), n); err != nil {
		return nil, err
	}
	codes = codes[:n:n]
	top := uint32(0)
	for _, code := range codes {
		top = max(top, uint32(code))
	}
	if n > 0 && int64(top) >= int64(c.dict.Len) {
		return nil, damaged("code %d for a dictionary of %d values", top, c.dict.Len)
	}
	return codes, nil
}

// First values that both calendars agree on: 1582-10-15, and for timestamps, whose rebasing depends on the writer's zone, the last
// rule that Spark rebases with, of 1900-01-01.
const (
	gregorianStartDay    = -141_427
	gregorianStartMicros = -25_567 * batch.MicrosPerDay
)

// checkCalendar refuses values that Spark 2 wrote in the hybrid calendar: they would come out some days wrong.
func (c *columnReader) checkCalendar() error {
	old := false
	switch kind := c.leaf.typ.Kind; {
	case kind == batch.Date && c.file.legacy.dates && c.values.Type.Kind == batch.Date:
		for _, d := range c.values.I32 {
			old = old || d < gregorianStartDay
		}
	case kind == batch.Timestamp && (c.file.legacy.dates && c.leaf.physical != int96 || c.file.legacy.int96 && c.leaf.physical == int96):
		for _, us := range c.values.I64 {
			old = old || us < gregorianStartMicros
		}
	}
	if old {
		return fmt.Errorf("%w: it has dates before 1582 (timestamps: 1900) in the Julian calendar of Spark 2; rewrite the file with Spark 3 or later", ErrUnsupported)
	}
	return nil
}
