package parquet

import (
	"math"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// maxStatsBytes bounds a string in the footer's statistics and in the column index. Longer bounds would bloat what every reader loads; 64 is
// also where parquet-java cuts those of its column indexes.
const maxStatsBytes = 64

// negativeZero is below zero where bounds are compared by their bits.
var negativeZero = math.Copysign(0, -1)

// footerStats returns the statistics of a column chunk.
func (b *bounds) footerStats(t batch.Type, nulls int64) format.Statistics {
	s := format.Statistics{NullCount: nulls}
	if low, high, ok := b.encode(t); ok {
		s.MinValue, s.MaxValue = low, high
	}
	return s
}

// encode returns the bounds as footers and page indexes have them, by the rules of parquet.thrift: zeros with the sign that includes both,
// strings cut to bounds. A bound that cannot be given is left out together with the other, and ok is false. So are both when there is a NaN:
// Spark takes it for the greatest number, others leave it out of the order, and either may skip rows by bounds that it did not expect.
func (b *bounds) encode(t batch.Type) (low, high []byte, ok bool) {
	if !b.seen || b.nan {
		return nil, nil, false
	}
	c := *b
	switch t.Layout() {
	case batch.LayoutBytes:
		return cutBounds(b.lowText, b.highText, t.Kind == batch.String)
	case batch.LayoutF32, batch.LayoutF64:
		if c.low == 0 {
			c.low = negativeZero
		}
		if c.high == 0 {
			c.high = 0 // not minus zero
		}
	}
	least, greatest := batch.NewVector(t, 1), batch.NewVector(t, 1)
	c.appendTo(least, greatest)
	return appendPlain(nil, least), appendPlain(nil, greatest), true
}

// cutBounds shortens bounds of strings so that they stay bounds: the lower one is cut, the upper one is cut and its last part raised.
// Text is cut between code points.
func cutBounds(low, high []byte, text bool) (cutLow, cutHigh []byte, ok bool) {
	if len(low) > maxStatsBytes {
		low = low[:cutAt(low, text)]
	}
	if len(high) > maxStatsBytes {
		if high, ok = raise(high[:cutAt(high, text)], text); !ok {
			return nil, nil, false
		}
	}
	return append([]byte{}, low...), append([]byte{}, high...), true
}

// cutAt returns where to cut, at most maxStatsBytes.
func cutAt(x []byte, text bool) int {
	n := maxStatsBytes
	for text && n > 0 && n > maxStatsBytes-utf8.UTFMax && !utf8.RuneStart(x[n]) {
		n--
	}
	return n
}

// raise returns a short value above all that begin with prefix; ok is false when there is none.
func raise(prefix []byte, text bool) (raised []byte, ok bool) {
	for len(prefix) > 0 {
		if !text {
			last := len(prefix) - 1
			if b := prefix[last]; b < 0xff {
				return append(append([]byte{}, prefix[:last]...), b+1), true
			}
			prefix = prefix[:last]
			continue
		}
		r, size := utf8.DecodeLastRune(prefix)
		if r == utf8.RuneError && size <= 1 {
			return nil, false // not UTF-8
		}
		prefix = prefix[:len(prefix)-size]
		if next := nextRune(r); next > 0 {
			return utf8.AppendRune(append([]byte{}, prefix...), next), true
		}
	}
	return nil, false
}

// nextRune returns the next code point that UTF-8 can hold, or 0 after the last.
func nextRune(r rune) rune {
	switch {
	case r == utf8.MaxRune:
		return 0
	case r == 0xd7ff: // the surrogates follow
		return 0xe000
	}
	return r + 1
}
