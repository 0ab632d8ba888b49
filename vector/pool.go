package vector

import (
	"bytes"
	"hash/maphash"
	"math"

	"lakesql/batch"
)

// keptDictionaries bounds the dictionaries whose codes a pool remembers: a scan has one a column and row group at a time, a merge one a worker.
const keptDictionaries = 64

// pool numbers distinct texts in the order in which they are first seen. Equal texts are those of equal bytes.
type pool struct {
	values *batch.Vector // by number
	hashes []uint64      // by number
	slots  []uint32      // an open hash table of numbers plus one; 0: free
	seed   maphash.Seed
	// known are the numbers plus one of the values of dictionaries, 0 where a value was not asked for yet.
	known map[*batch.Vector][]uint32
}

func newPool(t batch.Type) *pool {
	return &pool{values: batch.NewVector(t, 0), slots: make([]uint32, 64), seed: maphash.MakeSeed(), known: map[*batch.Vector][]uint32{}}
}

func (p *pool) size() int64 {
	return int64(cap(p.values.Bytes)) + 4*int64(cap(p.values.Off)) + 8*int64(cap(p.hashes)) + 4*int64(len(p.slots))
}

// numbers sets out[k] to the number of the text in the k-th of the rows (nil: all) of v. What it sets for null rows is unspecified.
func (p *pool) numbers(out []uint64, v *batch.Vector, rows []int32) error {
	if v.Dict != nil {
		return p.dictionary(out, v, rows)
	}
	for k := range out {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		if v.IsNull(i) {
			continue
		}
		n, err := p.number(v.BytesAt(i))
		if err != nil {
			return err
		}
		out[k] = uint64(n)
	}
	return nil
}

// dictionary asks once for each value that occurs.
func (p *pool) dictionary(out []uint64, v *batch.Vector, rows []int32) error {
	known, ok := p.known[v.Dict]
	if !ok {
		if len(p.known) == keptDictionaries {
			clear(p.known)
		}
		known = make([]uint32, v.Dict.Len)
		p.known[v.Dict] = known
	}
	for k := range out {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		code := v.Codes[i]
		if int(code) < len(known) && known[code] != 0 {
			out[k] = uint64(known[code] - 1)
			continue
		}
		if v.IsNull(i) {
			continue
		}
		n, err := p.number(v.Dict.BytesAt(int(code)))
		if err != nil {
			return err
		}
		known[code], out[k] = n+1, uint64(n)
	}
	return nil
}

// number returns the number of a text. A new one is copied.
func (p *pool) number(text []byte) (uint32, error) {
	h := maphash.Bytes(p.seed, text)
	mask := uint64(len(p.slots) - 1)
	at := h & mask
	for p.slots[at] != 0 {
		n := p.slots[at] - 1
		if p.hashes[n] == h && bytes.Equal(p.values.Bytes[p.values.Off[n]:p.values.Off[n+1]], text) {
			return n, nil
		}
		at = (at + 1) & mask
	}
	if len(p.values.Bytes)+len(text) > math.MaxInt32 || len(p.hashes) == math.MaxInt32 {
		return 0, &MemoryError{What: "a set of distinct texts", Limit: math.MaxInt32 + 1}
	}
	n := uint32(len(p.hashes))
	p.values.AppendBytes(text)
	p.hashes = append(p.hashes, h)
	p.slots[at] = n + 1
	if 2*len(p.hashes) > len(p.slots) {
		p.grow()
	}
	return n, nil
}

func (p *pool) grow() {
	p.slots = make([]uint32, 2*len(p.slots))
	mask := uint64(len(p.slots) - 1)
	for n, h := range p.hashes {
		at := h & mask
		for p.slots[at] != 0 {
			at = (at + 1) & mask
		}
		p.slots[at] = uint32(n) + 1
	}
}
