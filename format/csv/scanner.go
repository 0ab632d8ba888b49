package csv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"unicode/utf8"

	"lakesql/format"
)

// field says where a field's text lies. The zero value is a field that the record does not have.
type field struct {
	off uint32 // into the buffer, or into the scratch
	len uint32 // bytes, and the flags
}

const (
	inScratch uint32 = 1 << 31 // of off: the text had escapes and was rewritten
	isQuoted  uint32 = 1 << 31 // of len: an empty one is not NULL
)

// record says where a record lies and how it was taken apart.
type record struct {
	start, end uint32 // in the buffer, without the line end
	fields     int32  // how many it has; only the first scanner.width are kept
	line       uint32 // of its first byte, counted from the block's first line
	unclosed   bool   // it ends inside a quoted field
}

// tooLong is what a record without an end looks like.
const tooLong = "is this a CSV file? An unclosed quote with multiLine => true, or another lineSep, looks like this"

// scanner takes the file apart into records and fields, a block at a time.
//
// A block's fields point into the buffer, which moves only when next is called again: that is what makes it zero-copy.
type scanner struct {
	*dialect
	in    *format.Input
	width int // fields kept of each record

	recs      []record
	fields    []field // width per record
	scratch   []byte  // texts of fields with escapes
	blockLine int64   // line of the block's first byte
	line      int64   // line of in.Pos
	nextLF    int     // position of the first LF at or behind in.Pos; -1: not looked for
	hasCR     bool    // whether buf[pos:end] may hold a CR
	bareText  bool    // whether buf[pos:end] has no quote and no CR, and the dialect is bare
}

func newScanner(r io.Reader, d *dialect) *scanner {
	return &scanner{dialect: d, in: format.NewInput(r, d.sizeHint, tooLong), line: 1, nextLF: -1}
}

// take makes a piece all that there is.
func (s *scanner) take(p format.Piece) {
	s.in.Take(p)
	s.line = p.Line
	s.filled()
}

// filled looks at what the buffer has got.
func (s *scanner) filled() {
	text := s.in.Buf[s.in.Pos:s.in.End]
	s.nextLF = -1
	s.hasCR = bytes.IndexByte(text, '\r') >= 0
	s.bareText = s.bare && !s.hasCR && (s.quote < 0 || bytes.IndexByte(text, byte(s.quote)) < 0)
}

// next takes up to maxRows records; io.EOF when there is none. Blank lines and comments are no records.
func (s *scanner) next(maxRows int) error {
	s.recs, s.fields, s.scratch = s.recs[:0], s.fields[:0], s.scratch[:0]
	s.blockLine = s.line
	for {
		if s.bareText {
			if err := s.bareRecords(maxRows); err != nil {
				return err
			}
		}
		for len(s.recs) < maxRows {
			found, err := s.record()
			if err != nil {
				return err
			}
			if !found {
				break
			}
		}
		if len(s.recs) > 0 {
			return nil
		}
		if s.in.EOF {
			return io.EOF
		}
		s.blockLine = s.line
		if err := s.in.More(s.line); err != nil {
			return err
		}
		s.filled()
	}
}

// text is the field's text and whether it was quoted. It must not be changed.
func (s *scanner) text(f field) []byte {
	n := f.len &^ isQuoted
	if f.off&inScratch != 0 {
		o := f.off &^ inScratch
		return s.scratch[o : o+n]
	}
	return s.in.Buf[f.off : f.off+n]
}

// raw is the record's text as the file has it.
func (s *scanner) raw(r record) []byte { return s.in.Buf[r.start:r.end] }

// unread makes next begin at the record again, which must be of the last block.
func (s *scanner) unread(r record) {
	s.in.Pos, s.line, s.nextLF = int(r.start), s.lineOf(r), -1
}

func (s *scanner) lineOf(r record) int64 { return s.blockLine + int64(r.line) }

// record takes one record; false when the buffer holds no whole one any more.
func (s *scanner) record() (bool, error) {
	if s.multiLine {
		return s.multiLineRecord()
	}
	for {
		start := s.in.Pos
		end, next := s.lineEnd()
		if next < 0 {
			return false, nil
		}
		line := s.line
		s.in.Pos = next
		s.line++
		if s.dropped(start, end) {
			continue
		}
		rec := record{start: uint32(start), end: uint32(end), line: uint32(line - s.blockLine)}
		row := s.newRow()
		if _, ok := s.split(&rec, row, start, end, true); !ok {
			return false, fmt.Errorf("line %d: a whole line gave no whole record", line)
		}
		return true, s.add(rec, row)
	}
}

// dropped says whether a line is blank (only bytes up to U+0020) or a comment.
func (s *scanner) dropped(start, end int) bool {
	if start < end && int(s.in.Buf[start]) == s.comment {
		return true
	}
	for _, c := range s.in.Buf[start:end] {
		if c > ' ' {
			return false
		}
	}
	return true
}

// lineEnd finds where the line at in.Pos ends and where the next begins; next is -1 when more must be read to know.
func (s *scanner) lineEnd() (end, next int) {
	in := s.in
	if in.Pos == in.End {
		return 0, -1
	}
	if s.lineSep != nil {
		if i := bytes.Index(in.Buf[in.Pos:in.End], s.lineSep); i >= 0 {
			return in.Pos + i, in.Pos + i + len(s.lineSep)
		}
		return s.lastLine()
	}
	if s.nextLF < in.Pos {
		s.nextLF = in.End
		if i := bytes.IndexByte(in.Buf[in.Pos:in.End], '\n'); i >= 0 {
			s.nextLF = in.Pos + i
		}
	}
	if s.hasCR {
		if i := bytes.IndexByte(in.Buf[in.Pos:s.nextLF], '\r'); i >= 0 {
			end = in.Pos + i
			if end+1 == s.nextLF && s.nextLF < in.End {
				return end, end + 2
			}
			if end+1 < in.End || in.EOF {
				return end, end + 1
			}
			return 0, -1
		}
	}
	if s.nextLF < in.End {
		return s.nextLF, s.nextLF + 1
	}
	return s.lastLine()
}

// lastLine is the line without a line end at the end of the file.
func (s *scanner) lastLine() (end, next int) {
	if s.in.EOF {
		return s.in.End, s.in.End
	}
	return 0, -1
}

// newRow makes room for one record's fields, all missing.
func (s *scanner) newRow() []field {
	n := len(s.fields)
	if cap(s.fields) < n+s.width {
		grown := make([]field, n, max(2*cap(s.fields), n+s.width))
		copy(grown, s.fields)
		s.fields = grown
	}
	row := s.fields[n : n+s.width]
	clear(row)
	return row
}

// add keeps the record and its row.
func (s *scanner) add(rec record, row []field) error {
	if int(rec.fields) > s.maxColumns {
		return &format.Error{Line: s.lineOf(rec), Message: fmt.Sprintf("the record has %d fields and maxColumns is %d: raise it with maxColumns => %d, or check sep and quote", rec.fields, s.maxColumns, rec.fields)}
	}
	if s.maxChars > 0 {
		for _, f := range row {
			if n := int(f.len &^ isQuoted); n > s.maxChars && utf8.RuneCount(s.text(f)) > s.maxChars {
				return &format.Error{Line: s.lineOf(rec), Message: fmt.Sprintf("a field has %d characters and maxCharsPerColumn is %d: raise it, or -1 for no limit", utf8.RuneCount(s.text(f)), s.maxChars)}
			}
		}
	}
	s.recs = append(s.recs, rec)
	s.fields = s.fields[:len(s.fields)+s.width]
	return nil
}

// multiLineRecord takes one record whose quoted fields may hold line ends.
func (s *scanner) multiLineRecord() (bool, error) {
	in := s.in
	for {
		if in.Pos == in.End {
			return false, nil
		}
		c := in.Buf[in.Pos]
		if c == '\n' || c == '\r' {
			next, ok := s.skipLineEnd(in.Pos)
			if !ok {
				return false, nil
			}
			in.Pos = next
			s.line++
			continue
		}
		if int(c) == s.comment {
			i := bytes.IndexAny(in.Buf[in.Pos:in.End], "\r\n")
			if i < 0 && !in.EOF {
				return false, nil
			}
			if i < 0 {
				i = in.End - in.Pos
			}
			in.Pos += i
			continue
		}
		break
	}
	rec := record{start: uint32(in.Pos), line: uint32(s.line - s.blockLine)}
	row := s.newRow()
	mark := len(s.scratch)
	end, ok := s.split(&rec, row, in.Pos, in.End, in.EOF)
	next := end
	if ok && end < in.End {
		next, ok = s.skipLineEnd(end)
	}
	if !ok {
		s.scratch = s.scratch[:mark]
		return false, nil
	}
	rec.end = uint32(end)
	s.line += format.CountLines(in.Buf[in.Pos:next], "")
	in.Pos = next
	return true, s.add(rec, row)
}

// skipLineEnd returns the position behind the line end at i; false when the buffer ends between CR and a possible LF.
func (s *scanner) skipLineEnd(i int) (int, bool) {
	if s.in.Buf[i] == '\n' {
		return i + 1, true
	}
	if i+1 == s.in.End {
		return i + 1, s.in.EOF
	}
	if s.in.Buf[i+1] == '\n' {
		return i + 2, true
	}
	return i + 1, true
}

// split takes b[pos:end] of the buffer apart into row and returns where the record ends. With final, end is the end of
// the record or of the file; otherwise more bytes may follow, and false says that the record is not whole.
func (s *scanner) split(rec *record, row []field, pos, end int, final bool) (int, bool) {
	buf := s.in.Buf
	plain := len(s.sep) == 1 && !s.multiLine
	n := 0
	for {
		if s.trimLead {
			for pos < end && buf[pos] <= ' ' && !s.stop[buf[pos]] {
				pos++
			}
		}
		var f field
		var stop int
		if pos < end && int(buf[pos]) == s.quote {
			var ok bool
			if f, stop, ok = s.quoted(rec, pos, end, final); !ok {
				return 0, false
			}
		} else {
			if plain {
				stop = indexByte(buf, pos, end, s.sepWord)
			} else if stop = s.fieldEnd(pos, end, final); stop < 0 {
				return 0, false
			}
			f = field{off: uint32(pos), len: uint32(stop - pos)}
			if s.trimTrail {
				f.len = uint32(trimmedEnd(buf[pos:stop]))
			}
		}
		if n < len(row) {
			row[n] = f
		}
		n++
		if stop >= end || s.multiLine && (buf[stop] == '\n' || buf[stop] == '\r') {
			rec.fields = int32(n)
			return stop, stop < end || final
		}
		pos = stop + len(s.sep)
	}
}

func trimmedEnd(b []byte) int {
	n := len(b)
	for n > 0 && b[n-1] <= ' ' {
		n--
	}
	return n
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// indexByte returns the position in buf[pos:end] of the byte that word repeats, or end. It looks at eight bytes at a
// time and may read up to seven bytes behind end: buf has format.Slack.
func indexByte(buf []byte, pos, end int, word uint64) int {
	for pos < end {
		x := binary.LittleEndian.Uint64(buf[pos:]) ^ word
		if m := (x - lowBits) &^ x & highBits; m != 0 {
			return min(pos+bits.TrailingZeros64(m)>>3, end)
		}
		pos += 8
	}
	return end
}

// fieldEnd finds where the unquoted field at pos ends, for separators of several bytes and for multiLine;
// -1 when more must be read to know.
func (s *scanner) fieldEnd(pos, end int, final bool) int {
	for i := pos; i < end; i++ {
		if !s.stop[s.in.Buf[i]] {
			continue
		}
		switch s.stopsAt(i, end, final) {
		case stops:
			return i
		case unknown:
			return -1
		}
	}
	if !final {
		return -1
	}
	return end
}

// answer is what is known of a position in the buffer.
type answer uint8

const (
	goesOn  answer = iota
	stops          // a separator or a line end is here
	unknown        // the buffer ends before it can be told
)

// stopsAt says whether a separator, or with multiLine a line end, is at i.
func (s *scanner) stopsAt(i, end int, final bool) answer {
	b := s.in.Buf[i:end]
	switch {
	case s.multiLine && (b[0] == '\n' || b[0] == '\r'):
		return stops
	case b[0] != s.sep[0]:
		return goesOn
	case bytes.HasPrefix(b, s.sep):
		return stops
	case !final && bytes.HasPrefix(s.sep, b):
		return unknown
	}
	return goesOn
}
