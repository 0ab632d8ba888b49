package format

import (
	"bytes"
	"io"

	"lakesql/batch"
)

// PieceBytes is about how long a piece is: some thousands of rows, so that its batches are full but for the last, and little of it waits in memory.
const PieceBytes = 2 << 20

// Piece is some whole lines of a text file, which a reader of its own can take apart: Buf[Pos:End], whose first byte is in line Line.
type Piece struct {
	Buf      []byte // len is the capacity, Slack included
	Pos, End int
	Line     int64
}

// LineReader is a reader of a text format. Where no record goes over several lines, its file can be taken apart.
type LineReader interface {
	// Next returns the next rows, or io.EOF. The batch is valid until the following call.
	Next() (*batch.Batch, error)
	// Extra names the columns met so far that the schema does not have.
	Extra() []string
	// Rejected is the number of rows left out so far by mode DROPMALFORMED.
	Rejected() int64
	// Cut gives the lines away that come next, as Input does: instead of Next.
	Cut(spare []byte) (Piece, error)
	// Fork returns a reader of pieces of the file, for another goroutine: it is at its end until Take.
	Fork(onError func(RowError)) (LineReader, error)
	// Take makes a piece the rows that Next gives.
	Take(Piece)
}

// Cut gives the lines away that come next; io.EOF when there are none. last finds where the last line in a text ends that is whole, and -1 where none is. spare is memory
// for the piece after this one; nil: the caller has none. line is that of Pos. Errors as of More.
func (in *Input) Cut(spare []byte, line int64, last func(text []byte) int) (Piece, error) {
	for {
		if !in.EOF {
			if err := in.More(line); err != nil {
				return Piece{}, err
			}
		}
		end := in.End
		if !in.EOF {
			end = in.Pos + last(in.Buf[in.Pos:in.End])
		}
		if end > in.Pos {
			return in.give(spare, line, end), nil
		}
		if in.EOF {
			return Piece{}, io.EOF
		}
	}
}

// give gives away what is unread up to end.
func (in *Input) give(spare []byte, line int64, end int) Piece {
	p := Piece{Buf: in.Buf, Pos: in.Pos, End: end, Line: line}
	rest := in.Buf[end:in.End]
	need := min(2*len(rest)+1, MaxRecordBytes) + Slack
	if (len(spare) < need || len(spare) > max(2*need, PieceBytes+Slack)) && !in.EOF { // that of a long record does not make all pieces behind it as long
		spare = make([]byte, max(PieceBytes+Slack, need))
	}
	in.Buf, in.Pos, in.End = spare, 0, copy(spare, rest)
	return p
}

// Take makes a piece all that there is to read.
func (in *Input) Take(p Piece) {
	in.Buf, in.Pos, in.End, in.EOF, in.started = p.Buf, p.Pos, p.End, true, true
}

// CutsAt says whether a file with this option lineSep can be cut into pieces: those whose ends are found from behind, too.
func CutsAt(lineSep string) bool { return len(lineSep) < 2 || lineSep == "\r\n" }

// LastLineEnd returns where the last line in a text that ends, by the option lineSep, and -1 where none does. A CR at the end of the text may be half of a line end.
func LastLineEnd(text []byte, lineSep string) int {
	if lineSep != "" {
		return behind(bytes.LastIndex(text, []byte(lineSep)), len(lineSep))
	}
	if at := bytes.LastIndexByte(text, '\n'); at >= 0 || len(text) == 0 {
		return behind(at, 1)
	}
	return behind(bytes.LastIndexByte(text[:len(text)-1], '\r'), 1)
}

func behind(at, length int) int {
	if at < 0 {
		return at
	}
	return at + length
}

// CountLines counts the line ends in a text: by the option lineSep, or CR LF, LF and CR.
func CountLines(text []byte, lineSep string) int64 {
	if lineSep != "" {
		return int64(bytes.Count(text, []byte(lineSep)))
	}
	n := bytes.Count(text, []byte{'\n'})
	if cr := bytes.Count(text, []byte{'\r'}); cr > 0 {
		n += cr - bytes.Count(text, []byte("\r\n"))
	}
	return int64(n)
}
