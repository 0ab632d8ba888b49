package vector

import (
	"context"
	"encoding/binary"
	"math"
	"unsafe"

	"lakesql/batch"
)

const (
	// chunkRows is how many rows a sorter keeps together: few enough that no vector of texts passes 2 GiB.
	chunkRows = 8 * batch.MaxRows
	// leastSpared and mostSpared bound how many rows a sorter with a limit keeps beyond it before it sorts out those that are not needed: about as many as the limit, so that
	// the bound of a small one is known soon.
	leastSpared = batch.MaxRows / 8
	mostSpared  = 4 * batch.MaxRows
	// runRows is how many rows are sorted at once: few enough that they stay in the cache.
	runRows = 8 * batch.MaxRows
	// mostTop is the largest limit for which rows are sorted out before all were read.
	mostTop = runRows
)

// sorter keeps and sorts the rows of one worker.
type sorter struct {
	keys   []SortKey
	limit  int
	chunks []*rowChunk // the last one grows
	rows   []rowRef    // in the order in which they came
	runs   []*sortedRun
	files  []*sortedRun  // what there was no room for
	schema *batch.Schema // of the files
	top    *topBound
	sorted int   // rows in runs
	bytes  int64 // of all chunks
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
	var err error
	for _, k := range s.keys {
		v, err := k.Expr.Eval(ctx, b)
		if err != nil {
			return err
		}
		s.vectors = append(s.vectors, v)
	}
	s.words = resize(s.words, b.Len)
	orderWords(s.words, s.vectors[0], b, s.keys[0].Descending)
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
	case s.limit <= mostTop && len(s.rows) >= s.limit+spared(s.limit):
		err = s.cut(ctx)
	case s.limit > mostTop && len(s.rows) >= runRows:
		err = s.endRun(ctx)
	}
	if err != nil {
		return err
	}
	err = s.memory.set(s.bytes + int64(cap(s.rows)+s.sorted)*int64(unsafe.Sizeof(rowRef{})))
	if s.memory.mustSpill() {
		return s.spill(ctx)
	}
	return err
}

// spared is how many rows are kept beyond a limit.
func spared(limit int) int { return min(max(limit, leastSpared), mostSpared) }

// spill merges all rows into a file.
func (s *sorter) spill(ctx context.Context) error {
	if err := s.endRun(ctx); err != nil {
		return err
	}
	r, err := spillRun(ctx, s.memory.budget, s.schema, s.keys, s.runs, s.limit)
	if err != nil {
		return err
	}
	s.files, s.runs, s.rows = append(s.files, r), nil, nil
	s.sorted, s.bytes, s.chunks = 0, 0, nil
	return s.memory.set(0)
}

// endRun sorts the rows that came since the last run.
func (s *sorter) endRun(ctx context.Context) error {
	if err := s.sort(ctx); err != nil {
		return err
	}
	s.runs, s.sorted = append(s.runs, &sortedRun{rows: s.rows[:min(len(s.rows), s.limit)], chunks: s.chunks}), s.sorted+len(s.rows)
	s.rows = make([]rowRef, 0, runRows+batch.MaxRows)
	return nil
}

// keep copies the picked rows.
func (s *sorter) keep(b *batch.Batch) {
	last := len(s.chunks) - 1
	if last < 0 || s.chunks[last].len+len(s.picked) > chunkRows {
		s.chunks = append(s.chunks, &rowChunk{cols: make([]*batch.Vector, len(b.Cols)), keys: make([]*batch.Vector, len(s.keys))})
		last++
	}
	c := s.chunks[last]
	before := c.size()
	for i, v := range b.Cols {
		c.cols[i] = appendPlain(c.cols[i], v, s.picked, c.len)
	}
	for i, v := range s.vectors {
		if e, ok := s.keys[i].Expr.(*column); ok {
			c.keys[i] = c.cols[e.index]
		} else {
			c.keys[i] = appendPlain(c.keys[i], v, s.picked, c.len)
		}
	}
	for k, i := range s.picked {
		s.rows = append(s.rows, rowRef{s.words[i], s.morsel<<40 | (s.counted + int64(i)), int32(last), int32(c.len + k)})
	}
	c.len += len(s.picked)
	s.bytes += c.size() - before
}

// appendPlain appends rows to a vector of as many as came before, which is made when there are none. Only texts keep a dictionary. nil: not all batches had the column.
func appendPlain(to, from *batch.Vector, rows []int32, before int) *batch.Vector {
	if from == nil || to == nil && before > 0 { // nobody looks at it, whatever some batches have
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

// cut drops the rows beyond the limit, and copies the others so that nothing else is kept.
func (s *sorter) cut(ctx context.Context) error {
	if err := s.sort(ctx); err != nil {
		return err
	}
	rows, chunks := s.rows[:s.limit], s.chunks
	last := rows[s.limit-1]
	s.full, s.bound = true, last.word
	s.top.offer(chunks[last.chunk].keys[0], int(last.row), s.keys[0].Expr)
	s.rows = make([]rowRef, 0, s.limit+spared(s.limit))
	s.bytes, s.chunks = 0, nil
	for len(rows) > 0 {
		n := min(len(rows), chunkRows)
		picked := pickRows(nil, rows[:n], chunks)
		c := &rowChunk{cols: make([]*batch.Vector, len(picked[0].chunk.cols)), keys: make([]*batch.Vector, len(s.keys)), len: n}
		for i := range c.cols {
			c.cols[i] = gatherColumn(picked, i)
		}
		for i := range c.keys {
			if e, ok := s.keys[i].Expr.(*column); ok {
				c.keys[i] = c.cols[e.index]
			} else {
				c.keys[i] = gatherVectors(picked, func(c *rowChunk) *batch.Vector { return c.keys[i] })
			}
		}
		for k, r := range rows[:n] {
			s.rows = append(s.rows, rowRef{r.word, r.position, int32(len(s.chunks)), int32(k)})
		}
		s.chunks = append(s.chunks, c)
		s.bytes += c.size()
		rows = rows[n:]
	}
	return nil
}

func (s *sorter) finish(ctx context.Context) error { return s.endRun(ctx) }

func (s *sorter) sort(ctx context.Context) error { return s.sortFrom(ctx, s.rows, 0) }

// orderWords are sortWords of a key, in its direction.
func orderWords(out []uint64, v *batch.Vector, b *batch.Batch, descending bool) {
	sortWords(out, v, b)
	if descending {
		for i := range out {
			out[i] = ^out[i]
		}
	}
}

// sortWords sets out to words that ascend with the values of a key: equal values have the same word, and different ones may have.
func sortWords(out []uint64, v *batch.Vector, b *batch.Batch) {
	word := wordOf(v.Type)
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

// wordOf returns how the word of a value that is not null, of a vector without a dictionary, is made.
func wordOf(t batch.Type) func(v *batch.Vector, i int) uint64 {
	const sign = 1 << 63
	switch t.Layout() {
	case batch.LayoutBools:
		return func(v *batch.Vector, i int) uint64 { return 1 + uint64(boolInt(v.Bools[i])) }
	case batch.LayoutI8, batch.LayoutI16, batch.LayoutI32:
		return func(v *batch.Vector, i int) uint64 { return uint64(intAt(v, i)) ^ sign }
	case batch.LayoutI64:
		return func(v *batch.Vector, i int) uint64 { return uint64(v.I64[i]) ^ sign }
	case batch.LayoutF32:
		return func(v *batch.Vector, i int) uint64 { return floatWord(float64(v.F32[i])) }
	case batch.LayoutF64:
		return func(v *batch.Vector, i int) uint64 { return floatWord(v.F64[i]) }
	case batch.LayoutDec:
		return func(v *batch.Vector, i int) uint64 {
			x := v.Dec[i]
			switch low := int64(x.LowBits()); {
			case x.HighBits() == low>>63:
				return uint64(low) ^ sign
			case x.Sign() < 0:
				return 0
			}
			return math.MaxUint64
		}
	}
	return func(v *batch.Vector, i int) uint64 { return textWord(v.BytesAt(i)) }
}

func floatWord(x float64) uint64 {
	w := math.Float64bits(plainFloat(x)) // the one NaN is positive, above the infinite
	if w>>63 != 0 {
		return ^w
	}
	return w | 1<<63
}

// wordBytesOfText is how many bytes of a text are in its word.
const wordBytesOfText = 8

// textWord is the first bytes of a text.
func textWord(text []byte) uint64 {
	if len(text) >= wordBytesOfText {
		return binary.BigEndian.Uint64(text)
	}
	var first [wordBytesOfText]byte
	copy(first[:], text)
	return binary.BigEndian.Uint64(first[:])
}
