package parquet

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/parquet-go/bitpack"
)

// hybrid reads numbers in the encoding of levels, dictionary codes and booleans: runs of one repeated number, and runs of bit-packed ones.
// None that is handed out is above the limit.
//
// Invariants: the open run has left numbers to come. They are value, if packed is false; else the first of them are group[at:], and those behind
// are packed in data from its beginning.
type hybrid struct {
	data   []byte // what is not read yet
	width  uint   // bits of a number, 0 to 32
	limit  uint32
	left   int
	packed bool
	value  uint32
	group  [8]uint32 // a group of eight, the unit of packed numbers, that is partly read
	at     int       // in group; 8: it is read
}

func newHybrid(data []byte, width uint, limit uint32) hybrid {
	return hybrid{data: data, width: width, limit: limit, at: 8}
}

// newLevels reads levels from 0 to max.
func newLevels(data []byte, max uint8) hybrid {
	return newHybrid(data, uint(bits.Len8(max)), uint32(max))
}

// anyWidth says whether a number of the width can be above the limit.
func (h *hybrid) anyWidth() bool { return uint64(h.limit) < uint64(1)<<h.width-1 }

func (h *hybrid) tooHigh(x uint32) error {
	return damaged("a level or code %d where the highest is %d", x, h.limit)
}

// run opens the next run if the last one is at its end. A packed run that is longer than the bytes ends with them.
func (h *hybrid) run() error {
	for h.left == 0 {
		head, n := binary.Uvarint(h.data)
		if n <= 0 {
			return damaged("its levels or codes end too early")
		}
		h.data = h.data[n:]
		count := head >> 1
		if h.packed = head&1 != 0; h.packed {
			h.left = int(min(count, 1<<28)) * 8
			if h.width > 0 {
				h.left = min(h.left, len(h.data)*8/int(h.width))
			}
			if h.left == 0 && count > 0 {
				return damaged("its levels or codes end too early")
			}
			h.at = 8
			continue
		}
		bytes := int(h.width+7) / 8
		if len(h.data) < bytes {
			return damaged("its levels or codes end too early")
		}
		h.value = 0
		for i := range bytes {
			h.value |= uint32(h.data[i]) << (8 * i)
		}
		h.data = h.data[bytes:]
		if h.left = int(min(count, 1<<31-1)); h.value > h.limit {
			return h.tooHigh(h.value)
		}
	}
	return nil
}

// constant returns how many of the next n numbers are known to be one number, and which; 0 where they are packed.
func (h *hybrid) constant(n int) (count int, value uint32, err error) {
	if err := h.run(); err != nil || h.packed {
		return 0, 0, err
	}
	return min(n, h.left), h.value, nil
}

// unpackGroup reads the next group of a packed run.
func (h *hybrid) unpackGroup() {
	var wide [40]byte
	n := copy(wide[:], h.data[:min(len(h.data), int(h.width))])
	h.data = h.data[n:]
	mask := uint64(1)<<h.width - 1
	for i := range h.group {
		bit := uint(i) * h.width
		h.group[i] = uint32(binary.LittleEndian.Uint64(wide[bit/8:]) >> (bit % 8) & mask)
	}
	h.at = 0
}

// codes fills dst.
func (h *hybrid) codes(dst []uint32) error {
	for len(dst) > 0 {
		if err := h.run(); err != nil {
			return err
		}
		n := min(len(dst), h.left)
		switch {
		case !h.packed:
			for i := range dst[:n] {
				dst[i] = h.value
			}
		case h.at < 8 || n < 8:
			if h.at == 8 {
				h.unpackGroup()
			}
			n = copy(dst[:n], h.group[h.at:])
			h.at += n
		default:
			n &^= 7
			h.data = unpack(dst[:n], h.data, h.width)
		}
		if h.packed && h.anyWidth() {
			if anyAbove(dst[:n], h.limit) {
				return h.tooHigh(slices.Max(dst[:n]))
			}
		}
		dst, h.left = dst[n:], h.left-n
	}
	return nil
}

// anyAbove says whether a number is above the limit.
func anyAbove(xs []uint32, limit uint32) bool {
	var a, b, c, d uint64 // bit 63 is set once a number was above
	top := uint64(limit)
	for len(xs) >= 4 {
		a |= top - uint64(xs[0])
		b |= top - uint64(xs[1])
		c |= top - uint64(xs[2])
		d |= top - uint64(xs[3])
		xs = xs[4:]
	}
	for _, x := range xs {
		a |= top - uint64(x)
	}
	return (a|b|c|d)>>63 != 0
}

// unpack fills dst, whose length is a multiple of eight, and returns the bytes behind.
func unpack(dst []uint32, data []byte, width uint) []byte {
	if width == 0 {
		clear(dst)
		return data
	}
	size := len(dst) * int(width) / 8
	in := data
	if cap(in) < size+slack {
		in = make([]byte, size+slack)
		copy(in, data)
	}
	bitpack.Unpack(dst, in[:cap(in)], width)
	return data[min(size, len(data)):]
}

// levels fills dst with numbers of at most eight bits.
func (h *hybrid) levels(dst []byte) error {
	for len(dst) > 0 {
		if err := h.run(); err != nil {
			return err
		}
		n := min(len(dst), h.left)
		switch {
		case !h.packed:
			for i := range dst[:n] {
				dst[i] = byte(h.value)
			}
		case h.at < 8 || n < 8:
			if h.at == 8 {
				h.unpackGroup()
			}
			n = min(n, 8-h.at)
			for i, x := range h.group[h.at : h.at+n] {
				dst[i] = byte(x)
			}
			h.at += n
		default:
			n &^= 7
			h.data = unpackLevels(dst[:n], h.data, h.width)
		}
		if h.packed && h.anyWidth() {
			if top := slices.Max(dst[:n]); uint32(top) > h.limit {
				return h.tooHigh(uint32(top))
			}
		}
		dst, h.left = dst[n:], h.left-n
	}
	return nil
}

// unpackLevels fills dst, whose length is a multiple of eight, and returns the bytes behind. The data has all of them.
func unpackLevels(dst, data []byte, width uint) []byte {
	if width == 0 {
		clear(dst)
		return data
	}
	if width == 1 {
		for i := 0; i < len(dst); i += 8 {
			binary.LittleEndian.PutUint64(dst[i:], spreadBits(data[0]))
			data = data[1:]
		}
		return data
	}
	mask := uint64(1)<<width - 1
	var wide [8]byte
	for i := 0; i < len(dst); i += 8 {
		copy(wide[:], data[:width])
		data = data[width:]
		word := binary.LittleEndian.Uint64(wide[:])
		for j := range dst[i : i+8] {
			dst[i+j] = byte(word & mask)
			word >>= width
		}
	}
	return data
}

// spreadBits returns bit i of b as byte i, 0 or 1.
func spreadBits(b byte) uint64 {
	const each = 0x0101010101010101
	picked := uint64(b) * each & 0x8040201008040201
	return (picked + 0x7f*each) >> 7 & each
}

// gatherBits is the inverse of spreadBits.
func gatherBits(x uint64) byte { return byte(x * 0x0102040810204080 >> 56) }

// skip leaves out n numbers.
func (h *hybrid) skip(n int) error {
	for n > 0 {
		if err := h.run(); err != nil {
			return err
		}
		take := min(n, h.left)
		switch {
		case !h.packed:
		case h.at < 8 || take < 8:
			if h.at == 8 {
				h.unpackGroup()
			}
			take = min(take, 8-h.at)
			h.at += take
		default:
			take &^= 7
			h.data = h.data[take*int(h.width)/8:]
		}
		n, h.left = n-take, h.left-take
	}
	return nil
}

// skipCounting leaves out n numbers of at most eight bits, and returns how many of them have that value.
func (h *hybrid) skipCounting(n int, value uint32) (count int, err error) {
	var buf [256]byte
	for n > 0 {
		take, constant, err := h.constant(n)
		switch {
		case err != nil:
			return 0, err
		case take > 0:
			if constant == value {
				count += take
			}
			h.left -= take
		default:
			take = min(n, h.left, len(buf))
			if err := h.levels(buf[:take]); err != nil {
				return 0, err
			}
			count += bytes.Count(buf[:take], []byte{byte(value)})
		}
		n -= take
	}
	return count, nil
}

// oldLevels reads n levels in the deprecated encoding BIT_PACKED, from the highest bit of each byte down, and returns them in the hybrid one
// with the bytes that follow.
func oldLevels(data []byte, max uint8, n int) (levels hybrid, rest []byte, err error) {
	width := bits.Len8(max)
	size := (n*width + 7) / 8
	if size > len(data) {
		return levels, nil, damaged("its levels end too early")
	}
	packed := binary.AppendUvarint(nil, uint64(n+7)/8<<1|1)
	head := len(packed)
	packed = append(packed, make([]byte, (n+7)/8*width)...)
	for bit := range n * width {
		level, at := bit/width, width-1-bit%width
		to := level*width + at
		packed[head+to/8] |= data[bit/8] >> (7 - bit%8) & 1 << (to % 8)
	}
	return newLevels(packed, max), data[size:], nil
}
