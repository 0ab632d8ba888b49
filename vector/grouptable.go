package vector

import "slices"

// groupTable numbers distinct keys in the order in which they are first seen. A key is width words, or the null key.
//
// Invariant: every number is in exactly one of slots (width 1), byWord (direct), numbers (width above 1), or it is the null key's.
type groupTable struct {
	width  int
	direct bool     // the words are small: width is 1, and they are positions in byWord
	keys   []uint64 // width words a number
	count  int
	null   uint32 // the number of the null key plus one; 0: not seen

	byWord  []uint32    // numbers plus one, by word
	slots   []wordSlot  // an open hash table
	numbers []groupSlot // likewise
}

// wordSlot has the key in it, so that a look-up touches one cache line.
type wordSlot struct {
	word   uint64
	number uint32 // plus one; 0: free
}

// groupSlot has some bits of the hash, so that keys are only looked at where they are most probably equal.
type groupSlot struct {
	hash   uint32
	number uint32 // plus one; 0: free
}

const firstSlots = 256

func newGroupTable(width int, direct bool) *groupTable {
	t := &groupTable{width: width, direct: direct}
	switch {
	case direct:
	case width == 1:
		t.slots = make([]wordSlot, firstSlots)
	default:
		t.numbers = make([]groupSlot, firstSlots)
	}
	return t
}

func (t *groupTable) size() int64 {
	return 8*int64(cap(t.keys)) + 4*int64(cap(t.byWord)) + 16*int64(len(t.slots)) + 8*int64(len(t.numbers))
}

// find sets out[k] to the number of the k-th key, and appends the k of the keys that are new to began. null says which keys are null keys;
// nil: none.
func (t *groupTable) find(out []uint32, words []uint64, null []bool, began []int32) []int32 {
	switch {
	case null != nil:
		return t.findNullable(out, words, null, began)
	case t.direct:
		return t.findDirect(out, words, began)
	case t.width == 1:
		return t.findWords(out, words, began)
	}
	for k := range out {
		key := words[k*t.width : (k+1)*t.width]
		if k > 0 && sameWords(key, words[(k-1)*t.width:k*t.width]) {
			out[k] = out[k-1]
			continue
		}
		n, isNew := t.one(key)
		if out[k] = n; isNew {
			began = append(began, int32(k))
		}
	}
	return began
}

// lookUp sets out[k] to the number of the k-th key, or noGroup. null is as of find.
func (t *groupTable) lookUp(out []uint32, words []uint64, null []bool) {
	for k := range out {
		switch {
		case null != nil && null[k]:
			out[k] = t.null - 1 // noGroup where it was not seen
		default:
			out[k] = t.peek(words[k*t.width : (k+1)*t.width])
		}
	}
}

// peek is the number of a single key that is not the null key, or noGroup.
func (t *groupTable) peek(key []uint64) uint32 {
	w := key[0]
	switch {
	case t.direct:
		if w < uint64(len(t.byWord)) {
			return t.byWord[w] - 1
		}
		return noGroup
	case t.width == 1:
		mask := uint64(len(t.slots) - 1)
		at := mixWord(w) & mask
		for t.slots[at].number != 0 && t.slots[at].word != w {
			at = (at + 1) & mask
		}
		return t.slots[at].number - 1
	}
	h := mixWords(key)
	mask := uint64(len(t.numbers) - 1)
	at := h & mask
	for t.numbers[at].number != 0 {
		s := t.numbers[at]
		if n := int(s.number - 1); s.hash == uint32(h>>32) && sameWords(t.keys[n*t.width:(n+1)*t.width], key) {
			return s.number - 1
		}
		at = (at + 1) & mask
	}
	return noGroup
}

func (t *groupTable) findNullable(out []uint32, words []uint64, null []bool, began []int32) []int32 {
	for k := range out {
		isNew := false
		switch {
		case !null[k]:
			out[k], isNew = t.one(words[k : k+1])
		default:
			if isNew = t.null == 0; isNew {
				t.null = t.add([]uint64{0}) + 1
			}
			out[k] = t.null - 1
		}
		if isNew {
			began = append(began, int32(k))
		}
	}
	return began
}

func (t *groupTable) findDirect(out []uint32, words []uint64, began []int32) []int32 {
	for k, w := range words[:len(out)] {
		if w < uint64(len(t.byWord)) && t.byWord[w] != 0 {
			out[k] = t.byWord[w] - 1
			continue
		}
		out[k], _ = t.one(words[k : k+1])
		began = append(began, int32(k))
	}
	return began
}

func (t *groupTable) findWords(out []uint32, words []uint64, began []int32) []int32 {
	slots := t.slots
	mask := uint64(len(slots) - 1)
	for k, w := range words[:len(out)] {
		if k > 0 && w == words[k-1] { // rows of one group often lie side by side
			out[k] = out[k-1]
			continue
		}
		at := mixWord(w) & mask
		for {
			s := &slots[at]
			if s.number == 0 {
				out[k], _ = t.one(words[k : k+1])
				began = append(began, int32(k))
				slots = t.slots
				mask = uint64(len(slots) - 1)
				break
			}
			if s.word == w {
				out[k] = s.number - 1
				break
			}
			at = (at + 1) & mask
		}
	}
	return began
}

// one finds the number of a single key that is not the null key.
func (t *groupTable) one(key []uint64) (number uint32, isNew bool) {
	switch {
	case t.direct:
		w := key[0]
		for uint64(len(t.byWord)) <= w {
			t.byWord = append(t.byWord, 0)
		}
		if isNew = t.byWord[w] == 0; isNew {
			t.byWord[w] = t.add(key) + 1
		}
		return t.byWord[w] - 1, isNew
	case t.width == 1:
		return t.oneWord(key)
	}
	h := mixWords(key)
	mask := uint64(len(t.numbers) - 1)
	at := h & mask
	for t.numbers[at].number != 0 {
		s := t.numbers[at]
		if n := int(s.number - 1); s.hash == uint32(h>>32) && sameWords(t.keys[n*t.width:(n+1)*t.width], key) {
			return s.number - 1, false
		}
		at = (at + 1) & mask
	}
	number = t.add(key)
	t.numbers[at] = groupSlot{uint32(h >> 32), number + 1}
	if 2*t.count > len(t.numbers) {
		t.growNumbers()
	}
	return number, true
}

func (t *groupTable) oneWord(key []uint64) (number uint32, isNew bool) {
	w := key[0]
	mask := uint64(len(t.slots) - 1)
	at := mixWord(w) & mask
	for t.slots[at].number != 0 {
		if t.slots[at].word == w {
			return t.slots[at].number - 1, false
		}
		at = (at + 1) & mask
	}
	number = t.add(key)
	t.slots[at] = wordSlot{w, number + 1}
	if 2*t.count > len(t.slots) {
		t.growSlots()
	}
	return number, true
}

func (t *groupTable) add(key []uint64) uint32 {
	t.keys = append(t.keys, key...)
	t.count++
	return uint32(t.count - 1)
}

// fewSlots is up to how many slots a table grows in larger steps.
const fewSlots = 1 << 13

// moreSlots is how many slots follow n.
func moreSlots(n int) int {
	if n < fewSlots {
		return 8 * n
	}
	return 2 * n
}

// reserve makes room for a number of keys.
func (t *groupTable) reserve(keys int) {
	t.keys = slices.Grow(t.keys, max(0, keys*t.width-len(t.keys)))
}

func (t *groupTable) growSlots() {
	before := t.slots
	t.slots = make([]wordSlot, moreSlots(len(before)))
	t.reserve(len(t.slots) / 2)
	mask := uint64(len(t.slots) - 1)
	for _, s := range before {
		if s.number == 0 {
			continue
		}
		at := mixWord(s.word) & mask
		for t.slots[at].number != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = s
	}
}

func (t *groupTable) growNumbers() {
	t.numbers = make([]groupSlot, moreSlots(len(t.numbers)))
	t.reserve(len(t.numbers) / 2)
	mask := uint64(len(t.numbers) - 1)
	for n := range t.count {
		h := mixWords(t.keys[n*t.width : (n+1)*t.width])
		at := h & mask
		for t.numbers[at].number != 0 {
			at = (at + 1) & mask
		}
		t.numbers[at] = groupSlot{uint32(h >> 32), uint32(n) + 1}
	}
}

// mixWord spreads a word over all bits, the low ones too.
func mixWord(w uint64) uint64 {
	w *= 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	w ^= w >> 32
	w *= 0xD6E8FEB86659FD93
	return w ^ w>>32
}

func mixWords(words []uint64) uint64 {
	h := uint64(len(words))
	for _, w := range words {
		h = mixWord(h ^ w)
	}
	return h
}

func sameWords(a, b []uint64) bool {
	for i, w := range a {
		if w != b[i] {
			return false
		}
	}
	return true
}
