package vector

import (
	"hash/maphash"
	"math/bits"

	"lakesql/batch"
)

// textSeed is that of the hashes of texts.
var textSeed = maphash.MakeSeed()

// rowHasher hashes rows by some columns: rows that are equal as keys have the same hash. It keeps buffers: one goroutine at a time.
type rowHasher struct {
	columns []keyColumn
	hashes  []uint64
	words   []uint64
	dict    *batch.Vector // the last dictionary of texts
	ofDict  []uint64      // the hashes of its values
}

func newRowHasher(types []batch.Type) *rowHasher {
	h := &rowHasher{}
	for _, t := range types {
		h.columns = append(h.columns, keyColumn{typ: t})
	}
	return h
}

// hash returns the hashes of n rows of the columns: of the given ones, nil: of the first ones. That of a single text is textHash. They are valid until
// the next call.
func (h *rowHasher) hash(columns []*batch.Vector, rows []int32, n int) []uint64 {
	h.hashes, h.words = resize(h.hashes, n), resize(h.words, n)
	for i, v := range columns {
		c := &h.columns[i]
		if c.typ.Layout() == batch.LayoutBytes {
			h.texts(v, rows)
			h.combine(v, rows, i == 0, func(w uint64) uint64 { return w })
			continue
		}
		c.load(h.words, v, rows)
		h.combine(v, rows, i == 0, mixWord)
		if c.typ.Layout() == batch.LayoutDec {
			c.loadHigh(h.words, v, rows)
			h.combine(v, rows, false, mixWord)
		}
	}
	return h.hashes
}

// combine puts the words of a column into the hashes. Nulls are all the same.
func (h *rowHasher) combine(v *batch.Vector, rows []int32, first bool, mix func(uint64) uint64) {
	if v.Valid != nil {
		for k := range h.words {
			i := k
			if rows != nil {
				i = int(rows[k])
			}
			if !v.Valid.Get(i) {
				h.words[k] = 0
			}
		}
	}
	if first {
		for k, w := range h.words {
			h.hashes[k] = mix(w)
		}
		return
	}
	for k, w := range h.words {
		h.hashes[k] = mixWord(bits.RotateLeft64(h.hashes[k], 29) ^ mix(w)) // turned, so that two equal columns do not cancel out
	}
}

// texts sets words to the hashes of texts.
func (h *rowHasher) texts(v *batch.Vector, rows []int32) {
	if v.Dict != nil && v.Dict != h.dict && v.Dict.Len <= 8*len(h.words) {
		h.dict, h.ofDict = v.Dict, resize(h.ofDict, v.Dict.Len)
		for i := range h.ofDict {
			h.ofDict[i] = textHash(v.Dict.BytesAt(i))
		}
	}
	for k := range h.words {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		switch {
		case v.IsNull(i):
		case v.Dict != nil && v.Dict == h.dict:
			h.words[k] = h.ofDict[v.Codes[i]]
		default:
			h.words[k] = textHash(v.BytesAt(i))
		}
	}
}

func textHash(text []byte) uint64 { return maphash.Bytes(textSeed, text) }
