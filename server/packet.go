package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/dolthub/vitess/go/mysql"
)

// The MySQL protocol's packets: three bytes of length, one of sequence, the payload. A payload of maxPayload bytes or more is cut
// into packets of exactly maxPayload bytes and a last shorter one, which may be empty.
const (
	headerBytes = 4
	maxPayload  = 1<<24 - 1
)

// filter is what a client sends, as vitess is to read it. Everything passes byte for byte, save that
//
//   - a COM_STMT_PREPARE's text is kept for the handler, and a stand-in that every parser understands passes in its place;
//   - a COM_STMT_EXECUTE's wish for a cursor is kept for the handler, and does not pass;
//   - a COM_FIELD_LIST is noted for the handler: vitess has no error for it;
//   - a COM_CHANGE_USER is kept for the handler, and a COM_INIT_DB passes in its place;
//   - commands that are not vitess', and those that vitess would take badly, are answered here (see commands);
//   - a client that asks for TLS gets it, and one that asks for compression (see security).
//
// It is read by one goroutine, which reads a command when the one before is over. A read that fails before a command is whole loses nothing:
// it goes on where it was when it is called again.
type filter struct {
	src      io.Reader
	commands commands           // nil: all pass
	expect   func(command bool) // called before src is read: for a command, or for the rest of a packet
	security *security          // nil: the filter's packets are no login
	secure   func() error       // begins TLS, and changes src
	pack     func()             // begins compression, and changes src

	in     []byte // the start of a packet that is being looked at
	out    []byte // to be handed out next
	pass   int    // then this many bytes of src, as they are
	joined bool   // the next packet continues the payload of the one before
	passed int    // bytes of the payload's packets before

	text      []byte // the pieces of a COM_STMT_PREPARE's payload that are there
	preparing bool   // more pieces follow

	prepared preparedText // of the last COM_STMT_PREPARE that was handed out
	cursor   bool         // the last COM_STMT_EXECUTE asked for one
	fields   bool         // the last command was a COM_FIELD_LIST
	user     []byte       // the payload of a COM_CHANGE_USER whose stand-in was handed out; nil: it was none

	// loading is set while a client sends a file: its packets hold data, whatever they look like, and the sequence byte comes round
	// to 0 again.
	loading atomic.Bool
}

// commands answers what vitess is not to see.
type commands interface {
	// largest is how many bytes a command may have.
	largest() int
	// tooLarge answers a command that has more; the connection ends after it. The answer's first packet has the sequence given.
	tooLarge(sequence byte) error
	// answers reports whether a command is answered by answer.
	answers(command byte) bool
	answer(payload []byte) error
	// refuses returns what is wrong with the use of a prepared statement, of which it gets the start of the payload and its size.
	refuses(start []byte, size int) *mysql.SQLError
	// refused tells the client so, where the command has an answer.
	refused(command byte, e *mysql.SQLError, sequence byte) error
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
			f.expecting(false)
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
	if s := f.security; s != nil && s.admitted && s.wantsPacked() && len(f.in) == 0 {
		s.packs = true
		f.pack()
	}
	if err := f.fill(headerBytes); err != nil {
		return err
	}
	size, sequence := payloadSize(f.in), f.in[3]
	if asked, err := f.login(size, sequence); asked || err != nil {
		return err
	}
	begins := !f.joined && sequence == 0 && !f.loading.Load()
	switch {
	case f.commands != nil && !f.loading.Load() && f.passed+size > f.commands.largest():
		return f.dropTooLarge(size, sequence)
	case f.preparing:
		return f.prepare(size)
	case begins && (size > 0 || f.commands != nil):
		return f.command(size)
	}
	f.forward(size)
	return nil
}

// command decides what becomes of a command, by its first packet.
func (f *filter) command(size int) error {
	command := byte(comSleep) // as MySQL takes a command without a byte
	if size > 0 {
		if err := f.fill(headerBytes + 1); err != nil {
			return err
		}
		command = f.in[headerBytes]
	}
	f.fields = command == comFieldList
	switch {
	case f.commands != nil && f.commands.answers(command):
		return f.answer(size)
	case command == comChangeUser:
		return f.changeUser(size)
	case command == comStmtPrepare:
		f.text = f.text[:0]
		return f.prepare(size)
	case f.commands != nil && usesStatement(command):
		if err := f.fill(headerBytes + min(size, usesBytes)); err != nil {
			return err
		}
		if e := f.commands.refuses(f.in[headerBytes:], size); e != nil {
			sequence, err := f.drop(size, 0)
			if err != nil {
				return err
			}
			return f.commands.refused(command, e, sequence)
		}
	}
	if command == comStmtExecute {
		f.cursor = false
		if size > cursorFlagsAt {
			if err := f.fill(headerBytes + cursorFlagsAt + 1); err != nil {
				return err
			}
			f.cursor = f.in[headerBytes+cursorFlagsAt]&cursorReadOnly != 0
			f.in[headerBytes+cursorFlagsAt] = 0
		}
	}
	f.forward(size)
	return nil
}

// answer answers a command that is ours. None of them is long.
func (f *filter) answer(size int) error {
	if size == maxPayload {
		_, err := f.drop(size, 0)
		return errors.Join(err, errLongCommand)
	}
	if err := f.fill(headerBytes + size); err != nil {
		return err
	}
	payload := f.in[headerBytes:]
	f.in = nil
	return f.commands.answer(payload)
}

// changeUser keeps a COM_CHANGE_USER for the handler.
func (f *filter) changeUser(size int) error {
	if size > maxLoginBytes {
		return fmt.Errorf("a client sends a packet of %d bytes to change its user, and %d are allowed", size, maxLoginBytes)
	}
	if err := f.fill(headerBytes + size); err != nil {
		return err
	}
	f.user = f.in[headerBytes:]
	f.in, f.out = nil, frame([]byte{comInitDB}, 0)
	return nil
}

// idle says whether nothing of a command is there.
func (f *filter) idle() bool {
	return len(f.in) == 0 && len(f.out) == 0 && f.pass == 0 && !f.joined && !f.preparing && !f.loading.Load()
}

// takeUser returns the payload of the COM_CHANGE_USER whose stand-in was handed out last; nil: it was a COM_INIT_DB.
func (f *filter) takeUser() []byte {
	user := f.user
	f.user = nil
	return user
}

// takeCursor reports whether the COM_STMT_EXECUTE that was handed out last wants a cursor.
func (f *filter) takeCursor() bool {
	cursor := f.cursor
	f.cursor = false
	return cursor
}

// dropTooLarge reads what there is of a command that is too large, and says so.
func (f *filter) dropTooLarge(size int, sequence byte) error {
	f.preparing, f.text = false, nil
	sequence, err := f.drop(size, sequence)
	if err != nil {
		return err
	}
	return errors.Join(f.commands.tooLarge(sequence), errTooLarge)
}

// drop reads a command to its end and forgets it. It returns the sequence of the answer.
func (f *filter) drop(size int, sequence byte) (byte, error) {
	for {
		left := int64(headerBytes + size - len(f.in))
		f.in = f.in[:0]
		for left > 0 {
			f.expecting(false)
			n, err := io.CopyN(io.Discard, f.src, min(left, readBuffer))
			if err != nil {
				return 0, err
			}
			left -= n
		}
		if sequence++; size < maxPayload {
			f.joined, f.passed, f.in = false, 0, nil
			return sequence, nil
		}
		if err := f.fill(headerBytes); err != nil {
			return 0, err
		}
		size = payloadSize(f.in)
	}
}

func (f *filter) expecting(command bool) {
	if f.expect != nil {
		f.expect(command)
	}
}

var (
	errLongCommand = errors.New("a client sends a command of more than one packet that has no such")
	errTooLarge    = errors.New("a client sends more than max_allowed_packet")
)

var (
	errTooEarly   = errors.New("a client sends a command before it has logged in")
	errOutOfOrder = errors.New("a client that has logged in sends something that begins no command")
)

// login sees to the packets of a login, which nobody can make large: who sends them is not known yet. asked: the packet asked for TLS, which is there now, and is no packet for vitess.
func (f *filter) login(size int, sequence byte) (asked bool, err error) {
	s := f.security
	if s == nil || s.over {
		return false, nil
	}
	if s.client == 0 && s.config != nil && s.conn == nil && sequence == 1 && size == sslRequestBytes {
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
	switch {
	case sequence == 0:
		s.over = true
		return false, nil
	case s.admitted: // shifted it would be a command for vitess, and none for us
		return false, errOutOfOrder
	}
	if s.client == 0 && size > clientBytes {
		if err := f.fill(headerBytes + clientBytes); err != nil {
			return false, err
		}
		s.client = binary.LittleEndian.Uint32(f.in[headerBytes:])
	}
	f.in[headerBytes-1] -= s.shift
	return false, nil
}

// fill reads until n bytes of the packet are there.
func (f *filter) fill(n int) error {
	for len(f.in) < n {
		have := len(f.in)
		f.in = append(f.in, make([]byte, n-have)...)
		f.expecting(have == 0 && !f.joined && !f.preparing && !f.loading.Load())
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
	f.in = nil
	f.joins(size)
}

// joins notes whether the next packet continues this one's payload.
func (f *filter) joins(size int) {
	f.joined = size == maxPayload
	if f.passed += size; !f.joined {
		f.passed = 0
	}
}

// prepare takes one packet of a COM_STMT_PREPARE; with the last one the stand-in is handed out. The stand-in has as many packets as
// the original, because the sequence of the answer counts on from them.
func (f *filter) prepare(size int) error {
	if err := f.fill(headerBytes + size); err != nil {
		return err
	}
	f.text = append(f.text, f.in[headerBytes:]...)
	f.in, f.preparing = nil, size == maxPayload
	f.joins(size)
	if f.joined = false; f.preparing {
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

// maxMarks is how many parameters a prepared statement can have: their count has 16 bits in the protocol, in which vitess also rounds it up to a
// multiple of 8.
const maxMarks = 1<<16 - 8

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

// boundaries follows where packets begin and end among bytes that come in any pieces.
type boundaries struct {
	header [headerBytes]byte
	have   int // bytes of header
	left   int // bytes of the payload that are to come
}

// pass goes over bytes.
func (b *boundaries) pass(p []byte) {
	for len(p) > 0 {
		if b.left > 0 {
			n := min(b.left, len(p))
			b.left -= n
			p = p[n:]
			continue
		}
		b.header[b.have] = p[0]
		p = p[1:]
		if b.have++; b.have == headerBytes {
			b.have, b.left = 0, payloadSize(b.header[:])
		}
	}
}

// whole says whether the last packet is.
func (b *boundaries) whole() bool { return b.have == 0 && b.left == 0 }
