package vector

import (
	"context"
	"errors"
	"io"

	"lakesql/batch"
)

// sortedRun is sorted rows: some in memory, which may be followed by others in a file.
type sortedRun struct {
	rows   []rowRef
	chunks []*rowChunk // that rows are of
	file   *spill      // nil: there are no others
	keys   []SortKey
}

const (
	// runBlock is how many rows of a run are read at once: few, as there is a block of each run in memory while they are merged.
	runBlock = batch.MaxRows / 8
	// mostRuns is how many runs in files are merged at once.
	mostRuns = 64
)

// fill reads further rows when there are none in memory. Without any it leaves none.
func (r *sortedRun) fill(ctx context.Context) error {
	if len(r.rows) > 0 || r.file == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.file.block = nil // rows of the block before may be in use
	b, _, err := r.file.nextBlock()
	if errors.Is(err, io.EOF) {
		err = r.file.close()
		r.file = nil
		return err
	}
	if err != nil {
		return err
	}
	c := &rowChunk{len: b.Len, keys: make([]*batch.Vector, len(r.keys))}
	last := len(b.Cols) - 1
	at := last
	for i := len(r.keys) - 1; i >= 0; i-- { // those that are no columns are behind these
		if e, ok := r.keys[i].Expr.(*column); ok {
			c.keys[i] = b.Cols[e.index]
		} else {
			at--
			c.keys[i] = b.Cols[at]
		}
	}
	c.cols = b.Cols[:at]
	words := make([]uint64, b.Len)
	orderWords(words, c.keys[0], b, r.keys[0].Descending)
	r.rows, r.chunks = make([]rowRef, b.Len), []*rowChunk{c}
	for i := range r.rows {
		r.rows[i] = rowRef{words[i], b.Cols[last].I64[i], 0, int32(i)}
	}
	return nil
}

// sortedRuns merges runs: a binary heap of those that are not empty, by their first rows.
type sortedRuns struct {
	keys []SortKey
	runs []*sortedRun
}

func newSortedRuns(ctx context.Context, keys []SortKey, runs []*sortedRun) (*sortedRuns, error) {
	h := &sortedRuns{keys: keys}
	for _, r := range runs {
		if err := r.fill(ctx); err != nil {
			return nil, err
		}
		if len(r.rows) > 0 {
			h.runs = append(h.runs, r)
		}
	}
	for i := len(h.runs)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return h, nil
}

// take takes up to n of the first rows into to; none: there are no more.
func (h *sortedRuns) take(ctx context.Context, to []pickedRow, n int) ([]pickedRow, error) {
	for ; n > 0 && len(h.runs) > 0; n-- {
		r := h.runs[0]
		to = pickRows(to, r.rows[:1], r.chunks)
		if r.rows = r.rows[1:]; len(r.rows) == 0 {
			if err := r.fill(ctx); err != nil {
				return nil, err
			}
			if len(r.rows) == 0 {
				last := len(h.runs) - 1
				h.runs[0], h.runs[last] = h.runs[last], nil
				h.runs = h.runs[:last]
			}
		}
		h.down(0)
	}
	return to, nil
}

// down moves a run to where no run below it comes first.
func (h *sortedRuns) down(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.runs); child++ {
			if a, b := h.runs[child], h.runs[first]; compareRows(h.keys, &a.rows[0], &b.rows[0], a.chunks, b.chunks) < 0 {
				first = child
			}
		}
		if first == i {
			return
		}
		h.runs[i], h.runs[first] = h.runs[first], h.runs[i]
		i = first
	}
}

// spillRun merges runs into a file, the first limit rows of them.
func spillRun(ctx context.Context, budget *Budget, schema *batch.Schema, keys []SortKey, runs []*sortedRun, limit int) (_ *sortedRun, err error) {
	merged, err := newSortedRuns(ctx, keys, runs)
	if err != nil {
		return nil, err
	}
	file := budget.newSpill(schema)
	defer func() {
		if err != nil {
			err = errors.Join(err, file.close())
		}
	}()
	var rows []pickedRow
	for limit > 0 {
		if rows, err = merged.take(ctx, rows[:0], min(limit, runBlock)); err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			break
		}
		limit -= len(rows)
		if err := file.write(ctx, runBatch(schema, keys, rows)); err != nil {
			return nil, err
		}
	}
	for _, r := range runs { // those that a limit has cut off
		if err := r.file.close(); err != nil {
			return nil, err
		}
	}
	return &sortedRun{file: file, keys: keys}, file.rewind()
}

// runSchema is that of the file of a run: the columns, the keys that are none, and the positions.
func runSchema(of *batch.Schema, keys []SortKey) *batch.Schema {
	out := &batch.Schema{Fields: of.Fields[:len(of.Fields):len(of.Fields)]}
	for _, k := range keys {
		if _, ok := k.Expr.(*column); !ok {
			out.Fields = append(out.Fields, batch.Field{Type: k.Expr.Type(), Nullable: true})
		}
	}
	out.Fields = append(out.Fields, batch.Field{Type: positionType})
	return out
}

// runBatch is rows for the file of a run.
func runBatch(schema *batch.Schema, keys []SortKey, rows []pickedRow) *batch.Batch {
	out := &batch.Batch{Schema: schema, Len: len(rows)}
	for i := range rows[0].chunk.cols {
		out.Cols = append(out.Cols, gatherColumn(rows, i))
	}
	for i, k := range keys {
		if _, ok := k.Expr.(*column); !ok {
			out.Cols = append(out.Cols, gatherVectors(rows, func(c *rowChunk) *batch.Vector { return c.keys[i] }))
		}
	}
	positions := batch.NewVector(positionType, len(rows))
	for _, r := range rows {
		positions.AppendInt64(r.position)
	}
	out.Cols = append(out.Cols, positions)
	return out
}
