package delta

import "hash/maphash"

// keyed is a list of things that have a path and a deletion vector's id ("": none), at positions from 0.
type keyed interface {
	keyAt(pos int) (path, dvID string)
}

// keyIndex finds the newest position of a key in a list that only grows: a hash table with open addressing, at most half full. The
// keys themselves are in the list. It is brought up to date when it is asked: opening a table from a checkpoint needs none.
type keyIndex struct {
	seed    maphash.Seed
	slots   []uint64 // 32 bits of hash, then a position plus one; 0: free
	used    int
	covered int // positions of the list that have been inserted
}

const minIndexSlots = 64

func newKeyIndex() keyIndex { return keyIndex{seed: maphash.MakeSeed()} }

func (x *keyIndex) hash(path, dvID string) uint32 {
	h := maphash.String(x.seed, path)
	if dvID != "" {
		h ^= maphash.String(x.seed, dvID) * 0x9E3779B97F4A7C15
	}
	return uint32(h >> 32)
}

// find returns the newest position of a key in the first n of a list.
func (x *keyIndex) find(l keyed, n int, path, dvID string) (pos int, ok bool) {
	x.cover(l, n)
	s := *x.slot(l, x.hash(path, dvID), path, dvID)
	return int(uint32(s)) - 1, s != 0
}

// cover inserts the positions that the list has got since the last time.
func (x *keyIndex) cover(l keyed, n int) {
	x.reserve(x.used + n - x.covered)
	for ; x.covered < n; x.covered++ {
		path, dvID := l.keyAt(x.covered)
		hash := x.hash(path, dvID)
		s := x.slot(l, hash, path, dvID)
		if *s == 0 {
			x.used++
		}
		*s = uint64(hash)<<32 | uint64(x.covered+1)
	}
}

// slot is where the key is, or the free slot where it belongs.
func (x *keyIndex) slot(l keyed, hash uint32, path, dvID string) *uint64 {
	mask := uint32(len(x.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		s := &x.slots[at]
		if *s == 0 {
			return s
		}
		if uint32(*s>>32) != hash {
			continue
		}
		if p, d := l.keyAt(int(uint32(*s)) - 1); p == path && d == dvID {
			return s
		}
	}
}

// reserve makes room for n keys.
func (x *keyIndex) reserve(n int) {
	size := max(minIndexSlots, len(x.slots))
	for size < 2*n {
		size *= 2
	}
	if size == len(x.slots) {
		return
	}
	old, mask := x.slots, uint32(size-1)
	x.slots = make([]uint64, size)
	for _, s := range old {
		if s == 0 {
			continue
		}
		at := uint32(s>>32) & mask
		for x.slots[at] != 0 {
			at = (at + 1) & mask
		}
		x.slots[at] = s
	}
}
