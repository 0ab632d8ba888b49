package csv

import (
	"encoding/binary"
	"math/bits"
)

const (
	lineFeeds = '\n' * lowBits
	lowSeven  = 0x7f7f7f7f7f7f7f7f
)

// zeros has the highest bit of each byte set that is 0 in x, and no other.
func zeros(x uint64) uint64 { return ^((x&lowSeven + lowSeven) | x | lowSeven) }

// bareRecords takes up to maxRows records whose lines end in the buffer: what record does with each, where there are only separators and line ends to be found.
func (s *scanner) bareRecords(maxRows int) error {
	buf, end := s.in.Buf, s.in.End
	for len(s.recs) < maxRows {
		start := s.in.Pos
		row := s.newRow()
		n, stop := bareFields(row, buf, start, end, s.sepWord)
		if stop < 0 {
			return nil
		}
		line := s.line
		s.in.Pos = stop + 1
		s.line++
		if s.dropped(start, stop) {
			continue
		}
		if err := s.add(record{start: uint32(start), end: uint32(stop), fields: int32(n), line: uint32(line - s.blockLine)}, row); err != nil {
			return err
		}
	}
	return nil
}

// bareFields finds the fields of the line at pos, of which row takes the first, and returns how many there are, and where the line ends; -1: behind end. It reads up to seven
// bytes behind end: buf has format.Slack.
func bareFields(row []field, buf []byte, pos, end int, sepWord uint64) (n, stop int) {
	from := pos
	for ; pos < end; pos += 8 {
		x := binary.LittleEndian.Uint64(buf[pos:])
		for found := zeros(x^sepWord) | zeros(x^lineFeeds); found != 0; found &= found - 1 {
			at := pos + bits.TrailingZeros64(found)>>3
			if at >= end {
				return 0, -1
			}
			if n < len(row) {
				row[n] = field{off: uint32(from), len: uint32(at - from)}
			}
			n++
			if buf[at] == '\n' {
				return n, at
			}
			from = at + 1
		}
	}
	return 0, -1
}
