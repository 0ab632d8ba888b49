package json

import (
	"bytes"
	"fmt"
	"io"

	"lakesql/format"
	"lakesql/format/jsontext"
)

// tooLong is what a record without an end looks like.
const tooLong = "is this a JSON file? A bracket that is not closed with multiLine => true, or one document of many lines without it, looks like this"

// cutOff is how far from the end of what has been read a text may turn out to be no JSON because more of it comes: more than a pair of
// escaped surrogates, or a word.
const cutOff = 16

// record says where a record lies.
type record struct {
	start, end uint32 // in the buffer
	malformed  string // what is wrong; "": nothing
	unknown    bool   // it has a value that is not null under a key that nothing wants; not of what is in lists and maps
	at         int    // where in the buffer
}

// parser takes the file apart into records and tokens, a block at a time.
//
// A block's tokens point into the buffer, which moves only when next is called again.
//
// Invariants between calls:
//   - in.Pos is behind what has been taken.
//   - array says that in.Pos is within an array of records; limit is then, without multiLine, the end of its line.
type parser struct {
	in        *format.Input
	lex       jsontext.Lexer
	multiLine bool
	lineSep   []byte // "": any of CR LF, LF, CR
	root      *node

	block
	recs    []record
	line    int64 // of in.Buf[0]
	array   bool
	begun   bool // array has had a record
	unknown bool // object has met a value that nothing wants, since somebody has set it to false
	limit   int
	ended   bool // nothing more can be told apart
}

func newParser(r io.Reader, opts *Options, root *node, b *block) *parser {
	return &parser{
		in: format.NewInput(r, opts.SizeHint, tooLong), lex: opts.lexer(), multiLine: opts.MultiLine, lineSep: []byte(opts.LineSep),
		root: root, block: *b, line: 1,
	}
}

// take makes a piece all that there is.
func (p *parser) take(piece format.Piece) {
	p.in.Take(piece)
	p.line, p.array, p.begun, p.ended = piece.Line, false, false, false
}

// next takes up to maxRows records; io.EOF when there is none.
func (p *parser) next(maxRows int) error {
	p.reset()
	p.recs = p.recs[:0]
	for !p.ended {
		if p.multiLine {
			p.documents(p.in.Buf[:p.in.End], p.in.EOF, maxRows)
		} else {
			p.lines(maxRows)
		}
		if len(p.recs) > 0 {
			return nil
		}
		if p.in.EOF && p.in.Pos == p.in.End {
			return io.EOF
		}
		p.line += p.countLines(p.in.Buf[:p.in.Pos])
		if err := p.in.More(p.line); err != nil {
			return err
		}
	}
	return io.EOF
}

// lineOf is the number of the line that a record begins in.
func (p *parser) lineOf(row int) int64 { return p.line + p.countLines(p.in.Buf[:p.recs[row].start]) }

func (p *parser) countLines(text []byte) int64 {
	if p.multiLine {
		return format.CountLines(text, "")
	}
	return format.CountLines(text, string(p.lineSep))
}

// raw is the record's text as the file has it.
func (p *parser) raw(row int) []byte { return p.in.Buf[p.recs[row].start:p.recs[row].end] }

// lines takes the records of whole lines.
func (p *parser) lines(maxRows int) {
	for len(p.recs) < maxRows {
		if p.array {
			p.documents(p.in.Buf[:p.limit], true, maxRows)
			continue
		}
		end, next := p.lineEnd()
		if next < 0 {
			return
		}
		p.limit = end
		p.documents(p.in.Buf[:end], true, maxRows)
		if p.in.Pos >= end && !p.array {
			p.in.Pos = next
		}
	}
}

// lineEnd finds where the line at in.Pos ends and where the next begins; next is -1 when more must be read to know. A CR alone ends
// no line here: documents takes care of it.
func (p *parser) lineEnd() (end, next int) {
	sep := p.lineSep
	if len(sep) == 0 {
		if i := bytes.IndexByte(p.in.Buf[p.in.Pos:p.in.End], '\n'); i >= 0 {
			return p.in.Pos + i, p.in.Pos + i + 1
		}
	} else if i := bytes.Index(p.in.Buf[p.in.Pos:p.in.End], sep); i >= 0 {
		return p.in.Pos + i, p.in.Pos + i + len(sep)
	}
	if p.in.EOF && p.in.Pos < p.in.End {
		return p.in.End, p.in.End
	}
	return 0, -1
}

// documents takes records from text[in.Pos:], until there are maxRows of them in the block or none is left. final says that the
// text is not cut off; where it is, a record that may be is left for later.
func (p *parser) documents(text []byte, final bool, maxRows int) {
	for len(p.recs) < maxRows {
		i := jsontext.Space(text, p.in.Pos)
		if i >= len(text) {
			if final && p.array {
				p.unclosed(text)
			}
			p.in.Pos = len(text)
			return
		}
		p.in.Pos = i
		switch c := text[i]; {
		case p.array && c == ']':
			p.array = false
			p.in.Pos = i + 1
			p.behind(text)
			continue
		case p.array && p.begun:
			if c != ',' {
				p.wrong(text, i, i, "a comma or ] is expected between records")
				continue
			}
			if i = jsontext.Space(text, i+1); i >= len(text) && !final {
				return
			}
		case !p.array && c == '[':
			p.array, p.begun = true, false
			p.in.Pos = i + 1
			continue
		}
		if !p.document(text, i, final) {
			return
		}
	}
}

// document takes the record at text[i]; false where it is cut off.
func (p *parser) document(text []byte, i int, final bool) bool {
	if i >= len(text) {
		p.unclosed(text)
		return true
	}
	if text[i] != '{' {
		end := p.lex.Value(text, i)
		if !final && (end >= len(text)-cutOff || end < 0 && ^end >= len(text)-cutOff) {
			return false
		}
		if end < 0 {
			p.wrong(text, i, ^end, "")
		} else {
			p.begun = true
			p.reject(text, i, end, "it is no JSON object")
		}
		return true
	}
	p.unknown = false
	end := p.object(p.root, text, i, p.newRow())
	if end >= 0 {
		p.begun = true
		p.recs = append(p.recs, record{start: uint32(i), end: uint32(end), unknown: p.unknown})
		p.in.Pos = end
		if !p.array {
			p.behind(text)
		}
		return true
	}
	p.dropRow()
	if !final && (^end >= len(text)-cutOff || p.lex.Closing(text, i) < 0) {
		return false
	}
	p.begun = true
	p.wrong(text, i, ^end, "")
	return true
}

// unclosed takes the end of the text for a malformed record.
func (p *parser) unclosed(text []byte) {
	p.array = false
	p.reject(text, len(text), len(text), "an array of records is not closed")
}

// behind looks at what follows a document of a line: nothing must, but the end of a line that is a CR.
func (p *parser) behind(text []byte) {
	if p.multiLine {
		return
	}
	i := p.in.Pos
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	if i == len(text) || text[i] == '\r' || len(p.lineSep) > 0 && jsontext.Space(text, i) == len(text) {
		return
	}
	start := i
	if n := len(p.recs); n > 0 && int(p.recs[n-1].end) == p.in.Pos {
		start = int(p.recs[n-1].start)
		p.recs = p.recs[:n-1]
		p.dropRow()
	}
	p.reject(text, start, len(text), "something follows the document: multiLine => true reads several documents of a line")
	p.recs[len(p.recs)-1].at = i
}

// wrong takes a record that is no JSON at text[at]: to the end of the line, or with multiLine to its closing bracket, or up to where
// the next seems to begin.
func (p *parser) wrong(text []byte, start, at int, why string) {
	end := len(text)
	if p.multiLine {
		if text[start] == '{' {
			end = p.lex.Closing(text, start)
		} else if i := bytes.IndexByte(text[start+1:], '{'); i >= 0 {
			end = start + 1 + i
			p.begun = false
		}
		if end < 0 {
			end = len(text)
			p.ended, p.array = true, false
		}
	} else {
		p.array = false
	}
	p.reject(text, start, end, why)
	p.recs[len(p.recs)-1].at = at
}

// reject takes text[start:end] for a malformed record.
func (p *parser) reject(text []byte, start, end int, why string) {
	p.newRow()
	if why == "" {
		why = "it is no JSON"
	}
	p.recs = append(p.recs, record{start: uint32(start), end: uint32(end), malformed: why, at: start})
	p.in.Pos = end
}

// dropRow takes back the last row.
func (p *parser) dropRow() {
	p.rows--
	p.tokens = p.tokens[:p.rows*p.width]
}

// fault describes what is wrong with a malformed record.
func (p *parser) fault(row int) string {
	rec := p.recs[row]
	if rest := p.in.Buf[min(rec.at, int(rec.end)):rec.end]; len(rest) > 0 {
		return fmt.Sprintf("the record is malformed at byte %d, %s: %s", rec.at-int(rec.start)+1, format.Quote(rest), rec.malformed)
	}
	return fmt.Sprintf("the record ends too early, behind %d bytes: %s", rec.end-rec.start, rec.malformed)
}

// object takes the object at text[pos] apart into a row of tokens, and returns the position behind it, or ^pos of what is no JSON.
func (p *parser) object(n *node, text []byte, pos int, row []token) int {
	i := pos + 1
	if i < len(text) && text[i] <= ' ' {
		i = jsontext.Space(text, i)
	}
	if i < len(text) && text[i] == '}' {
		return i + 1
	}
	expected := &n.keys.first
	for {
		k := *expected
		if k != nil && len(text)-i > len(k.quoted) && string(text[i:i+len(k.quoted)]) == k.quoted {
			if i += len(k.quoted); text[i] <= ' ' {
				i = jsontext.Space(text, i)
			}
		} else {
			value, closed := p.lex.Key(text, i)
			if value < 0 {
				return value
			}
			k = n.keys.find(text[i+1 : closed-1])
			*expected = k
			i = value
		}
		expected = &k.next
		start := i
		if i = p.value(k.node, text, i, row); i < 0 {
			return i
		}
		if k.node == nil && text[start] != 'n' {
			p.unknown = true
			if n.keys.extra && !k.told {
				k.told = true
				n.keys.names = append(n.keys.names, k.name)
			}
		}
		if i < len(text) && text[i] <= ' ' {
			i = jsontext.Space(text, i)
		}
		if i >= len(text) {
			return ^len(text)
		}
		switch text[i] {
		case ',':
			if i++; i < len(text) && text[i] <= ' ' {
				i = jsontext.Space(text, i)
			}
		case '}':
			return i + 1
		default:
			return ^i
		}
	}
}

// value puts the token of the value at text[i] into its slot of the row, and those of its fields into theirs.
func (p *parser) value(n *node, text []byte, i int, row []token) int {
	if i >= len(text) {
		return ^len(text)
	}
	var end int
	var flag uint32
	switch c := text[i]; {
	case c == '"', c == '\'' && p.lex.SingleQuotes:
		var escapes bool
		if end, escapes = jsontext.String(text, i); escapes {
			flag = hasEscapes
		}
	case c-'0' <= 9:
		end, _ = jsontext.Number(text, i)
	case c == '{' && n != nil && n.keys != nil:
		clear(row[n.slot+1 : n.end])
		end = p.object(n, text, i, row)
	default:
		end = p.lex.Value(text, i)
	}
	if end < 0 || n == nil {
		return end
	}
	if n.keys != nil && text[i] != '{' {
		clear(row[n.slot+1 : n.end])
	}
	row[n.slot] = token{off: uint32(i), len: uint32(end-i) | flag}
	return end
}
