package vector

import (
	"context"
	"math/bits"
	"slices"

	"lakesql/batch"
)

// joinTable finds the build rows with a key. Keys are numbered; the rows of number n are order[starts[n]:starts[n+1]].
//
// Invariant: exactly one of dense, narrow, word and wide has the numbers, unless there are no keys: then every row has number 0.
type joinTable struct {
	keys   *joinKeys
	count  int     // numbers
	starts []int32 // nil: each number has one row, or nobody asks for rows
	order  []int32 // nil: the rows stand in the order of the numbers

	dense  []denseWord
	limit  uint64 // of dense: no key is that, or more
	narrow *slotTable[uint32]
	word   *slotTable[uint64]
	wide   *wideTable
}

// denseWord is 64 neighbouring keys.
type denseWord struct {
	bits   uint64 // of those that there are
	number uint32 // of the first of them
}

const (
	// denseRange is how many possible values a key may have for each row of the build side so that a bit is kept for each: 16 bytes a row, no more than a table of
	// slots takes.
	denseRange = 64
	// sparseRange is the same where the bits are few enough to be in a cache that slots would not be in, or not at once: those of sparseValues take 16 MiB.
	sparseRange  = 256
	sparseValues = 1 << 26
	// smallRange is a number of possible values that is always good for bits: they take 256 KiB, which the second-level cache holds.
	smallRange = 1 << 20
)

// isDense says whether bits are to be kept for keys up to span of so many rows.
func isDense(span, rows uint64) bool {
	return span < max(smallRange, denseRange*rows) || span < min(sparseValues, sparseRange*rows)
}

// newJoinTable returns the table of the rows. Where only the existence of keys counts, rows are not kept.
func newJoinTable(ctx context.Context, j *Join, rows *joinRows, memory *share) (*joinTable, error) {
	t := &joinTable{}
	if len(rows.keys) == 0 {
		t.count = min(rows.len, 1)
		if rows.len > 1 {
			t.starts = []int32{0, int32(rows.len)}
		}
		return t, nil
	}
	var err error
	if t.keys, err = newJoinKeys(j, rows.keys); err != nil {
		return nil, err
	}
	needsRows := !j.existence() || j.Kind.ofBuild()
	if t.keys.width == 1 && t.keys.bits < 62 {
		if span := t.span(); isDense(span, uint64(rows.len)) {
			return t, t.makeDense(ctx, rows, span, needsRows, memory)
		}
	}
	switch {
	case t.keys.width > 1:
		t.wide = newWideTable(t.keys.width)
	case t.keys.bits <= 32:
		t.narrow = newSlotTable[uint32](rows.len)
	default:
		t.word = newSlotTable[uint64](rows.len)
	}
	return t, t.number(ctx, rows, needsRows, memory)
}

// span is the greatest word that a key can have.
func (t *joinTable) span() uint64 {
	if len(t.keys.parts) == 1 {
		return t.keys.parts[0].span
	}
	return 1<<t.keys.bits - 1
}

// size is about how many bytes the table takes.
func (t *joinTable) size() int64 {
	n := 4*int64(cap(t.starts)+cap(t.order)) + 16*int64(len(t.dense))
	if t.keys != nil {
		n += t.keys.size()
	}
	switch {
	case t.narrow != nil:
		n += 8 * int64(len(t.narrow.slots))
	case t.word != nil:
		n += 16 * int64(len(t.word.slots))
	case t.wide != nil:
		n += 8*int64(len(t.wide.slots)) + 8*int64(cap(t.wide.keys))
	}
	return n
}

// rowsOf are the positions in order of the rows of a number.
func (t *joinTable) rowsOf(number int32) (lo, hi int) {
	if t.starts == nil {
		return int(number), int(number) + 1
	}
	return int(t.starts[number]), int(t.starts[number+1])
}

// eachBlock calls f with the words of the build rows from lo on: those of a block, and the rows whose they are; nil: all of the block.
func (t *joinTable) eachBlock(ctx context.Context, rows *joinRows, f func(lo int, words []uint64, of []int32, n int)) error {
	w := newKeyWords(t.keys)
	block := make([]*batch.Vector, len(rows.keys))
	for lo := 0; lo < rows.len; lo += batch.MaxRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+batch.MaxRows, rows.len)
		for i, v := range rows.keys {
			block[i] = v.Slice(lo, hi)
		}
		words, of := w.encode(block, nil, hi-lo, false)
		n := hi - lo
		if of != nil {
			n = len(of)
		}
		f(lo, words, of, n)
	}
	return nil
}

// makeDense makes the bits for keys up to span. Numbers ascend with the keys.
func (t *joinTable) makeDense(ctx context.Context, rows *joinRows, span uint64, needsRows bool, memory *share) error {
	t.limit = span + 1
	t.dense = make([]denseWord, t.limit/64+1)
	if err := memory.set(memory.bytes + t.size()); err != nil {
		return err
	}
	ascending, unique, last, live := true, true, uint64(0), 0
	err := t.eachBlock(ctx, rows, func(_ int, words []uint64, _ []int32, n int) {
		for k, w := range words {
			at := &t.dense[w>>6]
			bit := uint64(1) << (w & 63)
			unique = unique && at.bits&bit == 0
			at.bits |= bit
			ascending = ascending && (w >= last || live+k == 0)
			last = w
		}
		live += n
	})
	if err != nil {
		return err
	}
	number := uint32(0)
	err = inBlocks(ctx, len(t.dense), func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			t.dense[i].number = number
			number += uint32(bits.OnesCount64(t.dense[i].bits))
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.count = int(number)
	if !needsRows {
		return nil
	}
	numbers := make([]int32, live)
	var of []int32 // the rows of numbers; nil: all
	if live < rows.len {
		of = make([]int32, 0, live)
	}
	at := 0
	err = t.eachBlock(ctx, rows, func(lo int, words []uint64, alive []int32, n int) {
		for k, w := range words {
			d := t.dense[w>>6]
			numbers[at+k] = int32(d.number) + int32(bits.OnesCount64(d.bits&(1<<(w&63)-1)))
		}
		at += n
		if of != nil {
			of = appendRows(of, lo, alive, n)
		}
	})
	if err != nil {
		return err
	}
	if err := t.arrange(ctx, numbers, of, unique, ascending); err != nil {
		return err
	}
	return memory.set(memory.bytes + 4*int64(cap(t.order)+cap(t.starts)))
}

// appendRows appends the rows of a block that begins at row lo; nil: all n.
func appendRows(to []int32, lo int, rows []int32, n int) []int32 {
	for k := range n {
		to = append(to, int32(lo+rowOf(rows, k)))
	}
	return to
}

// arrange makes order and starts for rows (nil: all) with these numbers.
func (t *joinTable) arrange(ctx context.Context, numbers, rows []int32, unique, ascending bool) error {
	if !unique {
		t.starts = make([]int32, t.count+1)
		err := inBlocks(ctx, len(numbers), func(lo, hi int) error {
			for _, n := range numbers[lo:hi] {
				t.starts[n+1]++
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = inBlocks(ctx, t.count, func(lo, hi int) error {
			for i := lo; i < hi; i++ {
				t.starts[i+1] += t.starts[i]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if ascending && rows == nil {
		return nil
	}
	t.order = make([]int32, len(numbers))
	if unique {
		return inBlocks(ctx, len(numbers), func(lo, hi int) error {
			for k := lo; k < hi; k++ {
				t.order[numbers[k]] = int32(rowOf(rows, k))
			}
			return nil
		})
	}
	next := slices.Clone(t.starts[:t.count])
	return inBlocks(ctx, len(numbers), func(lo, hi int) error {
		for k := lo; k < hi; k++ {
			n := numbers[k]
			t.order[next[n]] = int32(rowOf(rows, k))
			next[n]++
		}
		return nil
	})
}

// number gives the keys of all rows numbers in the order in which they are first seen.
func (t *joinTable) number(ctx context.Context, rows *joinRows, needsRows bool, memory *share) error {
	numbers := make([]int32, rows.len)
	of := make([]int32, 0, rows.len)
	alive, ascending, last, before := 0, true, int32(0), memory.bytes
	var stopped error
	err := t.eachBlock(ctx, rows, func(lo int, words []uint64, live []int32, n int) {
		if stopped != nil {
			return
		}
		out := numbers[alive : alive+n]
		switch {
		case t.narrow != nil:
			stopped = t.narrow.insert(ctx, words, out)
			t.count = t.narrow.count
		case t.word != nil:
			stopped = t.word.insert(ctx, words, out)
			t.count = t.word.count
		default:
			stopped = t.wide.insert(ctx, words, out)
			t.count = t.wide.count
		}
		if stopped != nil {
			return
		}
		for _, x := range out {
			ascending = ascending && x >= last
			last = x
		}
		of = appendRows(of, lo, live, n)
		alive += n
		stopped = memory.set(before + t.size() + 8*int64(rows.len))
	})
	if err == nil {
		err = stopped
	}
	if err != nil {
		return err
	}
	if needsRows {
		if numbers = numbers[:alive]; alive == rows.len {
			of = nil
		}
		if err := t.arrange(ctx, numbers, of, t.count == alive, ascending); err != nil {
			return err
		}
	}
	return memory.set(before + t.size())
}

// slotTable numbers keys of one word: an open hash table.
type slotTable[W uint32 | uint64] struct {
	slots []slotOf[W]
	shift uint // of the hash
	count int
	rows  int // that are expected
}

type slotOf[W uint32 | uint64] struct {
	word   W
	number uint32 // plus one; 0: free
}

// firstJoinSlots is how many slots a table has at the beginning: no more are used where many rows have few keys.
const firstJoinSlots = 1 << 14

func newSlotTable[W uint32 | uint64](rows int) *slotTable[W] {
	t := &slotTable[W]{rows: rows}
	t.slots, t.shift = slotsFor[W](firstJoinSlots)
	return t
}

func slotsFor[W uint32 | uint64](n int) (slots []slotOf[W], shift uint) {
	return make([]slotOf[W], n), uint(64 - bits.Len(uint(n-1)))
}

func (t *slotTable[W]) resize(ctx context.Context, slots int) error {
	before := t.slots
	t.slots, t.shift = slotsFor[W](slots)
	mask := uint64(slots - 1)
	return inBlocks(ctx, len(before), func(lo, hi int) error {
		for _, s := range before[lo:hi] {
			if s.number == 0 {
				continue
			}
			at := mixWord(uint64(s.word)) >> t.shift
			for t.slots[at].number != 0 {
				at = (at + 1) & mask
			}
			t.slots[at] = s
		}
		return nil
	})
}

// insert sets out to the numbers of the keys, new ones for those that are. After an error the table is of no use.
func (t *slotTable[W]) insert(ctx context.Context, words []uint64, out []int32) error {
	if 2*(t.count+len(words)) > len(t.slots) {
		want := 2 * len(t.slots)
		if 2*t.count > len(t.slots)/4 { // mostly different ones so far: room for all that may come
			want = max(want, 1<<bits.Len(uint(2*t.rows)))
		}
		if err := t.resize(ctx, want); err != nil {
			return err
		}
	}
	mask := uint64(len(t.slots) - 1)
	var touched [64]uint64
	for lo := 0; lo < len(words); lo += len(touched) {
		some := words[lo:min(lo+len(touched), len(words))]
		sum := uint32(0)
		for k, w := range some { // the cache misses of all of them at once
			touched[k] = mixWord(w) >> t.shift
			sum += t.slots[touched[k]].number
		}
		t.touch(sum)
		for k, w := range some {
			at := touched[k]
			for t.slots[at].number != 0 && t.slots[at].word != W(w) {
				at = (at + 1) & mask
			}
			s := &t.slots[at]
			if s.number == 0 {
				t.count++
				*s = slotOf[W]{W(w), uint32(t.count)}
			}
			out[lo+k] = int32(s.number - 1)
		}
	}
	return nil
}

// touch keeps the compiler from leaving out what sum was read for.
//
//go:noinline
func (t *slotTable[W]) touch(uint32) {}

// finder is the memory for look-ups in tables, for one goroutine.
type finder struct {
	at      []uint32
	found   []int32 // numbers plus one
	narrow  []slotOf[uint32]
	word    []slotOf[uint64]
	open    []int32
	hits    []int32
	numbers []int32
}

// find returns which of the words are in the table, in ascending order, and their numbers. Both are valid until the next call.
func (t *joinTable) find(f *finder, words []uint64, n int) (hits, numbers []int32) {
	f.hits, f.numbers = resize(f.hits, n+1), resize(f.numbers, n+1)
	switch {
	case t.dense != nil:
		n = t.findDense(f, words[:n])
	case t.narrow != nil:
		n = findSlots(t.narrow, f, &f.narrow, words[:n])
	case t.word != nil:
		n = findSlots(t.word, f, &f.word, words[:n])
	case t.wide != nil:
		n = t.wide.find(f, words, n)
	default:
		for k := range n {
			f.hits[k], f.numbers[k] = int32(k), 0
		}
		n *= t.count
	}
	return f.hits[:n], f.numbers[:n]
}

// findDense is free of branches: how many of the keys there are does not matter.
func (t *joinTable) findDense(f *finder, words []uint64) int {
	to, limit, dense := 0, t.limit, t.dense
	hits, numbers := f.hits[:len(words)+1], f.numbers[:len(words)+1]
	for k, w := range words {
		w = min(w, limit)
		d := &dense[w>>6]
		below := d.bits & (1<<(w&63) - 1)
		hits[to], numbers[to] = int32(k), int32(d.number)+int32(bits.OnesCount64(below))
		to += int(d.bits >> (w & 63) & 1)
	}
	return to
}

// findSlots reads the first slots of all keys at once, so that their cache misses overlap, and then goes on with those that another key has.
func findSlots[W uint32 | uint64](t *slotTable[W], f *finder, buf *[]slotOf[W], words []uint64) int {
	n := len(words)
	f.at, f.found, f.open, *buf = resize(f.at, n), resize(f.found, n), resize(f.open, n+1), resize(*buf, n)
	slots, at, shift := *buf, f.at, t.shift
	for k, w := range words {
		h := mixWord(w) >> shift
		at[k], slots[k] = uint32(h), t.slots[h]
	}
	found, open, left := f.found, f.open, 0
	for k, w := range words {
		s := slots[k]
		used := boolInt(s.number != 0)
		same := boolInt(s.word == W(w)) & used
		found[k] = int32(s.number) * int32(same)
		open[left] = int32(k)
		left += used &^ same
	}
	for mask := uint32(len(t.slots) - 1); left > 0; {
		again := 0
		for _, k := range open[:left] {
			at[k] = (at[k] + 1) & mask
			s := t.slots[at[k]]
			switch {
			case s.number == 0:
			case s.word == W(words[k]):
				found[k] = int32(s.number)
			default:
				open[again] = k
				again++
			}
		}
		left = again
	}
	to := 0
	for k, number := range found[:n] {
		f.hits[to], f.numbers[to] = int32(k), number-1
		to += boolInt(number != 0)
	}
	return to
}

// wideTable numbers keys of several words.
type wideTable struct {
	width int
	keys  []uint64 // width words a number
	slots []groupSlot
	count int
}

func newWideTable(width int) *wideTable {
	return &wideTable{width: width, slots: make([]groupSlot, firstSlots)}
}

func (t *wideTable) key(number uint32) []uint64 {
	return t.keys[int(number)*t.width : (int(number)+1)*t.width]
}

// insert sets out to the numbers of the keys, new ones for those that are. After an error the table is of no use.
func (t *wideTable) insert(ctx context.Context, words []uint64, out []int32) error {
	for k := range out {
		if 2*t.count >= len(t.slots) {
			if err := t.grow(ctx); err != nil {
				return err
			}
		}
		key := words[k*t.width : (k+1)*t.width]
		h := mixWords(key)
		number, at := t.look(key, h)
		if number == 0 {
			t.keys = append(t.keys, key...)
			t.count++
			number = uint32(t.count)
			t.slots[at] = groupSlot{uint32(h >> 32), number}
		}
		out[k] = int32(number - 1)
	}
	return nil
}

// look returns the number plus one of a key with this hash, or 0 and the slot that it can have.
func (t *wideTable) look(key []uint64, h uint64) (number uint32, at uint64) {
	mask := uint64(len(t.slots) - 1)
	for at = h & mask; t.slots[at].number != 0; at = (at + 1) & mask {
		if s := t.slots[at]; s.hash == uint32(h>>32) && sameWords(t.key(s.number-1), key) {
			return s.number, at
		}
	}
	return 0, at
}

func (t *wideTable) grow(ctx context.Context) error {
	before := t.slots
	t.slots = make([]groupSlot, 2*len(before))
	mask := uint64(len(t.slots) - 1)
	return inBlocks(ctx, len(before), func(lo, hi int) error {
		for _, s := range before[lo:hi] {
			if s.number == 0 {
				continue
			}
			at := mixWords(t.key(s.number-1)) & mask
			for t.slots[at].number != 0 {
				at = (at + 1) & mask
			}
			t.slots[at] = s
		}
		return nil
	})
}

func (t *wideTable) find(f *finder, words []uint64, n int) int {
	to := 0
	for k := range n {
		key := words[k*t.width : (k+1)*t.width]
		if number, _ := t.look(key, mixWords(key)); number != 0 {
			f.hits[to], f.numbers[to] = int32(k), int32(number-1)
			to++
		}
	}
	return to
}
