package parquet

import (
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"

	"lakesql/batch"
)

// picker is what leafReader.pick needs between calls.
type picker struct {
	defs   levels
	values []int32 // the positions of the picked values among those that were decoded
	raw    raw
	codes  []uint32
}

// pick appends the values of some rows, which have ascending positions from position from of the row group on, to dst, without their nulls. The leaf is
// not repeated. The rows' levels are in got. What lies between them in a page is decoded where that is cheaper than to go around it, but never converted.
func (r *leafReader) pick(dst *batch.Vector, from int64, rows []int32) error {
	r.got.reset()
	r.whole = 0
	for len(rows) > 0 {
		if err := r.seek(from + int64(rows[0])); err != nil {
			return err
		}
		if r.left == 0 {
			if err := r.nextPage(); err != nil {
				return err
			}
			continue
		}
		first := int32(r.row - from) // the position that the page goes on with
		here, _ := slices.BinarySearch(rows, first+int32(r.left))
		if err := r.pickInPage(dst, first, rows[:here]); err != nil {
			return err
		}
		rows = rows[here:]
	}
	return nil
}

// pickInPage picks rows that the open page has; first is the position of its next one.
func (r *leafReader) pickInPage(dst *batch.Vector, first int32, rows []int32) error {
	p := &r.picker
	take := int(rows[len(rows)-1]-first) + 1
	whole, err := r.skipWhole(take)
	if err != nil {
		return err
	}
	valid := take
	p.values = slices.Grow(p.values[:0], len(rows))
	if whole {
		for _, row := range rows {
			p.values = append(p.values, row-first)
		}
		if r.leaf.maxDef > 0 {
			r.got.defs = appendLevels(r.got.defs, r.leaf.maxDef, len(rows))
		}
	} else {
		p.defs.reset()
		if valid, err = r.takeDefs(&p.defs, take); err != nil {
			return err
		}
		r.pickLevels(first, rows)
	}
	r.row += int64(take)
	if len(p.values) == 0 {
		r.skipped += valid
		return nil
	}
	return r.appendPicked(dst, valid, p.values)
}

// pickLevels takes over the rows' levels and finds the places of their values.
func (r *leafReader) pickLevels(first int32, rows []int32) {
	p := &r.picker
	counted, values := 0, 0
	for _, row := range rows {
		at := int(row - first)
		values += r.countValues(p.defs.defs[counted:at])
		counted = at
		level := p.defs.defs[at]
		r.got.defs = append(r.got.defs, level)
		if level == r.leaf.maxDef {
			p.values = append(p.values, int32(values))
		}
	}
}

// appendPicked decodes the next n values of the page and appends those at some positions among them.
func (r *leafReader) appendPicked(dst *batch.Vector, n int, at []int32) error {
	if err := r.catchUp(); err != nil {
		return err
	}
	p := &r.picker
	if r.vals != nil {
		values, err := r.vals.next(n)
		if err != nil {
			return err
		}
		p.raw.pick(&values, at)
		return r.appendRaw(dst, &p.raw)
	}
	p.codes = grown(p.codes, n)
	if err := r.code.codes(p.codes); err != nil {
		return err
	}
	for i, k := range at { // k >= i
		p.codes[i] = p.codes[k]
	}
	picked := p.codes[:len(at)]
	if r.keepsCodes(dst) {
		dst.Codes = append(dst.Codes, picked...)
		dst.Len += len(picked)
		return nil
	}
	return r.appendLookedUp(dst, signedOf(picked))
}

// pick makes r, in its memory, the values at some positions of others. It shares their bytes where those are of any length.
func (r *raw) pick(from *raw, at []int32) {
	r.n, r.size = len(at), from.size
	r.bools = picked(r.bools, from.bools, at)
	r.i32 = picked(r.i32, from.i32, at)
	r.i64 = picked(r.i64, from.i64, at)
	r.i96 = picked[deprecated.Int96](r.i96, from.i96, at)
	r.f32 = picked(r.f32, from.f32, at)
	r.f64 = picked(r.f64, from.f64, at)
	r.bytes = from.bytes
	r.from, r.to = picked(r.from, from.from, at), picked(r.to, from.to, at)
	r.fixed = r.fixed[:0]
	if from.fixed != nil {
		for _, i := range at {
			r.fixed = append(r.fixed, from.value(int(i))...)
		}
	}
}

// picked returns the elements at some positions, in dst's memory; none where there are none to pick from.
func picked[T any](dst, from []T, at []int32) []T {
	if from == nil {
		return nil
	}
	dst = grown(dst, len(at))
	for i, k := range at {
		dst[i] = from[k]
	}
	return dst
}
