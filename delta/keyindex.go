package delta

import "hash/maphash"

// keyIndex finds the newest position of a key (path, deletion vector): a hash table with open addressing of positions
// plus one, at most half full. The keys themselves are in the log.
type keyIndex struct {
	seed  maphash.Seed
	slots []uint32
	used  int
}

func newKeyIndex() keyIndex { return keyIndex{seed: maphash.MakeSeed(), slots: make([]uint32, 64)} }

func (x *keyIndex) hash(path, dvID string) uint64 {
	h := maphash.String(x.seed, path)
	if dvID != "" {
		h ^= maphash.String(x.seed, dvID) * 0x9E3779B97F4A7C15
	}
	return h
}

// slot is where the key is, or the free slot where it belongs.
func (x *keyIndex) slot(l *fileLog, path, dvID string) *uint32 {
	mask := uint64(len(x.slots) - 1)
	for h := x.hash(path, dvID) & mask; ; h = (h + 1) & mask {
		s := &x.slots[h]
		if *s == 0 {
			return s
		}
		if c, i := l.at(int(*s - 1)); c.path[i] == path && c.extra[i].dvID() == dvID {
			return s
		}
	}
}

func (x *keyIndex) find(l *fileLog, path, dvID string) (pos int, ok bool) {
	s := *x.slot(l, path, dvID)
	return int(s) - 1, s != 0
}

func (x *keyIndex) insert(l *fileLog, pos int) {
	c, i := l.at(pos)
	s := x.slot(l, c.path[i], c.extra[i].dvID())
	if *s == 0 {
		x.used++
	}
	*s = uint32(pos + 1)
	if 2*x.used > len(x.slots) {
		x.grow(l)
	}
}

func (x *keyIndex) grow(l *fileLog) {
	old := x.slots
	x.slots = make([]uint32, 2*len(old))
	for _, s := range old {
		if s != 0 {
			c, i := l.at(int(s - 1))
			*x.slot(l, c.path[i], c.extra[i].dvID()) = s
		}
	}
}
