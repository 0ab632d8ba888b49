package server

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"sync"
)

// The compressed protocol puts packets of its own around the others: three bytes of length, one of sequence, three of the length that the
// payload has unpacked, or 0 where it is as it is. Where one of them ends has nothing to do with where the packets in it do.
const (
	packedHeader = 7
	// minPacked is how many bytes are worth packing, as in MySQL.
	minPacked = 50
	// packAtOnce is how much goes into one packet, in bytes.
	packAtOnce = 64 << 10
)

// inflater unpacks what a client sends as it is read: what a packet says of its length reserves nothing, and what it unpacks to beyond that
// is an error.
type inflater struct {
	src      io.Reader
	packs    *deflater // gets the sequence that the answer has
	unpacked io.ReadCloser
	packet   io.LimitedReader // of src: the bytes of the packet
	plain    bool             // they are as they are
	left     int              // bytes of it that are to be handed out
	err      error            // what ended it
}

// holds says whether there is something that no more has to be read for.
func (r *inflater) holds() bool { return r.left > 0 }

// Read reads bytes of one packet at the most. An error stays.
func (r *inflater) Read(p []byte) (n int, err error) {
	if r.err == nil {
		n, r.err = r.read(p)
	}
	return n, r.err
}

func (r *inflater) read(p []byte) (n int, err error) {
	for r.left == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	p = p[:min(len(p), r.left)]
	if r.plain {
		n, err = r.packet.Read(p)
	} else {
		n, err = r.unpacked.Read(p)
	}
	r.left -= n
	if err == io.EOF && r.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil && err != io.EOF {
		return n, fmt.Errorf("read a compressed packet: %w", err)
	}
	if r.left == 0 {
		return n, r.end()
	}
	return n, nil
}

// next reads the head of a packet.
func (r *inflater) next() error {
	var head [packedHeader]byte
	if _, err := io.ReadFull(r.src, head[:]); err != nil {
		return err
	}
	size, whole := payloadSize(head[:]), payloadSize(head[4:])
	r.packs.sequence = head[3] + 1
	r.packet = io.LimitedReader{R: r.src, N: int64(size)}
	if r.plain = whole == 0; r.plain {
		r.left = size
		return nil
	}
	if r.left = whole; r.unpacked == nil {
		unpacked, err := zlib.NewReader(&r.packet)
		if err != nil {
			return fmt.Errorf("read a compressed packet: %w", err)
		}
		r.unpacked = unpacked
		return nil
	}
	if err := r.unpacked.(zlib.Resetter).Reset(&r.packet, nil); err != nil {
		return fmt.Errorf("read a compressed packet: %w", err)
	}
	return nil
}

// end checks that a packet holds no more than it said.
func (r *inflater) end() error {
	if !r.plain {
		var more [1]byte
		switch n, err := io.ReadFull(r.unpacked, more[:]); {
		case n > 0:
			return errOverfull
		case err != io.EOF:
			return fmt.Errorf("read the end of a compressed packet: %w", err)
		}
	}
	if _, err := io.Copy(io.Discard, &r.packet); err != nil {
		return err
	}
	if r.packet.N > 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

var errOverfull = errors.New("a compressed packet unpacks to more than it says")

// deflater packs what is sent. It gathers packets until the last one is whole, or there is much.
type deflater struct {
	out      io.Writer
	sequence byte
	pending  []byte
	packets  boundaries // in pending
}

// packers are between connections: one takes much memory, and most connections are idle.
var packers = sync.Pool{New: func() any {
	w, err := zlib.NewWriterLevel(nil, zlib.BestSpeed)
	if err != nil { // there is that level
		panic(err)
	}
	return w
}}

// Write takes packets or parts of them.
func (w *deflater) Write(p []byte) (int, error) {
	w.pending = append(w.pending, p...)
	w.packets.pass(p)
	if len(w.pending) < packAtOnce && !w.packets.whole() {
		return len(p), nil
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush sends what is there.
func (w *deflater) flush() error {
	var packed bytes.Buffer
	for from := w.pending; len(from) > 0; {
		piece := from[:min(len(from), packAtOnce)]
		from = from[len(piece):]
		if err := w.pack(&packed, piece); err != nil {
			return err
		}
	}
	w.pending = w.pending[:0]
	if cap(w.pending) > 4*packAtOnce {
		w.pending = nil
	}
	_, err := w.out.Write(packed.Bytes())
	return err
}

// pack appends one packet. What does not get smaller is sent as it is.
func (w *deflater) pack(to *bytes.Buffer, piece []byte) error {
	at := to.Len()
	to.Write(make([]byte, packedHeader))
	whole := 0
	if len(piece) >= minPacked {
		z := packers.Get().(*zlib.Writer)
		z.Reset(to)
		_, err := z.Write(piece)
		if err = errors.Join(err, z.Close()); err != nil {
			return err
		}
		z.Reset(nil) // it holds no packet
		packers.Put(z)
		whole = len(piece)
	}
	if size := to.Len() - at - packedHeader; whole == 0 || size >= len(piece) {
		to.Truncate(at + packedHeader)
		to.Write(piece)
		whole = 0
	}
	head := to.Bytes()[at:]
	putSize(head, len(head)-packedHeader)
	head[3] = w.sequence
	putSize(head[4:], whole)
	w.sequence++
	return nil
}

func putSize(to []byte, n int) { to[0], to[1], to[2] = byte(n), byte(n>>8), byte(n>>16) }

// packedPlain is a short command as a client sends it that does not pack so little.
func packedPlain(packets []byte) []byte {
	head := make([]byte, packedHeader)
	putSize(head, len(packets))
	return append(head, packets...)
}

// pack begins compression, both ways.
func (c *frontConn) pack() {
	packs := &deflater{out: c.out}
	c.packed = &inflater{src: c.wire, packs: packs}
	c.requests.src, c.out = c.packed, packs
}
