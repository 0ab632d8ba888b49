package csv

import (
	"fmt"
	"io"
)

// MaxRecordBytes is the longest record that is read. It bounds memory on files that are not CSV at all: without a line
// end, such a file is one record.
const MaxRecordBytes = 32 << 20

const (
	// bufferBytes is how much is read and taken apart at once: small enough to stay in the second-level cache.
	bufferBytes = 256 << 10
	// slack bytes behind the data let the inner loops load whole words.
	slack = 8
	// maxEmptyReads in a row end a reader that returns neither bytes nor an error.
	maxEmptyReads = 100
)

// input is the unread part of the file: buf[pos:end].
type input struct {
	r        io.Reader
	buf      []byte // len is the capacity, slack included
	pos, end int
	eof      bool
	started  bool
}

// newInput reads r, which has about size bytes; 0: not known.
func newInput(r io.Reader, size int64) *input {
	n := int64(bufferBytes)
	if size > 0 {
		n = min(n, size+1) // one more, for the read that finds the end
	}
	return &input{r: r, buf: make([]byte, n+slack)}
}

// more moves what is unread to the front and fills the buffer, or sets eof. A record that fills it makes it grow, up to
// MaxRecordBytes. Filling it keeps the number of times that a long record is looked at anew logarithmic.
func (in *input) more(line int64) error {
	if in.pos > 0 {
		copy(in.buf, in.buf[in.pos:in.end])
		in.end -= in.pos
		in.pos = 0
	}
	limit := len(in.buf) - slack
	if in.end == limit {
		if limit >= MaxRecordBytes {
			return &FormatError{Line: line, Message: fmt.Sprintf("the record that begins here is longer than %d MiB: is this a CSV file? An unclosed quote with multiLine => true, or another lineSep, looks like this", MaxRecordBytes>>20)}
		}
		grown := make([]byte, min(2*limit, MaxRecordBytes)+slack)
		copy(grown, in.buf[:in.end])
		in.buf, limit = grown, len(grown)-slack
	}
	for empty := 0; in.end < limit && empty < maxEmptyReads; {
		n, err := in.r.Read(in.buf[in.end:limit])
		in.end += n
		switch {
		case err == io.EOF:
			in.eof = true
			return in.begin()
		case err != nil:
			return err
		case n == 0:
			empty++
		default:
			empty = 0
		}
	}
	if in.end < limit {
		return io.ErrNoProgress
	}
	return in.begin()
}

var byteOrderMark = [3]byte{0xEF, 0xBB, 0xBF}

const isUTF16 = "the file begins with a UTF-16 byte-order mark, and only UTF-8 is read: convert it, for example with iconv -f UTF-16 -t UTF-8"

// begin looks at the file's first bytes: it drops UTF-8's byte-order mark and refuses UTF-16's.
func (in *input) begin() error {
	if in.started {
		return nil
	}
	in.started = true
	head := in.buf[:in.end]
	if len(head) >= 3 && [3]byte(head) == byteOrderMark {
		in.pos = 3
	}
	if len(head) >= 2 && (head[0] == 0xFF && head[1] == 0xFE || head[0] == 0xFE && head[1] == 0xFF) {
		return &FormatError{Line: 1, Message: isUTF16}
	}
	return nil
}
