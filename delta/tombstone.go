package delta

import "iter"

// tombstone is a remove action as later checkpoints need it.
type tombstone struct {
	path              string // decoded
	deletionTimestamp int64  // milliseconds since the epoch
	size              int64
	partition         map[string]string
	extra             *fileExtra
	extended          bool // partition and size are known
}

// tombstones are in the order in which they were made. A later one of the same key makes an earlier one void, and so does a live file.
type tombstones []tombstone

func (t tombstones) keyAt(pos int) (path, dvID string) { return t[pos].path, t[pos].extra.dvID() }

// tombstoneSet are the tombstones that hold: the newest of each key.
type tombstoneSet struct {
	all   tombstones
	index keyIndex
	holds []bool
}

// since returns the set without those that were made before the given time (milliseconds).
func (t tombstones) since(notBefore int64) *tombstoneSet {
	set := &tombstoneSet{all: t, index: newKeyIndex(), holds: make([]bool, len(t))}
	for i := range t {
		path, dvID := t.keyAt(i)
		pos, _ := set.index.find(t, len(t), path, dvID)
		set.holds[i] = pos == i && t[i].deletionTimestamp >= notBefore
	}
	return set
}

// drop takes a key out: a live file has it.
func (s *tombstoneSet) drop(path, dvID string) {
	if len(s.all) == 0 {
		return
	}
	if pos, ok := s.index.find(s.all, len(s.all), path, dvID); ok {
		s.holds[pos] = false
	}
}

// each yields those that are left, in order.
func (s *tombstoneSet) each() iter.Seq[*tombstone] {
	return func(yield func(*tombstone) bool) {
		for i := range s.all {
			if s.holds[i] && !yield(&s.all[i]) {
				return
			}
		}
	}
}
