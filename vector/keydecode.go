package vector

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// decode returns the columns of the keys [lo, hi) of a table. Texts come as codes of their pool.
func (e *keyEncoder) decode(t *groupTable, lo, hi int) []*batch.Vector {
	out := make([]*batch.Vector, len(e.columns))
	for i := range e.columns {
		out[i] = e.decodeColumn(t, i, lo, hi)
	}
	return out
}

// decodeColumn is a column of the keys [lo, hi) of a table.
func (e *keyEncoder) decodeColumn(t *groupTable, column, lo, hi int) *batch.Vector {
	return e.decodeKeys(column, someKeys{t: t, lo: lo, n: hi - lo})
}

// decodeGroups is a column of some keys of a table.
func (e *keyEncoder) decodeGroups(t *groupTable, column int, groups []int32) *batch.Vector {
	return e.decodeKeys(column, someKeys{t: t, groups: groups, n: len(groups)})
}

// someKeys are n keys of a table: of the groups, or where these are nil from lo on.
type someKeys struct {
	t      *groupTable
	groups []int32
	lo, n  int
}

// decodeKeys changes nothing but what it returns: several goroutines may decode the keys of one table.
func (e *keyEncoder) decodeKeys(column int, keys someKeys) *batch.Vector {
	c := &e.columns[column]
	v := &batch.Vector{Type: c.typ, Len: keys.n}
	switch c.typ.Layout() {
	case batch.LayoutBools:
		v.Bools = decodeWords(keys, c, func(w uint64) bool { return w != 0 })
	case batch.LayoutI8:
		v.I8 = decodeWords(keys, c, func(w uint64) int8 { return int8(w) })
	case batch.LayoutI16:
		v.I16 = decodeWords(keys, c, func(w uint64) int16 { return int16(w) })
	case batch.LayoutI32:
		v.I32 = decodeWords(keys, c, func(w uint64) int32 { return int32(w) })
	case batch.LayoutI64:
		v.I64 = decodeWords(keys, c, func(w uint64) int64 { return int64(w) })
	case batch.LayoutF32:
		v.F32 = decodeWords(keys, c, func(w uint64) float32 { return math.Float32frombits(uint32(w)) })
	case batch.LayoutF64:
		v.F64 = decodeWords(keys, c, math.Float64frombits)
	case batch.LayoutDec:
		v.Dec = decodeWords(keys, c, func(w uint64) decimal128.Num { return decimal128.New(0, w) })
		for k := range v.Dec {
			v.Dec[k] = decimal128.New(int64(keys.t.keys[keys.group(k)*e.width+c.at.word+1]), v.Dec[k].LowBits())
		}
	case batch.LayoutBytes:
		v.Dict, v.Codes = c.pool.values, decodeWords(keys, c, func(w uint64) uint32 { return uint32(w) })
	}
	e.decodeNulls(v, c, keys)
	return v
}

// group is the group of the k-th key.
func (s *someKeys) group(k int) int {
	if s.groups != nil {
		return int(s.groups[k])
	}
	return s.lo + k
}

// decodeWords returns the values of a column; those of nulls are of the word 0.
func decodeWords[T any](keys someKeys, c *keyColumn, value func(uint64) T) []T {
	out := make([]T, keys.n)
	if keys.n == 0 {
		return out
	}
	mask := ^uint64(0)
	if bits := keyBits(c.typ); bits < 64 {
		mask = 1<<bits - 1
	}
	width, words := keys.t.width, keys.t.keys[c.at.word:]
	if keys.groups == nil {
		for k := range out {
			out[k] = value(words[(keys.lo+k)*width] >> c.at.shift & mask)
		}
		return out
	}
	for k, g := range keys.groups {
		out[k] = value(words[int(g)*width] >> c.at.shift & mask)
	}
	return out
}

func (e *keyEncoder) decodeNulls(v *batch.Vector, c *keyColumn, keys someKeys) {
	if e.single && keys.t.null == 0 {
		return
	}
	for k := range keys.n {
		g := keys.group(k)
		if e.single && uint32(g) != keys.t.null-1 || !e.single && keys.t.keys[g*e.width+c.null.word]>>c.null.shift&1 == 0 {
			continue
		}
		if v.Valid == nil {
			v.Valid = batch.NewBitmap(v.Len)
		}
		v.Valid.Clear(k)
	}
}

// adopt returns the keys that some keys of another encoder of the same types have here, and which are the null key, as encode does. Only the numbers of texts
// differ.
func (e *keyEncoder) adopt(from *keyEncoder, keys someKeys) (words []uint64, null []bool, err error) {
	e.words, e.values = resize(e.words, keys.n*e.width), resize(e.values, keys.n)
	if keys.groups == nil {
		copy(e.words, keys.t.keys[keys.lo*e.width:])
	} else {
		for k, g := range keys.groups {
			copy(e.words[k*e.width:(k+1)*e.width], keys.t.keys[int(g)*e.width:])
		}
	}
	for i := range e.columns {
		c := &e.columns[i]
		if c.pool == nil {
			continue
		}
		v := from.decodeKeys(i, keys)
		if err := c.pool.numbers(e.values, v, nil); err != nil {
			return nil, nil, err
		}
		e.replace(c, v)
	}
	if e.single && keys.t.null != 0 {
		e.null = resize(e.null, keys.n)
		for k := range e.null {
			e.null[k] = uint32(keys.group(k)) == keys.t.null-1
		}
		null = e.null
	}
	return e.words, null, nil
}

// replace puts the values in the place of those of a column, but for nulls.
func (e *keyEncoder) replace(c *keyColumn, v *batch.Vector) {
	mask := uint64(1<<keyBits(c.typ)-1) << c.at.shift
	for k, x := range e.values {
		if !v.IsNull(k) {
			w := &e.words[k*e.width+c.at.word]
			*w = *w&^mask | x<<c.at.shift
		}
	}
}
