package vector

import (
	"context"
	"errors"
	"slices"

	"lakesql/batch"
)

const (
	// partBits are the bits of a hash that say which part a row is in: enough for the groups of a part to stay in the second-level cache where there are
	// some million, and few enough for a batch to have some rows for each.
	partBits = 6
	nParts   = 1 << partBits
	// furtherBits are those that part the rows of a part again, where there was no room for it.
	furtherBits = 4
	// lastLevel is how often rows can be parted: after that only equal hashes are left.
	lastLevel = (64 - partBits) / furtherBits
)

// partOf is the part of a hash at a level: 0 is the first one. The tables in a part use the lower bits.
func partOf(hash uint64, level int) int {
	if level == 0 {
		return int(hash >> (64 - partBits))
	}
	return int(hash>>(64-partBits-furtherBits*level)) & (1<<furtherBits - 1)
}

const (
	// rawPart is the part of a budget, as a divisor, that a worker keeps as rows before it groups them, and frozenPart the part before it spills those
	// that have no group.
	rawPart    = 8
	frozenPart = 32
	// mostRaw bounds the rows of a worker without a budget, in bytes.
	mostRaw = 256 << 20
)

// partedRows is rows by the part of their keys' hashes.
//
//  1. They are kept as they came.
//  2. When they are many, those of each part are grouped.
//  3. When memory is nearly used, it is frozen: no more groups begin, and the rows without a group are spilled.
type partedRows struct {
	plan   *groupPlan
	memory share
	hasher *rowHasher
	parts  [nParts]rowPart
	frozen bool
	full   int64                    // bytes of the chunks that are full, and of dictionaries
	dicts  map[[2]int]*batch.Vector // the last ones, by stream and column
	tables int64                    // bytes of the groupings

	keys   []*batch.Vector
	order  []int32  // the rows by part
	hashes []uint64 // likewise; nil: not kept
}

// rowPart is one part of the rows.
type rowPart struct {
	raw     [][]*rawChunk // by stream; the last one grows
	grouped *grouping     // nil: nothing
	spills  []*spill      // by stream; nil: nothing
}

// rawChunk is some rows of a stream.
type rawChunk struct {
	cols   []*batch.Vector
	hashes []uint64 // of a single text key; nil: other keys
	n      int
}

func (c *rawChunk) size() int64 {
	n := 8 * int64(cap(c.hashes))
	for _, v := range c.cols {
		n += vectorSize(v)
	}
	return n
}

func newPartedRows(plan *groupPlan, budget *Budget) *partedRows {
	p := &partedRows{
		plan: plan, memory: share{budget: budget, what: "an aggregation"}, hasher: newRowHasher(plan.keys), dicts: map[[2]int]*batch.Vector{},
	}
	for i := range p.parts {
		p.parts[i].raw, p.parts[i].spills = make([][]*rawChunk, len(plan.streams)), make([]*spill, len(plan.streams))
	}
	return p
}

// hashesKept says whether the hashes of rows are of use for the tables, too.
func (p *groupPlan) hashesKept() bool {
	return len(p.keys) == 1 && p.keys[0].Layout() == batch.LayoutBytes
}

// keysOf are the keys of rows, in buf's memory.
func (p *groupPlan) keysOf(in *groupRows, buf []*batch.Vector) []*batch.Vector {
	buf = buf[:0]
	for _, at := range p.streams[in.stream].keys {
		buf = append(buf, in.cols[at])
	}
	return buf
}

// add takes in rows.
func (p *partedRows) add(ctx context.Context, in *groupRows) error {
	p.keys = p.plan.keysOf(in, p.keys)
	hashes := p.hasher.hash(p.keys, in.rows, in.n)
	var ends [nParts]int32
	for _, h := range hashes {
		ends[partOf(h, 0)]++
	}
	for i := 1; i < nParts; i++ {
		ends[i] += ends[i-1]
	}
	starts := ends
	for i := range starts {
		starts[i] = 0
		if i > 0 {
			starts[i] = ends[i-1]
		}
	}
	at := starts
	p.order = resize(p.order, in.n)
	kept := p.plan.hashesKept()
	if kept {
		p.hashes = resize(p.hashes, in.n)
	}
	for k, h := range hashes {
		part := partOf(h, 0)
		to := at[part]
		at[part]++
		row := int32(k)
		if in.rows != nil {
			row = in.rows[k]
		}
		if p.order[to] = row; kept {
			p.hashes[to] = h
		}
	}
	p.noteDictionaries(in)
	for i := range p.parts {
		lo, hi := starts[i], ends[i]
		if lo == hi {
			continue
		}
		c := p.chunk(&p.parts[i], in)
		for n, v := range in.cols {
			c.cols[n].AppendRows(v, p.order[lo:hi])
		}
		if c.n += int(hi - lo); kept {
			c.hashes = append(c.hashes, p.hashes[lo:hi]...)
		}
	}
	return p.settle(ctx)
}

// noteDictionaries counts those that come with rows for the first time.
func (p *partedRows) noteDictionaries(in *groupRows) {
	for i, v := range in.cols {
		if at := [2]int{in.stream, i}; v.Dict != nil && p.dicts[at] != v.Dict {
			p.dicts[at] = v.Dict
			p.full += vectorSize(v.Dict)
		}
	}
}

// fewRows is how many rows a chunk has at the least that ends with its dictionary.
const fewRows = batch.MaxRows / 8

// chunk is where rows of a part go to.
func (p *partedRows) chunk(part *rowPart, in *groupRows) *rawChunk {
	chunks := part.raw[in.stream]
	capacity := 0
	if n := len(chunks); n > 0 {
		c := chunks[n-1]
		isFull := c.n >= batch.MaxRows-batch.MaxRows/nParts
		for i, v := range in.cols {
			isFull = isFull || c.n >= fewRows && c.cols[i].Dict != v.Dict
		}
		if !isFull {
			return c
		}
		p.full += c.size()
		capacity = batch.MaxRows
	}
	c := &rawChunk{cols: make([]*batch.Vector, len(in.cols))}
	for i, t := range p.plan.streams[in.stream].types {
		c.cols[i] = batch.NewVector(t, capacity)
		if n := len(chunks); n > 0 {
			c.cols[i].Bytes = slices.Grow(c.cols[i].Bytes, len(chunks[n-1].cols[i].Bytes))
		}
	}
	part.raw[in.stream] = append(chunks, c)
	return c
}

// raw is how many bytes the rows take.
func (p *partedRows) raw() int64 {
	n := p.full
	for i := range p.parts {
		for _, chunks := range p.parts[i].raw {
			if len(chunks) > 0 {
				n += chunks[len(chunks)-1].size()
			}
		}
	}
	return n
}

// settle tells the budget what is held, and makes room where that is too much.
func (p *partedRows) settle(ctx context.Context) error {
	raw := p.raw()
	err := p.memory.set(raw + p.tables)
	most := int64(mostRaw)
	if b := p.memory.budget; b != nil && p.frozen {
		most = b.limit / frozenPart
	} else if b != nil {
		most = min(most, b.limit/rawPart)
	}
	if err == nil && raw < most && (p.frozen || !p.memory.mustSpill()) {
		return nil
	}
	return p.groupRaw(ctx)
}

// groupRaw groups the rows that are kept, and once it is frozen spills those without a group.
func (p *partedRows) groupRaw(ctx context.Context) error {
	left := p.raw()
	for i := range p.parts {
		part := &p.parts[i]
		if part.grouped == nil && !p.frozen {
			part.grouped = newGrouping(p.plan, p.memory.budget)
		}
		before := int64(0)
		if part.grouped != nil {
			before = part.grouped.size()
		}
		for s, chunks := range part.raw {
			for _, c := range chunks {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := p.groupChunk(ctx, part, c.rows(s)); err != nil {
					return err
				}
				left -= c.size()
			}
			part.raw[s] = nil
		}
		if part.grouped != nil {
			p.tables += part.grouped.size() - before
		}
		_ = p.memory.set(max(left, 0) + p.tables) // the end tells the error
		p.frozen = p.frozen || p.memory.mustSpill()
	}
	p.full = 0
	clear(p.dicts)
	_ = p.memory.set(0)
	return p.memory.set(p.tables)
}

// rows are the chunk's, of a stream.
func (c *rawChunk) rows(stream int) *groupRows {
	return &groupRows{stream: stream, cols: c.cols, n: c.n, length: c.n, hashes: c.hashes}
}

func (p *partedRows) groupChunk(ctx context.Context, part *rowPart, in *groupRows) error {
	switch {
	case !p.frozen:
		return part.grouped.add(in)
	case part.grouped == nil:
		return spillRows(ctx, &part.spills[in.stream], p.memory.budget, p.plan, in, nil)
	}
	rest, err := part.grouped.addKnown(in)
	if err != nil || len(rest) == 0 {
		return err
	}
	return spillRows(ctx, &part.spills[in.stream], p.memory.budget, p.plan, in, rest)
}

// spillRows writes rows of a stream, nil: all, to a spill that is made when there is none.
func spillRows(ctx context.Context, to **spill, budget *Budget, plan *groupPlan, in *groupRows, rows []int32) error {
	if *to == nil {
		schema := &batch.Schema{}
		for _, t := range plan.streams[in.stream].types {
			schema.Fields = append(schema.Fields, batch.Field{Type: t, Nullable: true})
		}
		*to = budget.newSpill(schema)
	}
	return (*to).write(ctx, &batch.Batch{Schema: (*to).schema, Cols: in.cols, Len: in.length, Sel: rows})
}

// divide gives each part to its item, and ends.
func (p *partedRows) divide(items []*groupItem) {
	_ = p.memory.set(0) // to hold less is no error, and what moves to the items was counted
	for i := range p.parts {
		part, item := &p.parts[i], items[i]
		if part.grouped != nil {
			_ = part.grouped.memory.set(part.grouped.size())
			item.grouped = append(item.grouped, part.grouped)
		}
		item.memory = share{budget: p.memory.budget, what: p.memory.what, bytes: item.memory.bytes}
		bytes := item.memory.bytes
		for s := range part.raw {
			item.stream(s).chunks = append(item.stream(s).chunks, part.raw[s]...)
			for _, c := range part.raw[s] {
				bytes += c.size()
			}
			if part.spills[s] != nil {
				item.stream(s).spills = append(item.stream(s).spills, part.spills[s])
			}
		}
		_ = item.memory.set(bytes)
	}
	p.parts = [nParts]rowPart{}
}

// close gives everything back.
func (p *partedRows) close() error {
	errs := []error{p.memory.set(0)}
	for i := range p.parts {
		for _, s := range p.parts[i].spills {
			errs = append(errs, s.close())
		}
	}
	p.parts = [nParts]rowPart{}
	return errors.Join(errs...)
}
