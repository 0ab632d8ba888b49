package parquet

import (
	"encoding/binary"
	"unsafe"

	"github.com/parquet-go/bitpack"
)

const (
	// deltaGroup is the unit of packed differences: miniblocks are multiples of it.
	deltaGroup = 32
	// maxMiniblocks bounds the list of widths of a block. Writers have four to eight.
	maxMiniblocks = 1 << 12
)

// deltaInts reads numbers in the encoding DELTA_BINARY_PACKED: the first one, then blocks of differences, each block with the least
// difference and a number of miniblocks, in which the rest is packed with a width of its own.
type deltaInts[T int32 | int64] struct {
	data   []byte // what is not read yet
	left   int    // numbers to come
	first  bool   // the next number is last itself
	last   T
	mini   int // numbers of a miniblock
	least  T
	widths []byte // of the block's miniblocks to come
	count  int    // of a block's miniblocks
	width  uint   // of the open miniblock
	inMini int    // numbers of the open miniblock to come that are not in group
	group  [deltaGroup]T
	at     int // in group; deltaGroup: it is read
	out    []T
}

func newDeltaInts[T int32 | int64](data []byte) (*deltaInts[T], error) {
	var head [3]uint64
	for i := range head {
		x, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, damaged("a page of differences ends in its header")
		}
		head[i], data = x, data[n:]
	}
	first, n := binary.Varint(data)
	block, count, total := head[0], head[1], head[2]
	if n <= 0 || count == 0 || count > maxMiniblocks || block == 0 || block > 1<<30 || block%(count*deltaGroup) != 0 || total > 1<<31-1 {
		return nil, damaged("a page of %d differences in blocks of %d with %d miniblocks", total, block, count)
	}
	return &deltaInts[T]{data: data[n:], left: int(total), first: true, last: T(first), mini: int(block / count), count: int(count), at: deltaGroup}, nil
}

// fill decodes the next numbers into dst.
func (d *deltaInts[T]) fill(dst []T) error {
	if len(dst) > d.left {
		return tooFew(len(dst))
	}
	d.left -= len(dst)
	if d.first && len(dst) > 0 {
		dst[0], d.first, dst = d.last, false, dst[1:]
	}
	last := d.last
	for len(dst) > 0 {
		if d.at == deltaGroup {
			if err := d.nextGroup(); err != nil {
				return err
			}
		}
		n := min(len(dst), deltaGroup-d.at)
		for i, delta := range d.group[d.at : d.at+n] {
			last += delta + d.least
			dst[i] = last
		}
		dst, d.at = dst[n:], d.at+n
	}
	d.last = last
	return nil
}

// nextGroup unpacks the next differences.
func (d *deltaInts[T]) nextGroup() error {
	for d.inMini == 0 {
		if len(d.widths) == 0 {
			least, n := binary.Varint(d.data)
			if n <= 0 || len(d.data)-n < d.count {
				return damaged("a page of differences ends in a block's header")
			}
			d.least, d.widths, d.data = T(least), d.data[n:n+d.count], d.data[n+d.count:]
		}
		d.width, d.widths, d.inMini = uint(d.widths[0]), d.widths[1:], d.mini
		if d.width > 8*uint(unsafe.Sizeof(d.least)) {
			return damaged("differences of %d bits", d.width)
		}
	}
	d.at, d.inMini = 0, d.inMini-deltaGroup
	if d.width == 0 {
		clear(d.group[:])
		return nil
	}
	size := deltaGroup / 8 * int(d.width)
	in := d.data
	if cap(in) < size+slack {
		in = make([]byte, size+slack)
		copy(in, d.data) // a last miniblock may be cut short where no number is left
	}
	bitpack.Unpack(d.group[:], in[:cap(in)], d.width)
	d.data = d.data[min(size, len(d.data)):]
	return nil
}

// rest returns the bytes behind the numbers, of which none has been read. The widths of the last block's miniblocks that no number needs are
// there, and their differences are not.
func (d *deltaInts[T]) rest() ([]byte, error) {
	data := d.data
	for left := d.left - 1; left > 0; {
		_, n := binary.Varint(data)
		if n <= 0 || len(data)-n < d.count {
			return nil, damaged("a page of differences ends in a block's header")
		}
		widths := data[n : n+d.count]
		data = data[n+d.count:]
		for _, width := range widths {
			if left <= 0 {
				break
			}
			size := d.mini / 8 * int(width)
			if size > len(data) {
				return nil, damaged("a page of differences ends in a miniblock")
			}
			data, left = data[size:], left-d.mini
		}
	}
	return data, nil
}

// next decodes the next n numbers; they are valid until the following call.
func (d *deltaInts[T]) next(n int) ([]T, error) {
	d.out = grown(d.out, n)
	return d.out, d.fill(d.out)
}

type deltaInt32s struct{ ints *deltaInts[int32] }

func (d *deltaInt32s) next(n int) (raw, error) {
	xs, err := d.ints.next(n)
	return raw{n: n, i32: xs}, err
}

func (d *deltaInt32s) skip(n int) error { return skipByReading(d, n) }

type deltaInt64s struct{ ints *deltaInts[int64] }

func (d *deltaInt64s) next(n int) (raw, error) {
	xs, err := d.ints.next(n)
	return raw{n: n, i64: xs}, err
}

func (d *deltaInt64s) skip(n int) error { return skipByReading(d, n) }

var (
	_ decoder = (*deltaInt32s)(nil)
	_ decoder = (*deltaInt64s)(nil)
)
