package csv

import (
	"bytes"
)

// quoted takes the quoted field whose opening quote is at pos. It returns the field and the position of the separator or
// line end behind it, or end; false when the field is not whole and more bytes may follow.
//
// The common case, a quoted text without escapes whose closing quote is followed by a separator, stays where it is.
func (s *scanner) quoted(rec *record, pos, end int, final bool) (field, int, bool) {
	buf := s.in.Buf
	i := pos + 1
	n := bytes.IndexByte(buf[i:end], byte(s.quote))
	if n < 0 {
		if !final {
			return field{}, 0, false
		}
		return s.quotedSlow(rec, pos, end, final)
	}
	text := buf[i : i+n]
	closing := i + n
	if s.escape >= 0 && s.escape != s.quote && bytes.IndexByte(text, byte(s.escape)) >= 0 {
		return s.quotedSlow(rec, pos, end, final)
	}
	if closing+1 == end {
		if !final {
			return field{}, 0, false
		}
	} else if a := s.stopsAt(closing+1, end, final); a == unknown {
		return field{}, 0, false
	} else if a == goesOn {
		return s.quotedSlow(rec, pos, end, final)
	}
	return field{off: uint32(i), len: uint32(n) | isQuoted}, closing + 1, true
}

// quotedSlow is quoted for fields with escapes, with text behind the closing quote, or without a closing quote. It does
// what Spark's parser does with unescapedQuoteHandling STOP_AT_DELIMITER:
//
//   - escape quote is a quote, escape-escape escape is an escape, an escape before anything else stays;
//   - white space between the closing quote and the separator is dropped;
//   - a quote followed by anything else was no closing quote: the field is its text with the quotes, up to the separator;
//   - without a closing quote the field reaches to the end.
func (s *scanner) quotedSlow(rec *record, pos, end int, final bool) (field, int, bool) {
	buf := s.in.Buf
	mark := len(s.scratch)
	out := s.scratch
	const none = -1
	prev, i := none, pos+1
	for ; i < end; i++ {
		c := int(buf[i])
		if prev == s.quote {
			if c != s.quote {
				break
			}
			if s.escape != s.quote {
				out = append(out, byte(c))
				continue
			}
		}
		switch {
		case c == s.escape && prev == s.escEscape && prev != none:
			out = append(out, byte(c))
			prev = none
		case prev == s.escape && prev != none && c == s.quote:
			out = append(out, byte(c))
			prev = none
		case c == s.quote || c == s.escape || c == s.escEscape:
			if prev == s.escape && prev != none {
				out = append(out, byte(prev))
			} else if prev == s.escEscape && prev != none {
				out = append(out, byte(prev))
			}
			prev = c
		default:
			if prev != none && prev != s.quote {
				out = append(out, byte(prev))
			}
			out = append(out, byte(c))
			prev = none
		}
	}
	if i == end && !final {
		return field{}, 0, false
	}
	stop := end
	switch {
	case prev == s.quote && i < end:
		var ok bool
		if out, stop, ok = s.behindQuote(out, mark, i, end, final); !ok {
			return field{}, 0, false
		}
	case prev == s.quote: // closed by the end
	default:
		rec.unclosed = true
		if prev != none {
			out = append(out, byte(prev))
		}
		if pos+1 == end {
			out = append(out, byte(s.quote))
		}
	}
	s.scratch = out
	return field{off: uint32(mark) | inScratch, len: uint32(len(out)-mark) | isQuoted}, stop, true
}

// behindQuote goes on behind a quote that may be the closing one; buf[i] is the byte behind it, and out[mark:] the text
// before it.
func (s *scanner) behindQuote(out []byte, mark, i, end int, final bool) ([]byte, int, bool) {
	buf := s.in.Buf
	j := i
	for ; j < end; j++ {
		switch s.stopsAt(j, end, final) {
		case stops:
			return out, j, true
		case unknown:
			return nil, 0, false
		}
		if buf[j] > ' ' {
			break
		}
	}
	if j == end {
		return out, end, final
	}
	stop := s.fieldEnd(j, end, final)
	if stop < 0 {
		return nil, 0, false
	}
	out = append(out, 0)
	copy(out[mark+1:], out[mark:])
	out[mark] = byte(s.quote)
	out = append(out, byte(s.quote))
	return append(out, buf[i:stop]...), stop, true
}
