package vector

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"lakesql/batch"
)

// joinBuild is the build side of a join, which all forks of the join share.
//
//  1. The first fork that asks has it read: each fork of the build side has a buildWorker that keeps its rows.
//  2. The rows are put together in the order of the build side, and their keys into a table.
//  3. From then on it only changes under mu.
type joinBuild struct {
	join         Join
	child        Operator      // nil: its forks are being read
	schema       *batch.Schema // of the join
	probeSchema  *batch.Schema
	buildSchema  *batch.Schema
	probeColumns int
	memory       share

	// By column of the side: whether it is handed out, and whether the residual looks at it.
	probeOut, buildOut   []bool
	probeCond, buildCond []bool

	start     sync.Once
	ready     chan struct{} // closed when the rest is there
	err       error
	rows      joinRows
	table     *joinTable
	filters   keyFilters
	parts     spilledJoin // of the rows when they do not fit
	elsewhere bool        // there are other rows, of other parts

	mu         sync.Mutex
	users      int // forks that are not closed
	probing    int // forks that are not at the end of their rows
	matched    batch.Bitmap
	tailMorsel int64 // above those of all rows so far
}

func newJoinBuild(child Operator, probe *batch.Schema, j Join, budget *Budget) *joinBuild {
	b := &joinBuild{
		join: j, child: child, schema: joinSchema(probe, child.Schema(), j.Kind),
		probeSchema: probe, buildSchema: child.Schema(), probeColumns: len(probe.Fields),
		memory: share{budget: budget, what: "a join"}, ready: make(chan struct{}), users: 1, probing: 1,
	}
	b.probeCond, b.buildCond = make([]bool, len(probe.Fields)), make([]bool, len(child.Schema().Fields))
	if j.Residual != nil {
		for _, c := range columnsOf(j.Residual) {
			if c < b.probeColumns {
				b.probeCond[c] = true
			} else {
				b.buildCond[c-b.probeColumns] = true
			}
		}
	}
	return b
}

// keep says which columns are handed out.
func (b *joinBuild) keep(ofProbe, ofBuild []int) {
	b.probeOut, b.buildOut = make([]bool, len(b.probeCond)), make([]bool, len(b.buildCond))
	for _, c := range ofProbe {
		b.probeOut[c] = true
	}
	for _, c := range ofBuild {
		b.buildOut[c] = true
	}
}

// share says how many forks there are.
func (b *joinBuild) share(forks int) { b.users, b.probing = forks, forks }

// columns are the columns of a result, those of the probe first.
func (b *joinBuild) columns() []joinColumn {
	out := make([]joinColumn, b.probeColumns+len(b.buildSchema.Fields))
	for i, v := range b.rows.texts {
		out[b.probeColumns+i].texts = v
	}
	return out
}

// await returns when the build side is there.
func (b *joinBuild) await(ctx context.Context) error {
	b.start.Do(func() {
		b.err = errors.New("join: the build side is not there") // after a panic
		defer close(b.ready)
		b.err = b.read(ctx)
	})
	select {
	case <-b.ready:
		return cmp.Or(b.err, ctx.Err())
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *joinBuild) read(ctx context.Context) error {
	forks := forksOf(b.child)
	b.child = nil
	workers := make([]*buildWorker, len(forks))
	for i := range forks {
		workers[i] = newBuildWorker(b, i > 0)
	}
	defer func() {
		for _, w := range workers {
			w.release()
		}
	}()
	err := drainForks(ctx, forks, workers)
	if err = errors.Join(err, closeForks(forks)); err != nil {
		return err
	}
	if spilled, err := b.spillRest(ctx, workers); spilled || err != nil {
		return err
	}
	if b.rows, err = joinRowsOf(ctx, b, workers); err != nil {
		return err
	}
	for _, w := range workers {
		w.release()
	}
	if err = b.memory.set(b.rows.size()); err == nil {
		b.table, err = newJoinTable(ctx, &b.join, &b.rows, &b.memory)
	}
	if full := (*MemoryError)(nil); errors.As(err, &full) && b.canPartition() {
		return b.spillRows(ctx, workers)
	}
	if err != nil {
		return err
	}
	if b.table.keys != nil {
		b.filters.publish(&b.join, b.table)
	}
	if b.join.Kind != NotInJoin {
		b.rows.keys = nil
	}
	return nil
}

// tableBytes is about how many bytes a table takes for a row of the build side, at the most that is usual.
const tableBytes = 64

// spillRest spills all rows that are left when some were, or when all of them would not fit once they are put together.
func (b *joinBuild) spillRest(ctx context.Context, workers []*buildWorker) (spilled bool, err error) {
	if !b.parts.spilled.Load() {
		bytes, rows := int64(0), 0
		for _, w := range workers {
			bytes += w.memory.bytes
			for _, c := range w.chunks {
				rows += c.len
			}
		}
		err := b.memory.set(bytes + tableBytes*int64(rows))
		if err == nil && !b.memory.mustSpill() {
			return false, nil
		}
		if !b.canPartition() {
			return false, nil // perhaps it does fit
		}
		b.part()
		if err := b.memory.set(0); err != nil {
			return true, err
		}
	}
	for _, w := range workers {
		if err := w.spill(ctx); err != nil {
			return true, err
		}
		b.parts.take(&b.parts.build, w.parts)
		_ = w.memory.set(0) // to hold less is no error
		b.rows.null = b.rows.null || w.null
	}
	return true, nil
}

// spillRows spills the rows although they have been put together: what the table would take was more than thought.
func (b *joinBuild) spillRows(ctx context.Context, workers []*buildWorker) error {
	workers[0].chunks = []*buildChunk{{cols: b.rows.cols, keys: b.rows.keys, len: b.rows.len}}
	b.rows, b.table = joinRows{}, nil
	b.part()
	if err := b.memory.set(0); err != nil {
		return err
	}
	_, err := b.spillRest(ctx, workers)
	return err
}

// ended is called by each fork at the end of its rows, with the build rows, or keys, that it has seen a match of, and the last morsel that it had. The last
// one hands out the build rows that the kind asks for.
func (b *joinBuild) ended(matched batch.Bitmap, morsel int64) (last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.matched == nil {
		b.matched = matched
	} else {
		for i, w := range matched {
			b.matched[i] |= w
		}
	}
	b.tailMorsel = max(b.tailMorsel, morsel+1)
	b.probing--
	return b.probing == 0
}

// leave is called once by each fork. The last one frees the memory.
func (b *joinBuild) leave() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users--; b.users > 0 {
		return nil
	}
	b.start.Do(func() {
		b.err = errors.New("join: closed")
		close(b.ready)
	})
	<-b.ready
	b.rows, b.table, b.matched = joinRows{}, nil, nil
	err := errors.Join(b.memory.set(0), b.parts.close())
	if b.child != nil {
		err = errors.Join(err, b.child.Close())
	}
	return err
}

// buildWorker keeps the rows of one fork of the build side.
type buildWorker struct {
	build   *joinBuild
	keys    []Expr
	columns []bool // that are kept
	chunks  []*buildChunk
	bytes   int64 // of the chunks but the last
	null    bool  // there was a null among the keys
	memory  share
	parts   *partitioner // nil: nothing was spilled

	vectors []*batch.Vector
}

// buildChunk is some rows of one morsel. A column that nobody looks at is nil, and so is a key that is a column.
type buildChunk struct {
	morsel int64
	cols   []*batch.Vector
	keys   []*batch.Vector
	len    int
}

func newBuildWorker(b *joinBuild, clone bool) *buildWorker {
	w := &buildWorker{build: b, keys: b.join.Build, columns: make([]bool, len(b.buildOut)), memory: share{budget: b.memory.budget, what: b.memory.what}}
	if clone {
		w.keys = cloneAll(w.keys)
	}
	for i := range w.columns {
		w.columns[i] = b.buildOut[i] || b.buildCond[i]
	}
	if b.canPartition() {
		for _, e := range w.keys {
			if _, ok := e.(*column); ok {
				continue
			}
			for _, c := range columnsOf(e) {
				w.columns[c] = true // the key is made again from what was spilled
			}
		}
	}
	return w
}

// add copies the rows that can have a match, and those that are handed out without one.
func (w *buildWorker) add(ctx context.Context, b *batch.Batch, morsel int64) error {
	var err error
	if w.vectors, err = evalAll(ctx, w.keys, w.vectors, b); err != nil {
		return err
	}
	rows := w.narrow(b)
	n := b.Len
	if rows != nil {
		n = len(rows)
	}
	if n == 0 {
		return nil
	}
	c := w.chunk(morsel, n)
	for i, v := range b.Cols {
		if w.columns[i] {
			c.cols[i] = appendPlain(c.cols[i], v, rows, c.len)
		}
	}
	for i, v := range w.vectors {
		if !w.isColumn(i) {
			c.keys[i] = appendPlain(c.keys[i], v, rows, c.len)
		}
	}
	c.len += n
	full := w.memory.set(w.bytes + c.size())
	if !w.build.canPartition() {
		return full
	}
	if full != nil || w.memory.mustSpill() || w.build.parts.spilled.Load() {
		w.build.part()
		return w.spill(ctx)
	}
	return nil
}

// release gives back what the worker holds.
func (w *buildWorker) release() {
	w.chunks = nil
	_ = w.memory.set(0) // to hold less is no error
	if w.parts != nil {
		_ = w.parts.close() // after an error: else they were taken
	}
}

// narrow leaves out the rows that a null takes out of every match, unless they are needed; nil: all of b are kept.
func (w *buildWorker) narrow(b *batch.Batch) []int32 {
	rows := b.Sel
	for i, v := range w.vectors {
		if v.Valid == nil || w.build.join.nullSafe(i) {
			continue
		}
		w.null = w.null || anyNull(v, b.Sel)
		if w.build.join.Kind.keepsBuild() || w.build.join.Kind == NotInJoin {
			continue
		}
		in := grouped{rows: rows, n: b.Len}
		if rows != nil {
			in.n = len(rows)
		}
		var buf []int32 // its own: the next key narrows what it has
		rows = in.valid(v, &buf)
	}
	return rows
}

// anyNull says whether one of the rows (nil: all) is null.
func anyNull(v *batch.Vector, rows []int32) bool {
	if v.Valid == nil {
		return false
	}
	if rows == nil {
		return v.NullCount() > 0
	}
	return slices.ContainsFunc(rows, func(i int32) bool { return !v.Valid.Get(int(i)) })
}

// isColumn says whether a key is a column that is kept anyway.
func (w *buildWorker) isColumn(key int) bool {
	c, ok := w.keys[key].(*column)
	return ok && w.columns[c.index]
}

// chunk returns the chunk that the next n rows go to.
func (w *buildWorker) chunk(morsel int64, n int) *buildChunk {
	if last := len(w.chunks) - 1; last >= 0 {
		c := w.chunks[last]
		if c.morsel == morsel && c.len+n <= batch.MaxRows {
			return c
		}
		w.bytes += c.size()
	}
	c := &buildChunk{morsel: morsel, cols: make([]*batch.Vector, len(w.columns)), keys: make([]*batch.Vector, len(w.keys))}
	w.chunks = append(w.chunks, c)
	return c
}

func (w *buildWorker) finish(context.Context) error { return nil }

// size is about how many bytes the chunk takes.
func (c *buildChunk) size() int64 {
	n := int64(0)
	for _, v := range c.cols {
		if v != nil {
			n += vectorSize(v)
		}
	}
	for _, v := range c.keys {
		if v != nil {
			n += vectorSize(v)
		}
	}
	return n
}

// joinRows are the rows of the build side.
type joinRows struct {
	len   int
	cols  []*batch.Vector // plain but for texts; nil: nobody looks at it
	keys  []*batch.Vector
	null  bool            // there was a null among the keys
	nulls []int32         // for NotInJoin, the rows with a null among their keys
	texts []*batch.Vector // by column: what codes that are rows stand for; nil: the column has other codes, or is not of texts
}

// joinRowsOf puts the rows of the workers together, in the order of the build side. The chunks are used up.
func joinRowsOf(ctx context.Context, b *joinBuild, workers []*buildWorker) (joinRows, error) {
	var chunks []*buildChunk
	out := joinRows{cols: make([]*batch.Vector, len(b.buildOut)), keys: make([]*batch.Vector, len(b.join.Build))}
	for _, w := range workers {
		chunks = append(chunks, w.chunks...)
		w.chunks = nil
		out.null = out.null || w.null
	}
	slices.SortStableFunc(chunks, func(x, y *buildChunk) int { return cmp.Compare(x.morsel, y.morsel) })
	for _, c := range chunks {
		out.len += c.len
	}
	if out.len > math.MaxInt32-1 {
		return out, &MemoryError{What: "a join", Limit: math.MaxInt32}
	}
	w := workers[0]
	for i := range out.cols {
		if w.columns[i] {
			var err error
			if out.cols[i], err = concatVectors(ctx, b.buildSchema.Fields[i].Type, chunks, func(c *buildChunk) **batch.Vector { return &c.cols[i] }); err != nil {
				return out, err
			}
		}
	}
	for i, e := range w.keys {
		if w.isColumn(i) {
			out.keys[i] = out.cols[e.(*column).index]
			continue
		}
		var err error
		if out.keys[i], err = concatVectors(ctx, e.Type(), chunks, func(c *buildChunk) **batch.Vector { return &c.keys[i] }); err != nil {
			return out, err
		}
	}
	out.texts = make([]*batch.Vector, len(out.cols))
	for i, v := range out.cols {
		if v != nil && v.Dict == nil && v.Type.Layout() == batch.LayoutBytes {
			out.texts[i] = &batch.Vector{Type: v.Type, Len: v.Len, Off: v.Off, Bytes: v.Bytes}
		}
	}
	if b.join.Kind == NotInJoin {
		return out, inBlocks(ctx, out.len, func(lo, hi int) error {
			for i := lo; i < hi; i++ {
				if slices.ContainsFunc(out.keys, func(v *batch.Vector) bool { return v.IsNull(i) }) {
					out.nulls = append(out.nulls, int32(i))
				}
			}
			return nil
		})
	}
	return out, nil
}

// concatVectors puts a column of the chunks together.
func concatVectors(ctx context.Context, t batch.Type, chunks []*buildChunk, of func(*buildChunk) **batch.Vector) (*batch.Vector, error) {
	if len(chunks) == 1 {
		return *of(chunks[0]), nil
	}
	if t.Layout() == batch.LayoutBytes {
		return concatTexts(ctx, t, chunks, of)
	}
	rows := 0
	for _, c := range chunks {
		rows += c.len
	}
	out := batch.NewVector(t, rows)
	for _, c := range chunks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := of(c)
		out.AppendRows(*v, nil)
		*v = nil
	}
	return out, nil
}

// concatTexts keeps the dictionaries of the chunks when there is one, or, put together, when they are small.
func concatTexts(ctx context.Context, t batch.Type, chunks []*buildChunk, of func(*buildChunk) **batch.Vector) (*batch.Vector, error) {
	rows, coded, values := 0, true, 0
	dicts := map[*batch.Vector]bool{}
	for _, c := range chunks {
		v := *of(c)
		rows += v.Len
		if coded = coded && v.Dict != nil; coded && !dicts[v.Dict] {
			dicts[v.Dict] = true
			values += v.Dict.Len
		}
	}
	coded = coded && values > 0
	switch {
	case coded && len(dicts) == 1:
		out := batch.NewVector(t, 0)
		for _, c := range chunks {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			v := of(c)
			out.AppendRows(*v, nil)
			*v = nil
		}
		return out, nil
	case coded && values <= rows/codedRows:
		return poolTexts(ctx, t, chunks, of)
	}
	bytes := 0
	for _, c := range chunks {
		bytes += textBytes(*of(c))
	}
	if bytes > math.MaxInt32 {
		return nil, &MemoryError{What: "the texts of a join", Limit: math.MaxInt32 + 1}
	}
	out := batch.NewVector(t, rows)
	out.Bytes = make([]byte, 0, bytes)
	for _, c := range chunks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := of(c)
		out.AppendRows((*v).Decode(), nil)
		*v = nil
	}
	return out, nil
}

// textBytes is how many bytes the texts of a vector have.
func textBytes(v *batch.Vector) int {
	if v.Dict == nil {
		return int(v.Off[v.Len] - v.Off[0])
	}
	bytes := 0
	for i, code := range v.Codes {
		if !v.IsNull(i) {
			bytes += int(v.Dict.Off[code+1] - v.Dict.Off[code])
		}
	}
	return bytes
}

// poolTexts puts texts together as codes.
func poolTexts(ctx context.Context, t batch.Type, chunks []*buildChunk, of func(*buildChunk) **batch.Vector) (*batch.Vector, error) {
	p := newPool(t)
	out := &batch.Vector{Type: t, Dict: p.values}
	var numbers []uint64
	for _, c := range chunks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := of(c)
		numbers = resize(numbers, (*v).Len)
		if err := p.numbers(numbers, *v, nil); err != nil {
			return nil, err
		}
		for i, n := range numbers {
			if (*v).IsNull(i) {
				out.AppendNull()
			} else {
				appendCode(out, uint32(n))
			}
		}
		*v = nil
	}
	if p.values.Len == 0 {
		return batch.NewNulls(t, out.Len), nil // there is no code for them
	}
	return out, nil
}

// codedRows is how many rows a text of a dictionary must have, on average, for the dictionary to be kept.
const codedRows = 4

func (r *joinRows) size() int64 {
	n := int64(0)
	for _, v := range r.cols {
		if v != nil {
			n += vectorSize(v)
		}
	}
	for _, v := range r.keys {
		if v != nil && !slices.Contains(r.cols, v) {
			n += vectorSize(v)
		}
	}
	return n
}

// appendCode adds a row to a dictionary vector.
func appendCode(out *batch.Vector, code uint32) {
	out.Codes = append(out.Codes, code)
	if out.Valid != nil {
		out.Valid = out.Valid.Grow(out.Len + 1)
		out.Valid.Set(out.Len)
	}
	out.Len++
}
