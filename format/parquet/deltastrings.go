package parquet

import (
	"github.com/parquet-go/parquet-go/format"
)

// deltaLengths reads byte arrays in the encoding DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes.
type deltaLengths struct {
	lengths  *deltaInts[int32]
	data     []byte
	at       int
	from, to []int32
}

func newDeltaLengths(data []byte) (*deltaLengths, error) {
	lengths, err := newDeltaInts[int32](data)
	if err != nil {
		return nil, err
	}
	rest, err := lengths.rest()
	return &deltaLengths{lengths: lengths, data: rest}, err
}

func (d *deltaLengths) next(n int) (raw, error) {
	d.from, d.to = grown(d.from, n), grown(d.to, n)
	lengths, err := d.lengths.next(n)
	if err != nil {
		return raw{}, err
	}
	for i, size := range lengths {
		if size < 0 || int(size) > len(d.data)-d.at {
			return raw{}, damaged("a string of %d bytes in a page with %d left", size, len(d.data)-d.at)
		}
		d.from[i] = int32(d.at)
		d.at += int(size)
		d.to[i] = int32(d.at)
	}
	return raw{n: n, bytes: d.data, from: d.from, to: d.to}, nil
}

func (d *deltaLengths) skip(n int) error { return skipByReading(d, n) }

// skipByReading leaves out values of which each depends on those before.
func skipByReading(d decoder, n int) error {
	for n > 0 {
		take := min(n, 1024)
		if _, err := d.next(take); err != nil {
			return err
		}
		n -= take
	}
	return nil
}

// maxPrefixBytes bounds what shared prefixes make of a page in one step.
const maxPrefixBytes = 512 << 20

// deltaStrings reads values in the encoding DELTA_BYTE_ARRAY: how many bytes each begins with that the value before has too, and
// the rest of each.
type deltaStrings struct {
	prefixes *deltaInts[int32]
	suffixes *deltaLengths
	size     int // of every value; 0: any
	last     []byte
	out      []byte
	from, to []int32
}

func newDeltaStrings(l *leaf, data []byte) (*deltaStrings, error) {
	prefixes, err := newDeltaInts[int32](data)
	if err != nil {
		return nil, err
	}
	rest, err := prefixes.rest()
	if err != nil {
		return nil, err
	}
	suffixes, err := newDeltaLengths(rest)
	if err != nil {
		return nil, err
	}
	d := &deltaStrings{prefixes: prefixes, suffixes: suffixes}
	if l.physical == format.FixedLenByteArray {
		d.size = l.length
	}
	return d, nil
}

func (d *deltaStrings) next(n int) (raw, error) {
	prefixes, err := d.prefixes.next(n)
	if err != nil {
		return raw{}, err
	}
	suffixes, err := d.suffixes.next(n)
	if err != nil {
		return raw{}, err
	}
	d.from, d.to, d.out = grown(d.from, n), grown(d.to, n), d.out[:0]
	last := d.last
	for i, prefix := range prefixes {
		if prefix < 0 || int(prefix) > len(last) {
			return raw{}, damaged("a string shares %d bytes with one of %d", prefix, len(last))
		}
		start := len(d.out)
		d.out = append(append(d.out, last[:prefix]...), suffixes.value(i)...)
		last = d.out[start:]
		if d.size > 0 && len(last) != d.size || len(d.out) > maxPrefixBytes {
			return raw{}, damaged("a string of %d bytes", len(last))
		}
		d.from[i], d.to[i] = int32(start), int32(len(d.out))
	}
	d.last = append(d.last[:0], last...)
	if d.size > 0 {
		return raw{n: n, fixed: d.out, size: d.size}, nil
	}
	return raw{n: n, bytes: d.out, from: d.from, to: d.to}, nil
}

func (d *deltaStrings) skip(n int) error { return skipByReading(d, n) }

var (
	_ decoder = (*deltaLengths)(nil)
	_ decoder = (*deltaStrings)(nil)
)
