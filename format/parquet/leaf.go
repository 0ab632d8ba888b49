package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

const (
	// maxVectorBytes is what a vector's offsets can address.
	maxVectorBytes = 1<<31 - 1
	// maxBatchLevels bounds the levels of one leaf in one batch: elements of lists, and lists without any.
	maxBatchLevels = 1 << 25
	// maxSpreadBytes bounds what a dictionary's strings take in one batch when they must be written out, since its codes say nothing of their
	// lengths beforehand.
	maxSpreadBytes = 256 << 20
	// levelStep is how many levels of a repeated leaf are decoded at once.
	levelStep = 4096
)

// leafReader reads the column chunks of one leaf: levels, and values in the wanted type.
//
// Invariants: row is how many rows of the row group have begun in what was handed out or left out; between two reads all of them are whole. The
// open page has left levels that are not decoded. Of a repeated leaf, ahead are decoded ones that are not handed out, which is how
// the end of a row is seen.
type leafReader struct {
	file *File
	leaf *leaf
	path string     // for errors
	typ  batch.Type // of the values
	conv converter  // nil: only the levels are wanted
	like bool       // conv is copyValues

	codec  format.CompressionCodec
	chunk  chunk
	ends   *ending
	rows   int64          // of the row group
	index  []pageLocation // the chunk's pages; nil: not known
	column *format.ColumnChunk
	buffer *[]byte // the page's memory, when it is decompressed

	row     int64
	pageEnd int64 // what row is at the end of the open page, as the index says; -1: not known
	left    int
	skipped int // values of the open page that are left out and still stand before the next one
	reps    hybrid
	defs    hybrid
	vals    decoder // nil: the page's values are codes, or not wanted
	code    hybrid
	dict    *batch.Vector // of the chunk, in the wanted type; nil: none yet

	ahead  levels
	memory levels // what ahead lies in
	got    levels // of the rows read last; none of a leaf that is not repeated while whole
	whole  int    // rows read last that have a value each, and whose levels are not in got
	codes  []int32
	picker picker
}

// levels are repetition and definition levels of equally many entries. A leaf that cannot be repeated, or not be null, has none of that kind.
type levels struct{ reps, defs []byte }

func (l *levels) reset() { l.reps, l.defs = l.reps[:0], l.defs[:0] }

// newLeafReader reads a leaf as the wanted type; a batch.Void type stands for its levels alone.
func newLeafReader(f *File, l *leaf, want batch.Type, path string) (*leafReader, error) {
	r := &leafReader{file: f, leaf: l, path: path, typ: want, pageEnd: -1}
	if want.Kind == batch.Void {
		return r, nil
	}
	conv, err := converterFor(l, want)
	if err != nil {
		return nil, &Error{File: f.uri, Column: path, Err: err}
	}
	r.conv, r.like = f.legacy.rebased(l, want, conv), l.isLike(want) && !f.legacy.rebases(l)
	return r, nil
}

// open goes to the leaf's chunk in a row group.
func (r *leafReader) open(meta *format.RowGroup, source io.ReaderAt, ends *ending) error {
	r.close()
	r.ends = ends
	r.column = &meta.Columns[r.leaf.index]
	m := &r.column.MetaData
	if r.column.CryptoMetadata.Value != nil {
		return fmt.Errorf("%w: it is encrypted", ErrUnsupported)
	}
	if r.column.FilePath != "" {
		return fmt.Errorf("%w: its values are in another file, %s", ErrUnsupported, r.column.FilePath)
	}
	if m.Type != r.leaf.physical {
		return damaged("its values are %s, the schema says %s", m.Type, r.leaf.physical)
	}
	if err := checkCodec(m.Codec); err != nil {
		return err
	}
	window := r.chunk.window[:0]
	var err error
	if r.chunk, err = r.file.chunkOf(m, source); err != nil {
		return err
	}
	r.codec, r.rows, r.chunk.window = m.Codec, meta.NumRows, window
	return nil
}

// close lets go of the page and the chunk.
func (r *leafReader) close() {
	if r.buffer != nil {
		keepBuffer(r.buffer)
		r.buffer = nil
	}
	r.row, r.pageEnd, r.left, r.vals, r.dict, r.index = 0, -1, 0, nil, nil, nil
	r.ahead = levels{}
	r.got.reset()
	r.chunk.pos, r.chunk.end = 0, 0
}

// read appends the values of n rows, from position from of the row group on, to dst, without their nulls; dst is not used where only the levels are wanted.
// from is not before the end of the last read. The rows' levels are in got.
func (r *leafReader) read(dst *batch.Vector, from int64, n int) error {
	r.got.reset()
	r.whole = 0
	if err := r.seek(from); err != nil {
		return err
	}
	if r.leaf.maxRep > 0 {
		return r.takeRows(dst, n)
	}
	for n > 0 {
		if r.left == 0 {
			if err := r.nextPage(); err != nil {
				return err
			}
			continue
		}
		take := min(n, r.left)
		valid, err := r.takeLevels(take)
		if err != nil {
			return err
		}
		if err := r.appendValues(dst, valid); err != nil {
			return err
		}
		n, r.row = n-take, r.row+int64(take)
	}
	return nil
}

// seek leaves out the rows before the position from: whole pages without a look where it is known how many rows they have, and others by
// their levels alone. The row at that position is at hand afterwards.
func (r *leafReader) seek(from int64) error {
	if r.row == from {
		return nil
	}
	for {
		var atRow bool
		var err error
		switch {
		case len(r.ahead.reps) > 0:
			atRow, err = r.skipAhead(from)
		case r.left == 0:
			err = r.nextPageNear(from)
		case r.leaf.maxRep > 0:
			atRow, err = r.skipRepeated(from)
		default:
			err = r.skipLevels(int(min(int64(r.left), from-r.row)), true)
		}
		if atRow || err != nil || r.row == from && r.leaf.maxRep == 0 {
			return err
		}
	}
}

// skipAhead leaves out levels of a repeated leaf that are decoded already. atRow says that the row at the position from is at hand.
func (r *leafReader) skipAhead(from int64) (atRow bool, err error) {
	for i, rep := range r.ahead.reps {
		if rep == 0 {
			if r.row == from {
				return true, r.takeAhead(nil, i, false)
			}
			r.row++
		}
	}
	return false, r.takeAhead(nil, len(r.ahead.reps), false)
}

// skipRepeated leaves out levels of a repeated leaf in the open page, at most those of one run. atRow says that the row at the position from is
// at hand.
func (r *leafReader) skipRepeated(from int64) (atRow bool, err error) {
	n, rep, err := r.reps.constant(r.left)
	switch {
	case err != nil:
		return false, err
	case n == 0: // they are packed
		return false, r.lookAhead()
	case rep == 0 && r.row == from:
		return true, nil
	case rep == 0:
		n = int(min(int64(n), from-r.row))
	}
	if err := r.reps.skip(n); err != nil {
		return false, err
	}
	return false, r.skipLevels(n, rep == 0)
}

// skipLevels leaves out n definition levels of the open page, with their values. beginRows says that each of them begins a row.
func (r *leafReader) skipLevels(n int, beginRows bool) error {
	valid := n
	if r.leaf.maxDef > 0 {
		var err error
		if valid, err = r.defs.skipCounting(n, uint32(r.leaf.maxDef)); err != nil {
			return err
		}
	}
	r.left, r.skipped = r.left-n, r.skipped+valid
	if beginRows {
		r.row += int64(n)
	}
	return nil
}

// takeLevels takes the next n levels of a leaf that is not repeated, and returns how many of them are of values. Those of values alone are only counted, while there
// are no others.
func (r *leafReader) takeLevels(n int) (valid int, err error) {
	whole, err := r.skipWhole(n)
	switch {
	case err != nil || whole && r.leaf.maxDef == 0:
		return n, err
	case whole && len(r.got.defs) == 0:
		r.whole += n
		return n, nil
	}
	r.got.defs = appendLevels(r.got.defs, r.leaf.maxDef, r.whole)
	r.whole = 0
	if whole {
		r.got.defs = appendLevels(r.got.defs, r.leaf.maxDef, n)
		return n, nil
	}
	return r.takeDefs(&r.got, n)
}

// appendLevels appends one level n times.
func appendLevels(levels []byte, level byte, n int) []byte {
	levels = slices.Grow(levels, n)
	for range n {
		levels = append(levels, level)
	}
	return levels
}

// skipWhole leaves out the next n definition levels if they are known to be of values without a look at each.
func (r *leafReader) skipWhole(n int) (bool, error) {
	if r.leaf.maxDef > 0 {
		same, level, err := r.defs.constant(n)
		if err != nil || same < n || level != uint32(r.leaf.maxDef) {
			return false, err
		}
		if err := r.defs.skip(n); err != nil {
			return false, err
		}
	}
	r.left -= n
	return true, nil
}

// view makes into a vector of n rows, from position from of the row group on, that shares the page's memory until the next page is opened; false when the rows are not whole in one page or
// not as the wanted type has them there, or the memory is a mapping, which is only read under guard.
func (r *leafReader) view(into *batch.Vector, from int64, n int) (bool, error) {
	if !r.like || r.codec == format.Uncompressed || r.leaf.maxRep > 0 {
		return false, nil
	}
	if err := r.seek(from); err != nil {
		return false, err
	}
	for r.left == 0 {
		if err := r.nextPage(); err != nil {
			return false, err
		}
	}
	values, ok := r.vals.(*plainFixed)
	if !ok || r.left < n {
		return false, nil
	}
	if whole, err := r.skipWhole(n); err != nil || !whole {
		return false, err
	}
	if err := r.catchUp(); err != nil {
		return false, err
	}
	seen, err := values.next(n)
	if err != nil {
		return false, err
	}
	r.row += int64(n)
	viewOfValues(into, r.typ, &seen)
	return true, nil
}

// takeDefs decodes the next n definition levels of the page into to, and returns how many of them are of values.
func (r *leafReader) takeDefs(to *levels, n int) (valid int, err error) {
	r.left -= n
	if r.leaf.maxDef == 0 {
		return n, nil
	}
	at := len(to.defs)
	to.defs = slices.Grow(to.defs, n)[:at+n]
	if err := r.defs.levels(to.defs[at:]); err != nil {
		return 0, err
	}
	return r.countValues(to.defs[at:]), nil
}

// countValues returns how many of the definition levels are of values.
func (r *leafReader) countValues(defs []byte) int {
	switch r.leaf.maxDef {
	case 0:
		panic("a column that is never null has no definition levels")
	case 1:
		return countOnes(defs)
	}
	return bytes.Count(defs, []byte{r.leaf.maxDef})
}

// takeRows takes the next n rows of a repeated leaf.
func (r *leafReader) takeRows(dst *batch.Vector, n int) error {
	for rows := 0; ; {
		if len(r.ahead.reps) == 0 {
			if err := r.lookAhead(); errors.Is(err, io.EOF) && rows == n {
				return nil
			} else if err != nil {
				return noEOF(err)
			}
		}
		cut := len(r.ahead.reps)
		for i, rep := range r.ahead.reps {
			if rep == 0 {
				if rows == n {
					cut = i
					break
				}
				rows, r.row = rows+1, r.row+1
			}
		}
		switch {
		case rows == 0:
			return damaged("a row begins with the repetition level %d", r.ahead.reps[0])
		case len(r.got.reps)+cut > maxBatchLevels:
			return fmt.Errorf("%w: more than %d elements in %d rows", ErrUnsupported, maxBatchLevels, n)
		}
		if err := r.takeAhead(dst, cut, true); err != nil || len(r.ahead.reps) > 0 {
			return err
		}
	}
}

// lookAhead decodes more levels of a repeated leaf. io.EOF says that there are none.
func (r *leafReader) lookAhead() error {
	if r.left == 0 {
		if err := r.tryNextPage(); err != nil {
			return err
		}
	}
	n := min(r.left, levelStep)
	r.memory.reps, r.memory.defs = grown(r.memory.reps, n), grown(r.memory.defs, n)
	if err := r.reps.levels(r.memory.reps); err != nil {
		return err
	}
	r.ahead = levels{reps: r.memory.reps, defs: r.memory.defs}
	r.left -= n
	return r.defs.levels(r.memory.defs)
}

// takeAhead takes the first n decoded levels: they and their values are appended to got and to dst, or with keep false left out.
func (r *leafReader) takeAhead(dst *batch.Vector, n int, keep bool) error {
	reps, defs := r.ahead.reps[:n], r.ahead.defs[:n]
	r.ahead = levels{reps: r.ahead.reps[n:], defs: r.ahead.defs[n:]}
	valid := r.countValues(defs)
	if !keep {
		r.skipped += valid
		return nil
	}
	r.got.reps, r.got.defs = append(r.got.reps, reps...), append(r.got.defs, defs...)
	return r.appendValues(dst, valid)
}

// appendValues appends the next n values of the page, behind those that are left out.
func (r *leafReader) appendValues(dst *batch.Vector, n int) error {
	if n == 0 || r.conv == nil {
		return nil
	}
	if err := r.catchUp(); err != nil {
		return err
	}
	if r.vals == nil {
		return r.appendCodes(dst, n)
	}
	values, err := r.vals.next(n)
	if err != nil {
		return err
	}
	return r.appendRaw(dst, &values)
}

// catchUp leaves out the values of the open page that are still to be left out.
func (r *leafReader) catchUp() error {
	skip := r.skipped
	r.skipped = 0
	switch {
	case skip == 0:
		return nil
	case r.vals == nil:
		return r.code.skip(skip)
	}
	return r.vals.skip(skip)
}

// appendRaw appends values that are no codes.
func (r *leafReader) appendRaw(dst *batch.Vector, values *raw) error {
	if err := writeOut(dst); err != nil {
		return err
	}
	return r.conv(dst, values)
}

// appendCodes appends n values of the dictionary. An empty vector of strings takes the dictionary over.
func (r *leafReader) appendCodes(dst *batch.Vector, n int) error {
	if r.keepsCodes(dst) {
		at := len(dst.Codes)
		dst.Codes = slices.Grow(dst.Codes, n)[:at+n]
		dst.Len += n
		return r.code.codes(dst.Codes[at:])
	}
	r.codes = grown(r.codes, n)
	if err := r.code.codes(unsignedOf(r.codes)); err != nil {
		return err
	}
	return r.appendLookedUp(dst, r.codes)
}

// keepsCodes says whether dst has, or takes over, the dictionary.
func (r *leafReader) keepsCodes(dst *batch.Vector) bool {
	if dst.Len == 0 && dst.Type.Layout() == batch.LayoutBytes {
		dst.Dict = r.dict
	}
	return dst.Dict == r.dict
}

// appendLookedUp appends the values that codes stand for.
func (r *leafReader) appendLookedUp(dst *batch.Vector, codes []int32) error {
	if err := writeOut(dst); err != nil {
		return err
	}
	if dst.Type.Layout() == batch.LayoutBytes {
		if err := checkSpread(r.dict, unsignedOf(codes)); err != nil {
			return err
		}
	}
	dst.AppendRows(r.dict, codes)
	return nil
}

// writeOut makes a vector of codes a plain one.
func writeOut(dst *batch.Vector) error {
	if dst.Dict == nil {
		return nil
	}
	if err := checkSpread(dst.Dict, dst.Codes); err != nil {
		return err
	}
	*dst = *dst.Decode()
	return nil
}

// checkSpread checks the length of the strings that codes stand for.
func checkSpread(dict *batch.Vector, codes []uint32) error {
	size := 0
	for _, code := range codes {
		size += int(dict.Off[code+1] - dict.Off[code])
	}
	if size > maxSpreadBytes && len(codes) > 1 {
		return fmt.Errorf("%w: %d rows of one batch have %d bytes of strings in a dictionary", ErrUnsupported, len(codes), size)
	}
	return nil
}

// signedOf is the inverse of unsignedOf.
func signedOf(codes []uint32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes))
}

// unsignedOf looks at codes as batch.Vector keeps them.
func unsignedOf(codes []int32) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes))
}
