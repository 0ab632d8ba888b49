package server

import (
	"github.com/dolthub/vitess/go/mysql"
)

// pastRows are packets of a result that go to the client past vitess. vitess writes the columns before them and the packet that ends the result; it does
// not know how many packets were in between, so the last one gets its sequence here.
//
//  1. vitess' writes are kept until it has written the columns: the last of them tells the sequence that follows.
//  2. Rows are added, and flushed when there are enough.
//  3. vitess' next write is the packet that ends the result: everything goes out, and writes are vitess' own again.
type pastRows struct {
	buf      []byte // packets that wait
	columns  bool   // vitess writes the columns
	sequence byte   // of the next packet
}

// beginPast is step 1.
func (c *frontConn) beginPast(conn *mysql.Conn, columns func() error) (*pastRows, error) {
	if err := conn.FlushBuffer(); err != nil { // what belongs to the result before
		return nil, err
	}
	c.past = &pastRows{columns: true}
	if err := columns(); err != nil {
		return nil, err
	}
	if err := conn.FlushBuffer(); err != nil {
		return nil, err
	}
	c.past.columns = false
	for at := 0; at < len(c.past.buf); at += headerBytes + payloadSize(c.past.buf[at:]) {
		c.past.sequence = c.past.buf[at+headerBytes-1] + 1
	}
	return c.past, nil
}

// add appends packets whose sequence counts from 0.
func (r *pastRows) add(packets []byte) {
	base, count := r.sequence, byte(0)
	from := len(r.buf)
	r.buf = append(r.buf, packets...)
	for at := from; at < len(r.buf); at += headerBytes + payloadSize(r.buf[at:]) {
		r.buf[at+headerBytes-1] += base
		count++
	}
	r.sequence = base + count
}

// writePast keeps the columns, and ends the result with the one packet that p is.
func (c *frontConn) writePast(p []byte) (int, error) {
	if c.past.columns {
		c.past.buf = append(c.past.buf, p...)
		return len(p), nil
	}
	if !beginsWithPacket(p) || len(p) > headerBytes+payloadSize(p) {
		return 0, errNotOnePacket
	}
	payload := p[headerBytes:]
	if instead := c.instead.Swap(nil); instead != nil {
		payload = *instead
	}
	c.past.buf = append(c.past.buf, frame(payload, c.past.sequence)...)
	err := c.flushPast()
	c.past = nil
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// flushPast sends the packets that wait.
func (c *frontConn) flushPast() error {
	if c.past == nil || len(c.past.buf) == 0 {
		return nil
	}
	_, err := c.out.Write(c.past.buf)
	c.past.buf = c.past.buf[:0]
	if cap(c.past.buf) > 4*pieceBytes { // of a row of many megabytes
		c.past.buf = nil
	}
	return err
}
