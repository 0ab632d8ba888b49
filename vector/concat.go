package vector

import (
	"context"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
	"unsafe"

	"lakesql/batch"
)

// Concatenation says how GroupConcat puts the texts of a group together.
type Concatenation struct {
	Separator  string
	MaxLen     int    // bytes of a result: a longer one is cut at a character, with the warning 1260
	Descending []bool // by argument after the first: the rows are in the order of these, and then in that of the child
}

// concats is GroupConcat. It keeps the rows; their texts are put together when the result is asked for.
type concats struct {
	*Concatenation
	types    []batch.Type // of the arguments
	order    []SortKey    // without expressions
	distinct bool
	chunks   []*concatChunk // the last one grows
	rowsOf   []*rowChunk    // likewise
	full     int64          // bytes of the others
	groups   []concatGroup
	valid    []int32
}

// concatChunk is some rows: the texts are its one column.
type concatChunk struct {
	rowChunk
	positions []int64
	next      []concatRow // the next row of the same group
}

// concatRow is a row: the number of its chunk times 2^32 and its place there plus one; 0: none.
type concatRow uint64

// concatGroup is the rows of a group in the order in which they came.
type concatGroup struct {
	first, last concatRow
	n           int
}

const (
	// concatBytes is how many bytes of texts a chunk has before the next one begins: with those of one batch it stays below 2 GiB.
	concatBytes = 256 << 20
	// concatOverhead is what a row takes while the result is made, beside its values.
	concatOverhead = int64(unsafe.Sizeof(rowRef{}))
)

func newConcats(a Aggregate, types []batch.Type) *concats {
	c := &concats{Concatenation: a.Concat, types: types, distinct: a.Distinct}
	for _, descending := range a.Concat.Descending {
		c.order = append(c.order, SortKey{Descending: descending})
	}
	return c
}

func (c *concats) size() int64 {
	n := c.full + int64(unsafe.Sizeof(concatGroup{}))*int64(cap(c.groups))
	if len(c.chunks) > 0 {
		n += c.chunks[len(c.chunks)-1].size()
	}
	return n
}

func (c *concatChunk) size() int64 {
	return c.rowChunk.size() + 8*int64(cap(c.positions)+cap(c.next)) + concatOverhead*int64(c.len)
}

func (c *concats) add(in *grouped) error {
	c.groups = extend(c.groups, in.groups)
	rows := in.valid(in.args[0], &c.valid)
	if rows == nil {
		c.valid = resize(c.valid, in.n)
		for i := range c.valid {
			c.valid[i] = int32(i)
		}
		rows = c.valid
	}
	if len(rows) == 0 {
		return nil
	}
	to := c.chunk()
	to.append(in.args, rows)
	for _, i := range rows {
		g := uint32(0)
		if in.of != nil {
			g = in.of[i]
		}
		c.link(to, g, in.positions[i])
	}
	return nil
}

// chunk is where the next rows go.
func (c *concats) chunk() *concatChunk {
	if n := len(c.chunks); n > 0 {
		last := c.chunks[n-1]
		if last.len < chunkRows && len(last.cols[0].Bytes) < concatBytes {
			return last
		}
		c.full += last.size()
	}
	next := &concatChunk{}
	for i, t := range c.types {
		v := batch.NewVector(t, 0)
		if i == 0 {
			next.cols = []*batch.Vector{v}
		} else {
			next.keys = append(next.keys, v)
		}
	}
	c.chunks, c.rowsOf = append(c.chunks, next), append(c.rowsOf, &next.rowChunk)
	return next
}

// append copies the values of rows, which are linked next.
func (c *concatChunk) append(args []*batch.Vector, rows []int32) {
	for i, v := range args {
		to := c.cols[0]
		if i > 0 {
			to = c.keys[i-1]
		}
		if to.AppendRows(v, rows); to.Dict != nil {
			*to = *to.Decode()
		}
	}
}

// link makes the next of the rows whose values are there the last one of a group.
func (c *concats) link(to *concatChunk, group uint32, position int64) {
	to.len++
	at := concatRow(len(c.chunks)-1)<<32 | concatRow(to.len)
	to.positions, to.next = append(to.positions, position), append(to.next, 0)
	g := &c.groups[group]
	if g.n == 0 {
		g.first = at
	} else {
		chunk, row := c.at(g.last)
		chunk.next[row] = at
	}
	g.last = at
	g.n++
}

func (c *concats) at(r concatRow) (*concatChunk, int32) {
	return c.chunks[r>>32], int32(r&math.MaxUint32) - 1
}

func (c *concats) merge(ctx context.Context, from accumulator, groups []int32, of []uint32, total int) error {
	c.groups = extend(c.groups, total)
	o := from.(*concats)
	var row [1]int32
	ends := interrupt{ctx: ctx}
	for k, g := range groups {
		for r := at(o.groups, g).first; r != 0 && !ends.now(); {
			chunk, i := o.at(r)
			row[0] = i
			to := c.chunk()
			to.append(append(chunk.cols[:1:1], chunk.keys...), row[:])
			c.link(to, of[k], chunk.positions[i])
			r = chunk.next[i]
		}
	}
	return ends.err
}

func (c *concats) result(ctx context.Context, lo, hi int) (*batch.Vector, error) {
	out := batch.NewVector(c.types[0], hi-lo)
	var text []byte
	for _, g := range within(c.groups, lo, hi) {
		if g.n == 0 {
			out.AppendNull()
			continue
		}
		rows, err := c.rows(ctx, g)
		if err != nil {
			return nil, err
		}
		if text, err = c.text(ctx, text[:0], rows); err != nil {
			return nil, err
		}
		if len(out.Bytes)+len(text) > math.MaxInt32 {
			return nil, &MemoryError{What: "the results of GROUP_CONCAT", Limit: math.MaxInt32 + 1}
		}
		out.AppendBytes(text)
	}
	return out, nil
}

// rows are those of a group, in order.
func (c *concats) rows(ctx context.Context, g concatGroup) ([]rowRef, error) {
	rows := make([]rowRef, 0, g.n)
	ends := interrupt{ctx: ctx}
	for r := g.first; r != 0 && !ends.now(); {
		chunk, i := c.at(r)
		rows = append(rows, rowRef{position: chunk.positions[i], chunk: int32(r >> 32), row: i})
		r = chunk.next[i]
	}
	if ends.err != nil {
		return nil, ends.err
	}
	if c.distinct {
		if err := c.sort(ctx, nil, rows); err != nil {
			return nil, err
		}
		seen := make(map[string]struct{})
		rows = slices.DeleteFunc(rows, func(r rowRef) bool {
			if ends.now() {
				return true
			}
			text := c.textOf(r)
			_, ok := seen[string(text)]
			if !ok {
				seen[string(text)] = struct{}{}
			}
			return ok
		})
		if ends.err != nil {
			return nil, ends.err
		}
	}
	return rows, c.sort(ctx, c.order, rows)
}

func (c *concats) textOf(r rowRef) []byte { return c.rowsOf[r.chunk].cols[0].BytesAt(int(r.row)) }

// sort sorts rows by keys and then by their positions.
func (c *concats) sort(ctx context.Context, keys []SortKey, rows []rowRef) error {
	return sortRows(ctx, rows, func(a, b rowRef) int { return compareRows(keys, &a, &b, c.rowsOf, c.rowsOf) })
}

// text appends the texts of rows to out, as far as there may be.
func (c *concats) text(ctx context.Context, out []byte, rows []rowRef) ([]byte, error) {
	ends := interrupt{ctx: ctx}
	for n, r := range rows {
		if ends.now() {
			return nil, ends.err
		}
		if n > 0 {
			out = append(out, c.Separator...)
		}
		if out = append(out, c.textOf(r)...); len(out) > c.MaxLen {
			warn(ctx, Warning{Code: 1260, Message: fmt.Sprintf("Row %d was cut by GROUP_CONCAT()", n+1)}, 1)
			return cutText(out, c.MaxLen, c.types[0]), nil
		}
	}
	return out, nil
}

// cutText is the first n bytes of a longer text, or fewer, so that no character is cut.
func cutText(text []byte, n int, t batch.Type) []byte {
	if t.Kind == batch.String {
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
	}
	return text[:n]
}
