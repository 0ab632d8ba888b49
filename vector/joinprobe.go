package vector

import (
	"context"
	"errors"
	"io"
	"slices"

	"lakesql/batch"
)

// prober looks the rows of one fork of the probe up.
//
// A batch whose rows have at most one candidate each is handed out as it is, with a selection. Otherwise its candidates are gathered, pair by pair, in
// batches of up to MaxRows.
type prober struct {
	join  *Join
	build *joinBuild
	words *keyWords
	found finder

	keys    []*batch.Vector
	now     *batch.Batch // whose candidates are being gathered; nil: the next one is to be read
	hits    []int32      // rows of it with candidates
	numbers []int32      // of the keys of hits
	hit     int          // the first that is not done
	row     int          // of its candidates, likewise
	p, q    []int32      // pairs: rows of the probe's batch and of the build side
	any     []bool       // by row of now: it has a match
	matched batch.Bitmap // of the build side: by number of the key without a residual, else by row
	sel     []int32

	cond    batch.Batch // for the residual
	out     batch.Batch
	columns []joinColumn // by column of both sides, for out
	conds   []joinColumn // likewise, for cond
	done    bool         // the probe is at its end
	tail    *joinTail
	part    *joining // of a spilled join: the part whose rows are handed out; nil: the next one is to be made
	at      int      // the next part
	after   bool     // the rows are those after the last of the probe
}

// next returns the next rows.
func (p *prober) next(ctx context.Context, probe Fork) (*batch.Batch, error) {
	if p.build.parts.spilled.Load() {
		return p.nextSpilled(ctx, probe)
	}
	if p.matched == nil {
		p.start()
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch {
		case p.tail != nil:
			return p.tail.next(ctx)
		case p.now != nil:
			if b, err := p.nextPairs(ctx); b != nil || err != nil {
				return b, err
			}
			continue
		}
		b, err := p.nextProbe(ctx, probe)
		if errors.Is(err, io.EOF) {
			if p.done || !p.build.ended(p.matched, probe.Morsel()) || !p.join.Kind.marksBuild() {
				p.done = true
				return nil, io.EOF
			}
			p.done, p.after, p.tail = true, true, newJoinTail(p.build)
			continue
		}
		if err != nil {
			return nil, err
		}
		if b, err = p.probe(ctx, b); b != nil || err != nil {
			return b, err
		}
	}
}

// nextProbe returns the next batch of the probe, or io.EOF when there is none that matters.
func (p *prober) nextProbe(ctx context.Context, probe Fork) (*batch.Batch, error) {
	if p.done || p.build.table.count == 0 && !p.join.Kind.keepsProbe() {
		return nil, io.EOF
	}
	return probe.Next(ctx)
}

// start makes what depends on the build side.
func (p *prober) start() {
	b := p.build
	if len(p.join.Probe) > 0 {
		p.words = newKeyWords(b.table.keys)
	}
	p.matched = batch.Bitmap{}
	if p.join.Kind.marksBuild() {
		n := b.rows.len
		if p.join.Residual == nil {
			n = b.table.count
		}
		p.matched = p.matched.Grow(n)
	}
	p.columns, p.conds = b.columns(), b.columns()
}

// probe looks a batch up, and returns the rows for it when they make one batch; nil: there are none, or now is set and nextPairs has them.
func (p *prober) probe(ctx context.Context, b *batch.Batch) (*batch.Batch, error) {
	if b.Rows() == 0 {
		return nil, nil
	}
	var err error
	if p.keys, err = evalAll(ctx, p.join.Probe, p.keys, b); err != nil {
		return nil, err
	}
	p.find(b)
	if p.join.Kind == NotInJoin {
		return p.notIn(ctx, b)
	}
	t := p.build.table
	switch {
	case p.join.existence():
		p.mark(p.numbers)
		return p.alone(b, p.hits), nil
	case t.starts == nil:
		return p.single(ctx, b)
	case len(p.hits) == 0:
		return p.without(b), nil
	}
	p.now, p.hit, p.row = b, 0, 0
	p.any = resize(p.any, b.Len)
	clear(p.any)
	return nil, nil
}

// find sets hits to the rows of b whose keys are in the table, and numbers to those of the keys.
func (p *prober) find(b *batch.Batch) {
	rows, n := b.Sel, b.Rows()
	var words []uint64
	if p.words != nil {
		if words, rows = p.words.encode(p.keys, b.Sel, b.Len, p.build.table.dense != nil); rows != nil {
			n = len(rows)
		}
	}
	p.hits, p.numbers = p.build.table.find(&p.found, words, n)
	if rows != nil {
		for k, at := range p.hits {
			p.hits[k] = rows[at]
		}
	}
}

// mark notes build rows, or numbers of keys, that have a match.
func (p *prober) mark(all []int32) {
	if !p.join.Kind.marksBuild() {
		return
	}
	for _, i := range all {
		p.matched.Set(int(i))
	}
}

// alone hands out the rows of a batch of the probe by which of them have a match.
func (p *prober) alone(b *batch.Batch, with []int32) *batch.Batch {
	switch p.join.Kind {
	case SemiJoin:
		return p.selecting(b, with)
	case AntiJoin, NotInJoin:
		return p.selecting(b, p.others(b, with))
	}
	return nil
}

// others are the selected rows of b that are not in rows, which ascend.
func (p *prober) others(b *batch.Batch, rows []int32) []int32 {
	p.sel = resize(p.sel, b.Rows())[:0]
	selected(b, func(i int) {
		if len(rows) > 0 && rows[0] == int32(i) {
			rows = rows[1:]
		} else {
			p.sel = append(p.sel, int32(i))
		}
	})
	return p.sel
}

// selecting is the batch with these of its rows; nil when there are none.
func (p *prober) selecting(b *batch.Batch, rows []int32) *batch.Batch {
	if len(rows) == 0 {
		return nil
	}
	p.out = batch.Batch{Schema: p.build.schema, Cols: b.Cols, Len: b.Len, Sel: rows}
	if len(rows) == b.Len {
		p.out.Sel = nil
	}
	return &p.out
}

// single hands out a batch of the probe whose rows have at most one candidate each.
func (p *prober) single(ctx context.Context, b *batch.Batch) (*batch.Batch, error) {
	t, rows := p.build.table, p.numbers
	if t.order != nil {
		p.q = resize(p.q, len(rows))
		for k, n := range rows {
			p.q[k] = t.order[n]
		}
		rows = p.q
	}
	hits := p.hits
	if p.join.Residual == nil {
		p.mark(p.numbers)
	} else {
		var err error
		if hits, rows, err = p.narrow(ctx, b, hits, rows, true); err != nil {
			return nil, err
		}
		p.mark(rows)
	}
	switch {
	case !p.join.Kind.pairs():
		return p.alone(b, hits), nil
	case p.join.Kind.keepsProbe():
		p.out = batch.Batch{Schema: p.build.schema, Cols: p.out.Cols[:0], Len: b.Len, Sel: b.Sel}
	case len(hits) == 0:
		return nil, nil
	default:
		p.out = batch.Batch{Schema: p.build.schema, Cols: p.out.Cols[:0], Len: b.Len, Sel: hits}
		if len(hits) == b.Len {
			p.out.Sel = nil
		}
	}
	for i, v := range b.Cols {
		if !p.build.probeOut[i] {
			v = nil
		}
		p.out.Cols = append(p.out.Cols, v)
	}
	for i, v := range p.build.rows.cols {
		if !p.build.buildOut[i] {
			p.out.Cols = append(p.out.Cols, nil)
			continue
		}
		p.out.Cols = append(p.out.Cols, p.columns[len(b.Cols)+i].scatter(v, rows, hits, b.Len, len(hits) < b.Rows()))
	}
	return &p.out, nil
}

// narrow keeps the pairs for which the residual is true. scattered: each row of b is in one pair at the most, and is looked at in its place.
func (p *prober) narrow(ctx context.Context, b *batch.Batch, of, with []int32, scattered bool) (left, right []int32, err error) {
	if len(of) == 0 {
		return of, with, nil
	}
	p.cond = batch.Batch{Cols: p.cond.Cols[:0], Len: len(of)}
	if scattered {
		p.cond.Len, p.cond.Sel = b.Len, of
	}
	for i, v := range b.Cols {
		switch {
		case !p.build.probeCond[i]:
			v = nil
		case !scattered:
			v = p.conds[i].gather(v, of)
		}
		p.cond.Cols = append(p.cond.Cols, v)
	}
	for i, v := range p.build.rows.cols {
		c := &p.conds[len(b.Cols)+i]
		switch {
		case !p.build.buildCond[i]:
			v = nil
		case scattered:
			v = c.scatter(v, with, of, b.Len, false)
		default:
			v = c.gather(v, with)
		}
		p.cond.Cols = append(p.cond.Cols, v)
	}
	v, err := p.join.Residual.Eval(ctx, &p.cond)
	if err != nil {
		return nil, nil, err
	}
	n := 0
	for k, i := range of {
		at := k
		if scattered {
			at = int(i)
		}
		of[n], with[n] = i, with[k]
		n += boolInt(!v.IsNull(at) && boolAt(v, at))
	}
	return of[:n], with[:n], nil
}

// nextPairs hands out the next pairs of the current batch, and when there are no more, the rows without one. nil: there is nothing more.
func (p *prober) nextPairs(ctx context.Context) (*batch.Batch, error) {
	b := p.now
	for p.hit < len(p.hits) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.gatherPairs()
		of, with := p.p, p.q
		if p.join.Residual != nil {
			var err error
			if of, with, err = p.narrow(ctx, b, of, with, false); err != nil {
				return nil, err
			}
			p.mark(with)
		}
		for _, i := range of {
			p.any[i] = true
		}
		if p.join.Kind.pairs() && len(of) > 0 {
			return p.pairs(b, of, with), nil
		}
	}
	if p.join.Residual == nil {
		p.mark(p.numbers)
	}
	p.now = nil
	if !p.join.Kind.keepsProbe() && p.join.Kind != SemiJoin {
		return nil, nil
	}
	with := p.hits[:0]
	for _, i := range p.hits {
		if p.any[i] {
			with = append(with, i)
		}
	}
	if !p.join.Kind.pairs() {
		return p.alone(b, with), nil
	}
	p.hits = with
	return p.without(b), nil
}

// gatherPairs sets p and q to the next candidates.
func (p *prober) gatherPairs() {
	t := p.build.table
	p.p, p.q = resize(p.p, batch.MaxRows)[:0], resize(p.q, batch.MaxRows)[:0]
	for p.hit < len(p.hits) && len(p.p) < batch.MaxRows {
		i, number := p.hits[p.hit], p.numbers[p.hit]
		lo, hi := t.rowsOf(number)
		lo += p.row
		if !p.join.Kind.pairs() && !p.join.Kind.ofBuild() && p.any[i] {
			hi = lo // one match is enough
		}
		n := min(hi-lo, batch.MaxRows-len(p.p))
		for k := lo; k < lo+n; k++ {
			p.p = append(p.p, i)
			p.q = append(p.q, int32(rowOf(t.order, k)))
		}
		if p.row += n; lo+n >= hi {
			p.hit, p.row = p.hit+1, 0
		}
	}
}

// pairs hands out pairs.
func (p *prober) pairs(b *batch.Batch, of, with []int32) *batch.Batch {
	p.out = batch.Batch{Schema: p.build.schema, Cols: p.out.Cols[:0], Len: len(of)}
	for i, v := range b.Cols {
		if p.build.probeOut[i] {
			v = p.columns[i].gather(v, of)
		} else {
			v = nil
		}
		p.out.Cols = append(p.out.Cols, v)
	}
	for i, v := range p.build.rows.cols {
		if p.build.buildOut[i] {
			v = p.columns[len(b.Cols)+i].gather(v, with)
		} else {
			v = nil
		}
		p.out.Cols = append(p.out.Cols, v)
	}
	return &p.out
}

// without hands out the rows of a batch that are not in hits, where the kind keeps them, with nulls for the build side.
func (p *prober) without(b *batch.Batch) *batch.Batch {
	if !p.join.Kind.keepsProbe() {
		return nil
	}
	rows := p.others(b, p.hits)
	if !p.join.Kind.pairs() || len(rows) == 0 {
		return p.selecting(b, rows)
	}
	p.out = batch.Batch{Schema: p.build.schema, Cols: append(p.out.Cols[:0], b.Cols...), Len: b.Len, Sel: rows}
	for i, f := range p.build.buildSchema.Fields {
		if p.build.buildOut[i] {
			p.out.Cols = append(p.out.Cols, p.columns[len(b.Cols)+i].nulls(f.Type, b.Len))
		} else {
			p.out.Cols = append(p.out.Cols, nil)
		}
	}
	return &p.out
}

// joinTail hands out build rows after the last row of the probe.
type joinTail struct {
	build   *joinBuild
	matched batch.Bitmap // by row
	at      int
	rows    []int32
	columns []joinColumn
	out     batch.Batch
}

func newJoinTail(b *joinBuild) *joinTail {
	t := &joinTail{build: b, matched: b.matched, columns: b.columns()}
	if b.join.Residual == nil {
		t.matched = b.table.rowsWith(b.matched, b.rows.len)
	}
	return t
}

// rowsWith turns numbers into their rows.
func (t *joinTable) rowsWith(numbers batch.Bitmap, rows int) batch.Bitmap {
	out := batch.Bitmap{}.Grow(rows)
	for n := range t.count {
		if !numbers.Get(n) {
			continue
		}
		lo, hi := t.rowsOf(int32(n))
		for k := lo; k < hi; k++ {
			out.Set(rowOf(t.order, k))
		}
	}
	return out
}

func (t *joinTail) next(ctx context.Context) (*batch.Batch, error) {
	want := t.build.join.Kind == BuildSemiJoin
	t.rows = slices.Grow(t.rows[:0], batch.MaxRows)
	for n := t.build.rows.len; t.at < n && len(t.rows) < batch.MaxRows; t.at++ {
		if t.matched.Get(t.at) == want {
			t.rows = append(t.rows, int32(t.at))
		}
	}
	if len(t.rows) == 0 {
		return nil, io.EOF
	}
	t.out = batch.Batch{Schema: t.build.schema, Cols: t.out.Cols[:0], Len: len(t.rows)}
	if t.build.join.Kind.pairs() {
		for i, f := range t.build.probeSchema.Fields {
			if t.build.probeOut[i] {
				t.out.Cols = append(t.out.Cols, t.columns[i].nulls(f.Type, len(t.rows)))
			} else {
				t.out.Cols = append(t.out.Cols, nil)
			}
		}
	}
	for i, v := range t.build.rows.cols {
		if t.build.buildOut[i] {
			v = t.columns[t.build.probeColumns+i].gather(v, t.rows)
		} else {
			v = nil
		}
		t.out.Cols = append(t.out.Cols, v)
	}
	return &t.out, nil
}
