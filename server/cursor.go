package server

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dolthub/vitess/go/mysql"

	"lakesql/vector"
)

// cursorMemory is how many bytes of a cursor's rows stay in memory; more are spilled.
const cursorMemory = 64 << 10

// maxCursors is how many cursors a connection may have open.
const maxCursors = 100

// cursor is the result of a prepared statement that waits to be fetched: packets of rows, as the client gets them save for their sequence. As MySQL does,
// the statement runs to its end when the cursor is opened, so that others may run, and transactions end, while it is fetched.
type cursor struct {
	space  *vector.SpillSpace // nil: there is none
	budget *vector.Budget     // of all statements: counts tail; nil: none
	held   int64              // bytes that are counted in it
	file   *vector.SpillFile  // nil: none yet
	tail   []byte             // what is not in the file

	size int64 // bytes in the file and in tail
	at   int64 // the next row
}

var errTooManyCursors = fmt.Errorf("the connection has %d open cursors, as many as it may: fetch one to its end, or close its statement", maxCursors)

var errNoSpill = errors.New("the result of the cursor is too large for memory, and the server has no place to spill to: fetch it without a cursor")

// Write appends bytes of packets.
func (r *cursor) Write(p []byte) (int, error) {
	r.tail = append(r.tail, p...)
	r.size += int64(len(p))
	tight := r.hold(cap(r.tail)) && r.space != nil
	if len(r.tail) <= cursorMemory && !tight {
		return len(p), nil
	}
	if r.file == nil {
		if r.space == nil {
			return 0, errNoSpill
		}
		var err error
		if r.file, err = r.space.Create(); err != nil {
			return 0, err
		}
	}
	if _, err := r.file.Write(r.tail); err != nil {
		return 0, err
	}
	if r.tail = r.tail[:0]; cap(r.tail) > 4*cursorMemory || tight {
		r.tail = nil
	}
	r.hold(cap(r.tail))
	return len(p), nil
}

// hold counts what the cursor holds in memory now. tight: the budget is nearly used.
func (r *cursor) hold(bytes int) (tight bool) {
	tight = r.budget.Hold(int64(bytes) - r.held)
	r.held = int64(bytes)
	return tight
}

// ReadAt fills p with what is at an offset.
func (r *cursor) ReadAt(p []byte, at int64) (n int, err error) {
	inFile := r.size - int64(len(r.tail))
	if at < inFile {
		n, err = r.file.ReadAt(p[:min(int64(len(p)), inFile-at)], at)
		if err != nil {
			return n, err
		}
		if n == len(p) {
			return n, nil
		}
	}
	n += copy(p[n:], r.tail[at+int64(n)-inFile:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// close gives back what the cursor holds.
func (r *cursor) close() error {
	file := r.file
	r.file, r.tail = nil, nil
	r.hold(0)
	if file == nil {
		return nil
	}
	return file.Close()
}

// send writes the next rows, whose packets begin with the sequence given, and returns the one that follows. ended: there were not as many.
func (r *cursor) send(to io.Writer, rows uint32, sequence byte) (_ byte, ended bool, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(r, r.at, r.size-r.at), cursorMemory)
	var out []byte
	flush := func(enough int) error {
		if len(out) <= enough {
			return nil
		}
		_, err := to.Write(out)
		out = out[:0]
		return err
	}
	for ; rows > 0; rows-- {
		if ended = r.at == r.size; ended {
			break
		}
		for size := maxPayload; size == maxPayload; {
			var header [headerBytes]byte
			if _, err := io.ReadFull(in, header[:]); err != nil {
				return 0, false, err
			}
			size = payloadSize(header[:])
			r.at += int64(headerBytes + size)
			header[headerBytes-1] = sequence
			sequence++
			out = append(out, header[:]...)
			for left := size; left > 0; {
				n := min(left, pieceBytes)
				out = slices.Grow(out, n)
				if _, err := io.ReadFull(in, out[len(out):len(out)+n]); err != nil {
					return 0, false, err
				}
				out, left = out[:len(out)+n], left-n
				if err := flush(pieceBytes); err != nil {
					return 0, false, err
				}
			}
		}
	}
	return sequence, ended, flush(0)
}

// fetch answers a COM_STMT_FETCH: so many rows, fewer where there are no more, which also closes the cursor.
func (s session) fetch(id, rows uint32) error {
	open := s.c.cursors[id]
	if open == nil {
		if s.c.conn.PrepareData[id] == nil {
			return s.c.fail(unknownStatement("mysqld_stmt_fetch", id))
		}
		return s.c.fail(mysql.NewSQLError(1421, mysql.SSUnknownSQLState, "The statement (%d) has no open cursor.", id))
	}
	sequence, ended, err := open.send(s.c.out, rows, 1)
	if err != nil {
		return errors.Join(err, s.c.closeCursor(id)) // the connection ends: the client may have a part of a row
	}
	flags := uint16(statusCursorExists)
	if ended {
		flags = statusLastRowSent
		if err := s.c.closeCursor(id); err != nil {
			return s.c.replyAs(errorPacket(sqlError(err)), sequence)
		}
	}
	return s.c.replyAs(s.c.endPacket(flags), sequence)
}

func (c *frontConn) closeCursor(statement uint32) error {
	open := c.cursors[statement]
	if open == nil {
		return nil
	}
	delete(c.cursors, statement)
	return open.close()
}

// closeCursors closes all cursors, and the one that is being filled.
func (c *frontConn) closeCursors() error {
	var errs []error
	if filling, ok := c.out.(*capture); ok {
		errs = append(errs, filling.rows.close())
	}
	for id := range c.cursors {
		errs = append(errs, c.closeCursor(id))
	}
	return errors.Join(errs...)
}

// capture is where the answer to a COM_STMT_EXECUTE goes that asks for a cursor. Until it is known how the statement ends, the client gets nothing:
//
//  1. The packets of the columns are kept.
//  2. Those of the rows go to the cursor.
//  3. The one that ends the result opens the cursor. An error takes the place of all. An OK, of a statement without rows, passes as it is, as
//     does the wish for a file before it.
type capture struct {
	c      *frontConn
	id     uint32    // of the statement
	out    io.Writer // where the answer goes
	rows   *cursor
	err    error // why a row was not kept: the statement is to end
	fields int   // packets of columns that are to come; -1: not known yet
	inRows bool
	head   []byte // the packets of the columns
	last   byte   // the sequence of the last of them
	packet []byte // the one that is being looked at, as far as it is there
	left   int    // bytes of a packet of rows that are to come
	joined bool   // the next packet continues a row
}

// capture keeps the rows of the answer that follows for a cursor.
func (c *frontConn) capture(statement uint32, rows *cursor) *capture {
	w := &capture{c: c, id: statement, out: c.out, rows: rows, fields: -1}
	c.out = w
	return w
}

// Write takes packets in any pieces.
func (w *capture) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		if w.left > 0 {
			n := min(w.left, len(rest))
			w.keep(rest[:n])
			w.left, rest = w.left-n, rest[n:]
			continue
		}
		n := min(w.wants(), len(rest))
		w.packet = append(w.packet, rest[:n]...)
		rest = rest[n:]
		if w.wants() > 0 {
			continue
		}
		if err := w.take(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// wants is how many bytes of a packet are to come before it is known what becomes of it.
func (w *capture) wants() int {
	have := len(w.packet)
	switch {
	case have < headerBytes:
		return headerBytes - have
	case w.isRow():
		return 0
	case w.inRows && have == headerBytes && payloadSize(w.packet) > 0:
		return 1
	}
	return headerBytes + payloadSize(w.packet) - have
}

// isRow knows a packet of a row of the binary protocol, which begins with 0, and one that continues it.
func (w *capture) isRow() bool {
	return w.inRows && (w.joined || len(w.packet) > headerBytes && w.packet[headerBytes] == 0)
}

// keep gives bytes of rows to the cursor.
func (w *capture) keep(p []byte) {
	if w.err == nil {
		_, w.err = w.rows.Write(p)
	}
}

// take does with a packet what becomes of it.
func (w *capture) take() error {
	size, payload := payloadSize(w.packet), w.packet[headerBytes:]
	switch {
	case w.isRow():
		w.keep(w.packet)
		w.left, w.joined = size-len(payload), size == maxPayload
	case w.fields < 0 && payload[0] == nullText: // no count: a file is asked for, and the answer follows
		if _, err := w.out.Write(w.packet); err != nil {
			return err
		}
	case w.fields < 0 && (payload[0] == mysql.OKPacket || payload[0] == mysql.ErrPacket):
		return w.end(payload, w.packet[headerBytes-1])
	case w.fields != 0:
		w.column(payload)
	case !w.inRows: // the end of the columns, which stands behind the rows here
		w.inRows = true
	case payload[0] == mysql.ErrPacket:
		return w.end(payload, w.head[headerBytes-1])
	case w.err != nil:
		return w.end(errorPacket(sqlError(w.err)), w.head[headerBytes-1])
	default:
		return w.open()
	}
	w.packet = w.packet[:0]
	return nil
}

// column keeps the packet with the number of columns, or one of theirs.
func (w *capture) column(payload []byte) {
	switch {
	case w.fields > 0:
		w.fields--
	case payload[0] < nullText:
		w.fields = int(payload[0])
	default: // 0xfc: two bytes follow
		w.fields = int(binary.LittleEndian.Uint16(payload[1:]))
	}
	w.head, w.last = append(w.head, w.packet...), w.packet[headerBytes-1]
	w.inRows = w.fields == 0 && w.c.conn.Capabilities&mysql.CapabilityClientDeprecateEOF != 0
}

// open opens the cursor.
func (w *capture) open() error {
	w.c.out = w.out
	w.rows.tail = bytes.Clone(w.rows.tail) // without the room to grow
	w.rows.hold(cap(w.rows.tail))
	w.c.cursors[w.id] = w.rows
	_, err := w.out.Write(append(w.head, frame(w.c.endPacket(statusCursorExists), w.last+1)...))
	return err
}

// end answers with one packet, without a cursor.
func (w *capture) end(payload []byte, sequence byte) error {
	w.c.out = w.out
	err := w.rows.close() // before anybody can see that it is over
	_, failed := w.out.Write(frame(payload, sequence))
	return errors.Join(err, failed)
}
