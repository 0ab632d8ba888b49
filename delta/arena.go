package delta

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/s2"
)

// textArena keeps many short strings in few allocations.
type textArena struct{ block strings.Builder }

const textBlockBytes = 16 << 10

func (a *textArena) add(s string) string {
	start := a.room(len(s))
	a.block.WriteString(s)
	return a.block.String()[start:]
}

func (a *textArena) addBytes(s []byte) string {
	start := a.room(len(s))
	a.block.Write(s)
	return a.block.String()[start:]
}

// room makes the block take n bytes more, and returns where they will begin.
func (a *textArena) room(n int) (start int) {
	if a.block.Len()+n > a.block.Cap() {
		a.block = strings.Builder{}
		a.block.Grow(max(textBlockBytes, n))
	}
	return a.block.Len()
}

// statsArena keeps the statistics of files as JSON, compressed by blocks: most are never looked at, and together they
// are several times as large as all the rest.
type statsArena struct {
	blocks []*statsBlock
	used   int // bytes of the last block

	// unread: no snapshot has been given away that refers to the arena, so that an open block may be used again when it has been packed. What
	// loads a table would otherwise leave garbage of several times the size of what it keeps.
	unread  bool
	spare   []byte // such a block
	scratch []byte // to pack into
}

// statsRef is where a file's statistics are: block and offset, 32 bits each, plus one; 0: none. A length of 4 bytes is in front of them.
type statsRef uint64

const (
	statsBlockBytes = 16 << 10
	statsHeader     = 4
)

// statsBlock is one block: open while it is the last of its arena, then packed.
type statsBlock struct {
	open   atomic.Pointer[[]byte] // appended to in place, beyond what any snapshot refers to
	packed atomic.Pointer[[]byte]
}

func (a *statsArena) add(stats []byte) statsRef {
	if len(stats) == 0 {
		return 0
	}
	need := statsHeader + len(stats)
	var block []byte
	if len(a.blocks) > 0 {
		block = *a.blocks[len(a.blocks)-1].open.Load()
	}
	if a.used+need > len(block) {
		a.seal()
		block = a.open(need)
	}
	at := a.used
	binary.LittleEndian.PutUint32(block[at:], uint32(len(stats)))
	copy(block[at+statsHeader:], stats)
	a.used += need
	return statsRef(uint64(len(a.blocks)-1)<<32|uint64(at)) + 1
}

// open begins a block with room for n bytes at least.
func (a *statsArena) open(n int) []byte {
	block := a.spare
	if len(block) < n {
		block = make([]byte, max(statsBlockBytes, n))
	}
	a.spare = nil
	last := new(statsBlock)
	last.open.Store(&block)
	a.blocks, a.used = append(a.blocks, last), 0
	return block
}

// seal packs the last block. Readers that hold it open keep their slice.
func (a *statsArena) seal() {
	if len(a.blocks) == 0 {
		return
	}
	last := a.blocks[len(a.blocks)-1]
	block := *last.open.Load()
	a.scratch = s2.Encode(a.scratch[:cap(a.scratch)], block[:a.used])
	packed := bytes.Clone(a.scratch)
	last.packed.Store(&packed)
	last.open.Store(nil)
	if a.unread {
		a.spare = block
	}
}

// share says that snapshots are given away from now on.
func (a *statsArena) share() { a.unread, a.spare = false, nil }

// statsReader reads statistics; it unpacks each block once when files are read in the order of their positions.
type statsReader struct {
	mu       sync.Mutex // for those who share the reader
	blocks   []*statsBlock
	current  int
	unpacked []byte
}

// at returns a file's statistics, valid until the next call; nil without any.
func (r *statsReader) at(ref statsRef) []byte {
	if ref == 0 {
		return nil
	}
	block, at := int(uint64(ref-1)>>32), int(uint32(ref-1))
	data := r.block(block)
	n := int(binary.LittleEndian.Uint32(data[at:]))
	return data[at+statsHeader : at+statsHeader+n]
}

func (r *statsReader) block(n int) []byte {
	if r.unpacked != nil && r.current == n {
		return r.unpacked
	}
	b := r.blocks[n]
	packed := b.packed.Load()
	if packed == nil {
		if open := b.open.Load(); open != nil {
			return *open
		}
		packed = b.packed.Load() // it was sealed in between
	}
	out, err := s2.Decode(r.unpacked[:cap(r.unpacked)], *packed)
	if err != nil {
		panic("delta: a block of statistics in memory is damaged: " + err.Error())
	}
	r.current, r.unpacked = n, out
	return out
}
