package parquet

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// raw is values as a page has them, of one physical type: one of the groups of fields is set.
type raw struct {
	n int

	bools []bool
	i32   []int32
	i64   []int64
	i96   []deprecated.Int96
	f32   []float32
	f64   []float64
	bytes []byte  // BYTE_ARRAY: value i is bytes[from[i]:to[i]]
	from  []int32 // these and to are checked against bytes, and ascend
	to    []int32
	fixed []byte // FIXED_LEN_BYTE_ARRAY: n values of size bytes
	size  int
}

// value returns value i of a BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY.
func (r *raw) value(i int) []byte {
	if r.from == nil {
		return r.fixed[i*r.size : (i+1)*r.size]
	}
	return r.bytes[r.from[i]:r.to[i]]
}

// decoder reads the values of one page in order.
type decoder interface {
	// next decodes the next n values. They are valid until the following call.
	next(n int) (raw, error)
	// skip leaves out the next n values.
	skip(n int) error
}

// newDecoder returns the decoder of a page's values. Dictionary codes have none: see leafReader.
func newDecoder(l *leaf, encoding format.Encoding, data []byte) (decoder, error) {
	switch {
	case encoding == format.Plain && l.physical == format.Boolean:
		return &plainBools{data: data}, nil
	case encoding == format.Plain && l.physical == format.ByteArray:
		return &plainStrings{data: data}, nil
	case encoding == format.Plain:
		return &plainFixed{l: l, data: data}, nil
	case encoding == format.RLE && l.physical == format.Boolean:
		return newRLEBools(data)
	case encoding == format.ByteStreamSplit && l.physical != format.Boolean && l.physical != format.ByteArray && l.physical != format.Int96:
		return newStreamSplit(l, data)
	case encoding == format.DeltaBinaryPacked && l.physical == format.Int32:
		d, err := newDeltaInts[int32](data)
		return &deltaInt32s{ints: d}, err
	case encoding == format.DeltaBinaryPacked && l.physical == format.Int64:
		d, err := newDeltaInts[int64](data)
		return &deltaInt64s{ints: d}, err
	case encoding == format.DeltaLengthByteArray && l.physical == format.ByteArray:
		return newDeltaLengths(data)
	case encoding == format.DeltaByteArray && (l.physical == format.ByteArray || l.physical == format.FixedLenByteArray):
		return newDeltaStrings(l, data)
	}
	return nil, fmt.Errorf("%w: values of %s in the encoding %s", ErrUnsupported, l.physical, encoding)
}

// tooFew is the error of a page that holds fewer values than it says.
func tooFew(want int) error {
	return damaged("a page says that it has %d more values, and ends", want)
}

// width returns the bytes of a value of a fixed-width physical type.
func (l *leaf) width() int {
	switch l.physical {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	}
	return l.length
}

// viewOf looks at bytes as n numbers, which is how the machines that this program is built for keep them.
func viewOf[T int32 | int64 | float32 | float64 | deprecated.Int96](data []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), n)
}

// rawOf looks at the bytes of n values of a fixed-width type.
func rawOf(l *leaf, data []byte, n int) raw {
	r := raw{n: n}
	switch l.physical {
	case format.Int32:
		r.i32 = viewOf[int32](data, n)
	case format.Int64:
		r.i64 = viewOf[int64](data, n)
	case format.Int96:
		r.i96 = viewOf[deprecated.Int96](data, n)
	case format.Float:
		r.f32 = viewOf[float32](data, n)
	case format.Double:
		r.f64 = viewOf[float64](data, n)
	default:
		r.fixed, r.size = data, l.length
	}
	return r
}

// plainFixed reads values of fixed width in the encoding PLAIN.
type plainFixed struct {
	l    *leaf
	data []byte
}

func (d *plainFixed) next(n int) (raw, error) {
	data := d.data
	if err := d.skip(n); err != nil {
		return raw{}, err
	}
	return rawOf(d.l, data, n), nil
}

func (d *plainFixed) skip(n int) error {
	size := n * d.l.width()
	if size > len(d.data) {
		return tooFew(n)
	}
	d.data = d.data[size:]
	return nil
}

// plainBools reads a bit a value, the lowest of a byte first.
type plainBools struct {
	data []byte
	bit  int
	out  []bool
}

func (d *plainBools) next(n int) (raw, error) {
	at := d.bit
	if err := d.skip(n); err != nil {
		return raw{}, err
	}
	d.out = d.out[:0]
	for bit := at; bit < d.bit; bit++ {
		d.out = append(d.out, d.data[bit>>3]>>(bit&7)&1 != 0)
	}
	return raw{n: n, bools: d.out}, nil
}

func (d *plainBools) skip(n int) error {
	if n > len(d.data)*8-d.bit {
		return tooFew(n)
	}
	d.bit += n
	return nil
}

// rleBools reads booleans in the encoding RLE.
type rleBools struct {
	bits   hybrid
	levels []byte
	out    []bool
}

func newRLEBools(data []byte) (*rleBools, error) {
	data, _, err := sized(data)
	return &rleBools{bits: newHybrid(data, 1, 0xff)}, err // some write a run of true as 0xff
}

// sized splits off bytes that have their length before them.
func sized(data []byte) (part, rest []byte, err error) {
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, nil, damaged("a page ends inside its levels or values")
	}
	n := binary.LittleEndian.Uint32(data)
	return data[4 : 4+n], data[4+n:], nil
}

func (d *rleBools) next(n int) (raw, error) {
	d.levels = grown(d.levels, n)
	if err := d.bits.levels(d.levels); err != nil {
		return raw{}, err
	}
	d.out = d.out[:0]
	for _, x := range d.levels {
		d.out = append(d.out, x != 0)
	}
	return raw{n: n, bools: d.out}, nil
}

func (d *rleBools) skip(n int) error { return d.bits.skip(n) }

// grown returns a slice of n elements in the memory of s where that is large enough. Their contents are unspecified.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, max(n, 2*cap(s)))
	}
	return s[:n]
}

// plainStrings reads byte arrays in the encoding PLAIN: each with its length before it.
type plainStrings struct {
	data     []byte
	at       int
	from, to []int32
}

func (d *plainStrings) next(n int) (raw, error) {
	if n > (len(d.data)-d.at)/4 {
		return raw{}, tooFew(n)
	}
	d.from, d.to = grown(d.from, n), grown(d.to, n)
	data, at := d.data, d.at
	for i := range n {
		if at > len(data)-4 {
			return raw{}, tooFew(n - i)
		}
		size := binary.LittleEndian.Uint32(data[at:])
		at += 4
		if uint64(size) > uint64(len(data)-at) {
			return raw{}, damaged("a string of %d bytes in a page with %d left", size, len(data)-at)
		}
		d.from[i] = int32(at)
		at += int(size)
		d.to[i] = int32(at)
	}
	d.at = at
	return raw{n: n, bytes: data, from: d.from, to: d.to}, nil
}

func (d *plainStrings) skip(n int) error {
	for ; n > 0; n-- {
		if d.at > len(d.data)-4 {
			return tooFew(n)
		}
		size := binary.LittleEndian.Uint32(d.data[d.at:])
		d.at += 4
		if uint64(size) > uint64(len(d.data)-d.at) {
			return damaged("a string of %d bytes in a page with %d left", size, len(d.data)-d.at)
		}
		d.at += int(size)
	}
	return nil
}

// streamSplit reads values whose first bytes stand together, then the second ones, and so on.
type streamSplit struct {
	l    *leaf
	data []byte
	n    int // of a stream
	at   int
	out  []byte
}

func newStreamSplit(l *leaf, data []byte) (*streamSplit, error) {
	if len(data)%l.width() != 0 {
		return nil, damaged("a page of values of %d bytes has %d bytes", l.width(), len(data))
	}
	return &streamSplit{l: l, data: data, n: len(data) / l.width()}, nil
}

func (d *streamSplit) next(n int) (raw, error) {
	from := d.at
	if err := d.skip(n); err != nil {
		return raw{}, err
	}
	width := d.l.width()
	d.out = grown(d.out, n*width)
	for k := range width {
		stream := d.data[k*d.n+from:][:n]
		for i, b := range stream {
			d.out[i*width+k] = b
		}
	}
	return rawOf(d.l, d.out, n), nil
}

func (d *streamSplit) skip(n int) error {
	if n > d.n-d.at {
		return tooFew(n)
	}
	d.at += n
	return nil
}

var (
	_ decoder = (*plainFixed)(nil)
	_ decoder = (*plainBools)(nil)
	_ decoder = (*plainStrings)(nil)
	_ decoder = (*rleBools)(nil)
	_ decoder = (*streamSplit)(nil)
)
