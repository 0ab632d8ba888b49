package dv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// The first four bytes of a vector, little-endian, say how the rest is serialized: 32-bit Roaring bitmaps, one for each value of
// a row's upper 32 bits. portable is the protocol's, and the Roaring format for 64 bits: a uint64 count, then the uint32 key
// and the bitmap of each. native is older: an int32 count, then the int32 length and the bitmap of each key from 0 on.
const (
	magicPortable = 1681511377
	magicNative   = 1681511376
)

// decode reads a serialized set. Everything is checked before it is used.
func decode(data []byte) (*Bitmap, error) {
	r := &reader{data: data}
	out := new(Bitmap)
	switch magic := r.uint32(); magic {
	case magicPortable:
		r.portable(out)
	case magicNative:
		r.native(out)
	default:
		r.fail("it begins with %d, which is no known format", magic)
	}
	if r.err == nil && len(r.data) > 0 {
		r.fail("%d bytes are left over", len(r.data))
	}
	if r.err != nil {
		return nil, r.err
	}
	return out, nil
}

// encode writes the portable form.
func encode(b *Bitmap) []byte {
	rows := b.Clone().rows // runs are a matter of the form only, but b may be shared
	rows.RunOptimize()
	var out bytes.Buffer
	out.Grow(4 + int(rows.GetSerializedSizeInBytes()))
	out.Write(binary.LittleEndian.AppendUint32(nil, magicPortable))
	rows.WriteTo(&out) // a buffer takes everything
	return out.Bytes()
}

// reader takes values from the front of data. After its first error it gives zeros.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.data = nil
}

var errShort = errors.New("it ends too early")

func (r *reader) bytes(n int) []byte {
	if n > len(r.data) {
		r.fail("%w", errShort)
		return make([]byte, 8)[:min(n, 8)]
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) uint16() uint16 { return binary.LittleEndian.Uint16(r.bytes(2)) }
func (r *reader) uint32() uint32 { return binary.LittleEndian.Uint32(r.bytes(4)) }
func (r *reader) uint64() uint64 { return binary.LittleEndian.Uint64(r.bytes(8)) }

func (r *reader) portable(out *Bitmap) {
	last := int64(-1)
	for n := r.uint64(); n > 0 && r.err == nil; n-- {
		key := r.uint32()
		if int64(key) <= last || key>>31 != 0 {
			r.fail("key %d follows on key %d", key, last)
			return
		}
		last = int64(key)
		r.bitmap(out, int64(key)<<32)
	}
}

func (r *reader) native(out *Bitmap) {
	n := int32(r.uint32())
	if n < 0 {
		r.fail("it has %d bitmaps", n)
	}
	for key := range int64(n) {
		if r.err != nil {
			return
		}
		one := &reader{data: r.bytes(int(r.uint32()))}
		one.bitmap(out, key<<32)
		if one.err == nil && len(one.data) > 0 {
			one.fail("%d bytes are left over in bitmap %d", len(one.data), key)
		}
		if r.err == nil && one.err != nil {
			r.fail("%w", one.err)
		}
	}
}

// Of the Roaring format for 32 bits, https://github.com/RoaringBitmap/RoaringFormatSpec.
const (
	cookieRuns       = 12347 // the upper half has the number of containers less one, bits follow that tell which have runs
	cookiePlain      = 12346
	minOffsets       = 4    // with runs, so many containers have offsets
	maxArray         = 4096 // more values are a bitmap
	bitmapBytes      = 8192
	valuesInBucket   = 1 << 16
	bytesOfContainer = 4 // of its header: key, cardinality less one
)

// bitmap adds a 32-bit bitmap, whose rows begin at base.
func (r *reader) bitmap(out *Bitmap, base int64) {
	cookie := r.uint32()
	containers, runs := 0, []byte(nil)
	switch {
	case cookie == cookiePlain:
		containers = int(min(r.uint32(), valuesInBucket+1))
	case cookie&0xFFFF == cookieRuns:
		containers = int(cookie>>16) + 1
		runs = r.bytes((containers + 7) / 8)
	default:
		r.fail("%d is not the beginning of a bitmap", cookie)
	}
	if containers > valuesInBucket {
		r.fail("a bitmap has more than %d containers", valuesInBucket)
	}
	if r.err != nil {
		return
	}
	headers := r.bytes(bytesOfContainer * containers)
	if runs == nil || containers >= minOffsets {
		r.bytes(4 * containers) // offsets, for those who do not read from front to back
	}
	last := -1
	for i := 0; i < containers && r.err == nil; i++ {
		key := int(binary.LittleEndian.Uint16(headers[bytesOfContainer*i:]))
		n := int(binary.LittleEndian.Uint16(headers[bytesOfContainer*i+2:])) + 1
		if key <= last {
			r.fail("container %d follows on container %d", key, last)
			return
		}
		last = key
		start := base + int64(key)<<16
		switch {
		case runs != nil && runs[i/8]>>(i%8)&1 != 0:
			r.runs(out, start, n)
		case n > maxArray:
			r.words(out, start, n)
		default:
			r.array(out, start, n)
		}
	}
}

func (r *reader) array(out *Bitmap, start int64, n int) {
	data := r.bytes(2 * n)
	if r.err != nil {
		return
	}
	rows, last := make([]uint64, n), -1
	for i := range rows {
		v := int(binary.LittleEndian.Uint16(data[2*i:]))
		if v <= last {
			r.fail("value %d follows on value %d", v, last)
			return
		}
		last = v
		rows[i] = uint64(start) + uint64(v)
	}
	out.rows.AddMany(rows)
}

func (r *reader) words(out *Bitmap, start int64, n int) {
	data := r.bytes(bitmapBytes)
	if r.err != nil {
		return
	}
	rows := make([]uint64, 0, n)
	for i := 0; i < bitmapBytes; i += 8 {
		for word := binary.LittleEndian.Uint64(data[i:]); word != 0; word &= word - 1 {
			rows = append(rows, uint64(start)+uint64(8*i+bits.TrailingZeros64(word)))
		}
	}
	if len(rows) != n {
		r.fail("a container of %d values has %d", n, len(rows))
		return
	}
	out.rows.AddMany(rows)
}

func (r *reader) runs(out *Bitmap, start int64, n int) {
	next, got := 0, 0
	for runs := r.uint16(); runs > 0 && r.err == nil; runs-- {
		from, length := int(r.uint16()), int(r.uint16())+1
		if from < next || from+length > valuesInBucket {
			r.fail("a run of %d values at %d follows on %d values", length, from, next)
			return
		}
		next, got = from+length, got+length
		out.AddRange(start+int64(from), start+int64(next))
	}
	if got != n {
		r.fail("a container of %d values has %d in runs", n, got)
	}
}
