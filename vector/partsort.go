package vector

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"lakesql/batch"
)

// partSort brings the rows of each partition side by side, in an order. The order of the partitions is any.
//
//  1. Each fork of the child has a worker, which keeps the fork's rows by the part of the hashes of their partitions, and spills them when memory is
//     nearly used.
//  2. Each part is sorted by itself, in the cache: by partition, and then each of these. One that is large, or was spilled, goes through a sort.
type partSort struct {
	child     Operator
	keys      []SortKey // of the partitions, and of the order
	partition int       // how many are those of partitions
	budget    *Budget
	types     []batch.Type // of the columns that are kept: the child's, the keys that are none, and the positions
	columns   []int        // by key: which of those it is
	forks     []Fork
	workers   []*partWorker
	read      bool
	err       error
	part      int      // the next one
	large     Operator // the sort of a part; nil: none
	cols      []*batch.Vector
	order     []int32 // the rows of cols that are to be handed out
	out       batch.Batch
}

// mostPartRows is how many rows of a part are sorted in memory: few enough that the steps that never look at whether the query was cancelled are short.
const mostPartRows = 4 * runRows

func newPartSort(child Operator, partition int, keys []SortKey, budget *Budget) *partSort {
	s := &partSort{child: child, keys: keys, partition: partition, budget: budget}
	for _, f := range child.Schema().Fields {
		s.types = append(s.types, f.Type)
	}
	for _, k := range keys {
		c, ok := k.Expr.(*column)
		if !ok {
			s.types = append(s.types, k.Expr.Type())
			s.columns = append(s.columns, len(s.types)-1)
			continue
		}
		s.columns = append(s.columns, c.index)
	}
	s.types = append(s.types, positionType)
	return s
}

func (s *partSort) Schema() *batch.Schema { return s.child.Schema() }

func (s *partSort) keepColumns(columns []int) {
	for _, k := range s.keys {
		columns = append(columns, columnsOf(k.Expr)...)
	}
	keepColumns(s.child, columns)
}

func (s *partSort) Next(ctx context.Context) (*batch.Batch, error) {
	if !s.read {
		s.read, s.err = true, s.readAll(ctx)
	}
	width := len(s.child.Schema().Fields)
	for s.err == nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch {
		case len(s.order) > 0:
			n := min(len(s.order), batch.MaxRows)
			s.out = batch.Batch{Schema: s.Schema(), Cols: make([]*batch.Vector, width), Len: n}
			for i, v := range s.cols[:width] {
				if v != nil {
					s.out.Cols[i] = v.Gather(s.order[:n])
				}
			}
			s.order = s.order[n:]
			return &s.out, nil
		case s.large != nil:
			b, err := s.large.Next(ctx)
			if err == nil {
				s.out = batch.Batch{Schema: s.Schema(), Cols: b.Cols[:width], Len: b.Len, Sel: b.Sel}
				return &s.out, nil
			}
			if !errors.Is(err, io.EOF) {
				return nil, err
			}
			s.err = s.large.Close()
			s.large = nil
		case s.part == nParts:
			s.err = io.EOF
		default:
			s.err = s.open(ctx, s.part)
			s.part++
		}
	}
	return nil, s.err
}

func (s *partSort) readAll(ctx context.Context) error {
	s.forks = forksOf(s.child)
	for i := range s.forks {
		w := &partWorker{partSort: s, memory: share{budget: s.budget, what: "a window"}}
		var hashed []batch.Type
		for k, key := range s.keys {
			if i > 0 { // the first one has the keys themselves
				key.Expr = key.Expr.Clone()
			}
			if w.keys = append(w.keys, key.Expr); k < s.partition {
				hashed = append(hashed, key.Expr.Type())
			}
		}
		w.hasher = newRowHasher(hashed)
		s.workers = append(s.workers, w)
	}
	return drainForks(ctx, s.forks, s.workers)
}

// open takes the next part.
func (s *partSort) open(ctx context.Context, part int) error {
	var rows partRows
	total := 0
	for _, w := range s.workers {
		p := &w.parts[part]
		if p.spilled != nil {
			if err := p.spilled.rewind(); err != nil {
				return errors.Join(err, rows.Close())
			}
			rows.files = append(rows.files, p.spilled)
		}
		if p.rows > 0 {
			rows.chunks = append(rows.chunks, p.cols)
			total += p.rows
		}
		w.parts[part] = workerPart{}
		if err := w.memory.set(w.size()); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	if len(rows.files) > 0 || total > mostPartRows {
		return s.sortLarge(rows)
	}
	if total > 0 {
		return s.sort(ctx, rows.chunks, total)
	}
	return nil
}

// sortLarge sorts rows that are many or on disk.
func (s *partSort) sortLarge(rows partRows) error {
	rows.schema = &batch.Schema{}
	for _, t := range s.types {
		rows.schema.Fields = append(rows.schema.Fields, batch.Field{Type: t, Nullable: true})
	}
	var keys []SortKey
	for k, key := range s.keys {
		keys = append(keys, SortKey{NewColumn(s.columns[k], rows.schema.Fields[s.columns[k]]), key.Descending})
	}
	last := len(s.types) - 1
	keys = append(keys, SortKey{Expr: NewColumn(last, rows.schema.Fields[last])})
	op, err := NewSort(&rows, keys, NoLimit, s.budget)
	if err != nil {
		return errors.Join(err, rows.Close())
	}
	s.large = op
	return nil
}

// placed is a row with what orders most rows by itself.
type placed struct {
	word uint64 // ascends with the first key of the order
	row  int32
}

// sort sorts the rows of all workers of a part.
func (s *partSort) sort(ctx context.Context, chunks [][]*batch.Vector, n int) error {
	s.cols = chunks[0]
	for _, more := range chunks[1:] {
		for i, v := range s.cols {
			if v != nil && more[i] != nil {
				v.AppendRows(more[i], nil)
			} else {
				s.cols[i] = nil
			}
		}
	}
	var types []batch.Type
	var keys []*batch.Vector
	for _, c := range s.columns[:s.partition] {
		types, keys = append(types, s.types[c]), append(keys, s.cols[c])
	}
	groups := make([]uint32, n)
	encoder := newKeyEncoder(types)
	table := newGroupTable(encoder.width, encoder.direct())
	words, null, err := encoder.encode(keys, nil, n)
	if err != nil { // more texts than a pool takes
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	table.find(groups, words, null, nil)
	to := make([]int32, table.count+1)
	for _, g := range groups {
		to[g+1]++
	}
	for g := range table.count {
		to[g+1] += to[g]
	}
	by := make([]uint64, n)
	exact := s.partition == len(s.keys)
	if !exact {
		first := s.cols[s.columns[s.partition]]
		orderWords(by, first, &batch.Batch{Len: n}, s.keys[s.partition].Descending)
		exact = len(s.keys) == s.partition+1 && exactWords(first)
	}
	rows, at := make([]placed, n), slices.Clone(to)
	for i, g := range groups {
		rows[at[g]] = placed{by[i], int32(i)}
		at[g]++
	}
	positions, ends := s.cols[len(s.cols)-1].I64, interrupt{ctx: ctx}
	if ends.look(); ends.err != nil {
		return ends.err
	}
	order := func(a, b placed) int {
		if ends.now() {
			return 0
		}
		if a.word != b.word {
			return cmp.Compare(a.word, b.word)
		}
		if !exact {
			if o := s.compare(a.row, b.row); o != 0 {
				return o
			}
		}
		return cmp.Compare(positions[a.row], positions[b.row])
	}
	s.order = make([]int32, 0, n)
	for g := range table.count {
		group := rows[to[g]:to[g+1]]
		slices.SortFunc(group, order)
		for _, r := range group {
			s.order = append(s.order, r.row)
		}
	}
	return ends.err
}

// exactWords says whether rows with the same word have the same key.
func exactWords(v *batch.Vector) bool {
	switch v.Type.Layout() {
	case batch.LayoutI8, batch.LayoutI16, batch.LayoutI32, batch.LayoutI64:
		return v.Valid == nil
	}
	return false
}

// compare orders two rows by the keys of the order.
func (s *partSort) compare(a, b int32) int {
	for k := s.partition; k < len(s.keys); k++ {
		v, o := s.cols[s.columns[k]], 0
		switch an, bn := v.IsNull(int(a)), v.IsNull(int(b)); {
		case an || bn:
			o = boolInt(bn) - boolInt(an)
		default:
			o = batch.Compare(v, int(a), v, int(b))
		}
		if s.keys[k].Descending {
			o = -o
		}
		if o != 0 {
			return o
		}
	}
	return 0
}

// Close implements Operator.
func (s *partSort) Close() error {
	s.read, s.err = true, errors.Join(s.err, io.EOF)
	s.order, s.cols = nil, nil
	var errs []error
	for _, w := range s.workers {
		errs = append(errs, w.memory.set(0))
		for i := range w.parts {
			errs = append(errs, w.parts[i].spilled.close())
			w.parts[i] = workerPart{}
		}
	}
	if s.large != nil {
		errs = append(errs, s.large.Close())
		s.large = nil
	}
	if s.forks != nil {
		errs = append(errs, closeForks(s.forks))
	} else {
		errs = append(errs, s.child.Close())
	}
	return errors.Join(errs...)
}

// partWorker keeps the rows of one fork.
type partWorker struct {
	*partSort
	keys    []Expr
	hasher  *rowHasher
	parts   [nParts]workerPart
	memory  share
	morsel  int64
	counted int64 // rows of the morsel
	values  []*batch.Vector
	kept    []*batch.Vector
	picked  [nParts][]int32
	places  batch.Vector
}

// workerPart is a worker's rows of one part.
type workerPart struct {
	cols    []*batch.Vector
	rows    int
	spilled *spill // what came before; nil: nothing
}

func (w *partWorker) add(ctx context.Context, b *batch.Batch, morsel int64) error {
	if morsel != w.morsel {
		w.morsel, w.counted = morsel, 0
	}
	var err error
	if w.values, err = evalAll(ctx, w.keys, w.values, b); err != nil {
		return err
	}
	w.kept = append(w.kept[:0], b.Cols...)
	for k, v := range w.values {
		if w.columns[k] >= len(b.Cols) {
			w.kept = append(w.kept, v)
		}
	}
	reset(&w.places, positionType, b.Len)
	for i := range w.places.I64 {
		w.places.I64[i] = w.morsel<<40 | w.counted + int64(i)
	}
	w.kept = append(w.kept, &w.places)
	w.counted += int64(b.Len)
	for i := range w.picked {
		w.picked[i] = w.picked[i][:0]
	}
	for k, h := range w.hasher.hash(w.values[:w.partition], b.Sel, b.Rows()) {
		part := partOf(h, 0)
		w.picked[part] = append(w.picked[part], int32(b.Row(k)))
	}
	for i, rows := range w.picked {
		if len(rows) == 0 {
			continue
		}
		p := &w.parts[i]
		if p.cols == nil {
			p.cols = make([]*batch.Vector, len(w.kept))
		}
		for c, v := range w.kept {
			p.cols[c] = appendPlain(p.cols[c], v, rows, p.rows)
		}
		p.rows += len(rows)
	}
	err = w.memory.set(w.size())
	if w.memory.mustSpill() {
		return w.spill(ctx)
	}
	return err
}

func (w *partWorker) finish(context.Context) error { return nil }

func (w *partWorker) size() int64 {
	n := int64(0)
	for i := range w.parts {
		for _, v := range w.parts[i].cols {
			if v != nil {
				n += vectorSize(v)
			}
		}
	}
	return n
}

// spill writes all rows to disk.
func (w *partWorker) spill(ctx context.Context) error {
	schema := &batch.Schema{}
	for _, t := range w.types {
		schema.Fields = append(schema.Fields, batch.Field{Type: t, Nullable: true})
	}
	for i := range w.parts {
		p := &w.parts[i]
		if p.rows == 0 {
			continue
		}
		if p.spilled == nil {
			p.spilled = w.budget.newSpill(schema)
		}
		if err := p.spilled.write(ctx, &batch.Batch{Schema: schema, Cols: p.cols, Len: p.rows}); err != nil {
			return err
		}
		p.cols, p.rows = nil, 0
	}
	return w.memory.set(0)
}

// partRows hands out the rows of a part, those on disk first.
type partRows struct {
	schema *batch.Schema
	files  []*spill
	chunks [][]*batch.Vector
	at     int // row of the first chunk
}

func (r *partRows) Schema() *batch.Schema { return r.schema }

func (r *partRows) Next(ctx context.Context) (*batch.Batch, error) {
	for len(r.files) > 0 {
		b, err := r.files[0].next(ctx)
		if !errors.Is(err, io.EOF) {
			return b, err
		}
		if err := r.files[0].close(); err != nil {
			return nil, err
		}
		r.files = r.files[1:]
	}
	for len(r.chunks) > 0 {
		cols := r.chunks[0]
		n := cols[len(cols)-1].Len
		if r.at == n {
			r.chunks, r.at = r.chunks[1:], 0
			continue
		}
		hi := min(r.at+batch.MaxRows, n)
		out := &batch.Batch{Schema: r.schema, Cols: make([]*batch.Vector, len(cols)), Len: hi - r.at}
		for i, v := range cols {
			if v != nil {
				out.Cols[i] = v.Slice(r.at, hi)
			}
		}
		r.at = hi
		return out, nil
	}
	return nil, io.EOF
}

// Close implements Operator.
func (r *partRows) Close() error {
	var errs []error
	for _, f := range r.files {
		errs = append(errs, f.close())
	}
	r.files, r.chunks = nil, nil
	return errors.Join(errs...)
}
