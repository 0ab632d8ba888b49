package parquet

import (
	"context"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// skipWorth is how many rows must lie before the next wanted one for the offset index to be read.
const skipWorth = 1024

// pageLocation is where a data page lies, as the offset index says.
type pageLocation struct {
	offset   int64 // in the file
	firstRow int64 // of the row group
}

// readIndex decodes a part of the page index.
func readIndex(r io.ReaderAt, size, offset int64, length int32, into any) error {
	if offset <= 0 || length <= 0 || int64(length) > size-offset {
		return damaged("a page index of %d bytes lies at byte %d", length, offset)
	}
	data := make([]byte, length)
	if n, err := r.ReadAt(data, offset); n < len(data) {
		return readError(r, err)
	}
	return decodeThrift(data, into)
}

// decodeThrift decodes a struct of the format.
func decodeThrift(data []byte, into any) error {
	if !checkThrift(data) {
		return damaged("the metadata are no whole Thrift struct")
	}
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReaderFromBytes(data)).Decode(into); err != nil {
		return damaged("the metadata: %v", err)
	}
	return nil
}

// pageLocations reads the offset index of a column chunk; nil: the file has none. The pages lie in the chunk and begin at its first row.
func (f *File) pageLocations(r io.ReaderAt, column *format.ColumnChunk, rows int64) ([]pageLocation, error) {
	if column.OffsetIndexOffset == 0 || column.OffsetIndexLength == 0 {
		return nil, nil
	}
	var index format.OffsetIndex
	if err := readIndex(r, f.source.size, column.OffsetIndexOffset, column.OffsetIndexLength, &index); err != nil {
		return nil, err
	}
	m := &column.MetaData
	last := pageLocation{offset: 0, firstRow: -1}
	var pages []pageLocation
	for i, p := range index.PageLocations {
		at := pageLocation{offset: p.Offset, firstRow: p.FirstRowIndex}
		first := i == 0 && at.firstRow != 0
		if first || at.offset <= last.offset || at.firstRow < last.firstRow || at.firstRow > rows || at.offset > m.DataPageOffset+m.TotalCompressedSize {
			return nil, damaged("the offset index says that page %d, of row %d, lies at byte %d", i, at.firstRow, at.offset)
		}
		pages, last = append(pages, at), at
	}
	return pages, nil
}

// nextPageNear opens the next page that has rows from the position from on, or one before it.
func (r *leafReader) nextPageNear(from int64) error {
	if err := r.endPage(); err != nil {
		return err
	}
	if from-r.row > skipWorth {
		if end, err := r.jump(from); err != nil {
			return err
		} else if end >= 0 {
			err := r.nextPage()
			r.pageEnd = end
			return err
		}
	}
	if r.leaf.maxRep > 0 {
		return r.nextPage()
	}
	for {
		at := r.chunk.pos
		h, err := r.chunk.header()
		if err != nil {
			return noEOF(err)
		}
		if isData := h.kind == format.DataPage || h.kind == format.DataPageV2; !isData || r.row+int64(h.values) > from {
			r.chunk.pos = at
			return r.nextPage()
		}
		r.chunk.pos += int64(h.packed)
		if r.row += int64(h.values); r.row == from {
			return nil
		}
	}
}

// jump goes before the page that has the row at the position from, if the file has an offset index and it is not the next page anyway. It
// returns the position of the row behind that page, or -1 if it went nowhere.
func (r *leafReader) jump(from int64) (end int64, err error) {
	if r.index == nil {
		if r.index, err = r.file.pageLocations(r.chunk.reader, r.column, r.rows); err != nil {
			return -1, err
		}
	}
	page, _ := slices.BinarySearchFunc(r.index, from+1, func(p pageLocation, row int64) int {
		if p.firstRow < row {
			return -1
		}
		return 1
	})
	page--
	if page < 0 || r.index[page].offset <= r.chunk.pos {
		return -1, nil
	}
	if r.dict == nil { // it stands before the first page
		at := r.chunk.pos
		h, err := r.chunk.header()
		if err != nil {
			return -1, noEOF(err)
		}
		if h.kind == format.DictionaryPage {
			if err := r.readDictionary(&h); err != nil {
				return -1, err
			}
		} else {
			r.chunk.pos = at
		}
	}
	r.chunk.pos, r.row = r.index[page].offset, r.index[page].firstRow
	if page+1 < len(r.index) {
		return r.index[page+1].firstRow, nil
	}
	return r.rows, nil
}

// PageStats are facts about the values of a column in one page.
type PageStats struct {
	Rows  RowRange // positions in the file
	Stats ColumnStats
}

// Pages returns what the page index says of a column in a row group, page after page, as RowGroup.Stats says it of the whole; nil when
// the file has no page index for it.
func (f *File) Pages(ctx context.Context, group int, want batch.Field, naming Naming, byID bool) ([]PageStats, error) {
	l, typ, ok := f.statsLeaf(want, naming, byID)
	if !ok || l == nil || group < 0 || group >= len(f.meta.RowGroups) {
		return nil, nil
	}
	column := &f.meta.RowGroups[group].Columns[l.index]
	if column.ColumnIndexOffset == 0 || column.OffsetIndexOffset == 0 {
		return nil, nil
	}
	var pages []PageStats
	err := guard(f.uri, want.Name, func() (err error) {
		pages, err = f.pageStats(f.source.reader(ctx), group, l, typ)
		return err
	})
	return pages, err
}

func (f *File) pageStats(r io.ReaderAt, group int, l *leaf, want batch.Type) ([]PageStats, error) {
	meta := &f.meta.RowGroups[group]
	column := &meta.Columns[l.index]
	locations, err := f.pageLocations(r, column, meta.NumRows)
	if err != nil || len(locations) == 0 {
		return nil, err
	}
	var index format.ColumnIndex
	if err := readIndex(r, f.source.size, column.ColumnIndexOffset, column.ColumnIndexLength, &index); err != nil {
		return nil, err
	}
	count := len(locations)
	if len(index.NullPages) != count || len(index.MinValues) != count || len(index.MaxValues) != count || len(index.NullCounts) != 0 && len(index.NullCounts) != count {
		return nil, damaged("the column index has another number of pages than the offset index, which has %d", count)
	}
	pages := make([]PageStats, count)
	for i := range pages {
		p := &pages[i]
		p.Rows = RowRange{f.starts[group] + locations[i].firstRow, f.starts[group] + meta.NumRows}
		if i+1 < count {
			p.Rows.End = f.starts[group] + locations[i+1].firstRow
		}
		p.Stats.NullCount = -1
		rows := p.Rows.End - p.Rows.Start
		switch {
		case index.NullPages[i]:
			p.Stats.NullCount = rows
			continue
		case l.maxDef == 0:
			p.Stats.NullCount = 0
		case len(index.NullCounts) > 0 && index.NullCounts[i] >= 0 && index.NullCounts[i] <= rows:
			p.Stats.NullCount = index.NullCounts[i]
		}
		if f.knownOrder(l) {
			f.setBounds(&p.Stats, l, want, index.MinValues[i], index.MaxValues[i])
		}
	}
	return pages, nil
}

// Cuts returns the positions in the file at which pages of a row group begin, but for the first, in that of the wanted columns which takes the most bytes there: who reads
// from one cut to another decompresses no page of it that another reads too. None where that is not known without reading the pages, or the column has a single one.
func (f *File) Cuts(ctx context.Context, group int, opts ScanOptions) ([]int64, error) {
	s := f.Scan(ctx, opts)
	if s.err != nil {
		return nil, s.err
	}
	meta := &f.meta.RowGroups[group]
	var largest *leaf
	for _, c := range s.columns {
		for _, l := range c.leaves {
			if largest == nil || meta.Columns[l.leaf.index].MetaData.TotalCompressedSize > meta.Columns[largest.index].MetaData.TotalCompressedSize {
				largest = l.leaf
			}
		}
	}
	if largest == nil {
		return nil, nil
	}
	var cuts []int64
	err := guard(f.uri, largest.path, func() error {
		column := &meta.Columns[largest.index]
		pages, err := f.pageLocations(s.reader, column, meta.NumRows)
		if err == nil && len(pages) == 0 && f.source.mapped != nil && largest.maxRep == 0 {
			pages, err = f.walkHeaders(column, meta.NumRows)
		}
		for _, p := range pages {
			if p.firstRow > 0 && p.firstRow < meta.NumRows {
				cuts = append(cuts, f.starts[group]+p.firstRow)
			}
		}
		return err
	})
	return cuts, err
}

// walkHeaders finds the pages of a leaf that is not repeated by their headers.
func (f *File) walkHeaders(column *format.ColumnChunk, rows int64) ([]pageLocation, error) {
	c, err := f.chunkOf(&column.MetaData, nil)
	if err != nil {
		return nil, err
	}
	var pages []pageLocation
	for row := int64(0); row < rows; {
		at := c.pos
		h, err := c.header()
		if err != nil {
			return nil, noEOF(err)
		}
		if h.kind == format.DataPage || h.kind == format.DataPageV2 {
			if h.values > 0 {
				pages = append(pages, pageLocation{offset: at, firstRow: row})
			}
			row += int64(h.values)
		}
		c.pos += int64(h.packed)
	}
	return pages, nil
}
