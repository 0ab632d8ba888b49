package vector

import (
	"context"

	"lakesql/batch"
)

// counts is COUNT(*) and COUNT(x).
type counts struct {
	n     []int64
	valid []int32
}

func (c *counts) size() int64 { return 8 * int64(cap(c.n)) }

func (c *counts) add(in *grouped) error {
	c.n = extend(c.n, in.groups)
	rows, n := in.rows, in.n
	for _, v := range in.args {
		if v.Valid == nil {
			continue
		}
		one := grouped{rows: rows, n: n}
		if rows = one.valid(v, &c.valid); rows != nil {
			n = len(rows)
		}
	}
	switch {
	case in.of == nil:
		c.n[0] += int64(n)
	case rows == nil:
		for _, g := range in.of[:n] {
			c.n[g]++
		}
	default:
		for _, i := range rows {
			c.n[in.of[i]]++
		}
	}
	return nil
}

func (c *counts) merge(_ context.Context, from accumulator, groups []int32, of []uint32, total int) error {
	c.n = extend(c.n, total)
	o := from.(*counts)
	for k, g := range groups {
		c.n[of[k]] += at(o.n, g)
	}
	return nil
}

func (c *counts) result(ctx context.Context, lo, hi int) (*batch.Vector, error) {
	return &batch.Vector{Type: batch.Type{Kind: batch.Int64}, Len: hi - lo, I64: within(c.n, lo, hi)}, nil
}
