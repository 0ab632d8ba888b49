package format

import (
	"fmt"
	"io"
)

// MaxRecordBytes is the longest record that is read. It bounds memory on files that are no text at all: without a line end,
// such a file is one record.
const MaxRecordBytes = 32 << 20

const (
	// BufferBytes is how much is read and taken apart at once: small enough to stay in the second-level cache.
	BufferBytes = 256 << 10
	// Slack bytes behind the data let the inner loops load whole words.
	Slack = 8
	// maxEmptyReads in a row end a reader that returns neither bytes nor an error.
	maxEmptyReads = 100
)

// Input is the unread part of a text file: Buf[Pos:End].
type Input struct {
	Buf      []byte // len is the capacity, Slack included; what lies there moves with More alone
	Pos, End int
	EOF      bool // nothing comes behind End

	r        io.Reader
	question string
	started  bool
}

// NewInput reads r, which has about size bytes; 0: not known. The question is asked where a record is too long.
func NewInput(r io.Reader, size int64, question string) *Input {
	n := int64(BufferBytes)
	if size > 0 {
		n = min(n, size+1) // one more, for the read that finds the end
	}
	return &Input{r: r, Buf: make([]byte, n+Slack), question: question}
}

// More moves what is unread to the front and fills the buffer, or sets EOF. A record that fills it makes it grow, up to
// MaxRecordBytes. Filling it keeps the number of times that a long record is looked at anew logarithmic. line is
// that of Pos. Errors: *Error for a record that is too long or a file that is no UTF-8 text, and those of the reader.
func (in *Input) More(line int64) error {
	if in.Pos > 0 {
		copy(in.Buf, in.Buf[in.Pos:in.End])
		in.End -= in.Pos
		in.Pos = 0
	}
	limit := len(in.Buf) - Slack
	if in.End == limit {
		if limit >= MaxRecordBytes {
			return &Error{Line: line, Message: fmt.Sprintf("the record that begins here is longer than %d MiB: %s", MaxRecordBytes>>20, in.question)}
		}
		grown := make([]byte, min(2*limit, MaxRecordBytes)+Slack)
		copy(grown, in.Buf[:in.End])
		in.Buf, limit = grown, len(grown)-Slack
	}
	for empty := 0; in.End < limit && empty < maxEmptyReads; {
		n, err := in.r.Read(in.Buf[in.End:limit])
		in.End += n
		switch {
		case err == io.EOF:
			in.EOF = true
			return in.begin()
		case err != nil:
			return err
		case n == 0:
			empty++
		default:
			empty = 0
		}
	}
	if in.End < limit {
		return io.ErrNoProgress
	}
	return in.begin()
}

// begin looks at the file's first bytes: it drops UTF-8's byte-order mark and refuses UTF-16's.
func (in *Input) begin() error {
	if in.started {
		return nil
	}
	in.started = true
	start, err := TextStart(in.Buf[:in.End])
	in.Pos = start
	return err
}
