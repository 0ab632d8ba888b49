package vector

import (
	"bytes"
	"math"

	"lakesql/batch"
)

const (
	// keptCodes bounds the codes of dictionaries that a pool remembers together: a scan has one dictionary a column and row group at a time, a merge one a
	// worker.
	keptCodes = 1 << 17
	// codesPerRow is how many values a dictionary has at the most, for each row that comes, for its codes to be remembered.
	codesPerRow = 8
	// textMissing is what a frozen pool says of a text that it does not have; no text has this number.
	textMissing = 1<<poolBits - 1
)

// pool numbers distinct texts in the order in which they are first seen. Equal texts are those of equal bytes.
type pool struct {
	values *batch.Vector // by number
	slots  []textSlot    // an open hash table
	// known are the numbers plus one of the values of dictionaries, 0 where a value was not asked for yet; textMissing plus one too, while the pool is frozen.
	known  map[*batch.Vector][]uint32
	codes  int  // in known
	misses bool // there is a textMissing in known

	asked  []textAsked
	warmed uint64
}

// textSlot has half of the hash, so that texts are only looked at where they are most probably equal, and that a table grows without them.
type textSlot struct {
	hash   uint32 // the lower half
	number uint32 // plus one; 0: free
}

// textAsked is a row whose text is to be looked up.
type textAsked struct {
	hash uint64
	row  int32 // of the vector
	at   int32 // in the numbers
}

func newPool(t batch.Type) *pool {
	return &pool{values: batch.NewVector(t, 0), slots: make([]textSlot, 64), known: map[*batch.Vector][]uint32{}}
}

func (p *pool) size() int64 {
	return int64(cap(p.values.Bytes)) + 4*int64(cap(p.values.Off)) + 8*int64(len(p.slots)) + 4*int64(p.codes)
}

// numbers sets out[k] to the number of the text in the k-th of the rows (nil: all) of v. What it sets for null rows is unspecified.
func (p *pool) numbers(out []uint64, v *batch.Vector, rows []int32) error {
	return p.numbersHashed(out, v, rows, nil, false)
}

// numbersHashed is numbers, told the hashes of the texts; nil: not known. A frozen pool takes no new text: that has the number textMissing.
func (p *pool) numbersHashed(out []uint64, v *batch.Vector, rows []int32, hashes []uint64, frozen bool) error {
	if v.Dict != nil && v.Dict.Len <= max(1024, codesPerRow*len(out)) {
		return p.dictionary(out, v, rows, frozen)
	}
	p.asked = p.asked[:0]
	for k := range out {
		i := int32(k)
		if rows != nil {
			i = rows[k]
		}
		if v.IsNull(int(i)) {
			continue
		}
		var h uint64
		if hashes != nil {
			h = hashes[k]
		} else {
			h = textHash(v.BytesAt(int(i)))
		}
		p.asked = append(p.asked, textAsked{h, i, int32(k)})
	}
	p.warm()
	for _, a := range p.asked {
		n, err := p.number(v.BytesAt(int(a.row)), a.hash, frozen)
		if err != nil {
			return err
		}
		out[a.at] = uint64(n)
	}
	return nil
}

// dictionary asks once for each value that occurs.
func (p *pool) dictionary(out []uint64, v *batch.Vector, rows []int32, frozen bool) error {
	if p.misses && !frozen {
		p.forget()
	}
	known := p.known[v.Dict]
	if len(known) < v.Dict.Len { // it came for the first time, or is a pool's and has grown
		if p.codes > 0 && p.codes+v.Dict.Len > keptCodes {
			p.forget()
			known = nil
		}
		p.codes += v.Dict.Len - len(known)
		known = append(known, make([]uint32, v.Dict.Len-len(known))...)
		p.known[v.Dict] = known
	}
	p.asked = p.asked[:0]
	for k := range out {
		i := int32(k)
		if rows != nil {
			i = rows[k]
		}
		code := v.Codes[i]
		switch {
		case int(code) < len(known) && known[code] != 0:
			out[k] = uint64(known[code] - 1)
		case !v.IsNull(int(i)):
			p.asked = append(p.asked, textAsked{textHash(v.Dict.BytesAt(int(code))), i, int32(k)})
		}
	}
	p.warm()
	for _, a := range p.asked {
		code := v.Codes[a.row]
		if known[code] == 0 {
			n, err := p.number(v.Dict.BytesAt(int(code)), a.hash, frozen)
			if err != nil {
				return err
			}
			known[code], p.misses = n+1, p.misses || n == textMissing
		}
		out[a.at] = uint64(known[code] - 1)
	}
	return nil
}

// forget drops what is known of dictionaries.
func (p *pool) forget() {
	clear(p.known)
	p.codes, p.misses = 0, false
}

// coldSlots is how large the table is when look-ups wait for memory beyond the first-level cache.
const coldSlots = 1 << 12

// warm has the memory fetched that looking up what is asked will read. Here the reads do not wait for each other, as those of one look-up do.
func (p *pool) warm() {
	if len(p.slots) < coldSlots {
		return
	}
	mask := uint64(len(p.slots) - 1)
	sum := uint64(0)
	for _, a := range p.asked {
		sum += uint64(p.slots[a.hash&mask].number)
	}
	for _, a := range p.asked {
		if s := p.slots[a.hash&mask]; s.hash == uint32(a.hash) {
			sum += uint64(p.values.Off[s.number])
		}
	}
	for _, a := range p.asked {
		if s := p.slots[a.hash&mask]; s.hash == uint32(a.hash) && s.number != 0 {
			if from := p.values.Off[s.number-1]; from < p.values.Off[s.number] {
				sum += uint64(p.values.Bytes[from])
			}
		}
	}
	p.warmed = sum
}

// number returns the number of a text with that hash. A new one is copied.
func (p *pool) number(text []byte, h uint64, frozen bool) (uint32, error) {
	mask := uint64(len(p.slots) - 1)
	at := h & mask
	for p.slots[at].number != 0 {
		s := p.slots[at]
		if n := s.number - 1; s.hash == uint32(h) && bytes.Equal(p.values.Bytes[p.values.Off[n]:p.values.Off[n+1]], text) {
			return n, nil
		}
		at = (at + 1) & mask
	}
	if frozen {
		return textMissing, nil
	}
	if len(p.values.Bytes)+len(text) > math.MaxInt32 || p.values.Len == textMissing-1 {
		return 0, &MemoryError{What: "a set of distinct texts", Limit: math.MaxInt32 + 1}
	}
	n := uint32(p.values.Len)
	p.values.AppendBytes(text)
	p.slots[at] = textSlot{uint32(h), n + 1}
	if 2*p.values.Len > len(p.slots) {
		p.grow()
	}
	return n, nil
}

// reader returns a pool with the same texts that finds them for another goroutine. Nobody adds to either.
func (p *pool) reader() *pool {
	out := *p
	out.known, out.codes, out.misses, out.asked = map[*batch.Vector][]uint32{}, 0, false, nil
	return &out
}

func (p *pool) grow() {
	before := p.slots
	more := 2
	if len(before) < coldSlots {
		more = 8
	}
	p.slots = make([]textSlot, more*len(before))
	mask := uint32(len(p.slots) - 1)
	for _, s := range before {
		if s.number == 0 {
			continue
		}
		at := s.hash & mask
		for p.slots[at].number != 0 {
			at = (at + 1) & mask
		}
		p.slots[at] = s
	}
}
