package vector

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"lakesql/batch"
)

const (
	// chunkRows is how many rows a sorter keeps together: few enough that no vector of texts passes 2 GiB.
	chunkRows = 8 * batch.MaxRows
	// sparedRows is how many rows a sorter with a limit keeps beyond it before it sorts out those that are not needed.
	sparedRows = 4 * batch.MaxRows
	// runRows is how many rows are sorted at once: few enough that a query ends soon after it was cancelled.
	runRows = 8 * batch.MaxRows
	// mostTop is the largest limit for which rows are sorted out before all were read.
	mostTop = runRows
)

// rowChunk is some rows that a sorter keeps: the columns, and the keys that are none of them. A column that nobody looks at is nil.
type rowChunk struct {
	cols []*batch.Vector
	keys []*batch.Vector
	len  int
}

// rowRef is a row of a chunk, with what orders most rows by itself.
type rowRef struct {
	word     uint64 // ascends with the first key, as far as 64 bits tell
	position int64  // ascends with the order of the child's rows
	chunk    *rowChunk
	row      int32
}

// sorter keeps and sorts the rows of one worker.
type sorter struct {
	keys   []SortKey
	limit  int
	chunk  *rowChunk  // the one that grows; nil: none yet
	rows   []rowRef   // in the order in which they came
	runs   [][]rowRef // sorted, after one another
	sorted int        // rows in runs
	bytes  int64      // of all chunks
	memory share
	full   bool   // there are limit rows, and bound is the word of the last of them
	bound  uint64 // rows with a greater word are not needed

	morsel  int64
	counted int64 // rows of the morsel
	words   []uint64
	picked  []int32
	vectors []*batch.Vector
}

// add keeps the rows of a batch that may be needed.
func (s *sorter) add(ctx context.Context, b *batch.Batch, morsel int64) error {
	if morsel != s.morsel {
		s.morsel, s.counted = morsel, 0
	}
	s.vectors = s.vectors[:0]
	for _, k := range s.keys {
		v, err := k.Expr.Eval(ctx, b)
		if err != nil {
			return err
		}
		s.vectors = append(s.vectors, v)
	}
	s.words = resize(s.words, b.Len)
	sortWords(s.words, s.vectors[0], b)
	if s.keys[0].Descending {
		for i := range s.words {
			s.words[i] = ^s.words[i]
		}
	}
	s.picked = s.picked[:0]
	selected(b, func(i int) {
		if !s.full || s.words[i] <= s.bound {
			s.picked = append(s.picked, int32(i))
		}
	})
	if len(s.picked) > 0 {
		s.keep(b)
	}
	s.counted += int64(b.Len)
	switch {
	case s.limit <= mostTop && len(s.rows) >= s.limit+sparedRows:
		s.cut()
	case s.limit > mostTop && len(s.rows) >= runRows:
		s.endRun()
	}
	return s.memory.set(s.bytes + int64(cap(s.rows)+s.sorted)*int64(unsafe.Sizeof(rowRef{})))
}

// endRun sorts the rows that came since the last run.
func (s *sorter) endRun() {
	s.sort()
	s.runs, s.sorted = append(s.runs, s.rows[:min(len(s.rows), s.limit)]), s.sorted+len(s.rows)
	s.rows = make([]rowRef, 0, runRows+batch.MaxRows)
}

// keep copies the picked rows.
func (s *sorter) keep(b *batch.Batch) {
	if s.chunk == nil || s.chunk.len+len(s.picked) > chunkRows {
		s.chunk = &rowChunk{cols: make([]*batch.Vector, len(b.Cols)), keys: make([]*batch.Vector, len(s.keys))}
	}
	c := s.chunk
	before := c.size()
	for i, v := range b.Cols {
		c.cols[i] = appendPlain(c.cols[i], v, s.picked)
	}
	for i, v := range s.vectors {
		if e, ok := s.keys[i].Expr.(*column); ok {
			c.keys[i] = c.cols[e.index]
		} else {
			c.keys[i] = appendPlain(c.keys[i], v, s.picked)
		}
	}
	for k, i := range s.picked {
		s.rows = append(s.rows, rowRef{s.words[i], s.morsel<<40 | (s.counted + int64(i)), c, int32(c.len + k)})
	}
	c.len += len(s.picked)
	s.bytes += c.size() - before
}

// appendPlain appends rows to a vector, which is made when it is nil. Only texts keep a dictionary.
func appendPlain(to, from *batch.Vector, rows []int32) *batch.Vector {
	if from == nil {
		return nil
	}
	if to == nil {
		to = batch.NewVector(from.Type, len(rows))
	}
	to.AppendRows(from, rows)
	if to.Dict != nil && to.Type.Layout() != batch.LayoutBytes {
		*to = *to.Decode()
	}
	return to
}

// size is about how many bytes the chunk takes, twice where a column is a key.
func (c *rowChunk) size() int64 {
	n := int64(0)
	for _, v := range append(c.cols[:len(c.cols):len(c.cols)], c.keys...) {
		if v != nil {
			n += vectorSize(v)
		}
	}
	return n
}

// cut drops the rows beyond the limit, and copies the others so that nothing else is kept.
func (s *sorter) cut() {
	s.sort()
	rows := s.rows[:s.limit]
	s.full, s.bound = true, rows[s.limit-1].word
	s.rows = make([]rowRef, 0, s.limit+sparedRows)
	s.bytes, s.chunk = 0, nil
	for len(rows) > 0 {
		n := min(len(rows), chunkRows)
		c := &rowChunk{cols: make([]*batch.Vector, len(rows[0].chunk.cols)), keys: make([]*batch.Vector, len(s.keys)), len: n}
		for i := range c.cols {
			c.cols[i] = gatherColumn(rows[:n], i)
		}
		for i := range c.keys {
			if e, ok := s.keys[i].Expr.(*column); ok {
				c.keys[i] = c.cols[e.index]
			} else {
				c.keys[i] = gatherVectors(rows[:n], func(c *rowChunk) *batch.Vector { return c.keys[i] })
			}
		}
		for k, r := range rows[:n] {
			s.rows = append(s.rows, rowRef{r.word, r.position, c, int32(k)})
		}
		s.bytes += c.size()
		rows = rows[n:]
	}
}

func (s *sorter) finish() error {
	s.endRun()
	return nil
}

func (s *sorter) sort() {
	slices.SortFunc(s.rows, func(a, b rowRef) int {
		if a.word != b.word {
			return cmp.Compare(a.word, b.word)
		}
		return compareRows(s.keys, &a, &b)
	})
}

// compareRows orders two rows by all keys, and then by their positions.
func compareRows(keys []SortKey, a, b *rowRef) int {
	if a.word != b.word {
		return cmp.Compare(a.word, b.word)
	}
	for i, k := range keys {
		va, vb := a.chunk.keys[i], b.chunk.keys[i]
		o := 0
		switch an, bn := va.IsNull(int(a.row)), vb.IsNull(int(b.row)); {
		case an || bn:
			o = boolInt(bn) - boolInt(an)
		default:
			o = batch.Compare(va, int(a.row), vb, int(b.row))
		}
		if k.Descending {
			o = -o
		}
		if o != 0 {
			return o
		}
	}
	return cmp.Compare(a.position, b.position)
}

// sortWords sets out to words that ascend with the values of a key: equal values have the same word, and different ones may have.
func sortWords(out []uint64, v *batch.Vector, b *batch.Batch) {
	const sign = 1 << 63
	var word func(v *batch.Vector, i int) uint64
	switch v.Type.Layout() {
	case batch.LayoutBools:
		word = func(v *batch.Vector, i int) uint64 { return 1 + uint64(boolInt(v.Bools[i])) }
	case batch.LayoutI8, batch.LayoutI16, batch.LayoutI32:
		word = func(v *batch.Vector, i int) uint64 { return uint64(intAt(v, i)) ^ sign }
	case batch.LayoutI64:
		word = func(v *batch.Vector, i int) uint64 { return uint64(v.I64[i]) ^ sign }
	case batch.LayoutF32:
		word = func(v *batch.Vector, i int) uint64 { return floatWord(float64(v.F32[i])) }
	case batch.LayoutF64:
		word = func(v *batch.Vector, i int) uint64 { return floatWord(v.F64[i]) }
	case batch.LayoutDec:
		word = func(v *batch.Vector, i int) uint64 {
			x := v.Dec[i]
			switch low := int64(x.LowBits()); {
			case x.HighBits() == low>>63:
				return uint64(low) ^ sign
			case x.Sign() < 0:
				return 0
			}
			return math.MaxUint64
		}
	default:
		word = func(v *batch.Vector, i int) uint64 { return textWord(v.BytesAt(i)) }
	}
	selected(b, func(i int) {
		switch {
		case v.IsNull(i):
			out[i] = 0
		case v.Dict != nil:
			out[i] = word(v.Dict, int(v.Codes[i]))
		default:
			out[i] = word(v, i)
		}
	})
}

func floatWord(x float64) uint64 {
	w := math.Float64bits(plainFloat(x)) // the one NaN is positive, above the infinite
	if w>>63 != 0 {
		return ^w
	}
	return w | 1<<63
}

// textWord is the first bytes of a text.
func textWord(text []byte) uint64 {
	if len(text) >= 8 {
		return binary.BigEndian.Uint64(text)
	}
	var first [8]byte
	copy(first[:], text)
	return binary.BigEndian.Uint64(first[:])
}

// gatherColumn returns a column of rows; nil where nobody looks at it.
func gatherColumn(rows []rowRef, column int) *batch.Vector {
	return gatherVectors(rows, func(c *rowChunk) *batch.Vector { return c.cols[column] })
}

func gatherVectors(rows []rowRef, of func(*rowChunk) *batch.Vector) *batch.Vector {
	first := of(rows[0].chunk)
	if first == nil {
		return nil
	}
	out := batch.NewVector(first.Type, len(rows))
	switch first.Type.Layout() {
	case batch.LayoutI32:
		out.I32 = gatherValues(out, rows, of, func(v *batch.Vector) []int32 { return v.I32 })
	case batch.LayoutI64:
		out.I64 = gatherValues(out, rows, of, func(v *batch.Vector) []int64 { return v.I64 })
	case batch.LayoutF64:
		out.F64 = gatherValues(out, rows, of, func(v *batch.Vector) []float64 { return v.F64 })
	default:
		for _, r := range rows {
			out.AppendFrom(of(r.chunk), int(r.row))
		}
	}
	return out
}

// gatherValues returns the values of rows, and sets out's length and validity.
func gatherValues[T any](out *batch.Vector, rows []rowRef, of func(*rowChunk) *batch.Vector, values func(*batch.Vector) []T) []T {
	to := make([]T, len(rows))
	out.Len = len(rows)
	for i, r := range rows {
		v := of(r.chunk)
		to[i] = values(v)[r.row]
		if v.IsNull(int(r.row)) {
			if out.Valid == nil {
				out.Valid = batch.NewBitmap(out.Len)
			}
			out.Valid.Clear(i)
		}
	}
	return to
}
