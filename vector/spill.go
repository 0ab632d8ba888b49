package vector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"lakesql/batch"
)

// spill is a temporary file of batches: it is written, and then read from its beginning as often as is needed. It belongs to one goroutine at a
// time. A few rows stay in memory and make no file.
//
// The file is blocks, each of up to MaxRows rows: the number of the rows and the length of the rest as two words, and the columns as vectorWriter has
// them. Every part begins at a multiple of eight bytes, so that what is read is used in place.
type spill struct {
	schema *batch.Schema
	budget *Budget
	file   *os.File // nil: none yet
	named  bool     // the file is to be removed
	size   int64    // of the file

	out  []byte // what is not in the file yet
	code vectorWriter

	at    int64    // in the file, and in out behind it
	block []uint64 // the memory of the last block
	read  vectorReader
	small batch.Batch // small blocks put together
}

const (
	// spillBuffer is how many bytes are gathered before they are written.
	spillBuffer = 16 << 10
	// spillBlock is about how many bytes a block has at the most; a row that is longer has one of its own.
	spillBlock = 1 << 20
	// wholeBlock is how many rows a block has at the least that is handed out as it is.
	wholeBlock = batch.MaxRows / 4
)

// newSpill returns an empty spill for batches of a schema. Columns of a batch may be nil. The budget must have a place to spill to.
func (b *Budget) newSpill(schema *batch.Schema) *spill {
	return &spill{schema: schema, budget: b}
}

// write adds the selected rows of a batch. ctx ends it between blocks.
func (s *spill) write(ctx context.Context, b *batch.Batch) error {
	for lo, n := 0, b.Rows(); lo < n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := blockEnd(b, lo, n)
		s.writeBlock(b, lo, hi)
		if len(s.out) >= spillBuffer {
			if err := s.flush(); err != nil {
				return err
			}
		}
		lo = hi
	}
	return nil
}

// blockEnd is up to which row a block goes that begins with row lo.
func blockEnd(b *batch.Batch, lo, n int) int {
	fixed := int64(0) // bytes a row
	var texts []*batch.Vector
	for _, v := range b.Cols {
		switch {
		case v == nil:
		case v.Dict == nil && v.Type.Layout() == batch.LayoutBytes:
			texts = append(texts, v)
		case v.Len > 0:
			fixed += 1 + usedBytes(v)/int64(v.Len)
		}
	}
	n = min(n, lo+batch.MaxRows)
	bytes := int64(0)
	for k := lo; k < n; k++ {
		bytes += fixed
		for _, v := range texts {
			i := b.Row(k)
			bytes += int64(v.Off[i+1] - v.Off[i])
		}
		if bytes > spillBlock {
			return max(k, lo+1)
		}
	}
	return n
}

// usedBytes is about how many bytes the rows of a vector take, which may share its memory with many more.
func usedBytes(v *batch.Vector) int64 {
	if v.Dict != nil || len(v.Children) == 0 && v.Type.Layout() != batch.LayoutBytes {
		return int64(v.Len) * int64(keyBits(v.Type)/8)
	}
	if v.Type.Layout() == batch.LayoutBytes {
		return int64(v.Off[v.Len]-v.Off[0]) + 4*int64(v.Len)
	}
	n := int64(0)
	for _, child := range v.Children {
		size := usedBytes(child)
		if v.Type.Layout() == batch.LayoutList && child.Len > 0 {
			size = size * int64(v.Off[v.Len]-v.Off[0]) / int64(child.Len)
		}
		n += size
	}
	return n + 4*int64(v.Len)
}

const blockHeader = 16

func (s *spill) writeBlock(b *batch.Batch, lo, hi int) {
	at := len(s.out)
	s.out = append(s.out, make([]byte, blockHeader)...)
	var rows []int32
	if b.Sel != nil {
		rows = b.Sel[lo:hi]
	}
	for _, v := range b.Cols {
		if v != nil && rows == nil && (lo > 0 || hi < v.Len) {
			v = v.Slice(lo, hi)
		}
		s.out = s.code.append(s.out, v, rows)
	}
	putWord(s.out[at:], uint64(hi-lo))
	putWord(s.out[at+8:], uint64(len(s.out)-at-blockHeader))
}

// flush writes what was gathered.
func (s *spill) flush() error {
	if s.file == nil {
		var err error
		if s.file, s.named, err = s.budget.space.open(); err != nil {
			return err
		}
	}
	if err := s.budget.space.take(int64(len(s.out))); err != nil {
		return err
	}
	n, err := s.file.WriteAt(s.out, s.size)
	s.size += int64(len(s.out)) // as it was taken
	if err != nil {
		return fmt.Errorf("spill to %s: wrote %d of %d bytes: %w", s.budget.space.directory, n, len(s.out), err)
	}
	for b := s.budget; b != nil; b = b.parent {
		b.spilled.Add(int64(n))
	}
	if s.out = s.out[:0]; cap(s.out) > spillBlock {
		s.out = nil
	}
	return nil
}

// rewind goes to the beginning, to read. Nothing is written any more.
func (s *spill) rewind() error {
	s.at, s.code = 0, vectorWriter{}
	s.read = vectorReader{}
	if s.file != nil && len(s.out) > 0 {
		return s.flush()
	}
	return nil
}

// next returns the next rows, or io.EOF. The batch has no selection, and stays valid until the call after it.
func (s *spill) next(ctx context.Context) (*batch.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out, bytes, err := s.nextBlock()
	if err != nil || out.Len >= wholeBlock {
		return out, err
	}
	s.small.Schema, s.small.Len = s.schema, 0
	s.small.Cols = resize(s.small.Cols, len(out.Cols))
	for i, v := range out.Cols {
		switch {
		case v == nil:
			s.small.Cols[i] = nil
		case s.small.Cols[i] == nil:
			s.small.Cols[i] = batch.NewVector(v.Type, 2*wholeBlock)
		default:
			s.small.Cols[i].Reset()
		}
	}
	for {
		for i, v := range out.Cols {
			if v != nil {
				s.small.Cols[i].AppendRows(v, nil)
			}
		}
		s.small.Len += out.Len
		if s.small.Len >= batch.MaxRows-wholeBlock || bytes > spillBlock || s.ended() {
			return &s.small, nil
		}
		more, n, err := s.nextBlock()
		if err != nil {
			return nil, err
		}
		if !sameColumns(more, &s.small) || s.small.Len+more.Len > batch.MaxRows {
			s.at -= blockHeader + n
			return &s.small, nil
		}
		out, bytes = more, bytes+n
	}
}

// reader returns what reads the same rows from the beginning, beside others. s must be rewound, and be closed after it; it itself is not to be closed.
func (s *spill) reader() *spill {
	return &spill{schema: s.schema, budget: s.budget, file: s.file, size: s.size, out: s.out}
}

// sameColumns says whether both batches have nil for the same columns.
func sameColumns(a, b *batch.Batch) bool {
	for i, v := range a.Cols {
		if (v == nil) != (b.Cols[i] == nil) {
			return false
		}
	}
	return true
}

func (s *spill) ended() bool { return s.at == s.size+int64(len(s.out)) }

// nextBlock returns a block and how many bytes its columns have.
func (s *spill) nextBlock() (*batch.Batch, int64, error) {
	if s.ended() {
		return nil, 0, io.EOF
	}
	var header [blockHeader / 8]uint64
	if err := s.load(wordBytes(header[:])); err != nil {
		return nil, 0, err
	}
	rows, length := int(header[0]), int64(header[1])
	s.block = resize(s.block, int(length/8))
	if err := s.load(wordBytes(s.block)); err != nil {
		return nil, 0, err
	}
	out := &batch.Batch{Schema: s.schema, Cols: make([]*batch.Vector, len(s.schema.Fields)), Len: rows}
	s.read.bytes = wordBytes(s.block)
	for i, f := range s.schema.Fields {
		out.Cols[i] = s.read.vector(f.Type, rows)
	}
	return out, length, nil
}

// load reads the next bytes.
func (s *spill) load(to []byte) error {
	if s.file == nil {
		s.at += int64(copy(to, s.out[s.at:]))
		return nil
	}
	if n, err := s.file.ReadAt(to, s.at); n < len(to) {
		return fmt.Errorf("read what was spilled to %s: %d of %d bytes: %w", s.budget.space.directory, n, len(to), err)
	}
	s.at += int64(len(to))
	return nil
}

// memory is about how many bytes the spill holds itself.
func (s *spill) memory() int64 {
	n := int64(cap(s.out)) + 8*int64(cap(s.block))
	for _, v := range s.small.Cols {
		if v != nil {
			n += vectorSize(v)
		}
	}
	return n
}

// close removes the file. It can be called twice, and on nil.
func (s *spill) close() error {
	if s == nil {
		return nil
	}
	s.out, s.block, s.small, s.read, s.code = nil, nil, batch.Batch{}, vectorReader{}, vectorWriter{}
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	s.budget.space.files.Add(-1)
	_ = s.budget.space.take(-s.size) // to hold less is no error
	s.file, s.size, s.at = nil, 0, 0
	if err != nil {
		return fmt.Errorf("remove what was spilled to %s: %w", s.budget.space.directory, err)
	}
	return nil
}

func wordBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
