package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// The MySQL protocol's packets: three bytes of length, one of sequence, the payload. A payload of maxPayload bytes or more is cut
// into packets of exactly maxPayload bytes and a last shorter one, which may be empty.
const (
	headerBytes = 4
	maxPayload  = 1<<24 - 1
)

// The commands that the filter knows, and the offset of the cursor flags in a COM_STMT_EXECUTE's payload.
const (
	comQuit        = 0x01
	comStatistics  = 0x09
	comStmtPrepare = 0x16
	comStmtExecute = 0x17

	cursorFlagsAt = 5
)

// filter is what a client sends, as vitess is to read it. Everything passes byte for byte, save that
//
//   - a COM_STMT_PREPARE's text is kept for the handler, and a stand-in that every parser understands passes in its place;
//   - a COM_STMT_EXECUTE asks for no cursor: the rows follow at once, which the protocol leaves to the server;
//   - a COM_STATISTICS is answered here;
//   - a client that asks for TLS gets it (see security).
//
// A read that fails loses nothing: it goes on where it was when it is called again. vitess interrupts a waiting read with a
// deadline, so this happens all the time.
type filter struct {
	src       io.Reader
	statistic func() error // answers COM_STATISTICS
	security  *security    // nil: the filter's packets are no login
	secure    func() error // begins TLS, and changes src

	in     []byte // the start of a packet that is being looked at
	out    []byte // to be handed out next
	pass   int    // then this many bytes of src, as they are
	joined bool   // the next packet continues the payload of the one before

	text      []byte // the pieces of a COM_STMT_PREPARE's payload that are there
	preparing bool   // more pieces follow

	prepared preparedText // of the last COM_STMT_PREPARE that was handed out

	// loading is set while a client sends a file: its packets hold data, whatever they look like, and the sequence byte comes round
	// to 0 again.
	loading atomic.Bool
	// quit is set once the client has said that it leaves.
	quit atomic.Bool
}

// preparedText is the statement of a COM_STMT_PREPARE.
type preparedText struct {
	text  string
	marks int // how many ? it has
}

// Read returns bytes of one packet at the most: what follows a command is not looked at before it is asked for.
func (f *filter) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if len(f.out) > 0 {
			n := copy(p, f.out)
			f.out = f.out[n:]
			return n, nil
		}
		if f.pass > 0 {
			n, err := f.src.Read(p[:min(len(p), f.pass)])
			f.pass -= n
			return n, err
		}
		if err := f.next(); err != nil {
			return 0, err
		}
	}
}

// next looks at the start of a packet and decides what becomes of it.
func (f *filter) next() error {
	if err := f.fill(headerBytes); err != nil {
		return err
	}
	size, sequence := payloadSize(f.in), f.in[3]
	if asked, err := f.login(size, sequence); asked || err != nil {
		return err
	}
	switch {
	case f.preparing:
		return f.prepare(size)
	case f.joined, sequence != 0, size == 0, f.loading.Load():
		f.forward(size)
		return nil
	}
	if err := f.fill(headerBytes + 1); err != nil {
		return err
	}
	switch command := f.in[headerBytes]; {
	case command == comStmtPrepare:
		f.text = f.text[:0]
		return f.prepare(size)
	case command == comStmtExecute && size > cursorFlagsAt:
		if err := f.fill(headerBytes + cursorFlagsAt + 1); err != nil {
			return err
		}
		f.in[headerBytes+cursorFlagsAt] = 0
	case command == comStatistics && size == 1:
		f.in = nil
		return f.statistic()
	case command == comQuit:
		f.quit.Store(true)
	}
	f.forward(size)
	return nil
}

var errTooEarly = errors.New("a client sends a command before it has logged in")

// login sees to the packets of a login, which nobody can make large: who sends them is not known yet. asked: the packet asked for TLS, which is there now, and is no packet for vitess.
func (f *filter) login(size int, sequence byte) (asked bool, err error) {
	s := f.security
	if s == nil || s.over {
		return false, nil
	}
	if s.config != nil && s.conn == nil && sequence == 1 && size == sslRequestBytes {
		if err := f.fill(headerBytes + size); err != nil {
			return false, err
		}
		if isSSLRequest(f.in) {
			f.in = nil
			return true, f.secure()
		}
	}
	switch {
	case !s.admitted && sequence == 0:
		return false, errTooEarly
	case !s.admitted && size > maxLoginBytes:
		return false, fmt.Errorf("a client sends a packet of %d bytes to log in, and %d are allowed", size, maxLoginBytes)
	}
	if sequence == 0 {
		s.over = true
	} else if s.conn != nil {
		f.in[headerBytes-1]--
	}
	return false, nil
}

// fill reads until n bytes of the packet are there.
func (f *filter) fill(n int) error {
	for len(f.in) < n {
		have := len(f.in)
		f.in = append(f.in, make([]byte, n-have)...)
		got, err := f.src.Read(f.in[have:])
		f.in = f.in[:have+got]
		if err != nil && len(f.in) < n {
			if err == io.EOF && (len(f.in) > 0 || f.preparing) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// forward hands out the packet as it is in f.in, and the rest of its payload as it comes.
func (f *filter) forward(size int) {
	f.out, f.pass = f.in, headerBytes+size-len(f.in)
	f.in, f.joined = nil, size == maxPayload
}

// prepare takes one packet of a COM_STMT_PREPARE; with the last one the stand-in is handed out. The stand-in has as many packets as
// the original, because the sequence of the answer counts on from them.
func (f *filter) prepare(size int) error {
	if err := f.fill(headerBytes + size); err != nil {
		return err
	}
	f.text = append(f.text, f.in[headerBytes:]...)
	f.in, f.preparing = nil, size == maxPayload
	if f.preparing {
		return nil
	}
	statement := string(f.text[1:])
	f.prepared = preparedText{text: statement, marks: countMarks(statement)}
	f.out = frame(append([]byte{comStmtPrepare}, standIn(f.prepared.marks, len(statement))...), 0)
	f.text = nil
	return nil
}

// takePrepared returns the statement behind the stand-in that was handed out last.
func (f *filter) takePrepared() preparedText {
	p := f.prepared
	f.prepared = preparedText{}
	return p
}

// maxMarks is how many parameters a prepared statement can have: their count has 16 bits in the protocol.
const maxMarks = 1<<16 - 1

// standIn is a statement with as many parameters, filled up to size bytes with blanks.
func standIn(marks, size int) []byte {
	if marks == 0 || marks > maxMarks { // too many: the handler refuses the statement
		return pad([]byte("SELECT 1"), size)
	}
	return pad(append([]byte("SELECT ?"), bytes.Repeat([]byte(",?"), marks-1)...), size)
}

func pad(b []byte, size int) []byte {
	if len(b) >= size {
		return b
	}
	return append(b, bytes.Repeat([]byte{' '}, size-len(b))...)
}

// frame cuts a payload into packets, the first of which has the sequence given.
func frame(payload []byte, sequence byte) []byte {
	var out []byte
	for {
		n := min(len(payload), maxPayload)
		out = append(out, byte(n), byte(n>>8), byte(n>>16), sequence)
		out = append(out, payload[:n]...)
		payload = payload[n:]
		sequence++
		if n < maxPayload {
			return out
		}
	}
}

func payloadSize(header []byte) int {
	return int(header[0]) | int(header[1])<<8 | int(header[2])<<16
}
